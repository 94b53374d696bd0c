use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use netloom_host::Pid;
use netloom_host::facts::Facts;
use netloom_host::lab::{LabError, LabOptions, Namespaces, spawn_lab};
use netloom_host::netlink::{Netlink, Veth, VethEnd};
use netloom_host::runtime::{self, RuntimeDir, RuntimeError};
use netloom_testing::wait::wait_until;

use nix::sys::signal::{Signal, kill};

use crate::fixture::{connected, host, in_lab, ok, options, quiet};

pub(crate) fn the_lab_process_is_apart_from_the_machine() {
    let namespaces = |kind: &str| fs::read_link(format!("/proc/self/ns/{kind}")).unwrap();
    let kinds = ["net", "mnt", "uts", "pid", "ipc"];
    let outside: Vec<PathBuf> = kinds.iter().map(|kind| namespaces(kind)).collect();
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
    in_lab(move |_| {
        assert_eq!(std::process::id(), 1);
        for (kind, there) in kinds.iter().zip(&outside) {
            assert_ne!(&namespaces(kind), there, "{kind}");
        }
        assert_eq!(fs::read_to_string("/proc/sys/kernel/hostname").unwrap().trim(), "test");
        assert!(nix::unistd::geteuid().is_root(), "whoever makes a lab is root in it");
        let names: Vec<_> = Netlink::open().unwrap().links().unwrap().into_iter().map(|link| link.name).collect();
        assert!(names.contains(&"lo".to_owned()) && !names.contains(&"eth0".to_owned()), "{names:?}");
    });
    assert_eq!(fs::read_to_string("/proc/self/mountinfo").unwrap(), mounts);
}

pub(crate) fn what_the_body_returns_is_the_exit_code() {
    let (mut lab, _) = spawn_lab(&options(), |_| 42).unwrap();
    assert_eq!(lab.wait().unwrap().code(), Some(42));
    assert_eq!(lab.try_wait().unwrap().unwrap().code(), Some(42), "the answer stays the same");

    let (mut broken, _) = spawn_lab(&options(), |_| panic!("expected by this test")).unwrap();
    assert_eq!(broken.wait().unwrap().code(), Some(8));

    let (mut talking, mut channel) = spawn_lab(&options(), |mut side| {
        let mut word = [0; 5];
        side.channel.read_exact(&mut word).unwrap();
        side.channel.write_all(&word).unwrap();
        0
    })
    .unwrap();
    assert_eq!(talking.try_wait().unwrap(), None);
    channel.write_all(b"hello").unwrap();
    let mut echo = String::new();
    channel.read_to_string(&mut echo).unwrap();
    assert_eq!(echo, "hello");
    assert!(talking.wait().unwrap().success());
}

pub(crate) fn a_refused_set_up_says_what_and_why() {
    let options = LabOptions {
        name: "test".to_owned(),
        hosts_file: Some("/nowhere/hosts".into()),
        resolver_file: None,
        memory: None,
        users: None,
        namespaces: Namespaces::Needed,
    };
    let error = spawn_lab(&options, |_| 0).unwrap_err();
    assert!(matches!(error, LabError::Refused { .. }));
    assert_eq!(error.to_string(), "bind /nowhere/hosts to /etc/hosts: No such file or directory");
}

pub(crate) fn a_killed_lab_leaves_nothing() {
    let before = (processes(), interfaces(), fs::read_to_string("/proc/self/mountinfo").unwrap());
    let (mut lab, mut channel) = spawn_lab(&options(), |mut side| {
        let mut nodes =
            connected(&[host("a", &[&["10.0.0.1/24"]]), host("b", &[&["10.0.0.2/24"]])], &[[(0, 0), (1, 0)]]);
        for node in &mut nodes {
            node.spawn(quiet(&["sleep", "1000"])).unwrap();
            // This one has left every process group and session that netloom knows of.
            ok(node, "setsid -f sleep 1000 > /dev/null 2>&1");
        }
        side.channel.write_all(b"x").unwrap();
        loop {
            std::thread::park();
        }
    })
    .unwrap();
    channel.read_exact(&mut [0]).unwrap();
    let count = processes().difference(&before.0).count();
    assert!(count >= 7, "the lab, two nodes and four programs are running, not {count}");
    lab.kill().unwrap();
    assert_eq!(std::os::unix::process::ExitStatusExt::signal(&lab.wait().unwrap()), Some(9));
    assert_eq!(processes().difference(&before.0).count(), 0);
    assert_eq!(interfaces(), before.1);
    assert_eq!(fs::read_to_string("/proc/self/mountinfo").unwrap(), before.2);
}

/// Everything that this process has started, directly or not.
fn processes() -> BTreeSet<i32> {
    let mut parents = Vec::new();
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let Ok(pid) = entry.file_name().to_string_lossy().parse::<i32>() else { continue };
        let Ok(stat) = fs::read_to_string(entry.path().join("stat")) else { continue };
        // "pid (name) state parent …", and a name may contain anything.
        let parent = stat.rsplit_once(')').unwrap().1.split_ascii_whitespace().nth(1).unwrap();
        parents.push((pid, parent.parse::<i32>().unwrap()));
    }
    let mut found = BTreeSet::from([i32::try_from(std::process::id()).unwrap()]);
    loop {
        let size = found.len();
        found.extend(
            parents.iter().filter(|(_, parent)| found.contains(parent)).map(|(pid, _)| *pid).collect::<Vec<_>>(),
        );
        if found.len() == size {
            return found;
        }
    }
}

