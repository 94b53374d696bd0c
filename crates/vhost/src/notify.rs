//! How the guest is notified that a queue has moved.

use crate::error::PortError;
use rustix::fs::{FileType, OFlags, fcntl_getfl, fcntl_setfl, fstat};
use rustix::net::{SendFlags, send};
use std::os::fd::{AsRawFd, OwnedFd};

/// The means by which a guest asks for notifications.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NotifyBy {
    /// One of a pair of sockets (User-Mode Linux). Of a socket each call says that it must not wait; whether writing to an event
    /// counter or a pipe waits, is decided by a flag that the guest shares and can take away, and then it would hold up every
    /// other guest.
    Sockets,
    /// Or an event counter (QEMU), for guests of which that need not be feared.
    Counters,
}

/// The file on whose other end a guest waits.
#[derive(Debug)]
pub(crate) enum Call {
    Socket(OwnedFd),
    Counter(OwnedFd),
}

impl Call {
    pub(crate) fn new(file: OwnedFd, notify_by: NotifyBy) -> Result<Self, PortError> {
        let status = fstat(&file).map_err(PortError::system("looking at a call descriptor"))?;
        match (FileType::from_raw_mode(status.st_mode), notify_by) {
            (FileType::Socket, _) => Ok(Self::Socket(file)),
            (_, NotifyBy::Sockets) => Err(PortError::Message("a call descriptor that is not a socket".into())),
            (_, NotifyBy::Counters) if is_counter(&file) => {
                let attempted = "keeping a call descriptor from waiting";
                let flags = fcntl_getfl(&file).map_err(PortError::system(attempted))?;
                fcntl_setfl(&file, flags | OFlags::NONBLOCK).map_err(PortError::system(attempted))?;
                Ok(Self::Counter(file))
            }
            (_, NotifyBy::Counters) => {
                Err(PortError::Message("a call descriptor that is neither a socket nor an event counter".into()))
            }
        }
    }

    /// Rings. One that is full has been rung already, and one that nobody listens to any more need not be.
    pub(crate) fn ring(&self) {
        let one = 1_u64.to_ne_bytes();
        match self {
            Self::Socket(socket) => drop(send(socket, &one, SendFlags::DONTWAIT | SendFlags::NOSIGNAL)),
            Self::Counter(counter) => drop(rustix::io::write(counter, &one)),
        }
    }
}

/// Whether a file is an event counter, as the kernel names it (proc_pid_fd(5)).
fn is_counter(file: &OwnedFd) -> bool {
    let link = std::fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd()));
    link.is_ok_and(|name| name.as_os_str() == "anon_inode:[eventfd]")
}
