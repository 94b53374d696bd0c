//! `netloom stop` and `netloom start`

use super::exec::several::{is_pattern, matches};
use super::{DONE, Failure, Outcome};
use crate::args::NodesArgs;
use crate::talk::say;
use netloom_control::{Client, ControlError, Node, NodeState, Topology};
use netloom_judge::ExitCode;
use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::scope;

/// Nodes that are changed at a time.
const AT_A_TIME: usize = 64;
/// Kinds of nodes that lead out of the lab, which no lab stops.
const LEAD_OUT: [&str; 4] = ["external", "internet", "tunnel", "outside"];

/// Stops the nodes, or starts them, side by side.
pub(super) fn change(args: &NodesArgs, starts: bool) -> Outcome {
    let topology = Client::connect(&args.lab)?.topology()?;
    let nodes = meant(&topology, &args.nodes, starts)?;
    let (next, failures) = (AtomicUsize::new(0), Mutex::new(Vec::<ControlError>::new()));
    scope(|threads| {
        for _ in 0..nodes.len().min(AT_A_TIME) {
            threads.spawn(|| {
                while let Some(node) = nodes.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let change = if starts { Client::start } else { Client::stop };
                    let changed = Client::connect(&args.lab).and_then(|mut client| change(&mut client, node));
                    if let Err(error) = changed {
                        failures.lock().expect("nobody panics while holding it").push(error);
                    }
                }
            });
        }
    });
    let mut failures = failures.into_inner().expect("nobody panics while holding it");
    let Some(last) = failures.pop() else { return DONE };
    failures.iter().for_each(|error| say(&error.to_string()));
    Err(last.into())
}

/// The nodes that are meant, each once. A name alone may be that of no node, as the lab says.
fn meant(topology: &Topology, wanted: &[String], starts: bool) -> Result<Vec<String>, Failure> {
    let (mut known, mut found) = (BTreeSet::new(), Vec::new());
    for name in wanted {
        if !is_pattern(name) {
            found.extend(known.insert(name.clone()).then(|| name.clone()));
            continue;
        }
        let own: Vec<String> = changeable(topology, starts).into_iter().filter(|node| matches(name, node)).collect();
        if own.is_empty() {
            let what = if starts { "has stopped" } else { "runs" };
            return Err(Failure::new(ExitCode::Usage, format!("no node with a name like `{name}` {what}")));
        }
        found.extend(own.into_iter().filter(|node| known.insert(node.clone())));
    }
    Ok(found)
}

/// The nodes that can be started, or stopped.
pub(super) fn changeable(topology: &Topology, starts: bool) -> Vec<String> {
    let wanted: &[NodeState] = if starts { &[NodeState::Stopped, NodeState::Crashed] } else { &[NodeState::Running] };
    let stops =
        |node: &&Node| wanted.contains(&node.state) && node.stack != "vm" && !LEAD_OUT.contains(&node.kind.as_str());
    topology.nodes.iter().filter(stops).map(|node| node.name.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn topology() -> Topology {
        let node = |name: &str, stack: &str, state: &str| json!({ "name": name, "kind": "host", "stack": stack, "state": state, "interfaces": [] });
        let nodes = [
            node("h1", "namespace", "running"),
            node("h2", "namespace", "stopped"),
            node("h3", "kernel", "running"),
            node("hub", "engine", "running"),
            node("vm", "vm", "running"),
        ];
        serde_json::from_value(json!({ "nodes": nodes, "links": [], "exposed": [], "services": [] })).unwrap()
    }

    #[test]
    fn patterns_mean_what_can_be_changed_and_names_what_they_say() {
        let names = |wanted: &[&str], starts| {
            meant(&topology(), &wanted.iter().map(ToString::to_string).collect::<Vec<_>>(), starts)
        };
        assert_eq!(names(&["h*"], false).unwrap(), ["h1", "h3", "hub"]);
        assert_eq!(names(&["*"], false).unwrap(), ["h1", "h3", "hub"]);
        assert_eq!(names(&["h*"], true).unwrap(), ["h2"]);
        assert_eq!(names(&["hub", "h3", "h?"], false).unwrap(), ["hub", "h3", "h1"]);
        assert_eq!(names(&["nobody", "nobody"], true).unwrap(), ["nobody"]);
        assert!(names(&["x*"], true).unwrap_err().message.contains("no node with a name like `x*` has stopped"));
    }
}
