//! Frames between the session and the agents of kernels in virtual time.

use super::VirtualTime;
use netloom_guest::node::Channel;
use netloom_packet::VirtioHeader;
use netloom_units::Instant;
use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

/// What an agent has sent and the session has not read yet.
pub(super) struct Inbox {
    frames: VecDeque<(Instant, Vec<u8>)>,
    /// The other end is readable while there are frames.
    bell: UnixStream,
    rings: OwnedFd,
    has_rung: bool,
}

impl Inbox {
    pub(super) fn new() -> io::Result<Self> {
        let (bell, rings) = UnixStream::pair()?;
        bell.set_nonblocking(true)?;
        rings.set_nonblocking(true)?;
        Ok(Self { frames: VecDeque::new(), bell, rings: rings.into(), has_rung: false })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    pub(super) fn put(&mut self, at: Instant, frame: Vec<u8>) {
        self.frames.push_back((at, frame));
        if !self.has_rung {
            // One byte always fits an empty socket.
            self.has_rung = self.bell.write(&[1]).is_ok();
        }
    }

    fn take(&mut self) -> Option<(Instant, Vec<u8>)> {
        let taken = self.frames.pop_front();
        if self.frames.is_empty() && self.has_rung {
            let mut byte = [0];
            self.has_rung = UnixStream::from(self.rings.try_clone().ok()?).read(&mut byte).is_err();
        }
        taken
    }
}

/// The agent of one node; see [`Channel`].
pub(crate) struct VirtualChannel {
    time: VirtualTime,
    node: usize,
    /// When the last frame was sent.
    heard_at: Option<Instant>,
    /// Readable while the inbox holds frames.
    bell: OwnedFd,
}

impl VirtualChannel {
    pub(super) fn new(time: VirtualTime, node: usize) -> io::Result<Self> {
        let bell = time.0.borrow().inboxes[node].rings.try_clone()?;
        Ok(Self { time, node, heard_at: None, bell })
    }
}

impl Channel for VirtualChannel {
    fn send(&mut self, frame: &[u8]) -> io::Result<()> {
        let world = &mut *self.time.0.borrow_mut();
        let packet = world.scheduler.pool().packet(VirtioHeader::COMPLETE, frame);
        if world.scheduler.send_agent(self.node, packet) { Ok(()) } else { Err(io::ErrorKind::BrokenPipe.into()) }
    }

    fn receive(&mut self) -> io::Result<Option<Vec<u8>>> {
        let world = &mut *self.time.0.borrow_mut();
        match world.inboxes[self.node].take() {
            None if world.scheduler.is_off(self.node) => Err(io::ErrorKind::UnexpectedEof.into()),
            taken => Ok(taken.map(|(at, frame)| {
                self.heard_at = Some(at);
                frame
            })),
        }
    }

    fn heard_at(&self) -> Option<Instant> {
        self.heard_at
    }

    fn wait(&mut self, _: BorrowedFd<'_>, limit: Duration) -> io::Result<()> {
        self.time.play_until_heard(self.node, limit).map_err(io::Error::other)
    }

    fn as_fd(&self) -> BorrowedFd<'_> {
        self.bell.as_fd()
    }
}
