//! Processes of a node by their command lines.

use std::fs;

use nix::errno::Errno;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::inspect;
use crate::error::{Attempted, KernelError};

/// Signals the processes among these whose command line is like `pattern`, in which `*` stands for any letters, in order of their
/// numbers. Returns those that got the signal.
pub(super) fn signal(candidates: &[Pid], pattern: &str, signal: i32) -> Result<Vec<Pid>, KernelError> {
    let attempted = || format!("send signal {signal} to processes like `{pattern}`");
    let named = Signal::try_from(signal).attempted(attempted)?;
    let mut reached = Vec::new();
    // All are found before one is signalled: what one ends may end others.
    let meant: Vec<Pid> = candidates.iter().copied().filter(|pid| is_like(&command_line(*pid), pattern)).collect();
    for pid in meant {
        match kill(pid, named) {
            Ok(()) => reached.push(pid),
            // It has ended meanwhile.
            Err(Errno::ESRCH) => {}
            Err(error) => return Err(error).attempted(attempted),
        }
    }
    Ok(reached)
}

/// The processes of a session, in order of their numbers.
pub(super) fn of_session(leader: Pid) -> Result<Vec<Pid>, KernelError> {
    let mut all = all()?;
    all.retain(|pid| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        inspect::session_of(&stat) == Some(leader)
    });
    Ok(all)
}

/// All processes but the caller, in order of their numbers.
pub(super) fn all() -> Result<Vec<Pid>, KernelError> {
    let entries = fs::read_dir("/proc").attempted(|| "list /proc")?.flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let mut all: Vec<Pid> = numbers.map(Pid::from_raw).filter(|pid| *pid != Pid::this()).collect();
    all.sort_unstable();
    Ok(all)
}

/// Empty for one that has ended, and for threads of the kernel.
fn command_line(pid: Pid) -> String {
    let bytes = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let words = bytes.split(|byte| *byte == 0).map(String::from_utf8_lossy);
    words.collect::<Vec<_>>().join(" ").trim_end().to_owned()
}

/// Whether a line is like a pattern from its beginning to its end. An empty line is like nothing.
fn is_like(line: &str, pattern: &str) -> bool {
    let Some((begin, behind)) = pattern.split_once('*') else { return !line.is_empty() && line == pattern };
    let (between, end) = behind.rsplit_once('*').unwrap_or(("", behind));
    let middle = line.strip_prefix(begin).and_then(|rest| rest.strip_suffix(end));
    // What is found first leaves most for the parts behind it.
    let after = |rest, part: &str| str::find(rest, part).map(|at| &rest[at + part.len()..]);
    !line.is_empty() && middle.is_some_and(|text| between.split('*').try_fold(text, after).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_lines_are_like_patterns_as_a_whole() {
        let line = "postgres: walwriter --port=5432";
        for pattern in [line, "postgres: wal*", "*", "post*5432", "*wal*--port*", "*=5432"] {
            assert!(is_like(line, pattern), "{pattern}");
        }
        for pattern in ["postgres", "*checkpointer*", "*5432*post*", "*Wal*", "*walwriter"] {
            assert!(!is_like(line, pattern), "{pattern}");
        }
        assert!(!is_like("", "*") && !is_like("ab", "ab*b"));
    }

    #[test]
    fn one_process_of_several_is_signalled() {
        let start = |seconds: &str| std::process::Command::new("sleep").arg(seconds).spawn().unwrap();
        let mut children = [start("61.25"), start("62.25")];
        let pids = children.each_ref().map(|child| Pid::from_raw(child.id().cast_signed()));
        // A child may still be about to become its program.
        while pids.iter().any(|pid| !command_line(*pid).starts_with("sleep")) {
            std::thread::yield_now();
        }
        assert!(pids.iter().all(|pid| all().unwrap().contains(pid)));
        let own = inspect::session_of(&fs::read_to_string("/proc/self/stat").unwrap()).unwrap();
        assert!(pids.iter().all(|pid| of_session(own).unwrap().contains(pid)));
        let reached = signal(&pids, "sleep 62.*", libc::SIGKILL);
        let ended = children[1].wait();
        let still = children[0].try_wait();
        children[0].kill().unwrap();
        children[0].wait().unwrap();
        assert_eq!(reached.unwrap(), [pids[1]]);
        assert!(still.unwrap().is_none() && !ended.unwrap().success());
        assert_eq!(signal(&pids, "sleep", libc::SIGKILL).unwrap(), []);
    }
}
