//! Why a bundle cannot be made or read.

use netloom_judge::ExitCode;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Why a bundle cannot be made, or read to its end.
#[derive(Debug)]
pub enum ArchiveError {
    /// What was named is nothing that this can be done with; the text says what would be.
    Unsuitable(String),
    /// It is still being written.
    Busy(PathBuf),
    /// A file could not be read or written.
    File {
        /// Which.
        path: PathBuf,
        /// What the kernel said.
        source: io::Error,
    },
    /// The bundle is not what it says of itself.
    Damaged {
        /// The bundle.
        bundle: PathBuf,
        /// Where: which of its files.
        place: String,
        /// What is wrong there.
        why: String,
        /// How many of its files come before, and are whole.
        whole: usize,
        /// How many there should be; none if the manifest cannot be read.
        total: Option<usize>,
    },
    /// Netloom writes no such bundle.
    Refused {
        /// The bundle.
        bundle: PathBuf,
        /// What is wrong with it.
        why: String,
    },
}

impl ArchiveError {
    /// The exit code for this failure.
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Self::Unsuitable(_) => ExitCode::Usage,
            Self::Busy(_) => ExitCode::NoSuchLab,
            Self::File { .. } | Self::Damaged { .. } | Self::Refused { .. } => ExitCode::Results,
        }
    }

    /// For `map_err` on what is done with the file at `path`.
    pub(crate) fn file(path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |source| Self::File { path, source }
    }

    pub(crate) fn refused(bundle: &Path, why: impl Into<String>) -> Self {
        Self::Refused { bundle: bundle.to_owned(), why: why.into() }
    }
}

impl fmt::Display for ArchiveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unsuitable(text) => f.write_str(text),
            Self::Busy(path) => write!(f, "{} is still being written: wait until it has ended", path.display()),
            Self::File { path, source } => write!(f, "{}: {source}", path.display()),
            Self::Damaged { bundle, place, why, whole, total } => {
                write!(f, "{} is damaged at {place}: {why}", bundle.display())?;
                match total {
                    Some(total) => write!(f, "; of its {total} files, the {whole} before are whole"),
                    None => Ok(()),
                }
            }
            Self::Refused { bundle, why } => write!(f, "{} is no bundle of Netloom: {why}", bundle.display()),
        }
    }
}

impl std::error::Error for ArchiveError {}
