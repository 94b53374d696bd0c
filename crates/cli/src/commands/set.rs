//! `netloom set`

use super::{DONE, Failure, Outcome};
use crate::args::SetArgs;
use netloom_control::{Client, Set};
use netloom_judge::ExitCode;

pub(super) fn set(args: &SetArgs) -> Outcome {
    let (link, direction, pipe) = split_place(&args.link);
    let changes = args.changes.iter().map(|change| split_change(change)).collect::<Result<_, _>>()?;
    Client::connect(&args.lab)?.set(Set { link, direction, pipe, changes })?;
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
