//! The interactive day: a lab that is there until it is taken down.

use crate::bed::{Bed, Finished, User};
use netloom_host::terminal::{Pty, WindowSize, open_pty, set_window_size};
use std::ffi::OsStr;
use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::process::Stdio;

const DAY: &str = "
bounds: {lateness: 100 s, rate: 100 %, delay: 100 %, starvation: 100 %, events: 100 s, starts: 100 s}
nodes: {a: {env: {COLOUR: red}}, r: {kind: router}, b: {}}
links:
  near: {ends: [a, r]}
  far: {ends: [r, b], rate: 10 Mbit/s, delay: 5 ms}
timeline:
  - {on: b, run: sleep 1000, as: service, service: true}
  - {at: 1 s, on: b, run: touch never}
";

#[test]
fn a_lab_is_brought_up_used_changed_and_taken_down() {
    for user in User::all() {
        let bed = Bed::new(user);
        bed.write("day.yaml", DAY);
        bed.netloom(&["up", "day.yaml"]).expect_code(0);
        assert!(bed.netloom(&["ps"]).expect_code(0).stdout.contains("day  "));
        programs_run_in_nodes(&bed);
        links_can_be_changed(&bed);
        let stats = bed.netloom(&["stats", "--once"]).expect_code(0);
        assert!(stats.stdout.contains("far r>b"), "{stats:#?}");
        bed.netloom(&["down"]).expect_code(0);
        assert!(!bed.work().join("never").exists(), "the rest of the timeline belongs to runs");
        bed.assert_nothing_is_left("day");
        assert!(bed.runtime_files().is_empty());
    }
}

fn programs_run_in_nodes(bed: &Bed) {
    let ping = bed.netloom(&["exec", "day", "a", "--", "ping", "-c", "1", "b"]).expect_code(0);
    assert!(ping.stdout.contains("1 received"), "{ping:#?}");
    let shell = bed
        .netloom(&["exec", "day", "a", "--", "sh", "-c", "echo $COLOUR $NETLOOM_NODE; pwd; exit 42"])
        .expect_code(42);
    assert_eq!(shell.stdout, format!("red a\n{}\n", bed.work().display()));
    bed.netloom(&["exec", "day", "a", "--", "sh", "-c", "kill -9 $$"]).expect_code(128 + 9);
    let absent = bed.netloom(&["exec", "day", "a", "--", "no-such-program"]).expect_code(4);
    assert!(absent.stderr.contains("program not found: no-such-program"), "{absent:#?}");
    let odd = bed.work().join(OsStr::from_bytes(b"caf\xe9"));
    std::fs::create_dir(&odd).unwrap();
    let mut elsewhere = bed.command(&["exec", "day", "a", "--", "pwd"]);
    let refused = Finished::of(&elsewhere.current_dir(&odd).output().unwrap()).expect_code(2);
    assert!(refused.stderr.contains("is not UTF-8"), "{refused:#?}");
    let services = bed.netloom(&["exec", "day", "b", "--", "ps", "-A", "-o", "args"]).expect_code(0);
    assert!(services.stdout.contains("sleep 1000"), "{services:#?}");
}

fn links_can_be_changed(bed: &Bed) {
    let round_trip_ms = || {
        let ping = bed.netloom(&["exec", "day", "a", "--", "ping", "-c", "3", "-i", "0.2", "b"]).expect_code(0);
        let least = ping.stdout.split("rtt min/avg/max/mdev = ").nth(1).unwrap().split('/').next().unwrap();
        least.parse::<f64>().unwrap()
    };
    // The least of three round trips: at least what is described, and less than half as much again.
    assert!((10.0..15.0).contains(&round_trip_ms()));
    bed.netloom(&["set", "day", "far", "delay=40 ms"]).expect_code(0);
    assert!((80.0..120.0).contains(&round_trip_ms()));
    bed.netloom(&["set", "day", "far.forward", "state=down"]).expect_code(0);
    bed.netloom(&["exec", "day", "a", "--", "ping", "-c", "1", "-W", "1", "b"]).expect_code(1);
    bed.netloom(&["set", "day", "far.forward", "state=up", "delay=5 ms"]).expect_code(0);
    let stats = bed.netloom(&["stats", "day", "--json", "--once"]).expect_code(0);
    let stats: serde_json::Value = serde_json::from_str(&stats.stdout).unwrap();
    let far = &stats["pipes"][2];
    assert_eq!((&far["link"], &far["direction"], &far["up"]), (&"far".into(), &"forward".into(), &true.into()));
    assert_eq!(far["delay_ns"], 5_000_000);
    assert!(far["dropped_down_packets"].as_u64().unwrap() >= 1);
}

