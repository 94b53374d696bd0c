//! Frames between the session and the agents of kernels in virtual time.

use super::world::VirtualTime;
use netloom_guest::node::Channel;
use netloom_packet::VirtioHeader;
use netloom_units::Instant;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

/// The agent of one node; see [`Channel`].
pub(crate) struct VirtualChannel {
    time: VirtualTime,
    node: usize,
    /// When the last frame was sent.
    heard_at: Option<Instant>,
    /// Readable while the inbox holds frames.
    doorbell: OwnedFd,
}

impl VirtualTime {
    /// The channel to the agent of the kernel at this place.
    pub(super) fn channel(&self, node: usize) -> io::Result<VirtualChannel> {
        VirtualChannel::new(self.clone(), node)
    }
}

impl VirtualChannel {
    fn new(time: VirtualTime, node: usize) -> io::Result<Self> {
        let doorbell = time.0.borrow().inboxes[node].rings.try_clone()?;
        Ok(Self { time, node, heard_at: None, doorbell })
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
        self.doorbell.as_fd()
    }
}
