//! What a test left running when it failed: processes that are ended, so that they neither keep the machine busy while other tests run nor stay
//! behind when all have ended.

use crate::fixture::{Fixture, User, cgroups_of, lab_of, ports_here};
use crate::wait::wait_until;
use netloom_testing::processes::{name_of, parent};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::collections::BTreeSet;
use std::fs;
use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;
use std::thread::{sleep, spawn};
use std::time::{Duration, Instant};

/// How long processes may take to end after each signal, on a busy machine.
pub(crate) const LONGEST_END: Duration = Duration::from_secs(20);

/// Processes that put back what a lab has changed, when the lab is gone. They end by themselves.
const KEEPERS: [&str; 4] = ["netloom-watcher", "netloom-guard", "netloom-names", "netloom-keeper"];

/// Lists the processes whose program is in the folder, or who work in it: programs that a node runs are other executables.
pub(crate) fn processes_of(folder: &Path) -> Vec<i32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter(|pid| is_of(*pid, folder)).collect()
}

/// Describes the processes of a folder: their numbers and commands.
pub(crate) fn names_of(folder: &Path) -> String {
    let command = |pid| fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let name = |pid| format!("{pid} {}", String::from_utf8_lossy(&command(pid)).replace('\0', " ").trim_end());
    processes_of(folder).into_iter().map(name).collect::<Vec<_>>().join(", ")
}

fn is_of(pid: i32, folder: &Path) -> bool {
    let is_inside =
        |what: &str| fs::read_link(format!("/proc/{pid}/{what}")).is_ok_and(|path| path.starts_with(folder));
    is_inside("exe") || is_inside("cwd")
}

/// Ends the processes of a folder: asks those that the test has started, then kills all but those that clean up, then these. Whether any had to
/// be killed. For each of these, `longest` is the time to end in. It never panics, because it runs while tests unwind.
pub(crate) fn end(folder: &Path, longest: Duration) -> bool {
    let mut asked = BTreeSet::new();
    let is_first = |all: &[i32], pid: i32| parent(pid).is_none_or(|above| !all.contains(&above));
    let ask = |all: &[i32], pid: i32| {
        // A second signal would have a lab hurry.
        if is_first(all, pid) && asked.insert(pid) {
            send(pid, Signal::SIGTERM);
            send(pid, Signal::SIGCONT);
        }
    };
    if is_ended(folder, longest, ask) {
        return false;
    }
    let kill_all = |_: &[i32], pid: i32| send(pid, Signal::SIGKILL);
    let kill_others = |all: &[i32], pid: i32| {
        if !KEEPERS.contains(&name_of(pid).unwrap_or_default().as_str()) {
            kill_all(all, pid);
        }
    };
    if !is_ended(folder, longest, kill_others) && !is_ended(folder, longest, kill_all) {
        eprintln!("processes that nobody could end: {:?}", processes_of(folder));
    }
    true
}

/// Signals the processes of a folder until all have ended; false if they have not in time, which begins when the first of them has its signal:
/// to look for them takes long on a busy machine.
fn is_ended(folder: &Path, longest: Duration, mut signal: impl FnMut(&[i32], i32)) -> bool {
    let mut begun: Option<Instant> = None;
    loop {
        let left = processes_of(folder);
        if left.is_empty() {
            return true;
        }
        if begun.is_some_and(|first| first.elapsed() > longest) {
            return false;
        }
        left.iter().for_each(|pid| signal(&left, *pid));
        begun.get_or_insert_with(Instant::now);
        sleep(Duration::from_millis(20));
    }
}

fn send(pid: i32, signal: Signal) {
    // One that has ended meanwhile needs no signal.
    let _ = kill(Pid::from_raw(pid), signal);
}

const LAB: &str = "
name: failed
bounds: {lateness: 100 s}
nodes: {a: {}, b: {}}
links: {l: {ends: [a, b], delay: 1 ms}}
timeline:
  - {on: b, run: sleep 1000, as: service, service: true}
  - {on: a, run: sleep 1000}
";

#[test]
fn a_test_that_fails_ends_its_lab() {
    for user in User::all() {
        let (sender, receiver) = channel();
        let failing = spawn(move || {
            let fixture = Fixture::new(user);
            fixture.write("failed.yaml", LAB);
            let mut command = fixture.command(&["run", "failed.yaml"]);
            let guard = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
            let pid = guard.id().cast_signed();
            sender.send((guard, fixture.path().to_owned())).unwrap();
            wait_until("the lab process", || lab_of(pid).is_some());
            panic!("as the test of a lab that is wrong");
        });
        let (mut guard, folder) = receiver.recv().unwrap();
        assert!(failing.join().is_err());
        // By itself and not by a signal, so that it has cleaned up.
        assert!(guard.wait().unwrap().code().is_some());
        assert_eq!(processes_of(&folder), Vec::<i32>::new());
        wait_until("the end of all ports and cgroups", || ports_here().is_empty() && cgroups_of("failed").is_empty());
    }
}

#[test]
fn what_does_not_end_when_asked_is_killed() {
    let fixture = Fixture::new(User::Own);
    let folder = fixture.path().to_owned();
    let mut command = Command::new("/bin/sh");
    command.args(["-c", "trap '' TERM; echo ready; while :; do sleep 1; done"]).current_dir(&folder);
    let mut stubborn = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut first = [0; 5];
    stubborn.stdout.as_mut().unwrap().read_exact(&mut first).unwrap();
    assert!(fixture.processes().contains(&stubborn.id().cast_signed()));
    assert!(end(&folder, Duration::from_millis(200)));
    assert_eq!(stubborn.wait().unwrap().signal(), Some(Signal::SIGKILL as i32));
    assert_eq!(fixture.processes(), Vec::<i32>::new());
}
