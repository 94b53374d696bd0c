//! How a job is seen from outside.

use crate::QueueError;
use crate::job::{Attempt, END, End, LOCK, ORDER, Order, attempts, read};
use serde::Serialize;
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// A job and its progress so far.
#[derive(Clone, Debug, Serialize)]
pub struct Job {
    /// The job's number.
    pub job: u64,
    /// The state of the job.
    pub state: State,
    /// The lab's name.
    pub lab: String,
    /// The lab file.
    pub file: PathBuf,
    /// The processors that the job needs; none: all.
    pub processors: Option<usize>,
    /// When the job was added, UTC.
    pub added_utc: String,
    /// When the job was started last, UTC.
    pub started_utc: Option<String>,
    /// When the job ended, UTC.
    pub ended_utc: Option<String>,
    /// The exit code of the job.
    pub exit_code: Option<u8>,
    /// How often the job was started.
    pub attempts: usize,
    /// Why earlier starts did not count, and what else is to be said.
    pub notes: Vec<String>,
    #[serde(skip)]
    pub(crate) end: Option<End>,
    #[serde(skip)]
    pub(crate) order: Option<Order>,
}

/// The state of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// The job has not been started, or will be again.
    Waiting,
    /// The job's command goes on.
    Running,
    /// The job has ended.
    Ended,
    /// The job was cancelled.
    Cancelled,
}

impl State {
    /// Returns the state in a word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Running => "running",
            Self::Ended => "ended",
            Self::Cancelled => "cancelled",
        }
    }

    /// Whether nothing more will happen to the job.
    pub fn is_over(self) -> bool {
        matches!(self, Self::Ended | Self::Cancelled)
    }
}

impl Job {
    /// The job of this number, whose files are in the folder `home`; none if there is none.
    pub(crate) fn read(number: u64, home: &Path) -> Result<Option<Self>, QueueError> {
        let Some(order) = read::<Order>(&home.join(ORDER))? else { return Ok(None) };
        // In this order: what has not ended when it is looked at has at least as many starts.
        let is_held = is_held(&home.join(LOCK));
        let attempts = attempts(home)?;
        let end = read::<End>(&home.join(END))?;
        let last = attempts.last();
        let state = match &end {
            Some(end) if end.cancelled => State::Cancelled,
            Some(_) => State::Ended,
            None if is_held && last.is_some_and(|attempt| attempt.lost.is_none()) => State::Running,
            None => State::Waiting,
        };
        Ok(Some(Self {
            job: number,
            state,
            lab: order.name.clone(),
            file: order.file.clone(),
            processors: order.processors,
            added_utc: utc(order.added),
            started_utc: last.map(|attempt| utc(attempt.started)),
            ended_utc: end.as_ref().map(|end| utc(end.at)),
            exit_code: end.as_ref().and_then(|end| end.exit_code),
            attempts: attempts.len(),
            notes: notes(&attempts, end.as_ref()),
            end,
            order: Some(order),
        }))
    }

    /// A job whose files cannot be read.
    pub(crate) fn damaged(number: u64, why: String) -> Self {
        Self {
            job: number,
            state: State::Ended,
            lab: String::new(),
            file: PathBuf::new(),
            processors: None,
            added_utc: String::new(),
            started_utc: None,
            ended_utc: None,
            exit_code: None,
            attempts: 0,
            notes: vec![why],
            end: None,
            order: None,
        }
    }
}

fn notes(attempts: &[Attempt], end: Option<&End>) -> Vec<String> {
    let lost = attempts
        .iter()
        .enumerate()
        .filter_map(|(number, attempt)| Some(format!("start {} was lost: {}", number + 1, attempt.lost.as_ref()?)));
    lost.chain(end.and_then(|end| end.why.clone())).collect()
}

fn is_held(lock: &Path) -> bool {
    let tried = File::open(lock).map(|file| file.try_lock_shared());
    matches!(tried, Ok(Err(TryLockError::WouldBlock)))
}

/// To the second.
fn utc(time: SystemTime) -> String {
    humantime::format_rfc3339_seconds(time).to_string()
}
