//! Why a command could not have what it wants of a running lab.

use crate::protocol::Reply;
use netloom_host::KernelError;
use netloom_host::runtime::RuntimeError;
use netloom_judge::{ExitCode, RunError};
use std::path::PathBuf;
use std::{error, fmt, io};

/// The reason why a lab did not do what a client asked for.
#[derive(Debug)]
pub enum ControlError {
    /// No lab of this name is up.
    NoSuchLab {
        /// The name.
        lab: String,
        /// The labs that are up.
        up: Vec<String>,
    },
    /// The command was given no lab, and none is up.
    NoLab,
    /// The command was given no lab, and these are up.
    SeveralLabs(Vec<String>),
    /// The lab is ending.
    Ending {
        /// The lab's name.
        lab: String,
    },
    /// The lab has not opened its socket yet.
    Starting {
        /// The lab's name.
        lab: String,
        /// The socket.
        socket: PathBuf,
        /// The error of connecting to it.
        error: io::Error,
    },
    /// The lab is up and does not answer.
    Silent {
        /// The lab's name.
        lab: String,
    },
    /// The connection to the lab was lost.
    Lost {
        /// The lab's name.
        lab: String,
        /// The error of reading or writing.
        error: io::Error,
    },
    /// The lab's reply is no message of the protocol.
    Invalid {
        /// The lab's name.
        lab: String,
        /// The error of decoding it.
        error: serde_json::Error,
    },
    /// The lab's reply belongs to another request.
    Unexpected {
        /// The lab's name.
        lab: String,
        /// The reply.
        reply: Box<Reply>,
    },
    /// The lab refused the request.
    Refused {
        /// The exit code of a command that was refused so.
        code: ExitCode,
        /// The lab's reason.
        message: String,
    },
    /// The lab was asked to end, and is still there.
    Lingers {
        /// The lab's name.
        lab: String,
        /// How long the client waited, in seconds.
        seconds: u64,
    },
    /// The lab was killed, and is still there.
    Survived {
        /// The lab's name.
        lab: String,
        /// The process of its guard.
        guard: i32,
    },
    /// The lab was taken down, and its report cannot be read.
    NoReport {
        /// The lab's name.
        lab: String,
        /// The report's path.
        path: PathBuf,
        /// The error of reading it.
        error: io::Error,
    },
    /// The folder in which labs that are up are written down cannot be read.
    Runtime(RuntimeError),
    /// The kernel refused a terminal.
    Terminal(KernelError),
    /// The terminal, or another stream of the user, cannot be joined to the node.
    Join(io::Error),
    /// The packets that the lab captures cannot be read.
    Packets(io::Error),
    /// The capture cannot be written.
    Capture(io::Error),
}

impl ControlError {
    /// Returns the exit code of a command that fails with this error.
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Self::NoSuchLab { .. }
            | Self::NoLab
            | Self::SeveralLabs(_)
            | Self::Ending { .. }
            | Self::Starting { .. } => ExitCode::NoSuchLab,
            Self::Silent { .. }
            | Self::Lost { .. }
            | Self::Invalid { .. }
            | Self::Unexpected { .. }
            | Self::Lingers { .. }
            | Self::Survived { .. }
            | Self::NoReport { .. } => ExitCode::Died,
            Self::Refused { code, .. } => *code,
            Self::Runtime(_) | Self::Terminal(_) | Self::Join(_) | Self::Packets(_) => ExitCode::Machine,
            Self::Capture(_) => ExitCode::Results,
        }
    }
}

impl fmt::Display for ControlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSuchLab { lab, up } if up.is_empty() => write!(f, "no lab `{lab}` is up: no labs are running"),
            Self::NoSuchLab { lab, up } => write!(f, "no lab `{lab}` is up; these are: {}", up.join(", ")),
            Self::NoLab => f.write_str("no lab is up"),
            Self::SeveralLabs(labs) => write!(f, "several labs are up, name one: {}", labs.join(", ")),
            Self::Ending { lab } => write!(f, "lab `{lab}` is ending"),
            Self::Starting { lab, socket, error } => {
                write!(f, "lab `{lab}` is still starting (connecting to {}: {error})", socket.display())
            }
            Self::Silent { lab } => RunError::Silent { lab: lab.clone() }.fmt(f),
            Self::Lost { lab, error } => write!(f, "the connection to lab `{lab}` was lost: {error}"),
            Self::Invalid { lab, error } => write!(f, "lab `{lab}` sent an invalid reply: {error}"),
            Self::Unexpected { lab, reply } => write!(f, "lab `{lab}` sent the reply to another request: {reply:?}"),
            Self::Refused { message, .. } => f.write_str(message),
            Self::Lingers { lab, seconds } => {
                write!(f, "lab `{lab}` was asked to end, and is still there after {seconds} s")
            }
            Self::Survived { lab, guard } => {
                write!(f, "lab `{lab}` does not answer, was killed, and is still there (process {guard})")
            }
            Self::NoReport { lab, path, error } => {
                write!(f, "lab `{lab}` was taken down and left no report: reading {}: {error}", path.display())
            }
            Self::Runtime(error) => error.fmt(f),
            Self::Terminal(error) => error.fmt(f),
            Self::Join(error) => write!(f, "joining a terminal or file to the node: {error}"),
            Self::Packets(error) => write!(f, "reading packets from the lab: {error}"),
            Self::Capture(error) => write!(f, "writing the capture: {error}"),
        }
    }
}

impl error::Error for ControlError {}

impl From<RuntimeError> for ControlError {
    fn from(error: RuntimeError) -> Self {
        Self::Runtime(error)
    }
}

impl From<ControlError> for RunError {
    fn from(error: ControlError) -> Self {
        match error {
            ControlError::Silent { lab } => Self::Silent { lab },
            ControlError::Capture(source) => Self::Results { path: "the capture".into(), source },
            other => Self::Reported { code: other.exit_code(), message: other.to_string() },
        }
    }
}
