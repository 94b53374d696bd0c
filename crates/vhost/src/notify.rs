//! How the guest is told that a queue has moved.

use crate::error::PortError;
use rustix::fs::{FileType, fstat};
use rustix::net::{SendFlags, send};
use std::os::fd::OwnedFd;

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
        let status = fstat(&socket).map_err(PortError::system("looking at a call descriptor"))?;
        match FileType::from_raw_mode(status.st_mode) {
            FileType::Socket => Ok(Self { socket }),
            _ => Err(PortError::Message("a call descriptor that is not a socket".into())),
        }
    }

    /// Rings. One that is full has been rung already, and one that nobody listens to any more need not be.
    pub(crate) fn ring(&self) {
        let _ = send(&self.socket, &1_u64.to_ne_bytes(), SendFlags::DONTWAIT | SendFlags::NOSIGNAL);
    }
}
