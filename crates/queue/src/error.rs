//! Why something cannot be done with the queue.

use netloom_judge::ExitCode;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// An error of an operation on the queue.
#[derive(Debug)]
pub enum QueueError {
    /// There is no such job.
    NoSuchJob(String),
    /// The folder of the queue cannot be trusted, or this machine refuses something.
    Machine(String),
    /// A file could not be read or written.
    File {
        /// Which.
        path: PathBuf,
        /// What the kernel said.
        source: io::Error,
    },
}

impl QueueError {
    /// The exit code for this failure.
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Self::NoSuchJob(_) => ExitCode::NoSuchLab,
            Self::Machine(_) => ExitCode::Machine,
            Self::File { .. } => ExitCode::Results,
        }
    }

    /// For `map_err` on what is done with the file at `path`.
    pub(crate) fn file(path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |source| Self::File { path, source }
    }
}

impl fmt::Display for QueueError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSuchJob(text) | Self::Machine(text) => f.write_str(text),
            Self::File { path, source } => write!(f, "{}: {source}", path.display()),
        }
    }
}

impl std::error::Error for QueueError {}
