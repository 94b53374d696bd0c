//! What can go wrong with results: when they are written, when they are read or drawn, and when they are listed or removed.

use netloom_judge::{ExitCode, RunError};
use std::path::{Path, PathBuf};
use std::{error, fmt, io};

/// The reason why a run's results are not complete.
#[derive(Debug)]
pub enum WriteError {
    /// A file or folder could not be written.
    File {
        /// The file or folder.
        path: PathBuf,
        /// The error of the kernel.
        source: io::Error,
    },
    /// The thread that writes logs could not be started.
    NoThread(io::Error),
    /// A thread that writes has panicked; the text says which.
    Panicked(&'static str),
    /// The logs lack so many packets, for which the disk was too slow.
    Lost(u64),
}

/// The reason why results cannot be read or drawn.
#[derive(Debug)]
pub enum ReadError {
    /// A folder holds no results.
    NoResults {
        /// The folder.
        folder: PathBuf,
        /// The file that is missing or wrong, and how.
        why: String,
    },
    /// A folder holds no results, or none of the files that say what they are of can be read.
    Damaged(PathBuf),
    /// A file is not what a run writes under its name.
    File {
        /// The file.
        path: PathBuf,
        /// The line, and what is wrong with it.
        why: String,
    },
    /// What a program wrote cannot be read.
    Log {
        /// The file.
        path: PathBuf,
        /// The error of the kernel.
        source: io::Error,
    },
    /// The request names what the results do not have, or too much; the text says what.
    Unfit(String),
    /// What was drawn could not be written.
    Write(WriteError),
}

/// The reason why results cannot be listed or removed.
#[derive(Debug)]
pub enum IndexError {
    /// A folder cannot be read.
    Read {
        /// The folder.
        path: PathBuf,
        /// The error of the kernel.
        source: io::Error,
    },
    /// A folder cannot be removed.
    Remove {
        /// The folder.
        path: PathBuf,
        /// The error of the kernel.
        source: io::Error,
    },
    /// No results are of the lab.
    NoLab {
        /// The folder that holds the results of all labs.
        root: PathBuf,
        /// The lab's name.
        lab: String,
    },
}

impl WriteError {
    /// Returns a function for `map_err` on the result of writing `path`.
    pub fn file(path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let owned = path.to_owned();
        move |source| Self::File { path: owned, source }
    }
}

impl fmt::Display for WriteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { path, source } => write!(f, "writing the results to {}: {source}", path.display()),
            Self::NoThread(error) => write!(f, "starting the thread that writes logs: {error}"),
            Self::Panicked(what) => f.write_str(what),
            Self::Lost(packets) => write!(f, "the logs lack {packets} packets: the disk could not keep up"),
        }
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoResults { folder, why } => write!(f, "{} is not a results folder: {why}", folder.display()),
            Self::Damaged(folder) => write!(
                f,
                "{} is not a results folder, or it is damaged: none of plan.json, provenance.json and report.json can be read",
                folder.display()
            ),
            Self::File { path, why } => write!(f, "{}: {why}", path.display()),
            Self::Log { path, source } => write!(f, "reading {}: {source}", path.display()),
            Self::Unfit(why) => f.write_str(why),
            Self::Write(error) => error.fmt(f),
        }
    }
}

impl fmt::Display for IndexError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read { path, source } => write!(f, "reading {}: {source}", path.display()),
            Self::Remove { path, source } => write!(f, "removing {}: {source}", path.display()),
            Self::NoLab { root, lab } => write!(f, "{} has no results of a lab `{lab}`", root.display()),
        }
    }
}

impl error::Error for WriteError {}
impl error::Error for ReadError {}
impl error::Error for IndexError {}

impl From<WriteError> for ReadError {
    fn from(error: WriteError) -> Self {
        Self::Write(error)
    }
}

impl From<WriteError> for RunError {
    fn from(error: WriteError) -> Self {
        match error {
            WriteError::File { path, source } => Self::Results { path, source },
            WriteError::NoThread(_) => Self::Machine(error.to_string()),
            WriteError::Panicked(_) | WriteError::Lost(_) => Self::Died(error.to_string()),
        }
    }
}

impl From<ReadError> for RunError {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Write(write) => write.into(),
            other => Self::Lab(other.to_string()),
        }
    }
}

impl From<IndexError> for RunError {
    fn from(error: IndexError) -> Self {
        match error {
            IndexError::NoLab { .. } => Self::Lab(error.to_string()),
            IndexError::Read { .. } | IndexError::Remove { .. } => {
                Self::Reported { code: ExitCode::Results, message: error.to_string() }
            }
        }
    }
}
