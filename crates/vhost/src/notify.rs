//! How the guest is told that a queue has moved.

use crate::sys::{never_wait, status};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

/// The descriptor on which a guest waits: an event counter (QEMU) or one end of a socket pair (User-Mode Linux).
#[derive(Debug)]
pub(crate) struct Call {
    file: OwnedFd,
    is_socket: bool,
}

impl Call {
    pub(crate) fn new(file: OwnedFd) -> io::Result<Self> {
        // A guest that does not read must not hold us up.
        never_wait(&file)?;
        let is_socket = status(&file)?.st_mode & libc::S_IFMT == libc::S_IFSOCK;
        Ok(Self { file, is_socket })
    }

    /// Rings. One that is full has been rung already, and one that nobody listens to any more need not be.
    pub(crate) fn ring(&self) {
        let one: u64 = 1;
        let (bytes, fd) = (std::ptr::from_ref(&one).cast(), self.file.as_raw_fd());
        // SAFETY: the buffer is the eight bytes of `one`. On a socket no signal is to tell that it was closed.
        unsafe {
            if self.is_socket {
                libc::send(fd, bytes, 8, libc::MSG_NOSIGNAL)
            } else {
                libc::write(fd, bytes, 8)
            };
        }
    }
}
