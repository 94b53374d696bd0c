//! Sweeps on a cluster of Ray: the Python package hands the runs to Ray, and calls this program again, which makes the tables.

use crate::args::SweepArgs;
use crate::commands::cluster::without_cluster;
use crate::commands::{Failure, python};
use serde_json::json;
use std::ffi::OsString;
use std::path::Path;

/// Becomes Python, which plays the runs on the cluster at `on`; comes back only if that fails.
pub(super) fn play(args: &SweepArgs, on: &str, folder: &Path, options: &[OsString]) -> Failure {
    let mut options: Vec<String> = options.iter().map(|option| option.to_string_lossy().into_owned()).collect();
    let kept = [("--resume", args.resume), ("--retry", args.retry)];
    options.extend(kept.into_iter().filter(|(_, is_asked)| *is_asked).map(|(option, _)| option.to_owned()));
    let order = json!({
        "file": args.file,
        "folder": folder,
        "on": on,
        "quiet": args.quiet || args.json,
        "options": options,
        "then": then(std::env::args().skip(1)),
    });
    python::become_module("netloom._ray", &[order.to_string().into()], "sweeps on Ray need")
}

/// The arguments of the command that makes the tables: those of this one, but that it runs nothing.
fn then(words: impl Iterator<Item = String>) -> Vec<String> {
    let mut kept = without_cluster(words);
    kept.retain(|word| !["--resume", "--retry"].contains(&word.as_str()));
    kept.extend(["--resume", "--only", "none"].map(str::to_owned));
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_are_made_by_a_command_that_runs_nothing() {
        let made = |words: &str| then(words.split(' ').map(str::to_owned)).join(" ");
        assert_eq!(made("sweep a.yaml --on ray -o out --retry"), "sweep a.yaml -o out --resume --only none");
        assert_eq!(made("sweep --on=ray://h:1 a.yaml --json"), "sweep a.yaml --json --resume --only none");
    }
}
