use super::*;
use crate::ReadError;
use std::io::Write;

/// A results folder of a lab with two commands, of which nothing has been started.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let row = |number: usize, name: &str, node: &str| {
        let log = |stream: &str| format!("logs/{number:02}-{node}-{name}.{stream}").into();
        CommandRow {
            name: name.into(),
            node: node.into(),
            command: name.into(),
            line: 0,
            service: false,
            start_ns: None,
            start_lateness_ns: None,
            end_ns: None,
            exit_code: None,
            signal: None,
            stopped: false,
            restarts: 0,
            interrupted: false,
            kept_by: None,
            node_stopped: false,
            failed: false,
            stdout: log("stdout"),
            stderr: log("stderr"),
            stderr_tail: Vec::new(),
        }
    };
    let rows = [row(1, "ping", "a"), row(2, "sink", "b")];
    fs::create_dir(folder.path().join("logs")).unwrap();
    fs::write(folder.path().join(COMMANDS), serde_json::to_vec(&rows).unwrap()).unwrap();
    folder
}

fn append(folder: &tempfile::TempDir, log: &str, text: &[u8]) {
    let path = folder.path().join("logs").join(log);
    File::options().create(true).append(true).open(path).unwrap().write_all(text).unwrap();
}

fn text_of(line: &LogLine<'_>) -> String {
    let mark = if line.stream == Stream::Stderr { '!' } else { '|' };
    format!("{} {} {mark} {}", line.command, line.node, String::from_utf8_lossy(line.text))
}

fn news(logs: &mut Logs) -> Vec<String> {
    let mut lines = Vec::new();
    assert!(
        logs.read(&mut |line| {
            lines.push(text_of(line));
            true
        })
        .unwrap()
    );
    lines
}

#[test]
fn lines_are_passed_on_once_and_when_they_are_whole() {
    let folder = folder();
    let mut logs = Logs::in_folder(folder.path()).unwrap();
    assert!(news(&mut logs).is_empty(), "nothing has been started");
    append(&folder, "01-a-ping.stdout", b"one\ntw");
    append(&folder, "02-b-sink.stderr", b"\xffnot text\n\n");
    assert_eq!(news(&mut logs), ["ping a | one", "sink b ! \u{fffd}not text", "sink b ! "]);
    append(&folder, "01-a-ping.stdout", b"o\nthree");
    assert_eq!(news(&mut logs), ["ping a | two"]);
    let mut rest = Vec::new();
    logs.finish(&mut |line| {
        rest.push(text_of(line));
        true
    });
    assert_eq!(rest, ["ping a | three"]);
    append(&folder, "01-a-ping.stdout", b" and a half");
    assert!(news(&mut logs).is_empty());
    fs::write(folder.path().join("logs/01-a-ping.stdout"), "new\n").unwrap();
    assert_eq!(news(&mut logs), ["ping a | new"], "somebody has emptied it");
}

#[test]
fn commands_and_nodes_are_chosen_by_name() {
    let folder = folder();
    append(&folder, "01-a-ping.stdout", b"one\n");
    append(&folder, "02-b-sink.stdout", b"two\n");
    append(&folder, "02-b-sink.stderr", b"three\n");
    let chosen = |names: &[&str]| {
        let mut logs = Logs::in_folder(folder.path()).unwrap();
        let names: Vec<String> = names.iter().map(ToString::to_string).collect();
        logs.select(&names)?;
        Ok::<_, ReadError>(news(&mut logs))
    };
    assert_eq!(chosen(&[]).unwrap().len(), 3);
    assert_eq!(chosen(&["ping"]).unwrap(), ["ping a | one"]);
    assert_eq!(chosen(&["b"]).unwrap(), ["sink b | two", "sink b ! three"]);
    assert_eq!(chosen(&["b", "ping"]).unwrap().len(), 3);
    let error = chosen(&["ping", "pong"]).unwrap_err();
    assert!(error.to_string().contains("`pong`: there are ping on a, sink on b"), "{error}");
    let mut logs = Logs::in_folder(folder.path()).unwrap();
    logs.only(Stream::Stderr);
    assert_eq!(news(&mut logs), ["sink b ! three"]);
}

#[test]
fn the_last_lines_are_found_from_the_end() {
    let folder = folder();
    let last = |lines| {
        let mut logs = Logs::in_folder(folder.path()).unwrap();
        logs.skip_to_last(lines).unwrap();
        news(&mut logs)
    };
    assert!(last(3).is_empty());
    append(&folder, "01-a-ping.stdout", format!("{}\nlast\n", "x".repeat(2 * BLOCK)).as_bytes());
    assert_eq!(last(1), ["ping a | last"]);
    assert!(last(0).is_empty());
    assert_eq!(last(2), last(99));
    let long = last(2);
    assert_eq!((long.len(), long[2].as_str()), (3, "ping a | last"), "a long line comes in parts");
}

#[test]
fn a_reader_that_has_had_enough_gets_no_more() {
    let folder = folder();
    append(&folder, "01-a-ping.stdout", &b"line\n".repeat(100_000));
    let mut logs = Logs::in_folder(folder.path()).unwrap();
    let mut count = 0;
    assert!(
        !logs
            .read(&mut |_| {
                count += 1;
                count < 3
            })
            .unwrap()
    );
    assert_eq!(count, 3);
}

#[test]
fn what_is_no_results_folder_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let error = Logs::in_folder(folder.path()).unwrap_err();
    assert!(matches!(error, ReadError::NoResults { .. }), "{error:?}");
    assert!(error.to_string().contains("is not a results folder"), "{error}");
    fs::write(folder.path().join(COMMANDS), "nonsense").unwrap();
    assert!(Logs::in_folder(folder.path()).is_err());
}
