//! The processes of a workload.

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use std::collections::BTreeMap;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

/// The part that a command has in a workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Part {
    /// The command prepares.
    First,
    /// The command runs beside others.
    Parallel,
    /// The command runs while no other driver does.
    Serial,
    /// The command is the only driver.
    Singleton,
    /// The command runs beside everything.
    Anytime,
    /// The command judges after all others were killed.
    Eventually,
    /// The command judges after all others have ended.
    Finally,
}

/// Processes that run, each the leader of a group.
#[derive(Debug)]
pub(crate) struct Programs {
    env: Vec<(String, PathBuf)>,
    running: BTreeMap<usize, Running>,
    started: usize,
    ended: Receiver<(usize, std::io::Result<ExitStatus>)>,
    ends: Sender<(usize, std::io::Result<ExitStatus>)>,
}

#[derive(Debug)]
struct Running {
    part: Part,
    name: String,
    group: Pid,
    is_killed: bool,
}

/// A process that has ended.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Ended {
    pub(crate) name: String,
    /// The way in which it failed; none if it did not, or was killed by us.
    pub(crate) failure: Option<String>,
}

impl Programs {
    pub(crate) fn new(env: Vec<(String, PathBuf)>) -> Self {
        let (ends, ended) = channel();
        Self { env, running: BTreeMap::new(), started: 0, ended, ends }
    }

    /// Starts a command; returns its name, with the number of its start.
    pub(crate) fn start(&mut self, part: Part, command: &Path) -> Result<String, String> {
        self.started += 1;
        let number = self.started;
        let shown = command.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let failed = |error| format!("starting {shown}: {error}");
        let mut process = Command::new(command);
        process.envs(self.env.iter().map(|(name, value)| (name, value))).stdin(Stdio::null()).process_group(0);
        let mut child = process.spawn().map_err(failed)?;
        let group = Pid::from_raw(i32::try_from(child.id()).map_err(|error| format!("starting {shown}: {error}"))?);
        let ends = self.ends.clone();
        let wait = move || {
            // Whoever plays the workload may have gone.
            let _ = ends.send((number, child.wait()));
        };
        std::thread::Builder::new().spawn(wait).map_err(failed)?;
        let name = format!("{shown} #{number}");
        self.running.insert(number, Running { part, name: name.clone(), group, is_killed: false });
        Ok(name)
    }

    /// Returns how many run that have such a part.
    pub(crate) fn running(&self, is_meant: impl Fn(Part) -> bool) -> usize {
        self.running.values().filter(|one| is_meant(one.part)).count()
    }

    /// The names of all that run.
    pub(crate) fn names(&self) -> Vec<String> {
        self.running.values().map(|one| one.name.clone()).collect()
    }

    /// Kills all that run, with what they have started.
    pub(crate) fn kill(&mut self) {
        for one in self.running.values_mut() {
            one.is_killed = true;
            // It may have ended already.
            let _ = killpg(one.group, Signal::SIGKILL);
        }
    }

    /// Waits for so long for a process that ends.
    pub(crate) fn next(&mut self, longest: Duration) -> Option<Ended> {
        let (number, status) = self.ended.recv_timeout(longest).ok()?;
        let Running { name, is_killed, .. } = self.running.remove(&number)?;
        let failure = match status {
            _ if is_killed => None,
            Ok(status) => match (status.code(), status.signal()) {
                (Some(0), _) => None,
                (Some(code), _) => Some(format!("exit code {code}")),
                (None, signal) => Some(format!("killed by signal {}", signal.unwrap_or(0))),
            },
            Err(error) => Some(error.to_string()),
        };
        Some(Ended { name, failure })
    }
}
