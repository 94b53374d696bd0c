//! `netloom set`, `netloom partition`, `netloom heal` and `netloom fault`

use super::{DONE, Failure, Outcome, print};
use crate::args::{FaultArgs, PartitionArgs, SetArgs};
use netloom_control::{Client, Set, Topology};
use netloom_judge::ExitCode;

pub(super) fn set(args: &SetArgs) -> Outcome {
    let (link, direction, pipe) = split_place(&args.link);
    let changes = args.changes.iter().map(|change| split_change(change)).collect::<Result<_, _>>()?;
    Client::connect(&args.lab)?.set(Set { link, direction, pipe, changes })?;
    DONE
}

pub(super) fn partition(args: &PartitionArgs) -> Outcome {
    let keys = args.keys.iter().map(|key| split_change(key)).collect::<Result<Vec<_>, _>>()?;
    let more: String = keys.iter().map(|(key, value)| format!(", {key}: {value}")).collect();
    Client::connect(&args.lab)?.partition(format!("{{partition: {}{more}}}", args.partition.trim()))?;
    DONE
}

pub(super) fn fault(args: &FaultArgs) -> Outcome {
    let mut client = Client::connect(&args.lab)?;
    match &args.entry {
        Some(entry) => client.fault(entry.trim().to_owned())?,
        None => return print(&faults(&client.topology()?)),
    }
    DONE
}

/// The faults of all nodes, a line each: an example, or why a node cannot have it.
fn faults(topology: &Topology) -> String {
    let widest = topology.nodes.iter().map(|node| node.name.chars().count()).max().unwrap_or(0);
    let rows = topology.nodes.iter().flat_map(|node| {
        node.faults.iter().map(move |(kind, why)| {
            let said = why.as_ref().map_or_else(|| example(kind, &node.name), |why| format!("cannot be: {why}"));
            format!("{:widest$}  {kind:6}  {said}", node.name)
        })
    });
    rows.collect::<Vec<String>>().join("\n")
}

/// An entry of this kind.
fn example(kind: &str, node: &str) -> String {
    match kind {
        "clock" => format!("'{{on: {node}, clock: {{step: 3 s}}}}'"),
        "disk" => format!("'{{disk: {node}, full: true}}'"),
        "fail" => format!("'{{on: {node}, fail: {{call: fsync, error: EIO}}}}'"),
        "starve" => format!("'{{on: {node}, starve: true, for: 1 s}}'"),
        kind => format!("'{{{kind}: {node}, for: 1 s}}'"),
    }
}

pub(super) fn heal(lab: &str) -> Outcome {
    Client::connect(lab)?.heal()?;
    DONE
}

/// Splits `LINK[.DIRECTION][.PIPE]`. No pipe has the name of a direction.
pub(super) fn split_place(place: &str) -> (String, Option<String>, Option<String>) {
    let (link, rest) = place.split_once('.').map_or((place, None), |(link, rest)| (link, Some(rest)));
    let (direction, pipe) = match rest.map(|rest| rest.split_once('.').map_or((rest, None), |(a, b)| (a, Some(b)))) {
        None => (None, None),
        Some((direction @ ("forward" | "backward"), pipe)) => (Some(direction), pipe),
        Some(_) => (None, rest),
    };
    (link.to_owned(), direction.map(str::to_owned), pipe.map(str::to_owned))
}

pub(super) fn split_change(change: &str) -> Result<(String, String), Failure> {
    let (key, value) = change.split_once('=').ok_or_else(|| {
        Failure::new(ExitCode::Usage, format!("`{change}`: write KEY=VALUE, for example 'delay=80 ms'"))
    })?;
    Ok((key.trim().to_owned(), value.trim().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_and_changes_are_taken_apart() {
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(split_place("backbone"), ("backbone".into(), None, None));
        assert_eq!(split_place("backbone.forward"), ("backbone".into(), some("forward"), None));
        assert_eq!(split_place("backbone.voip"), ("backbone".into(), None, some("voip")));
        assert_eq!(split_place("backbone.forward.voip"), ("backbone".into(), some("forward"), some("voip")));
        assert_eq!(split_change("delay=80 ms").unwrap(), ("delay".into(), "80 ms".into()));
        assert_eq!(split_change("delay").unwrap_err().code, ExitCode::Usage);
    }
}
