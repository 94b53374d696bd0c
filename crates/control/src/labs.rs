//! Lists the labs of this user that are up, and ends them.

use crate::client::{Client, PATIENCE};
use crate::error::ControlError;
use crate::protocol::LabInfo;
use crate::running::{find, running};
use netloom_host::runtime::{self, RunningLab, control_socket};
use netloom_judge::Report;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How long a lab may take to end; its programs have a second to do so, and everything else is a matter of
/// milliseconds.
const LONGEST_END: Duration = Duration::from_secs(30);
/// How much longer for each node: the kernel removes namespaces one after the other.
const NODE_ENDS_WITHIN: Duration = Duration::from_millis(50);
/// How long a lab that was killed may take: the kernel ends its programs.
const KILLED_WITHIN: Duration = Duration::from_secs(5);
/// How often to look whether it is gone.
const LOOK: Duration = Duration::from_millis(5);

/// The state of a lab as others find it: it answers, or it is silent.
#[derive(Clone, Debug, PartialEq)]
pub enum Look {
    /// The lab answers, and describes itself.
    Answers(LabInfo),
    /// The lab does not answer.
    Silent {
        /// The reason why the lab does not answer, as far as others can tell.
        why: Silence,
        /// The lab's name.
        name: String,
        /// The process id of the lab's supervisor, if it had come so far that this was written down.
        pid: Option<i32>,
        /// The lab file, if it was written down.
        file: Option<PathBuf>,
    },
}

/// The reason why a lab does not answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Silence {
    /// The lab is being set up.
    Starting,
    /// The lab was asked to end, or the command that waited for it was killed.
    Ending,
    /// The lab's process was stopped, or this machine is too busy.
    Stuck,
}

/// The outcome of taking down a lab.
#[derive(Clone, Debug)]
pub struct TakenDown {
    /// Whether the lab did not answer, and was killed.
    pub killed: bool,
    /// The lab's report, if it was up; a run gives its report to the command that started it.
    pub report: Option<Report>,
}

/// Asks all labs of this user for their descriptions. A lab that is gone before it answers is left out.
///
/// # Errors
/// [`ControlError::Runtime`] if the runtime folder cannot be read.
pub fn look_at_labs() -> Result<Vec<Look>, ControlError> {
    let ask = |name: &str| {
        let mut client = Client::connect(name)?;
        client.answer_within(PATIENCE)?;
        client.info()
    };
    let look = |lab: RunningLab| match ask(&lab.name) {
        Ok(info) => Some(Look::Answers(info)),
        Err(error) => {
            let is_stuck = matches!(error, ControlError::Silent { .. });
            let there = runtime::find(&lab.name).ok().flatten()?;
            let why = match () {
                () if runtime::is_ending(&there.path) => Silence::Ending,
                () if is_stuck => Silence::Stuck,
                // It has opened its socket by now.
                () if control_socket(&there.path).exists() => return ask(&lab.name).ok().map(Look::Answers),
                () => Silence::Starting,
            };
            let (pid, file) = there.state.map(|state| (state.guard_pid, state.lab_file)).unzip();
            Some(Look::Silent { name: lab.name, why, pid, file })
        }
    };
    Ok(running()?.into_iter().filter_map(look).collect())
}

/// Removes what killed labs of this user have left, and returns their names.
///
/// # Errors
/// [`ControlError::Runtime`] if the runtime folder cannot be read, or something cannot be removed.
pub fn sweep() -> Result<Vec<String>, ControlError> {
    Ok(runtime::sweep_stale()?)
}

/// Stops a lab, and returns when everything it made is gone but its results.
///
/// # Errors
/// [`ControlError::NoSuchLab`] if no such lab is up, [`ControlError::Lingers`] if it does not end,
/// [`ControlError::NoReport`] if it leaves no report.
pub fn take_down(lab: &str) -> Result<TakenDown, ControlError> {
    let state = find(lab)?.state;
    let killed = end(lab, state.as_ref().map(|state| Pid::from_raw(state.guard_pid)))?;
    let results = state.filter(|state| state.stays_up).and_then(|state| state.results);
    let report = results.map(|folder| report_in(&folder, lab)).transpose()?;
    Ok(TakenDown { killed, report })
}

fn report_in(results: &Path, lab: &str) -> Result<Report, ControlError> {
    let path = results.join("report.json");
    let report = fs::read(&path).and_then(|text| serde_json::from_slice(&text).map_err(io::Error::from));
    report.map_err(|error| ControlError::NoReport { lab: lab.to_owned(), path, error })
}

/// Whether it had to be killed.
fn end(lab: &str, guard: Option<Pid>) -> Result<bool, ControlError> {
    let mut patience = LONGEST_END;
    let mut ask = || {
        let mut client = Client::connect(lab)?;
        client.answer_within(PATIENCE)?;
        // Its programs may need longer than others, and so may its files.
        let info = client.info()?;
        patience += Duration::from_nanos(info.longest_stop_ns)
            + NODE_ENDS_WITHIN * u32::try_from(info.nodes.len()).unwrap_or(u32::MAX);
        client.down()
    };
    let is_silent = match (ask(), guard) {
        (Ok(()), _) => false,
        // It is just being made, or just ends, or says nothing: its guard has it end, or is gone by now.
        (Err(error), Some(guard)) => {
            let _ = kill(guard, Signal::SIGTERM);
            matches!(error, ControlError::Silent { .. })
        }
        (Err(error), None) => return Err(error),
    };
    if is_gone_within(lab, patience)? {
        return Ok(false);
    }
    if !is_silent {
        return Err(ControlError::Lingers { lab: lab.to_owned(), seconds: patience.as_secs() });
    }
    kill_lab(lab)?;
    Ok(true)
}

/// Kills a lab that does not answer. The kernel ends what runs in it, and its guard removes the rest; without a guard,
/// this function removes it.
fn kill_lab(lab: &str) -> Result<(), ControlError> {
    let Some(state) = runtime::find(lab)?.and_then(|running| running.state) else { return Ok(()) };
    // A guard that is stopped cannot do its part.
    let guard = Pid::from_raw(state.guard_pid);
    let _ = kill(guard, Signal::SIGCONT);
    if let Some(pid) = state.lab_pid {
        let _ = kill(Pid::from_raw(pid), Signal::SIGKILL);
    }
    if is_gone_within(lab, KILLED_WITHIN)? {
        return Ok(());
    }
    let _ = kill(guard, Signal::SIGKILL);
    if is_gone_within(lab, KILLED_WITHIN)? {
        return Ok(());
    }
    Err(ControlError::Survived { lab: lab.to_owned(), guard: state.guard_pid })
}

fn is_gone_within(lab: &str, patience: Duration) -> Result<bool, ControlError> {
    let begun = Instant::now();
    while runtime::find(lab)?.is_some() {
        if begun.elapsed() > patience {
            return Ok(false);
        }
        sleep(LOOK);
    }
    // What a killed guard left behind.
    runtime::sweep_stale()?;
    Ok(true)
}
