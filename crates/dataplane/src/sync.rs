//! What threads of the engine share and wait with.
//!
//! Files that take it from here, and nothing else of this crate but one another, are also run under loom, which tries every order
//! in which their threads can meet: `tests/models` brings a `sync` of its own.

pub(crate) use std::sync::atomic::{AtomicBool, AtomicU64, Ordering, fence};
pub(crate) use std::sync::mpsc::Receiver;

use nix::sys::eventfd::{EfdFlags, EventFd};
use std::io;
use std::os::fd::{AsRawFd, RawFd};

/// An event counter of the kernel: it wakes a poll, until it is reset.
#[derive(Debug)]
pub(crate) struct Event(EventFd);

impl Event {
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self(EventFd::from_flags(EfdFlags::EFD_CLOEXEC | EfdFlags::EFD_NONBLOCK)?))
    }

    /// Adds one.
    pub(crate) fn signal(&self) {
        // A full counter is as good as one more.
        let _ = self.0.write(1);
    }

    pub(crate) fn reset(&self) {
        // An empty counter is already reset.
        let _ = self.0.read();
    }
}

impl AsRawFd for Event {
    fn as_raw_fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }
}
