//! The interactive day: a lab that is there until it is taken down.

use crate::fixture::{Finished, Fixture, User, child_named};
use crate::wait::wait_until;
use netloom_host::terminal::{Pty, WindowSize, open_pty, set_window_size};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::process::Stdio;
use std::time::Duration;

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
    for user in User::some() {
        let fixture = Fixture::new(user);
        fixture.write("day.yaml", DAY);
        fixture.netloom(&["up", "day.yaml"]).expect_code(0);
        assert!(fixture.netloom(&["ps"]).expect_code(0).stdout.contains("day  "));
        programs_run_in_nodes(&fixture);
        links_can_be_changed(&fixture);
        let stats = fixture.netloom(&["stats", "--once"]).expect_code(0);
        assert!(stats.stdout.contains("far r>b"), "{stats:#?}");
        fixture.netloom(&["down"]).expect_code(0);
        assert!(!fixture.work().join("never").exists(), "the rest of the timeline belongs to runs");
        fixture.assert_nothing_is_left("day");
        assert!(fixture.runtime_files().is_empty());
    }
}

fn programs_run_in_nodes(fixture: &Fixture) {
    let ping = fixture.netloom(&["exec", "day", "a", "--", "ping", "-c", "1", "b"]).expect_code(0);
    assert!(ping.stdout.contains("1 received"), "{ping:#?}");
    let shell = fixture
        .netloom(&["exec", "day", "a", "--", "sh", "-c", "echo $COLOUR $NETLOOM_NODE; pwd; exit 42"])
        .expect_code(42);
    assert_eq!(shell.stdout, format!("red a\n{}\n", fixture.work().display()));
    fixture.netloom(&["exec", "day", "a", "--", "sh", "-c", "kill -9 $$"]).expect_code(128 + 9);
    let absent = fixture.netloom(&["exec", "day", "a", "--", "no-such-program"]).expect_code(4);
    assert!(absent.stderr.contains("program not found: no-such-program"), "{absent:#?}");
    let all = fixture
        .netloom(&["exec", "day", "--all", "--", "sh", "-c", "echo on $NETLOOM_NODE; test $NETLOOM_NODE != b"])
        .expect_code(1);
    for node in ["a", "b", "r"] {
        assert!(all.stdout.contains(&format!("{node} | on {node}\n")), "{all:#?}");
    }
    assert!(all.stderr.contains("exit code 1 on b"), "{all:#?}");
    let some = fixture.netloom(&["exec", "day", "[!b]?*", "--", "true"]).expect_code(2);
    assert!(some.stderr.contains("no node has a name like") && some.stderr.contains("a, r, b"), "{some:#?}");
    assert_eq!(fixture.netloom(&["complete", "--", "exec", "day", ""]).expect_code(0).stdout, "a\nr\nb\n");
    assert_eq!(fixture.netloom(&["complete", "--", "set", "day", "f"]).expect_code(0).stdout, "far\n");
    assert_eq!(fixture.netloom(&["complete", "--", "down", "d"]).expect_code(0).stdout, "day\n");
    let odd = fixture.work().join(OsStr::from_bytes(b"caf\xe9"));
    std::fs::create_dir(&odd).unwrap();
    let mut elsewhere = fixture.command(&["exec", "day", "a", "--", "pwd"]);
    let refused = Finished::of(&elsewhere.current_dir(&odd).output().unwrap()).expect_code(2);
    assert!(refused.stderr.contains("is not UTF-8"), "{refused:#?}");
    let services = fixture.netloom(&["exec", "day", "b", "--", "ps", "-A", "-o", "args"]).expect_code(0);
    assert!(services.stdout.contains("sleep 1000"), "{services:#?}");
}

