//! `netloom set`

use super::{DONE, Failure, Outcome};
use crate::args::SetArgs;
use netloom_run::{Client, ExitCode, Set};

pub(super) fn set(args: &SetArgs) -> Outcome {
    let (link, direction) = split_direction(&args.link);
    let changes = args.changes.iter().map(|change| split_change(change)).collect::<Result<_, _>>()?;
    Client::connect(&args.lab)?.set(Set { link, direction, changes })?;
    DONE
}

fn split_direction(link: &str) -> (String, Option<String>) {
    match link.rsplit_once('.') {
        Some((name, direction)) => (name.to_owned(), Some(direction.to_owned())),
        None => (link.to_owned(), None),
    }
}

fn split_change(change: &str) -> Result<(String, String), Failure> {
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
        assert_eq!(split_direction("backbone"), ("backbone".into(), None));
        assert_eq!(split_direction("backbone.forward"), ("backbone".into(), Some("forward".into())));
        assert_eq!(split_change("delay=80 ms").unwrap(), ("delay".into(), "80 ms".into()));
        assert_eq!(split_change("delay").unwrap_err().code, ExitCode::Usage);
    }
}
