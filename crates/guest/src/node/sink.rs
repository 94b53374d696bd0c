use std::collections::VecDeque;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use netloom_host::guest::message::OUTPUT_WINDOW;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::unistd::write;

/// What a pipe that is ready takes without waiting (`PIPE_BUF` of Linux).
const CERTAIN: usize = 4096;

/// Where a program's output goes: a descriptor that other processes share, and so is never made non-blocking.
#[derive(Debug)]
pub(super) struct Sink {
    fd: OwnedFd,
    waiting: VecDeque<u8>,
    /// Bytes that were written, and of which the agent does not know yet.
    unreported: usize,
    /// Nothing comes behind what waits.
    ends: bool,
    /// Whether the descriptor is watched for room.
    pub(super) watched: bool,
}

/// What became of what waited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Written {
    /// All of it was written.
    All,
    /// The descriptor takes no more for now.
    Some,
    /// It has no reader, or no more fits.
    Refused,
}

impl Sink {
    pub(super) fn new(fd: OwnedFd) -> Self {
        Self { fd, waiting: VecDeque::new(), unreported: 0, ends: false, watched: false }
    }

    /// Takes what the agent has sent; false if that is more than it may.
    #[must_use]
    pub(super) fn push(&mut self, bytes: &[u8]) -> bool {
        let fits = self.waiting.len() + self.unreported + bytes.len() <= OUTPUT_WINDOW;
        if fits {
            self.waiting.extend(bytes);
        }
        fits
    }

    pub(super) fn end(&mut self) {
        self.ends = true;
    }

    pub(super) fn is_over(&self) -> bool {
        self.ends && self.waiting.is_empty()
    }

    pub(super) fn is_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }

    /// Forgets what waits.
    pub(super) fn discard(&mut self) {
        self.unreported += self.waiting.len();
        self.waiting.clear();
    }

    /// How much more the agent may be asked to send; granted in large steps, since each costs a message.
    pub(super) fn report(&mut self) -> Option<usize> {
        (self.unreported >= OUTPUT_WINDOW / 2).then(|| std::mem::take(&mut self.unreported))
    }

    /// Writes as much as can be written without waiting.
    pub(super) fn flush(&mut self) -> Written {
        while !self.waiting.is_empty() {
            if !self.has_room() {
                return Written::Some;
            }
            let next = self.waiting.as_slices().0;
            match write(&self.fd, &next[..next.len().min(CERTAIN)]) {
                Ok(length) => {
                    self.waiting.drain(..length);
                    self.unreported += length;
                }
                Err(Errno::EAGAIN) => return Written::Some,
                Err(Errno::EINTR) => (),
                Err(_) => return Written::Refused,
            }
        }
        Written::All
    }

    fn has_room(&self) -> bool {
        let mut fds = [PollFd::new(self.fd.as_fd(), PollFlags::POLLOUT)];
        // A descriptor without a reader is ready, too: writing then tells.
        poll(&mut fds, PollTimeout::ZERO).is_ok_and(|ready| ready > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_cannot_send_more_than_it_was_asked_for() {
        let (_reader, pipe) = std::io::pipe().unwrap();
        let mut sink = Sink::new(pipe.into());
        assert!(sink.push(&vec![1; OUTPUT_WINDOW]));
        assert!(!sink.push(&[1]));
        // What a full pipe takes is not reported before it is worth a message.
        assert_eq!(sink.flush(), Written::Some);
        assert!(sink.report().is_none() && !sink.push(&[1]));
        sink.discard();
        assert_eq!(sink.report(), Some(OUTPUT_WINDOW));
        assert!(sink.push(&[1]));
    }
}
