//! What a fault does: the first lines of logs that are others without it.

use netloom_results::{LogLine, Logs, Stream};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// Longer lines are cut.
const LONGEST: usize = 300;

/// The first line of a log that is another one without a fault.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Difference {
    /// The command whose log it is.
    pub command: String,
    /// The node that the command ran on.
    pub node: String,
    /// The output: `stdout` or `stderr`.
    pub stream: String,
    /// The number of the line, from 1.
    pub line: usize,
    /// The line with the fault; none if the log has ended there.
    pub with: Option<String>,
    /// The line without the fault; none if the log has ended there.
    pub without: Option<String>,
}

impl Difference {
    /// Returns the difference in one line.
    pub fn described(&self) -> String {
        let told = |line: &Option<String>| line.as_ref().map_or_else(|| "nothing".into(), |text| format!("`{text}`"));
        let (with, without) = (told(&self.with), told(&self.without));
        let Self { command, node, line, stream, .. } = self;
        format!("{command} on {node}, line {line} of {stream}: {with}; without it: {without}")
    }
}

/// The lines of each log: by the command's number, and whether it is standard error.
pub(crate) type Lines = BTreeMap<(usize, bool), Log>;

/// A log, and whose it is.
#[derive(Clone, Debug, Default)]
pub(crate) struct Log {
    command: String,
    node: String,
    lines: Vec<String>,
}

/// The lines of all logs in a results folder, as far as they can be read.
pub(crate) fn lines_of(results: &Path) -> Lines {
    let mut all = Lines::new();
    let Ok(mut logs) = Logs::in_folder(results) else { return all };
    let mut take = |line: &LogLine<'_>| {
        let log = all.entry((line.number, line.stream == Stream::Stderr)).or_insert_with(|| Log {
            command: line.command.into(),
            node: line.node.into(),
            lines: Vec::new(),
        });
        log.lines.push(String::from_utf8_lossy(line.text).chars().take(LONGEST).collect());
        true
    };
    if logs.read(&mut take).is_ok() {
        logs.finish(&mut take);
    }
    all
}

/// The first line of each log that differs.
pub(crate) fn first_differences(with: &Lines, without: &Lines) -> Vec<Difference> {
    let empty = Log::default();
    let mut keys: Vec<&(usize, bool)> = with.keys().chain(without.keys()).collect();
    keys.sort_unstable();
    keys.dedup();
    let difference = |key: &(usize, bool)| {
        let (one, other) = (with.get(key).unwrap_or(&empty), without.get(key).unwrap_or(&empty));
        let longest = one.lines.len().max(other.lines.len());
        let place = (0..longest).find(|place| one.lines.get(*place) != other.lines.get(*place))?;
        let named = if one.command.is_empty() { other } else { one };
        Some(Difference {
            command: named.command.clone(),
            node: named.node.clone(),
            stream: if key.1 { "stderr" } else { "stdout" }.into(),
            line: place + 1,
            with: one.lines.get(place).cloned(),
            without: other.lines.get(place).cloned(),
        })
    };
    keys.into_iter().filter_map(difference).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(lines: &[&str]) -> Log {
        Log { command: "serve".into(), node: "n1".into(), lines: lines.iter().map(|line| (*line).into()).collect() }
    }

    #[test]
    fn the_first_line_that_differs_is_shown() {
        let with = Lines::from([((0, false), log(&["ready", "leader", "lost"])), ((1, false), log(&["same"]))]);
        let without = Lines::from([
            ((0, false), log(&["ready", "follower"])),
            ((1, false), log(&["same"])),
            ((1, true), log(&["more"])),
        ]);
        let found = first_differences(&with, &without);
        let told: Vec<String> = found.iter().map(Difference::described).collect();
        assert_eq!(
            told,
            [
                "serve on n1, line 2 of stdout: `leader`; without it: `follower`",
                "serve on n1, line 1 of stderr: nothing; without it: `more`",
            ]
        );
        assert!(first_differences(&with, &with).is_empty());
    }
}
