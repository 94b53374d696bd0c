//! Why a hunt cannot go on.

use netloom_judge::ExitCode;
use netloom_lab::Diagnostics;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// An error that keeps a hunt from starting, or from going on.
#[derive(Debug)]
pub enum HuntError {
    /// The lab file is wrong.
    Lab(Box<Diagnostics>),
    /// The lab cannot be hunted; the text says why, and what would be right.
    Unfit(String),
    /// The folder cannot be used as it was asked for; the text says what to do.
    Folder(String),
    /// Another process hunts in this folder.
    Busy(PathBuf),
    /// The run without faults failed in itself; the text says why.
    Baseline(String),
    /// A file could not be read or written.
    File {
        /// The file's path.
        path: PathBuf,
        /// The kernel's error.
        source: io::Error,
    },
    /// Results of a run could not be written; the text says why.
    Results(String),
    /// This machine refuses something.
    Machine(String),
}

impl HuntError {
    /// Returns the exit code for this error.
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Self::Lab(_) | Self::Unfit(_) => ExitCode::LabFile,
            Self::Folder(_) => ExitCode::Usage,
            Self::Busy(_) => ExitCode::NoSuchLab,
            Self::Baseline(_) => ExitCode::Died,
            Self::File { .. } | Self::Results(_) => ExitCode::Results,
            Self::Machine(_) => ExitCode::Machine,
        }
    }

    /// For `map_err` on what is done with the file at `path`.
    pub(crate) fn file(path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |source| Self::File { path, source }
    }
}

impl From<Diagnostics> for HuntError {
    fn from(found: Diagnostics) -> Self {
        Self::Lab(Box::new(found))
    }
}

impl fmt::Display for HuntError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lab(found) => found.fmt(f),
            Self::Unfit(why) | Self::Folder(why) | Self::Machine(why) => f.write_str(why),
            Self::Busy(folder) => {
                write!(f, "another process hunts in {}: wait until it has ended", folder.display())
            }
            Self::Baseline(why) => write!(f, "the run without any fault failed in itself: {why}"),
            Self::File { path, source } => write!(f, "{}: {source}", path.display()),
            Self::Results(why) => write!(f, "results could not be written: {why}"),
        }
    }
}

impl std::error::Error for HuntError {}