fn links_can_be_changed(fixture: &Fixture) {
    let round_trip_ms = || {
        let ping = fixture.netloom(&["exec", "day", "a", "--", "ping", "-c", "10", "-i", "0.1", "b"]).expect_code(0);
        let least = ping.stdout.split("rtt min/avg/max/mdev = ").nth(1).unwrap().split('/').next().unwrap();
        least.parse::<f64>().unwrap()
    };
    // The least of ten round trips: at least what is described, and not twice as long on a machine that others share.
    assert!((10.0..20.0).contains(&round_trip_ms()));
    fixture.netloom(&["set", "day", "far", "delay=40 ms"]).expect_code(0);
    assert!((80.0..160.0).contains(&round_trip_ms()));
    fixture.netloom(&["set", "day", "far.forward", "state=down"]).expect_code(0);
    fixture.netloom(&["exec", "day", "a", "--", "ping", "-c", "1", "-W", "1", "b"]).expect_code(1);
    fixture.netloom(&["set", "day", "far.forward", "state=up", "delay=5 ms"]).expect_code(0);
    let stats = fixture.netloom(&["stats", "day", "--json", "--once"]).expect_code(0);
    let stats: serde_json::Value = serde_json::from_str(&stats.stdout).unwrap();
    let far = &stats["pipes"][2];
    assert_eq!((&far["link"], &far["direction"], &far["up"]), (&"far".into(), &"forward".into(), &true.into()));
    assert_eq!(far["delay_ns"], 5_000_000);
    assert!(far["dropped_down_packets"].as_u64().unwrap() >= 1);
}

#[test]
fn two_labs_of_one_file_do_not_see_each_other() {
    let fixture = Fixture::new(User::Own);
    fixture.write("day.yaml", DAY);
    for name in ["one", "two"] {
        fixture.netloom(&["up", "day.yaml", "-q", "--name", name]).expect_code(0);
    }
    let ambiguous = fixture.netloom(&["down"]).expect_code(7);
    assert!(ambiguous.stderr.contains("several labs are up, name one: one, two"), "{ambiguous:#?}");
    fixture.netloom(&["set", "one", "far", "state=down"]).expect_code(0);
    fixture.netloom(&["exec", "one", "a", "--", "ping", "-c", "1", "-W", "1", "b"]).expect_code(1);
    fixture.netloom(&["exec", "two", "a", "--", "ping", "-c", "1", "-W", "1", "b"]).expect_code(0);
    fixture.netloom(&["down", "one"]).expect_code(0);
    fixture.netloom(&["exec", "two", "a", "--", "ping", "-c", "1", "-W", "1", "b"]).expect_code(0);
    fixture.netloom(&["down", "--all"]).expect_code(0);
    for name in ["one", "two"] {
        fixture.assert_nothing_is_left(name);
    }
}

#[test]
fn what_is_typed_reaches_a_program_and_its_output_comes_back() {
    let fixture = Fixture::new(User::Own);
    fixture.write("day.yaml", DAY);
    fixture.netloom(&["up", "day.yaml", "-q"]).expect_code(0);
    let mut command = fixture.command(&["exec", "day", "a", "--", "tr", "a-z", "A-Z"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"hello").unwrap();
    assert_eq!(child.wait_with_output().unwrap().stdout, b"HELLO");
    fixture.netloom(&["down"]).expect_code(0);
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
        let fixture = Fixture::new(User::Own);
        fixture.write("day.yaml", DAY);
        fixture.netloom(&["up", "day.yaml", "-q"]).expect_code(0);
        let Pty { master, slave } = open_pty().unwrap();
        set_window_size(&master, WindowSize { rows: 33, columns: 111 }).unwrap();
        let mut command = fixture.command(&["shell", "day", "a"]);
        command.env("SHELL", shell).stdin(slave.try_clone().unwrap()).stdout(slave.try_clone().unwrap()).stderr(slave);
        let mut child = command.spawn().unwrap();
        drop(command);
        let mut terminal = File::from(master);
        read_until(&mut terminal, "(a) ");
        terminal.write_all(b"echo size $(stty size)\r").unwrap();
        read_until(&mut terminal, "size 33 111");
        // Control-C goes to what runs in the shell, and to nothing else.
        terminal.write_all(b"sleep 1000\r").unwrap();
        std::thread::sleep(Duration::from_millis(300));
        terminal.write_all(b"\x03").unwrap();
        terminal.write_all(b"echo still $((40 + 2)) there\r").unwrap();
        read_until(&mut terminal, "still 42 there");
        terminal.write_all(b"exit 7\r").unwrap();
        read_until(&mut terminal, "exit 7");
        assert_eq!(child.wait().unwrap().code(), Some(7));
        fixture.netloom(&["down"]).expect_code(0);
        fixture.assert_nothing_is_left("day");
    }
}

/// More than any buffer on the way holds, to a program that gives back what it reads.
#[test]
fn a_long_paste_into_a_terminal_comes_back() {
    const LINES: usize = 4_000;
    let fixture = Fixture::new(User::Own);
    fixture.write("day.yaml", DAY);
    fixture.netloom(&["up", "day.yaml", "-q"]).expect_code(0);
    let Pty { master, slave } = open_pty().unwrap();
    let mut command = fixture.command(&["exec", "day", "a", "--", "sh", "-c", "stty raw -echo; echo ready; exec cat"]);
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
    fixture.netloom(&["down"]).expect_code(0);
    fixture.assert_nothing_is_left("day");
}

