//! How the guest is told that a queue has moved.

use crate::error::PortError;
use crate::sys::status;
use std::os::fd::{AsRawFd, OwnedFd};

/// The socket on whose other end a guest waits: one of a pair (User-Mode Linux).
///
/// Nothing else will do. Of a socket each call says that it must not wait; whether writing to an event counter or a pipe
/// waits, is decided by a flag that the guest shares and can take away, and then it would hold up every other guest.
#[derive(Debug)]
pub(crate) struct Call {
    socket: OwnedFd,
}

impl Call {
    pub(crate) fn new(socket: OwnedFd) -> Result<Self, PortError> {
        let status = status(&socket).map_err(PortError::system("looking at a call descriptor"))?;
        if status.st_mode & libc::S_IFMT == libc::S_IFSOCK {
            Ok(Self { socket })
        } else {
            Err(PortError::Message("a call descriptor that is not a socket".into()))
        }
    }

    /// Rings. One that is full has been rung already, and one that nobody listens to any more need not be.
    pub(crate) fn ring(&self) {
        let one: u64 = 1;
        let flags = libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL;
        // SAFETY: the buffer is the eight bytes of `one`.
        unsafe { libc::send(self.socket.as_raw_fd(), std::ptr::from_ref(&one).cast(), 8, flags) };
    }
}
