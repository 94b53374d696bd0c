use std::io;
use std::os::fd::BorrowedFd;
use std::time::Duration;

use netloom_host::guest::frames::{Fragmenter, LONGEST_TO_GUEST, Reassembler};
use netloom_host::guest::message::{FromGuest, ToGuest, Wire};
use netloom_host::node::Request;
use netloom_units::Instant;

use super::channel::Channel;

/// Messages to and from an agent, over a channel of frames.
pub(super) struct AgentMessages {
    channel: Box<dyn Channel>,
    fragmenter: Fragmenter,
    reassembler: Reassembler,
    /// Requests that have no answer yet.
    unanswered: usize,
}

impl AgentMessages {
    pub(super) fn new(channel: Box<dyn Channel>) -> Self {
        Self {
            channel,
            fragmenter: Fragmenter::new(LONGEST_TO_GUEST),
            reassembler: Reassembler::default(),
            unanswered: 0,
        }
    }

    /// Sends what is to be answered.
    pub(super) fn ask(&mut self, request: Request) -> io::Result<()> {
        self.unanswered += 1;
        self.send(&ToGuest::Request(request))
    }

    pub(super) fn send(&mut self, message: &ToGuest) -> io::Result<()> {
        let bytes = message.encode();
        self.fragmenter.cut(&bytes).try_for_each(|frame| self.channel.send(&frame))
    }

    /// The next message, if all of it has come.
    pub(super) fn receive(&mut self) -> io::Result<Option<FromGuest>> {
        while let Some(frame) = self.channel.receive()? {
            if let Some(message) = self.reassembler.take(&frame).map_err(io::Error::other)? {
                return self.checked(FromGuest::decode(&message).map_err(io::Error::other)?).map(Some);
            }
        }
        Ok(None)
    }

    /// Each answer belongs to a request: others would pile up, or be taken for the answers to later ones.
    fn checked(&mut self, message: FromGuest) -> io::Result<FromGuest> {
        if matches!(message, FromGuest::Reply(_)) {
            self.unanswered =
                self.unanswered.checked_sub(1).ok_or_else(|| io::Error::other("it answers without a request"))?;
        }
        Ok(message)
    }

    /// When the last message came, in lab time, if the channel knows.
    pub(super) fn heard_at(&self) -> Option<Instant> {
        self.channel.heard_at()
    }

    pub(super) fn wait(&mut self, kernel: BorrowedFd<'_>, limit: Duration) -> io::Result<()> {
        self.channel.wait(kernel, limit)
    }

    pub(super) fn as_fd(&self) -> BorrowedFd<'_> {
        self.channel.as_fd()
    }
}

#[cfg(test)]
mod tests;
