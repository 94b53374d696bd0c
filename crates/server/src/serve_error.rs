//! Why a server did not start, or could not go on.

use netloom_judge::{ExitCode, RunError};
use nix::errno::Errno;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::{error, fmt, io};

/// The reason why pages are not served.
#[derive(Debug)]
pub enum ServeError {
    /// Threads could not be started.
    Threads(io::Error),
    /// The kernel refused to let this process have more open files.
    Descriptors(Errno),
    /// Signals could not be taken.
    Signals(io::Error),
    /// The address cannot be listened at.
    Listen(SocketAddr, io::Error),
    /// The kernel gave no random numbers.
    Random(io::Error),
    /// The certificate cannot be used; the text says why.
    Certificate(String),
    /// The folder of lab files cannot be opened.
    Folder(PathBuf, io::Error),
}

impl fmt::Display for ServeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Threads(error) => write!(f, "starting threads: {error}"),
            Self::Descriptors(errno) => write!(f, "raising the limit on open files: {errno}"),
            Self::Signals(error) => write!(f, "taking signals: {error}"),
            Self::Listen(place, error) => write!(f, "listening at {place}: {error}"),
            Self::Random(error) => write!(f, "taking random numbers: {error}"),
            Self::Certificate(message) => f.write_str(message),
            Self::Folder(path, error) => write!(f, "opening {}: {error}", path.display()),
        }
    }
}

impl error::Error for ServeError {}

impl From<ServeError> for RunError {
    fn from(error: ServeError) -> Self {
        match error {
            ServeError::Certificate(message) => Self::Reported { code: ExitCode::Usage, message },
            other => Self::Machine(other.to_string()),
        }
    }
}
