use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd, OwnedFd};

use nix::sys::socket::{MsgFlags, send};
use std::os::fd::AsRawFd;

use super::packets::Event;

/// Events on their way to the lab process. A lab process that reads them late never blocks the node.
pub(super) struct Outbox {
    socket: OwnedFd,
    waiting: VecDeque<Vec<u8>>,
}

impl Outbox {
    pub(super) fn new(socket: OwnedFd) -> Self {
        Self { socket, waiting: VecDeque::new() }
    }

    pub(super) fn push(&mut self, event: &Event) {
        self.waiting.push_back(serde_json::to_vec(event).expect("an event is plain numbers"));
    }

    /// Sends what the socket takes.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        while let Some(event) = self.waiting.front() {
            match send(self.socket.as_raw_fd(), event, MsgFlags::MSG_DONTWAIT | MsgFlags::MSG_NOSIGNAL) {
                Ok(_) => drop(self.waiting.pop_front()),
                Err(nix::errno::Errno::EAGAIN) => return Ok(()),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    pub(super) fn socket(&self) -> impl AsFd + '_ {
        self.socket.as_fd()
    }
}
