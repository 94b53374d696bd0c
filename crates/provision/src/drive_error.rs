//! What can go wrong with what moves the packets of a lab that lives.

use netloom_dataplane::EngineError;
use netloom_host::KernelError;
use netloom_judge::RunError;
use std::{error, fmt};

/// The reason why the packets of a lab do not move any more, or nobody knows how many there were.
#[derive(Debug)]
pub enum DriveError {
    /// The engine has ended.
    Engine(EngineError),
    /// The kernel's counters of the engine's interfaces cannot be read.
    Counters(KernelError),
}

impl fmt::Display for DriveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Engine(error) => error.fmt(f),
            Self::Counters(error) => error.fmt(f),
        }
    }
}

impl error::Error for DriveError {}

impl From<DriveError> for RunError {
    fn from(error: DriveError) -> Self {
        Self::Died(error.to_string())
    }
}
