use std::fs::File;
use std::io::{Read, Seek, Write};
use std::os::fd::AsFd;
use std::os::unix::process::ExitStatusExt;
use std::time::Duration;

use netloom_guest::node::KernelNode;
use netloom_host::node::{AgentClient, NodeEvent, Spawn, SpawnError, Transport};
use netloom_host::terminal::{WindowSize, open_pty, set_window_size};
use nix::poll::{PollFd, PollFlags, poll};

use crate::fixture::{event, exit_of, ok, output, quiet, sh, with_node};

pub(crate) fn exit_codes_and_signals_are_told() {
    with_node(|node| {
        assert_eq!(sh(node, "exit 7").0.code(), Some(7));
        assert_eq!(sh(node, "kill -USR1 $$").0.signal(), Some(libc::SIGUSR1));
        for signal in [libc::SIGTERM, libc::SIGKILL] {
            let process = node.spawn(quiet(&["sleep", "1000"])).unwrap();
            node.signal(process, signal).unwrap();
            assert_eq!(exit_of(node, process).signal(), Some(signal));
            node.signal(process, signal).expect("one that has ended needs no signal");
        }
        let ended = node_process(node);
        assert!(node.signal(ended, 4711).unwrap_err().to_string().contains("send signal 4711"));
        let error = node.spawn(quiet(&["no-such-program", "-x"])).unwrap_err();
        assert!(matches!(error, SpawnError::NoProgram { .. }), "{error}");
        let lost = Spawn { cwd: Some("/no/such/folder".into()), ..quiet(&["true"]) };
        assert_eq!(node.spawn(lost).unwrap_err().to_string(), "node a: no such directory: /no/such/folder");
        let env = vec![("COLOUR".into(), "red".into())];
        let (_, text) = output(
            node,
            Spawn { env, cwd: Some("/usr".into()), ..quiet(&["sh", "-c", "echo $COLOUR $NETLOOM_NODE; pwd"]) },
        );
        assert_eq!(text, b"red a\n/usr\n");
    });
}

fn node_process(node: &mut KernelNode) -> netloom_host::node::ProcessId {
    let process = node.spawn(quiet(&["true"])).unwrap();
    exit_of(node, process);
    process
}

pub(crate) fn all_output_comes_and_in_order() {
    with_node(|node| {
        assert_eq!(sh(node, "echo out; echo err >&2; echo out").1, "out\nerr\nout");
        let (status, bytes) = output(node, quiet(&["seq", "1", "1000000"]));
        assert!(status.success());
        let expected: String = (1..=1_000_000).map(|number| format!("{number}\n")).collect();
        assert!(bytes == expected.as_bytes(), "{} bytes instead of {}", bytes.len(), expected.len());
        // What a program leaves behind writes on.
        let (mut reader, writer) = std::io::pipe().unwrap();
        let spawn = Spawn { stdout: writer.into(), ..quiet(&["sh", "-c", "(sleep 0.3; echo later) & echo now"]) };
        let process = node.spawn(spawn).unwrap();
        exit_of(node, process);
        assert_eq!(node.next_event(), None);
        ok(node, "sleep 0.6");
        let mut text = String::new();
        reader.read_to_string(&mut text).unwrap();
        assert_eq!(text, "now\nlater\n");
    });
}

pub(crate) fn a_reader_that_has_gone_ends_the_writer() {
    with_node(|node| {
        let (reader, writer) = std::io::pipe().unwrap();
        let process = node.spawn(Spawn { stdout: writer.into(), ..quiet(&["yes"]) }).unwrap();
        drop(reader);
        assert_eq!(exit_of(node, process).signal(), Some(libc::SIGPIPE));
    });
}

/// Nobody reads: the program waits, other programs do not, and it can be killed.
pub(crate) fn a_reader_that_does_not_read_holds_up_nobody_else() {
    with_node(|node| {
        let (reader, writer) = std::io::pipe().unwrap();
        let process = node.spawn(Spawn { stdout: writer.into(), ..quiet(&["yes"]) }).unwrap();
        assert_eq!(ok(node, "sleep 0.5; echo fine"), "fine");
        node.signal(process, libc::SIGKILL).unwrap();
        assert_eq!(exit_of(node, process).signal(), Some(libc::SIGKILL));
        drop(reader);
    });
}

