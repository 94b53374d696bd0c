//! Why virtual time does not go on.

use netloom_judge::{ExitCode, RunError};
use std::{error, fmt};

/// The reason why time does not go on any more: not every kernel has reached the same instant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EndOfTime {
    /// A kernel cannot go on; in words.
    Failed(String),
    /// The run was to end while a kernel computed.
    Interrupted,
}

impl fmt::Display for EndOfTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failed(what) => f.write_str(what),
            Self::Interrupted => f.write_str("interrupted while kernels computed"),
        }
    }
}

impl error::Error for EndOfTime {}

impl From<EndOfTime> for RunError {
    fn from(end: EndOfTime) -> Self {
        match end {
            EndOfTime::Interrupted => Self::Reported { code: ExitCode::Interrupted, message: end.to_string() },
            EndOfTime::Failed(what) => Self::Died(what),
        }
    }
}