/// The pid of a lab's process, once there is one, and whether it is to be waited for.
fn lab_pid(fixture: &Fixture, lab: &str) -> Pid {
    let path = fixture.path().join(format!("runtime/netloom/{lab}/lab.json"));
    for _ in 0..100_000 {
        let state = std::fs::read_to_string(&path).ok().and_then(|text| serde_json::from_str(&text).ok());
        if let Some(pid) = state.and_then(|state: serde_json::Value| state["lab_pid"].as_i64()) {
            return Pid::from_raw(i32::try_from(pid).unwrap());
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    panic!("lab {lab} has no process");
}

/// What `netloom ps` prints when that contains `text`.
fn listed_as(fixture: &Fixture, text: &str) {
    let mut listed = fixture.netloom(&["ps"]).expect_code(0);
    for _ in 0..100 {
        if listed.stdout.contains(text) {
            return;
        }
        std::thread::sleep(Duration::from_millis(500));
        listed = fixture.netloom(&["ps"]).expect_code(0);
    }
    panic!("{text}: {listed:#?}");
}

#[test]
fn a_lab_whose_up_is_killed_while_it_is_made_says_so_and_goes() {
    let fixture = Fixture::new(User::Own);
    let nodes: Vec<String> = (0..150).map(|node| format!("n{node}")).collect();
    fixture
        .write("slow.yaml", &format!("name: slow\nnodes: [{}]\nlinks: {{l: {{ends: [n0, n1]}}}}\n", nodes.join(", ")));
    let mut up = fixture.command(&["up", "slow.yaml", "-q"]).stderr(Stdio::null()).spawn().unwrap();
    let lab = lab_pid(&fixture, "slow");
    kill(lab, Signal::SIGSTOP).unwrap();
    listed_as(&fixture, "slow  is starting");
    let refused = fixture.netloom(&["exec", "slow", "n0", "--", "true"]);
    assert!(refused.stderr.contains("still starting"), "{refused:#?}");
    up.kill().unwrap();
    up.wait().unwrap();
    listed_as(&fixture, "slow  is ending");
    let json = fixture.netloom(&["ps", "--json"]).expect_code(0);
    let json: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!((&json[0]["answers"], &json[0]["state"]), (&false.into(), &"ending".into()));
    kill(lab, Signal::SIGCONT).unwrap();
    fixture.assert_nothing_is_left("slow");
}

/// Guard and lab are killed at once: their watcher removes what they left, and where it is killed, too, the next command does and says so.
#[test]
fn what_a_killed_lab_left_is_removed() {
    let fixture = Fixture::new(User::Own);
    fixture.write("day.yaml", DAY);
    for is_watched in [true, false] {
        fixture.netloom(&["up", "day.yaml", "-q"]).expect_code(0);
        let lab = lab_pid(&fixture, "day");
        let json: serde_json::Value = serde_json::from_str(&fixture.netloom(&["ps", "--json"]).stdout).unwrap();
        let guard = Pid::from_raw(i32::try_from(json[0]["pid"].as_i64().unwrap()).unwrap());
        let watcher = Pid::from_raw(child_named(guard.as_raw(), "netloom-watcher"));
        // Stopped, it cannot clean up behind its guard.
        kill(lab, Signal::SIGSTOP).unwrap();
        if !is_watched {
            kill(watcher, Signal::SIGKILL).unwrap();
        }
        kill(guard, Signal::SIGKILL).unwrap();
        kill(lab, Signal::SIGKILL).unwrap();
        let told = "lab `day` was killed; what it had left behind is removed now";
        let gone = (0..1_000).any(|_| {
            std::thread::sleep(Duration::from_millis(50));
            if is_watched {
                std::fs::read_link(format!("/proc/{watcher}/exe")).is_err()
            } else {
                fixture.netloom(&["ps"]).stderr.contains(told)
            }
        });
        assert!(gone);
        assert!(!fixture.netloom(&["ps"]).expect_code(0).stderr.contains(told));
        fixture.assert_nothing_is_left("day");
    }
}

#[test]
fn a_client_that_is_killed_lets_go_of_its_streams_while_time_is_paused() {
    let fixture = Fixture::with_kernel(User::Own);
    fixture.write("held.yaml", "name: held\nclock: virtual\nnodes: [a, b]\nlinks: {l: {ends: [a, b]}}\n");
    fixture.netloom(&["up", "held.yaml", "-q"]).expect_code(0);
    let mut command = fixture.command(&["exec", "held", "a", "--", "sleep", "1000"]);
    let mut client = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut output = client.stdout.take().unwrap();
    let pipe = std::fs::read_link(format!("/proc/self/fd/{}", output.as_raw_fd())).unwrap();
    let of_lab = format!("/proc/{}/fd", lab_pid(&fixture, "held"));
    let is_held = || {
        std::fs::read_dir(&of_lab).unwrap().flatten().any(|fd| std::fs::read_link(fd.path()).is_ok_and(|to| to == pipe))
    };
    wait_until("the program", is_held);
    client.kill().unwrap();
    client.wait().unwrap();
    let (told, ended) = std::sync::mpsc::channel();
    std::thread::spawn(move || told.send(output.read_to_end(&mut Vec::new()).is_ok()));
    assert_eq!(ended.recv_timeout(Duration::from_secs(50)), Ok(true), "the lab holds the client's output");
    fixture.netloom(&["down", "held"]).expect_code(0);
    fixture.assert_nothing_is_left("held");
}

#[test]
fn a_lab_that_does_not_answer_is_seen_and_ended() {
    let fixture = Fixture::new(User::Own);
    fixture.write("day.yaml", DAY);
    fixture.netloom(&["up", "day.yaml", "-q"]).expect_code(0);
    let state = std::fs::read_to_string(fixture.path().join("runtime/netloom/day/lab.json")).unwrap();
    let state: serde_json::Value = serde_json::from_str(&state).unwrap();
    let lab = i32::try_from(state["lab_pid"].as_i64().unwrap()).unwrap();
    kill(Pid::from_raw(lab), Signal::SIGSTOP).unwrap();
    let listed = fixture.netloom(&["ps"]).expect_code(0);
    assert!(listed.stdout.contains("day  does not answer"), "{listed:#?}");
    let json = fixture.netloom(&["ps", "--json"]).expect_code(0);
    let json: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!((&json[0]["name"], &json[0]["answers"]), (&"day".into(), &false.into()));
    let ended = fixture.netloom(&["down"]).expect_code(8);
    assert!(ended.stderr.contains("did not answer and was killed"), "{ended:#?}");
    assert_eq!(fixture.json("day", "report.json")["exit_code"], 8);
    fixture.assert_nothing_is_left("day");
    assert!(fixture.runtime_files().is_empty());
}

#[test]
fn a_program_is_stopped_when_its_caller_is_killed() {
    let fixture = Fixture::new(User::Own);
    fixture.write("day.yaml", DAY);
    fixture.netloom(&["up", "day.yaml", "-q"]).expect_code(0);
    let mut caller = fixture.command(&["exec", "day", "a", "--", "sleep", "1234"]).spawn().unwrap();
    let runs = || fixture.netloom(&["exec", "day", "a", "--", "pgrep", "-f", "sleep 1234"]).code == Some(0);
    wait_until("the program", runs);
    caller.kill().unwrap();
    caller.wait().unwrap();
    wait_until("the end of the program", || !runs());
    fixture.netloom(&["down"]).expect_code(0);
}

/// Nodes of a lab that is up stop and start, by name and by pattern; what makes no sense is refused, and nothing is left behind.
#[test]
fn nodes_stop_and_start() {
    for user in User::some() {
        let fixture = Fixture::new(user).among_others();
        let lab = "
name: halt
nodes: {a: {}, b1: {setup: ['test ! -e spoilt']}, b2: {}, s: {kind: switch}}
links: {l1: {ends: [a, s], delay: 1 ms}, l2: {ends: [b1, s]}, l3: {ends: [b2, s]}, m: {ends: [{node: a, address: 10.5.0.1/30}, {node: b2, address: 10.5.0.2/30}], bypass: true}}
timeline:
  - {on: b1, run: sleep 1000, service: true}
";
        fixture.write("lab.yaml", lab);
        fixture.netloom(&["up", "lab.yaml"]).expect_code(0);
        let pings = |node: &str, code: i32| {
            fixture
                .netloom(&[
                    "exec",
                    "halt",
                    "a",
                    "--",
                    "ping",
                    "-c",
                    "1",
                    "-W",
                    if code == 0 { "20" } else { "1" },
                    node,
                ])
                .expect_code(code)
        };
        pings("b1", 0);
        pings("10.5.0.2", 0);
        fixture.netloom(&["stop", "halt", "b*"]).expect_code(0);
        let said = fixture.netloom(&["ps"]).expect_code(0).stdout;
        assert!(said.contains("4, 2 stopped"), "{said}");
        pings("b1", 1);
        pings("10.5.0.2", 1);
        let refused = |arguments: &[&str], code: i32, why: &str| {
            let told = fixture.netloom(arguments).expect_code(code).stderr;
            assert!(told.contains(why), "{arguments:?}: {told}");
        };
        refused(&["stop", "halt", "b1"], 2, "has stopped already");
        refused(&["start", "halt", "a"], 2, "node `a` runs");
        refused(&["start", "halt", "nobody"], 7, "no node is called `nobody`");
        refused(&["stop", "halt", "x*"], 2, "no node with a name like `x*` runs");
        refused(&["exec", "halt", "b1", "--", "true"], 2, "netloom start halt b1");
        // Whoever restores its link meanwhile does not reach it.
        fixture.netloom(&["set", "halt", "l2", "up=true"]).expect_code(0);
        pings("b1", 1);
        fixture.netloom(&["start", "halt", "b1", "b2"]).expect_code(0);
        pings("b1", 0);
        pings("10.5.0.2", 0);
        // What fails when a node starts is reported; the node and the lab go on.
        let spoilt = fixture.write("spoilt", "");
        fixture.netloom(&["stop", "halt", "b1"]).expect_code(0);
        refused(&["start", "halt", "b1"], 1, "node `b1` runs, but not all that starts with it: ");
        pings("b1", 0);
        std::fs::remove_file(spoilt).unwrap();
        fixture.netloom(&["stop", "halt", "b1"]).expect_code(0);
        fixture.netloom(&["start", "halt", "b1"]).expect_code(0);
        // A switch stops, too.
        fixture.netloom(&["stop", "halt", "s"]).expect_code(0);
        pings("b1", 1);
        fixture.netloom(&["start", "halt", "s"]).expect_code(0);
        pings("b1", 0);
        fixture.netloom(&["stop", "halt", "b1"]).expect_code(0);
        fixture.netloom(&["down", "halt"]).expect_end();
        fixture.assert_nothing_is_left("halt");
    }
}

/// A service of a lab that is up ends and starts again, by its name and by its node's; and the verdict says how the network is meanwhile.
#[test]
fn services_start_again_and_the_verdict_is_told_while_it_forms() {
    for user in User::some() {
        let fixture = Fixture::new(user);
        fixture.write("serve.sh", "echo $$ >> started; exec python3 -m http.server 7000\n");
        let lab = "
name: again
nodes: {a: {}, b: {}}
links: {wire: {ends: [a, b], rate: 10 Mbit/s, delay: 5 ms}}
timeline:
  - {on: b, run: sh serve.sh, service: true, ready: {tcp: 7000}, as: web}
";
        fixture.write("lab.yaml", lab);
        fixture.netloom(&["up", "lab.yaml"]).expect_code(0);
        let started = || std::fs::read_to_string(fixture.work().join("started")).unwrap_or_default().lines().count();
        for (name, wanted) in [("web", 2), ("b", 3)] {
            fixture.netloom(&["restart", "again", name]).expect_code(0);
            wait_until("another start", || started() >= wanted);
        }
        let refused = fixture.netloom(&["restart", "again", "wen"]).expect_code(7);
        assert!(refused.stderr.contains("wen"), "{refused:#?}");
        fixture.netloom(&["exec", "again", "a", "--", "ping", "-c", "3", "-i", "0.1", "b"]).expect_code(0);
        let said = fixture.netloom(&["verdict", "again", "--json"]).expect_code(0).stdout;
        let verdict: serde_json::Value = serde_json::from_str(&said).unwrap();
        assert!(verdict["verdict"]["as_described"].is_boolean(), "{said}");
        let pipes = verdict["pipes"].as_array().unwrap();
        assert!(pipes.len() == 2 && pipes.iter().all(|pipe| pipe["packets"].as_u64() >= Some(3)), "{said}");
        fixture.netloom(&["down", "again"]).expect_end();
        fixture.assert_nothing_is_left("again");
    }
}