fn interfaces() -> Vec<String> {
    Netlink::open().unwrap().links().unwrap().into_iter().map(|link| link.name).collect()
}

/// What a guard process does that is killed: it makes a lab with a node and tells the lab's process id.
pub(crate) fn guard() {
    let (mut lab, _channel) = spawn_lab(&options(), |mut side| {
        let mut nodes =
            connected(&[host("a", &[&["10.0.0.1/24"]]), host("b", &[&["10.0.0.2/24"]])], &[[(0, 0), (1, 0)]]);
        for node in &mut nodes {
            node.spawn(quiet(&["sleep", "1000"])).unwrap();
        }
        let mut byte = [0];
        // Nothing is ever sent: this returns when the guard has died.
        side.channel.read(&mut byte).map_or(1, |_| 0)
    })
    .unwrap();
    println!("{}", lab.pid());
    lab.wait().unwrap();
}

pub(crate) fn a_lab_notices_that_its_guard_was_killed() {
    let mut guard = Command::new(std::env::current_exe().unwrap())
        .args(["--case", "labs::guard"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(guard.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let lab = format!("/proc/{}/task", line.trim());
    let nodes = || fs::read_to_string(format!("{lab}/{}/children", line.trim())).unwrap_or_default();
    // The line comes when the namespaces are ready; the nodes come a little later.
    wait_until("two nodes", Duration::from_secs(50), || nodes().split_ascii_whitespace().count() == 2);
    let nodes: Vec<PathBuf> = nodes().split_ascii_whitespace().map(|pid| format!("/proc/{pid}").into()).collect();
    guard.kill().unwrap();
    guard.wait().unwrap();
    let gone = || !PathBuf::from(&lab).exists() && nodes.iter().all(|node| !node.exists());
    wait_until("the lab and its nodes are gone", Duration::from_secs(50), gone);
}

/// Kills the guard, the lab or a node, 0 to 45 ms after the guard was started: a lab takes about 30 ms to get ready.
pub(crate) fn a_kill_at_any_moment_leaves_nothing() {
    for (number, moment) in (0..48).enumerate() {
        let mark = format!("NETLOOM_TEST_MARK={}-{number}", std::process::id());
        let (key, value) = mark.split_once('=').unwrap();
        let mut guard = Command::new(std::env::current_exe().unwrap())
            .args(["--case", "labs::guard"])
            .env(key, value)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        if number == 0 {
            // Or else finding nothing would mean nothing.
            wait_until("guard, lab, nodes, programs", Duration::from_secs(50), || marked(&mark).len() == 6);
        }
        std::thread::sleep(Duration::from_millis(moment));
        let guard_pid = i32::try_from(guard.id()).unwrap();
        // How far down the family the kill goes; what does not exist yet cannot be killed, and its parent is.
        let victim = (0..number % 3).fold(guard_pid, |pid, _| children(pid).into_iter().next().unwrap_or(pid));
        kill(Pid::from_raw(victim), Signal::SIGKILL).unwrap();
        if number % 3 == 2 && victim != guard_pid {
            // A lab whose node has died may go on. Here it ends with its guard.
            std::thread::sleep(Duration::from_millis(10));
            guard.kill().unwrap();
        }
        guard.wait().unwrap();
        wait_until(&format!("all gone, {number}"), Duration::from_secs(50), || marked(&mark).is_empty());
    }
}

fn children(pid: i32) -> Vec<i32> {
    let list = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    list.split_ascii_whitespace().map(|child| child.parse().unwrap()).collect()
}

/// The processes with `mark` in their environment, which they inherit.
fn marked(mark: &str) -> Vec<String> {
    let carries = |pid: &String| {
        let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|variable| variable == mark.as_bytes())
    };
    let entries = fs::read_dir("/proc").unwrap().flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).filter(carries).collect()
}

pub(crate) fn a_lab_keeps_its_name_until_it_has_ended() {
    let dir = RuntimeDir::acquire("kept").unwrap();
    let (mut lab, channel) = spawn_lab(&options(), |mut side| {
        let mut byte = [0];
        side.channel.read(&mut byte).map_or(1, |_| 0)
    })
    .unwrap();
    // As if this process had died, but for the channel.
    drop(dir);
    assert!(matches!(RuntimeDir::acquire("kept"), Err(RuntimeError::AlreadyUp { .. })));
    assert!(runtime::find("kept").unwrap().is_some());
    assert!(runtime::sweep_stale().unwrap().is_empty());
    drop(channel);
    assert!(lab.wait().unwrap().success());
    assert!(runtime::find("kept").unwrap().is_none());
    assert_eq!(runtime::sweep_stale().unwrap(), ["kept"]);
}

pub(crate) fn rights_are_those_of_the_user() {
    let found = Facts::gather();
    assert_eq!(found.privileged, nix::unistd::geteuid().is_root());
    // A pair in the machine's own namespace is root's privilege, and nothing here may ever make one.
    let end = |name: &str| VethEnd { name: name.to_owned(), mac: None, namespace: None, up: false };
    if !found.privileged {
        let pair = Veth { ends: [end("x0"), end("x1")], mtu: 1500 };
        let error = Netlink::open().unwrap().create_veths(&[pair]).unwrap_err();
        assert!(error.to_string().starts_with("create interfaces x0 and x1: Operation not permitted"), "{error}");
    }
}