pub(crate) fn input_of_any_length_is_read() {
    with_node(|node| {
        let mut file = tempfile::tempfile().unwrap();
        let text: String = (0..300_000).map(|number| format!("{number}\n")).collect();
        file.write_all(text.as_bytes()).unwrap();
        file.rewind().unwrap();
        let (status, bytes) = output(node, Spawn { stdin: file.into(), ..quiet(&["cat"]) });
        assert!(status.success() && bytes == text.as_bytes(), "{} bytes", bytes.len());
        let (reader, mut writer) = std::io::pipe().unwrap();
        let feeder = std::thread::spawn(move || writer.write_all(text.as_bytes()).map(|()| text.len()));
        let (_, count) = output(node, Spawn { stdin: reader.into(), ..quiet(&["wc", "-c"]) });
        assert_eq!(String::from_utf8(count).unwrap().trim(), feeder.join().unwrap().unwrap().to_string());
        // A program that reads none of it.
        let (silent, _writer) = std::io::pipe().unwrap();
        assert!(output(node, Spawn { stdin: silent.into(), ..quiet(&["true"]) }).0.success());
    });
}

pub(crate) fn a_terminal_is_one() {
    with_node(|node| {
        let pty = open_pty().unwrap();
        set_window_size(&pty.master, WindowSize { rows: 30, columns: 90 }).unwrap();
        let copy = || pty.slave.try_clone().unwrap();
        let script = "tty -s && stty size; read line; echo got $line; stty size; exec sleep 1000";
        let spawn = Spawn { stdin: copy(), stdout: copy(), stderr: copy(), tty: true, ..quiet(&["sh", "-c", script]) };
        let process = node.spawn(spawn).unwrap();
        let mut keyboard = File::from(pty.master.try_clone().unwrap());
        let mut master = File::from(pty.master);
        read_until(node, &mut master, "30 90\r\n");
        set_window_size(&pty.slave, WindowSize { rows: 50, columns: 100 }).unwrap();
        keyboard.write_all(b"hello\n").unwrap();
        read_until(node, &mut master, "got hello\r\n50 100\r\n");
        // Control-C, which only the guest's terminal understands.
        keyboard.write_all(b"\x03").unwrap();
        assert_eq!(exit_of(node, process).signal(), Some(libc::SIGINT));
    });
}

/// Looks after the node until its terminal has shown `expected`.
fn read_until(node: &mut KernelNode, master: &mut File, expected: &str) {
    let mut seen = String::new();
    while !seen.ends_with(expected) {
        assert_eq!(node.next_event(), None);
        let mut fds = [PollFd::new(master.as_fd(), PollFlags::POLLIN)];
        if poll(&mut fds, 10u16).unwrap() > 0 {
            let mut byte = [0];
            master.read_exact(&mut byte).unwrap();
            seen.push(char::from(byte[0]));
        }
    }
}

pub(crate) fn stopping_is_gentle_then_firm() {
    with_node(|node| {
        let gentle = node.spawn(quiet(&["sleep", "1000"])).unwrap();
        let firm = node.spawn(quiet(&["sh", "-c", "trap '' TERM; while :; do sleep 1; done"])).unwrap();
        ok(node, "sleep 0.2");
        node.begin_stop(Duration::from_millis(300)).unwrap();
        node.finish_stop().unwrap();
        let mut ended = Vec::new();
        while ended.len() < 2 {
            let NodeEvent::Exited { process, status, .. } = event(node) else { panic!("the node has died") };
            ended.push((process, status.signal()));
        }
        ended.sort_unstable();
        assert_eq!(ended, [(gentle, Some(libc::SIGTERM)), (firm, Some(libc::SIGKILL))]);
    });
}

pub(crate) fn a_listener_is_seen() {
    with_node(|node| {
        assert!(!node.listening(Transport::Tcp, 4000).unwrap());
        let process = node.spawn(quiet(&["iperf3", "-s", "-p", "4000"])).unwrap();
        let mut looks = 0;
        while !node.listening(Transport::Tcp, 4000).unwrap() {
            looks += 1;
            assert!(looks < 1000, "iperf3 never listened");
            ok(node, "sleep 0.01");
        }
        node.signal(process, libc::SIGTERM).unwrap();
    });
}
