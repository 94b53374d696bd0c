use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::File;
use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::time::{Duration, Instant};

use netloom_host::node::{AgentClient, Node, NodeEvent, Spawn, SpawnError};
use netloom_host::terminal::open_pty;
use netloom_testing::wait::wait_until;

use crate::fixture::{event, exit_of, in_lab, node, ok, quiet, sh};

fn in_node(body: impl FnOnce(&mut Node)) {
    in_lab(|_| body(&mut Node::create(&node("a")).unwrap()));
}

pub(crate) fn exit_codes_and_signals_are_told() {
    in_node(|a| {
        assert_eq!(sh(a, "exit 7").0.code(), Some(7));
        assert_eq!(sh(a, "kill -USR1 $$").0.signal(), Some(libc::SIGUSR1));
        for signal in [libc::SIGTERM, libc::SIGINT, libc::SIGKILL] {
            let process = a.spawn(quiet(&["sleep", "1000"])).unwrap();
            a.signal(process, signal).unwrap();
            assert_eq!(exit_of(a, process).signal(), Some(signal));
            a.signal(process, signal).expect("one that has ended needs no signal");
        }
        // The whole group hears it, as at a terminal.
        let group = a.spawn(quiet(&["sh", "-c", "sleep 1000; exit 3"])).unwrap();
        // A process may go between the listing and the reading.
        let running = "cat /proc/[0-9]*/comm 2>/dev/null || true";
        wait_until("the inner sleep", Duration::from_secs(50), || ok(a, running).contains("sleep"));
        a.signal(group, libc::SIGTERM).unwrap();
        assert_eq!(exit_of(a, group).signal(), Some(libc::SIGTERM));
        wait_until("no sleep is left", Duration::from_secs(50), || !ok(a, running).contains("sleep"));
        assert!(a.signal(group, 4711).unwrap_err().to_string().contains("send signal 4711"));
    });
}

pub(crate) fn a_missing_program_or_folder_is_told() {
    in_node(|a| {
        let error = a.spawn(quiet(&["no-such-program", "-x"])).unwrap_err();
        assert!(matches!(error, SpawnError::NoProgram { .. }), "{error}");
        assert_eq!(error.to_string(), "node a: program not found: no-such-program");
        let lost = Spawn { cwd: Some("/no/such/folder".into()), ..quiet(&["true"]) };
        assert_eq!(a.spawn(lost).unwrap_err().to_string(), "node a: no such directory: /no/such/folder");
        let denied = a.spawn(quiet(&["/etc/passwd"])).unwrap_err();
        assert_eq!(denied.to_string(), "node a: start /etc/passwd: Permission denied");
        assert_eq!(ok(a, "pwd"), "/");
    });
}

pub(crate) fn a_thousand_short_ones_are_all_reaped() {
    in_node(|a| {
        let start = Instant::now();
        // Nobody reads the events meanwhile: they must neither get lost nor hold up the node.
        let mut running: BTreeSet<_> = (0..1000).map(|_| a.spawn(quiet(&["true"])).unwrap()).collect();
        println!("1000 programs started within {:?}", start.elapsed());
        assert_eq!(running.len(), 1000, "no number twice");
        while !running.is_empty() {
            let NodeEvent::Exited { process, status, .. } = event(a) else { panic!("the node has died") };
            assert!(status.success() && running.remove(&process));
        }
        println!("and reaped within {:?}", start.elapsed());
        assert_eq!(ok(a, "grep -l 'State:.Z' /proc/[0-9]*/status || true"), "");
    });
}

pub(crate) fn orphans_are_reaped() {
    in_node(|a| {
        for _ in 0..20 {
            ok(a, "sleep 0.05 > /dev/null 2>&1 & true");
        }
        // The node's init, the shell, and the two programs of the pipe.
        let count = |node: &mut Node| ok(node, "ls /proc | grep -c '^[0-9]'").parse::<usize>().unwrap();
        wait_until("all orphans are gone", Duration::from_secs(50), || count(a) <= 4);
    });
}

