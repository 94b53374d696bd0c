//! Log lines as events: a line of which only names and numbers differ from another is of the same kind.

use netloom_results::{GrownLog, LOG_TIMES, LogLine, Logs, Stream};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

/// So many letters of a line say of what kind it is.
const LONGEST: usize = 80;
/// So many kinds of lines are told apart in each log: where each line is another one, they tell nothing.
const MOST_KINDS: usize = 100;

/// Calls `add` with each line of the logs in a results folder: with its kind, and with when it was written.
pub(crate) fn log_lines(folder: &Path, add: &mut impl FnMut(String, u64)) {
    let times = times(folder);
    let Ok(mut logs) = Logs::in_folder(folder) else { return };
    let mut read: BTreeMap<(usize, bool), u64> = BTreeMap::new();
    let mut kinds: BTreeMap<(usize, bool), BTreeSet<String>> = BTreeMap::new();
    let mut take = |line: &LogLine<'_>| {
        let log = (line.number, line.stream == Stream::Stderr);
        let bytes = read.entry(log).or_default();
        *bytes += line.text.len() as u64 + 1;
        let known = kinds.entry(log).or_default();
        let kind = template(&String::from_utf8_lossy(line.text));
        let is_told = known.contains(&kind) || known.len() < MOST_KINDS;
        if let Some(at) = times.get(&log).and_then(|grown| grown_to(grown, *bytes)).filter(|_| is_told) {
            add(format!("log of {}: {kind}", line.command), at);
            known.insert(kind);
        }
        true
    };
    if logs.read(&mut take).is_ok() {
        logs.finish(&mut take);
    }
}

/// The lengths of each log and their instants, in order.
type Times = BTreeMap<(usize, bool), Vec<(u64, u64)>>;

fn times(folder: &Path) -> Times {
    let mut times = Times::new();
    let Ok(file) = File::open(folder.join(LOG_TIMES)) else { return times };
    for line in BufReader::new(file).lines().map_while(Result::ok) {
        let Ok(grown) = serde_json::from_str::<GrownLog>(&line) else { continue };
        times.entry((grown.number, grown.stream == Stream::Stderr)).or_default().push((grown.bytes, grown.time_ns));
    }
    times
}

/// Returns the instant at which a log had this length first; none if it had it before time zero.
fn grown_to(grown: &[(u64, u64)], bytes: u64) -> Option<u64> {
    let place = grown.partition_point(|(length, _)| *length < bytes);
    grown.get(place).map(|(_, at)| *at).filter(|at| *at > 0)
}

/// A line without what differs between lines of a kind: words with digits.
fn template(line: &str) -> String {
    let words = line.split(|c: char| c.is_whitespace() || ",:;=\"'(){}[]".contains(c)).filter(|word| !word.is_empty());
    let mut text = String::new();
    for word in words {
        if text.len() >= LONGEST {
            break;
        }
        text.push_str(if word.contains(|c: char| c.is_ascii_digit()) { "#" } else { word });
        text.push(' ');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_differ_in_numbers_are_of_one_kind() {
        assert_eq!(template("became leader of term 3"), template("became leader of term 12"));
        assert_eq!(template("{\"ts\":\"2026-01-02T03:04\",\"msg\":\"elected\"}"), "ts # # msg elected ");
        assert_ne!(template("became leader"), template("became follower"));
    }

    #[test]
    fn lines_come_with_their_instants() {
        let home = tempfile::tempdir().unwrap();
        let commands = r#"[{"name": "raft-n1", "node": "n1", "command": "raft", "stdout": "out", "stderr": "err", "service": true,
            "start_ns": 0, "start_lateness_ns": 0, "end_ns": null, "exit_code": null, "signal": null, "stopped": false, "failed": false}]"#;
        std::fs::write(home.path().join("commands.json"), commands).unwrap();
        std::fs::write(home.path().join("out"), "ready\nleader 1\nlost 5\nleader 2\n").unwrap();
        std::fs::write(home.path().join("err"), "").unwrap();
        let line = |ns: u64, bytes: u64| {
            format!("{{\"time_ns\":{ns},\"number\":0,\"stream\":\"stdout\",\"bytes\":{bytes}}}\n")
        };
        std::fs::write(home.path().join(LOG_TIMES), line(0, 6) + &line(1_000, 15) + &line(2_000, 31)).unwrap();
        let mut found = Vec::new();
        log_lines(home.path(), &mut |kind, at| found.push((kind, at)));
        let of = |kind: &str, at| (format!("log of raft-n1: {kind} # "), at);
        assert_eq!(found, [of("leader", 1_000), of("lost", 2_000), of("leader", 2_000)]);
    }
}
