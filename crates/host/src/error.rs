use std::fmt;
use std::io;

use serde::{Deserialize, Serialize};

/// An error of the kernel: what was attempted on which object, and the kernel's answer.
///
/// It crosses from a node's init to the lab process as JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelError {
    attempted: String,
    errno: i32,
    detail: Option<String>,
}

impl KernelError {
    /// Makes an error for `attempted` ("create interface p0"), with the kernel's error number.
    pub fn new(attempted: impl Into<String>, errno: i32) -> Self {
        Self { attempted: attempted.into(), errno, detail: None }
    }

    /// Makes an error for `attempted` from an error of the standard library. One without an error number keeps its own text.
    pub fn from_io(attempted: impl Into<String>, error: &io::Error) -> Self {
        match error.raw_os_error() {
            Some(errno) => Self::new(attempted, errno),
            None => Self::new(attempted, 0).with_detail(error.to_string()),
        }
    }

    /// Adds what else is known about the cause.
    #[must_use]
    pub fn with_detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = Some(detail.into());
        self
    }

    /// Returns what was attempted, and on which object.
    pub fn attempted(&self) -> &str {
        &self.attempted
    }

    /// Returns the kernel's error number (`libc::EPERM` and so on); 0 for an error that is not the kernel's.
    pub fn errno(&self) -> i32 {
        self.errno
    }
}

impl fmt::Display for KernelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = nix::errno::Errno::from_raw(self.errno).desc();
        match (self.errno, &self.detail) {
            (0, Some(detail)) => write!(f, "{}: {detail}", self.attempted),
            (_, Some(detail)) => write!(f, "{}: {text} ({detail})", self.attempted),
            (libc::ENOSYS, None) => write!(f, "{}: {text} ({OLDEST})", self.attempted),
            (libc::EMFILE, None) => write!(f, "{}: {text} ({OPEN_FILES})", self.attempted),
            (_, None) => write!(f, "{}: {text}", self.attempted),
        }
    }
}

/// The message for a kernel that lacks a system call.
const OLDEST: &str =
    "this machine's kernel lacks the system call; Netloom is for Linux 5.10 and newer, see `netloom doctor`";

/// The message for a process that has as many open files as it may have.
const OPEN_FILES: &str = "this process may have no more, `ulimit -Hn` tells how many: raise that, as in \
    `echo \"$USER - nofile 65536\" | sudo tee /etc/security/limits.d/netloom.conf`, and log in again";

impl std::error::Error for KernelError {}

/// Says at the place of a system call what it was for.
pub(crate) trait Attempted<T> {
    /// Turns an error number into a [`KernelError`].
    fn attempted<S: Into<String>>(self, what: impl FnOnce() -> S) -> Result<T, KernelError>;
}

impl<T, E: Into<io::Error>> Attempted<T> for Result<T, E> {
    fn attempted<S: Into<String>>(self, what: impl FnOnce() -> S) -> Result<T, KernelError> {
        self.map_err(|error| KernelError::from_io(what(), &error.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_what_was_attempted_and_what_the_kernel_answered() {
        let error = KernelError::new("create interface p0", libc::EEXIST);
        assert_eq!(error.to_string(), "create interface p0: File exists");
        let error = error.with_detail("name already in use");
        assert_eq!(error.to_string(), "create interface p0: File exists (name already in use)");
    }

    #[test]
    fn a_missing_system_call_comes_with_the_oldest_kernel() {
        let error = KernelError::new("watch a process", libc::ENOSYS).to_string();
        assert!(
            error.starts_with("watch a process: Function not implemented (") && error.contains("Linux 5.10"),
            "{error}"
        );
    }

    #[test]
    fn too_many_open_files_come_with_what_to_raise() {
        let error = KernelError::new("make a socket pair", libc::EMFILE).to_string();
        assert!(
            error.starts_with("make a socket pair: Too many open files (") && error.contains("ulimit -Hn"),
            "{error}"
        );
    }

    #[test]
    fn an_error_without_a_number_keeps_its_text() {
        let error = KernelError::from_io("read the answer", &io::Error::other("cut short"));
        assert_eq!(error.to_string(), "read the answer: cut short");
    }
}
