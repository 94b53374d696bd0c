//! The processes of hosts as commands.

use super::{time, unread};
use crate::source::Read;
use crate::topology::Topology;
use crate::tree::Tree;
use crate::value::{Map, Origin, Value, entry};
use netloom_lab::yaml::{Content, Node};
use netloom_units::Duration;

/// Names of signals and their numbers on Linux.
const SIGNALS: [(&str, u32); 8] = [
    ("SIGHUP", 1),
    ("SIGINT", 2),
    ("SIGQUIT", 3),
    ("SIGABRT", 6),
    ("SIGKILL", 9),
    ("SIGUSR1", 10),
    ("SIGSEGV", 11),
    ("SIGTERM", 15),
];
/// Letters of the name of a command.
const LONGEST_NAME: usize = 31;

/// Adds a process of a host, which is its `index`-th, and what is expected of it.
pub(super) fn add(
    process: &Node,
    host: usize,
    index: usize,
    topology: &mut Topology,
    expectations: &mut Vec<Value>,
) -> Read<()> {
    let read =
        ["path", "args", "environment", "start_time", "shutdown_time", "shutdown_signal", "expected_final_state"];
    unread(process, "processes.", &read, topology);
    let path = process.required_word("path", "a process has a program: write for example `path: curl`")?;
    let mut keys = vec![
        entry("on", Value::text(topology.nodes[host].name.clone())),
        entry("run", command(path, process.get("args"))?),
    ];
    let start = process.get("start_time").map(time).transpose()?.filter(|start| !start.is_zero());
    keys.extend(start.map(|start| entry("at", start)));
    let stop = process.get("shutdown_time");
    if let Some(stop) = stop {
        let end = time(stop)?;
        let begin = start.unwrap_or(Duration::ZERO);
        if end <= begin {
            return Err(stop.place().wrong("the process would end before it starts"));
        }
        keys.push(entry("for", end - begin));
    }
    if let Some(signal) = process.get("shutdown_signal").filter(|signal| signal.text() != Some("SIGTERM")) {
        let said = signal.text().unwrap_or_default();
        topology.notes.add(signal.place(), format!("programs are stopped by SIGTERM, not by {said}"));
    }
    expected(process, host, index, &mut keys, topology, expectations);
    let environment: Map = process
        .get("environment")
        .map_or(&[][..], Tree::entries)
        .iter()
        .map(|one| entry(&one.name, Value::text(one.value.text().unwrap_or_default())))
        .collect();
    if !environment.is_empty() {
        keys.push(entry("env", Value::map(environment)));
    }
    topology.timeline.push(Value::map(keys).because(Origin::at(process.place())));
    Ok(())
}

/// What has become of it in the end: a program that still runs is a service, and an exit code other than 0 an expectation.
fn expected(
    process: &Node,
    host: usize,
    index: usize,
    keys: &mut Map,
    topology: &mut Topology,
    expectations: &mut Vec<Value>,
) {
    let Some(state) = process.get("expected_final_state") else { return };
    if state.text() == Some("running") {
        keys.push(entry("service", Value::plain("true")));
        return;
    }
    unread(state, "expected_final_state.", &["signaled", "exited"], topology);
    let signal = state.word("signaled").and_then(|said| {
        let named = SIGNALS.iter().find(|(name, _)| *name == said).map(|(_, number)| *number);
        named.or_else(|| said.parse().ok()).map(|number| 128 + number.min(64))
    });
    let code = signal.or_else(|| state.word("exited").and_then(|said| said.parse::<u32>().ok()));
    let name = format!("{}-{index}", topology.nodes[host].name);
    match code {
        Some(0) => {}
        // Being stopped is no failure.
        Some(_) if process.get("shutdown_time").is_some() => {}
        Some(code) if name.len() <= LONGEST_NAME => {
            keys.push(entry("may_fail", Value::plain("true")));
            keys.push(entry("as", Value::text(name.clone())));
            let text = Value::text(format!("{name}.exit == {code}"));
            expectations.push(text.because(Origin::at(state.place())));
        }
        _ => {
            keys.push(entry("may_fail", Value::plain("true")));
            topology.notes.add(state.place(), "this `expected_final_state` is not read: the exit code does not matter");
        }
    }
}

/// A program with its arguments: a text if a shell reads it as it is, else a list.
fn command(path: &str, args: Option<&Node>) -> Read<Value> {
    let is_plain = |text: &str| text.chars().all(|letter| letter.is_alphanumeric() || "_-./:=,+@% ".contains(letter));
    let words = match args {
        None => Vec::new(),
        Some(list) if matches!(list.content, Content::List(_)) => {
            list.items().iter().filter_map(Node::text).map(str::to_owned).collect()
        }
        Some(line) => {
            let text = line.text().unwrap_or_default();
            if is_plain(text) && is_plain(path) && !path.contains([' ', '=']) {
                return Ok(Value::text(format!("{path} {}", text.trim()).trim()));
            }
            split(text).ok_or_else(|| line.place().wrong("a quotation mark in `args` has no second one"))?
        }
    };
    if words.is_empty() && is_plain(path) && !path.contains([' ', '=']) {
        return Ok(Value::text(path));
    }
    Ok(Value::list([path.to_owned()].into_iter().chain(words).map(Value::text)))
}

/// The words of a line, quoted as in a shell. None if a quotation mark has no second one.
fn split(line: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\'' => loop {
                let inner = word.get_or_insert_default();
                match letters.next()? {
                    '\'' => break,
                    other => inner.push(other),
                }
            },
            '"' => loop {
                let inner = word.get_or_insert_default();
                match letters.next()? {
                    '"' => break,
                    '\\' => {
                        let next = letters.next()?;
                        if !"\"\\$`".contains(next) {
                            inner.push('\\');
                        }
                        inner.push(next);
                    }
                    other => inner.push(other),
                }
            },
            '\\' => word.get_or_insert_default().push(letters.next()?),
            space if space.is_whitespace() => words.extend(word.take()),
            other => word.get_or_insert_default().push(other),
        }
    }
    words.extend(word);
    Some(words)
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn words_are_split_as_a_shell_does() {
        let of = |line: &str| split(line).map(|words| words.join("|"));
        assert_eq!(of("-s  server"), Some("-s|server".to_owned()));
        assert_eq!(of("--agent 'a b' \"c \\\" d\" e\\ f ''"), Some("--agent|a b|c \" d|e f|".to_owned()));
        assert_eq!(of(""), Some(String::new()));
        assert_eq!(of("'open"), None);
    }
}
