//! What remains of a lab without namespaces when its process has ended: no kernel's PID namespace ends it then.
//!
//! Each process of such a lab is bound to the one that has started it (`PR_SET_PDEATHSIG`). Those that lose it become children of
//! the process that forked the lab (`PR_SET_CHILD_SUBREAPER`), which ends and reaps them.

use std::collections::BTreeSet;
use std::fs;
use std::thread::sleep;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::waitpid;
use nix::unistd::{Pid, getsid};

/// How long killed processes may take to end.
const WITHIN: Duration = Duration::from_secs(10);
/// How often to look for them.
const PAUSE: Duration = Duration::from_millis(2);

/// The children that this process had before it forked a lab.
#[derive(Debug)]
pub(super) struct Orphans {
    others: BTreeSet<i32>,
}

impl Orphans {
    /// Has orphans become children of this process from now on.
    pub(super) fn await_them() -> Result<Self, Errno> {
        nix::sys::prctl::set_child_subreaper(true)?;
        Ok(Self { others: children().collect() })
    }

    /// Ends and reaps what the lab has left. It is never in this process's session, as what else this process starts.
    pub(super) fn end(&self) {
        let own = getsid(None);
        let begun = Instant::now();
        loop {
            let left = children().filter(|pid| !self.others.contains(pid)).map(Pid::from_raw);
            let left: Vec<Pid> = left.filter(|pid| getsid(Some(*pid)) != own).collect();
            if left.is_empty() || begun.elapsed() > WITHIN {
                return;
            }
            for pid in left {
                // Its number cannot pass to another process before it is reaped, which only happens here.
                let _ = kill(pid, Signal::SIGKILL);
                let _ = waitpid(pid, None);
            }
            // Its own children need a moment to become this process's.
            sleep(PAUSE);
        }
    }
}

/// The children of this process, ended ones included: fields 1 and 4 of proc_pid_stat(5).
fn children() -> impl Iterator<Item = i32> {
    let own = std::process::id().to_string();
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pid_of = move |entry: fs::DirEntry| {
        let pid = entry.file_name().to_str()?.parse().ok()?;
        let text = fs::read_to_string(entry.path().join("stat")).ok()?;
        let parent = text.rsplit_once(')')?.1.split_ascii_whitespace().nth(1)?;
        (parent == own).then_some(pid)
    };
    processes.filter_map(pid_of)
}