pub(crate) fn the_environment_is_as_asked_for() {
    let set = |key: &str, value: &str| (OsString::from(key), OsString::from(value));
    let print = |a: &mut Node, spawn: Spawn| {
        let (mut reader, writer) = std::io::pipe().unwrap();
        let process = a.spawn(Spawn { stdout: writer.into(), ..spawn }).unwrap();
        let mut output = String::new();
        reader.read_to_string(&mut output).unwrap();
        assert!(exit_of(a, process).success());
        output
    };
    in_node(|a| {
        let names = ok(a, "echo $NETLOOM_LAB $NETLOOM_NODE $HOME");
        assert_eq!(names, format!("test a {}", std::env::var("HOME").unwrap()));
        let bare = Spawn { env: vec![set("COLOUR", "red")], clear_env: true, ..quiet(&["env"]) };
        let mut lines: Vec<_> = print(a, bare).lines().map(str::to_owned).collect();
        lines.sort();
        let path = "PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin";
        assert_eq!(lines, ["COLOUR=red", "NETLOOM_LAB=test", "NETLOOM_NODE=a", path]);
        // Longer than a packet of the socket to the node.
        let long = "x".repeat(100_000);
        let big = Spawn { env: vec![set("A", &long), set("B", &long)], ..quiet(&["sh", "-c", "echo ${#A} ${#B}"]) };
        assert_eq!(print(a, big).trim(), "100000 100000");
        let folder = Spawn { cwd: Some("/usr".into()), ..quiet(&["pwd"]) };
        assert_eq!(print(a, folder).trim(), "/usr");
        assert_eq!(ok(a, "ulimit -Sn"), "1024", "the lab's own limit is not passed on");
        assert_eq!(ok(a, "grep SigBlk /proc/self/status"), "SigBlk:\t0000000000000000");
        // Rust programs ignore SIGPIPE. Numbers 32 and up are the C library's and none of ours.
        let ignored = u64::from_str_radix(&ok(a, "sed -n 's/^SigIgn:.//p' /proc/self/status"), 16).unwrap();
        assert_eq!(ignored & 0x7fff_ffff, 0, "{ignored:x}");
    });
}

pub(crate) fn a_program_runs_as_the_user_that_is_asked_for() {
    let as_user = |user: &str| {
        let script = "test $(id -u),$(id -g),$HOME,$USER = $WANTED";
        let wanted = if user == "root" { "0,0,/root,root" } else { "65534,65534,/nonexistent,nobody" };
        let env = vec![("WANTED".into(), wanted.into())];
        Spawn { user: Some(user.to_owned()), env, ..quiet(&["sh", "-c", script]) }
    };
    in_node(|a| {
        let root = a.spawn(as_user("root")).unwrap();
        assert!(exit_of(a, root).success());
        let absent = a.spawn(as_user("no-such-user")).unwrap_err();
        assert_eq!(absent.to_string(), "node a: no such user: no-such-user (in the node's /etc/passwd)");
        if nix::unistd::geteuid().is_root() && ok(a, "cut -c1-33 /proc/self/uid_map").trim().ends_with("4294967295") {
            for nobody in ["nobody", "65534"] {
                let process = a.spawn(as_user(nobody)).unwrap();
                assert!(exit_of(a, process).success());
            }
            assert_eq!(a.spawn(Spawn { user: Some("4711".into()), ..quiet(&["true"]) }).map(drop).ok(), Some(()));
        } else {
            let unmapped = a.spawn(as_user("nobody")).unwrap_err().to_string();
            assert!(
                unmapped.contains("become user nobody: user 65534 is not in this lab's user namespace"),
                "{unmapped}"
            );
        }
    });
}