#[test]
fn two_labs_of_one_file_do_not_see_each_other() {
    let bed = Bed::new(User::Own);
    bed.write("day.yaml", DAY);
    for name in ["one", "two"] {
        bed.netloom(&["up", "day.yaml", "-q", "--name", name]).expect_code(0);
    }
    let ambiguous = bed.netloom(&["down"]).expect_code(7);
    assert!(ambiguous.stderr.contains("several labs are up, name one: one, two"), "{ambiguous:#?}");
    bed.netloom(&["set", "one", "far", "state=down"]).expect_code(0);
    bed.netloom(&["exec", "one", "a", "--", "ping", "-c", "1", "-W", "1", "b"]).expect_code(1);
    bed.netloom(&["exec", "two", "a", "--", "ping", "-c", "1", "-W", "1", "b"]).expect_code(0);
    bed.netloom(&["down", "one"]).expect_code(0);
    bed.netloom(&["exec", "two", "a", "--", "ping", "-c", "1", "-W", "1", "b"]).expect_code(0);
    bed.netloom(&["down", "--all"]).expect_code(0);
    for name in ["one", "two"] {
        bed.assert_nothing_is_left(name);
    }
}

#[test]
fn what_is_typed_reaches_a_program_and_its_output_comes_back() {
    let bed = Bed::new(User::Own);
    bed.write("day.yaml", DAY);
    bed.netloom(&["up", "day.yaml", "-q"]).expect_code(0);
    let mut command = bed.command(&["exec", "day", "a", "--", "tr", "a-z", "A-Z"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"hello").unwrap();
    assert_eq!(child.wait_with_output().unwrap().stdout, b"HELLO");
    bed.netloom(&["down"]).expect_code(0);
}

/// Reads from a terminal until `wanted` appears.
fn read_until(terminal: &mut File, wanted: &str) -> String {
    let mut shown = String::new();
    let mut buffer = [0; 4096];
    while !shown.contains(wanted) {
        let length = terminal.read(&mut buffer).unwrap_or(0);
        assert!(length > 0, "the terminal was closed before it showed {wanted:?}: {shown}");
        shown.push_str(&String::from_utf8_lossy(&buffer[..length]));
    }
    shown
}

#[test]
fn a_shell_has_a_terminal_of_its_own_and_its_exit_code_comes_back() {
    for shell in ["/bin/sh", "/bin/bash"] {
        let bed = Bed::new(User::Own);
        bed.write("day.yaml", DAY);
        bed.netloom(&["up", "day.yaml", "-q"]).expect_code(0);
        let Pty { master, slave } = open_pty().unwrap();
        set_window_size(&master, WindowSize { rows: 33, columns: 111 }).unwrap();
        let mut command = bed.command(&["shell", "day", "a"]);
        command.env("SHELL", shell).stdin(slave.try_clone().unwrap()).stdout(slave.try_clone().unwrap()).stderr(slave);
        let mut child = command.spawn().unwrap();
        drop(command);
        let mut terminal = File::from(master);
        read_until(&mut terminal, "(a) ");
        terminal.write_all(b"echo size $(stty size)\r").unwrap();
        read_until(&mut terminal, "size 33 111");
        // Control-C goes to what runs in the shell, and to nothing else.
        terminal.write_all(b"sleep 1000\r").unwrap();
        std::thread::sleep(std::time::Duration::from_millis(300));
        terminal.write_all(b"\x03").unwrap();
        terminal.write_all(b"echo still $((40 + 2)) there\r").unwrap();
        read_until(&mut terminal, "still 42 there");
        terminal.write_all(b"exit 7\r").unwrap();
        read_until(&mut terminal, "exit 7");
        assert_eq!(child.wait().unwrap().code(), Some(7));
        bed.netloom(&["down"]).expect_code(0);
        bed.assert_nothing_is_left("day");
    }
}

/// More than any buffer on the way holds, to a program that gives back what it reads.
#[test]
fn a_long_paste_into_a_terminal_comes_back() {
    const LINES: usize = 4_000;
    let bed = Bed::new(User::Own);
    bed.write("day.yaml", DAY);
    bed.netloom(&["up", "day.yaml", "-q"]).expect_code(0);
    let Pty { master, slave } = open_pty().unwrap();
    let mut command = bed.command(&["exec", "day", "a", "--", "sh", "-c", "stty raw -echo; echo ready; exec cat"]);
    command.stdin(slave.try_clone().unwrap()).stdout(slave.try_clone().unwrap()).stderr(slave);
    let mut child = command.spawn().unwrap();
    drop(command);
    let mut terminal = File::from(master);
    read_until(&mut terminal, "ready");
    let mut keyboard = terminal.try_clone().unwrap();
    let typing = std::thread::spawn(move || {
        (0..LINES).for_each(|line| writeln!(keyboard, "line {line}").unwrap());
    });
    let shown = read_until(&mut terminal, &format!("line {}\n", LINES - 1));
    typing.join().unwrap();
    assert!((0..LINES).all(|line| shown.contains(&format!("line {line}\n"))));
    child.kill().unwrap();
    child.wait().unwrap();
    bed.netloom(&["down"]).expect_code(0);
    bed.assert_nothing_is_left("day");
}

#[test]
fn a_lab_that_does_not_answer_is_seen_and_ended() {
    let bed = Bed::new(User::Own);
    bed.write("day.yaml", DAY);
    bed.netloom(&["up", "day.yaml", "-q"]).expect_code(0);
    let state = std::fs::read_to_string(bed.path().join("runtime/netloom/day/lab.json")).unwrap();
    let state: serde_json::Value = serde_json::from_str(&state).unwrap();
    let lab = i32::try_from(state["lab_pid"].as_i64().unwrap()).unwrap();
    nix::sys::signal::kill(nix::unistd::Pid::from_raw(lab), nix::sys::signal::Signal::SIGSTOP).unwrap();
    let listed = bed.netloom(&["ps"]).expect_code(0);
    assert!(listed.stdout.contains("day  does not answer"), "{listed:#?}");
    let json = bed.netloom(&["ps", "--json"]).expect_code(0);
    let json: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!((&json[0]["name"], &json[0]["answers"]), (&"day".into(), &false.into()));
    let ended = bed.netloom(&["down"]).expect_code(8);
    assert!(ended.stderr.contains("did not answer and was killed"), "{ended:#?}");
    assert_eq!(bed.json("day", "report.json")["exit_code"], 8);
    bed.assert_nothing_is_left("day");
    assert!(bed.runtime_files().is_empty());
}

#[test]
fn a_program_is_stopped_when_its_caller_is_killed() {
    let bed = Bed::new(User::Own);
    bed.write("day.yaml", DAY);
    bed.netloom(&["up", "day.yaml", "-q"]).expect_code(0);
    let mut caller = bed.command(&["exec", "day", "a", "--", "sleep", "1234"]).spawn().unwrap();
    let runs = || bed.netloom(&["exec", "day", "a", "--", "pgrep", "-f", "sleep 1234"]).code == Some(0);
    while !runs() {}
    caller.kill().unwrap();
    caller.wait().unwrap();
    let begun = std::time::Instant::now();
    while runs() {
        assert!(begun.elapsed() < std::time::Duration::from_secs(100), "it still runs");
    }
    bed.netloom(&["down"]).expect_code(0);
}
