//! What can go wrong while a lab is made of its plan.

use crate::drive_error::DriveError;
use crate::virtual_time::EndOfTime;
use netloom_dataplane::EngineError;
use netloom_host::node::NodeError;
use netloom_host::{KernelError, shortage};
use netloom_judge::{ExitCode, RunError};
use netloom_results::WriteError;
use nix::errno::Errno;
use std::path::{Path, PathBuf};
use std::{error, fmt, io};

/// The reason why a lab was not made.
#[derive(Debug)]
pub enum SetupError {
    /// A step failed that concerns no object of the lab.
    Step(&'static str, io::Error),
    /// A file, folder or socket of the lab could not be made, copied or listened at.
    File(&'static str, PathBuf, io::Error),
    /// The kernel refused a part of the lab, or a process of the lab was killed meanwhile.
    Kernel(KernelError),
    /// The kernel refused what the lab needs of this machine: shares of processors, rules of a firewall.
    Machine(KernelError),
    /// A node failed while it became what the plan says.
    Node(NodeError),
    /// A node's own kernel could not be booted.
    Boot(NodeError),
    /// The engine did not start.
    Engine(EngineError),
    /// The packets of the lab do not move.
    Drive(DriveError),
    /// Virtual time does not go on.
    Time(EndOfTime),
    /// The results folder does not take what belongs there.
    Results(WriteError),
    /// Something cannot be made; the text says what and why, with file, line and key where they are known.
    Refused(String),
    /// Something did not come about within its time; the text says what.
    Late(String),
    /// The lab's process could not wait for this.
    Wait(&'static str, Errno),
    /// The user ended the lab meanwhile; the text says during what.
    Interrupted(&'static str),
}

impl SetupError {
    /// Returns a function for `map_err` on the result of doing something with `path`.
    pub(crate) fn file(attempted: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let owned = path.to_owned();
        move |error| Self::File(attempted, owned, error)
    }

    /// Whether a process of the lab has ended that should not, rather than that this machine refused something.
    fn has_died(&self) -> bool {
        match self {
            Self::Kernel(error) | Self::Node(NodeError::Refused { error, .. }) => is_killed(error),
            Self::Node(NodeError::Gone { .. }) | Self::Wait(..) => true,
            _ => false,
        }
    }
}

/// Whether an error says that a process has gone: the kernel knows no process of ours only if that was killed meanwhile.
fn is_killed(error: &KernelError) -> bool {
    error.errno() == libc::ESRCH
}

/// Returns what an error does not say itself, if a process of the lab was killed.
pub(crate) fn killed(error: &KernelError) -> &'static str {
    if is_killed(error) { ": it was killed while the lab was set up" } else { "" }
}

impl fmt::Display for SetupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Step(attempted, error) => write!(f, "{attempted}: {error}"),
            Self::File(attempted, path, error) => write!(f, "{attempted} {}: {error}", path.display()),
            Self::Kernel(error) => write!(f, "{error}{}", killed(error)),
            Self::Node(NodeError::Refused { node, error }) => write!(f, "node {node}: {error}{}", killed(error)),
            Self::Machine(error) => error.fmt(f),
            Self::Node(error) | Self::Boot(error) => error.fmt(f),
            // Its threads count as processes.
            Self::Engine(EngineError::System { attempted, error }) => {
                shortage::of_processes(KernelError::from_io(*attempted, error)).fmt(f)
            }
            Self::Engine(error) => error.fmt(f),
            Self::Drive(error) => error.fmt(f),
            Self::Time(end) => end.fmt(f),
            Self::Results(error) => error.fmt(f),
            Self::Refused(text) | Self::Late(text) => f.write_str(text),
            Self::Wait(what, errno) => write!(f, "waiting for {what}: {errno}"),
            Self::Interrupted(text) => f.write_str(text),
        }
    }
}

impl error::Error for SetupError {}

impl From<DriveError> for SetupError {
    fn from(error: DriveError) -> Self {
        Self::Drive(error)
    }
}

impl From<WriteError> for SetupError {
    fn from(error: WriteError) -> Self {
        Self::Results(error)
    }
}

impl From<EndOfTime> for SetupError {
    fn from(end: EndOfTime) -> Self {
        Self::Time(end)
    }
}

impl From<SetupError> for RunError {
    fn from(error: SetupError) -> Self {
        match error {
            SetupError::Drive(inner) => inner.into(),
            SetupError::Time(end) => end.into(),
            SetupError::Results(inner) => inner.into(),
            SetupError::Interrupted(text) => Self::Reported { code: ExitCode::Interrupted, message: text.into() },
            died if died.has_died() => Self::Died(died.to_string()),
            other => Self::Machine(other.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whoever is killed is missed by the kernel, which says no more than that.
    #[test]
    fn who_is_killed_has_died_and_all_else_is_the_machines() {
        let error = |errno| KernelError::new("enter the node", errno);
        let node = |errno| NodeError::Refused { node: "a".into(), error: error(errno) };
        let told = |of_setup: SetupError| {
            let text = of_setup.to_string();
            let run = RunError::from(of_setup);
            assert_eq!(run.to_string(), text);
            (run.exit_code(), text)
        };
        let (code, text) = told(SetupError::Node(node(libc::ESRCH)));
        assert_eq!(code, ExitCode::Died);
        assert!(
            text.starts_with("node a: enter the node") && text.ends_with("killed while the lab was set up"),
            "{text}"
        );
        assert_eq!(told(SetupError::Kernel(error(libc::ESRCH))).0, ExitCode::Died);
        assert_eq!(told(SetupError::Node(node(libc::EPERM))).0, ExitCode::Machine);
        assert_eq!(told(SetupError::Node(NodeError::Gone { node: "a".into() })).0, ExitCode::Died);
        assert_eq!(told(SetupError::Boot(NodeError::Gone { node: "a".into() })).0, ExitCode::Machine);
        assert_eq!(told(SetupError::Machine(error(libc::ESRCH))).0, ExitCode::Machine);
        let waited = SetupError::Wait("the kernels", Errno::EBADF);
        assert_eq!(told(waited).0, ExitCode::Died);
        assert_eq!(told(SetupError::Interrupted("interrupted")), (ExitCode::Interrupted, "interrupted".into()));
        assert_eq!(told(SetupError::Time(EndOfTime::Interrupted)).0, ExitCode::Interrupted);
    }
}