pub(crate) fn a_terminal_can_be_controlled() {
    in_node(|a| {
        let pty = open_pty().unwrap();
        let copy = || pty.slave.try_clone().unwrap();
        let script = "tty -s && stty size < /dev/tty > /dev/null && echo yes; exec sleep 1000";
        let spawn = Spawn { stdin: copy(), stdout: copy(), stderr: copy(), tty: true, ..quiet(&["sh", "-c", script]) };
        let process = a.spawn(spawn).unwrap();
        let mut master = File::from(pty.master);
        let mut answer = [0; 5];
        master.read_exact(&mut answer).unwrap();
        assert_eq!(&answer, b"yes\r\n");
        wait_until("the sleep", Duration::from_secs(50), || ok(a, "cat /proc/[0-9]*/comm").contains("sleep"));
        // Control-C reaches the program in the foreground, which only a controlling terminal can bring about.
        std::io::Write::write_all(&mut master, b"\x03").unwrap();
        assert_eq!(exit_of(a, process).signal(), Some(libc::SIGINT));
    });
}

pub(crate) fn stopping_is_gentle_then_firm() {
    in_node(|a| {
        let obedient = a.spawn(quiet(&["sh", "-c", "trap 'exit 5' TERM; while :; do sleep 0.01; done"])).unwrap();
        let suspended = a.spawn(quiet(&["sleep", "1000"])).unwrap();
        a.signal(suspended, libc::SIGSTOP).unwrap();
        let (mut reader, writer) = std::io::pipe().unwrap();
        let script = "trap '' TERM; echo x; exec sleep 1000";
        let deaf = a.spawn(Spawn { stdout: writer.into(), ..quiet(&["sh", "-c", script]) }).unwrap();
        reader.read_exact(&mut [0]).unwrap();
        let start = Instant::now();
        a.begin_stop(Duration::from_millis(500)).unwrap();
        a.finish_stop().unwrap();
        let took = start.elapsed();
        assert!(took >= Duration::from_millis(500), "{took:?}");
        let mut ends: Vec<_> = (0..3).map(|_| event(a)).collect();
        ends.sort_by_key(|event| match event {
            NodeEvent::Exited { process, .. } => process.get(),
            NodeEvent::Gone => u64::MAX,
        });
        let ends: Vec<_> = ends
            .iter()
            .map(|event| match event {
                NodeEvent::Exited { process, status, .. } => (*process, status.code(), status.signal()),
                NodeEvent::Gone => panic!("the node has died"),
            })
            .collect();
        let expected =
            [(obedient, Some(5), None), (suspended, None, Some(libc::SIGTERM)), (deaf, None, Some(libc::SIGKILL))];
        assert_eq!(ends, expected);
        assert!(a.interface_counters().unwrap().is_empty(), "the node itself is still there to be asked");
        let again = Instant::now();
        a.begin_stop(Duration::from_secs(10)).unwrap();
        a.finish_stop().unwrap();
        assert!(again.elapsed() < Duration::from_secs(10), "nobody is left to wait for");
    });
}

pub(crate) fn waiting_for_a_cpu_is_counted() {
    in_node(|a| {
        let before = a.cpu_wait().unwrap();
        ok(a, "timeout 0.2 sh -c 'while :; do :; done' || true");
        let after = a.cpu_wait().unwrap();
        let ran = after.ran_ns - before.ran_ns;
        // `timeout` reaps the shell itself, so that only its own little time is certain to be seen.
        assert!(ran > 0, "{before:?} {after:?}");
        let busy = a.spawn(quiet(&["sh", "-c", "while :; do :; done"])).unwrap();
        wait_until("100 ms of CPU time", Duration::from_secs(50), || {
            a.cpu_wait().unwrap().ran_ns > after.ran_ns + 100_000_000
        });
        a.signal(busy, libc::SIGKILL).unwrap();
        let NodeEvent::Exited { cpu, .. } = event(a) else { panic!("the node has died") };
        // How much of the 100 ms it had is not certain: to look at it takes the node's init some, too.
        assert!(cpu > Duration::ZERO, "{cpu:?}");
        assert!(a.cpu_wait().unwrap().ran_ns > after.ran_ns + 100_000_000, "the ended ones still count");
    });
}
