//! The process that does at once, when the processes of a lab or of a link without one are all killed, what else the next command of
//! netloom would do: it puts back and removes what they have left.
//!
//! It is forked in the machine's network namespace before there is anything of the lab, and waits for a socket that closes with the
//! guard and the lab's process, which inherits it. If it is killed itself, the next command does it after all.

use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::thread::sleep;
use std::time::{Duration, Instant};

use nix::sys::wait::waitpid;
use nix::unistd::Pid;

use crate::clone::{Cloned, assert_one_thread, clone_process};
use crate::error::{Attempted, KernelError};
use crate::runtime::{has_folder, root, sweep_stale};
use crate::shortage;
use crate::uplink::{self, apart::stand_apart};

/// The watcher of a lab, seen from the guard.
#[derive(Debug)]
pub struct Watcher {
    pid: Pid,
    channel: UnixStream,
}

/// What the guard says when it has removed everything itself.
const ALL_DONE: [u8; 1] = [1];
/// For how long it looks for what killed processes have left: the kernel takes some time to end them all.
const WITHIN: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(20);
/// For how long at least: a process that is killed closes the socket before it gives up its locks, or after.
const AT_LEAST: Duration = Duration::from_millis(500);

impl Watcher {
    /// Forks the watcher of the lab called `name`, or of a link without a lab.
    ///
    /// # Errors
    /// The kernel's refusal.
    ///
    /// # Panics
    /// If the process has more than one thread.
    pub fn fork(name: Option<&str>) -> Result<Self, KernelError> {
        assert_one_thread("a lab is");
        let (ours, theirs) = UnixStream::pair().attempted(|| "open a socket to the lab's watcher")?;
        let mut ours = Some(ours);
        let Cloned { pid, .. } = clone_process(0, || {
            drop(ours.take());
            i32::from(watch(&theirs, name).is_err())
        })
        .attempted(|| "start the lab's watcher")
        .map_err(shortage::of_processes)?;
        Ok(Self { pid, channel: ours.expect("only the child took it") })
    }

    /// Has it end without looking: nothing is left.
    pub fn dismiss(mut self) {
        // If it has died, it has nothing to hear.
        let _ = self.channel.write_all(&ALL_DONE);
        let _ = self.channel.shutdown(Shutdown::Both);
        let _ = waitpid(self.pid, None);
    }
}

fn watch(mut channel: &UnixStream, name: Option<&str>) -> Result<(), KernelError> {
    stand_apart(c"netloom-watcher")?;
    let mut heard = Vec::new();
    let _ = channel.read_to_end(&mut heard);
    if heard == ALL_DONE {
        return Ok(());
    }
    let begin = Instant::now();
    loop {
        // What is refused now, the next command reports.
        let _ = sweep_stale();
        let _ = root().map(|folder| uplink::sweep(&folder));
        let is_done = begin.elapsed() >= AT_LEAST && name.is_none_or(|name| !has_folder(name));
        if is_done || begin.elapsed() > WITHIN {
            return Ok(());
        }
        sleep(PAUSE);
    }
}
