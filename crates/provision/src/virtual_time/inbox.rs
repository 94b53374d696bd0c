//! Frames that agents of kernels have sent in virtual time, until they are read.

use netloom_units::Instant;
use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;

/// What an agent has sent and the session has not read yet.
pub(super) struct Inbox {
    frames: VecDeque<(Instant, Vec<u8>)>,
    /// The other end is readable while there are frames.
    doorbell: UnixStream,
    pub(super) rings: OwnedFd,
    has_rung: bool,
}

impl Inbox {
    pub(super) fn new() -> io::Result<Self> {
        let (doorbell, rings) = UnixStream::pair()?;
        doorbell.set_nonblocking(true)?;
        rings.set_nonblocking(true)?;
        Ok(Self { frames: VecDeque::new(), doorbell, rings: rings.into(), has_rung: false })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    pub(super) fn put(&mut self, at: Instant, frame: Vec<u8>) {
        self.frames.push_back((at, frame));
        if !self.has_rung {
            // One byte always fits an empty socket.
            self.has_rung = self.doorbell.write(&[1]).is_ok();
        }
    }

    /// The frame that came first, and when it was sent.
    pub(super) fn take(&mut self) -> Option<(Instant, Vec<u8>)> {
        let taken = self.frames.pop_front();
        if self.frames.is_empty() && self.has_rung {
            let mut byte = [0];
            self.has_rung = UnixStream::from(self.rings.try_clone().ok()?).read(&mut byte).is_err();
        }
        taken
    }
}
