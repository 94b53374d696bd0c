//! Why a sweep cannot be run.

use netloom_judge::ExitCode;
use netloom_lab::Diagnostics;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// An error that kept a sweep from starting, or from going on.
#[derive(Debug)]
pub enum SweepError {
    /// A point is wrong.
    Lab(Box<Diagnostics>),
    /// What is expected of all runs together cannot be judged; the text says where and why.
    Expectation(String),
    /// The folder cannot be used as it was asked for; the text says what to do.
    Folder(String),
    /// Another process runs this sweep.
    Busy(PathBuf),
    /// A file could not be read or written.
    File {
        /// Which.
        path: PathBuf,
        /// What the kernel said.
        source: io::Error,
    },
    /// This machine refuses something.
    Machine(String),
}

impl SweepError {
    /// The exit code for this failure.
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Self::Lab(_) | Self::Expectation(_) => ExitCode::LabFile,
            Self::Folder(_) => ExitCode::Usage,
            Self::Busy(_) => ExitCode::NoSuchLab,
            Self::File { .. } => ExitCode::Results,
            Self::Machine(_) => ExitCode::Machine,
        }
    }

    /// For `map_err` on what is done with the file at `path`.
    pub(crate) fn file(path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |source| Self::File { path, source }
    }
}

impl From<Diagnostics> for SweepError {
    fn from(found: Diagnostics) -> Self {
        Self::Lab(Box::new(found))
    }
}

impl fmt::Display for SweepError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lab(found) => found.fmt(f),
            Self::Expectation(why) | Self::Folder(why) | Self::Machine(why) => f.write_str(why),
            Self::Busy(path) => {
                write!(f, "another process runs the sweep in {}: wait until it has ended", path.display())
            }
            Self::File { path, source } => write!(f, "{}: {source}", path.display()),
        }
    }
}

impl std::error::Error for SweepError {}
