use std::collections::VecDeque;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use nix::errno::Errno;
use nix::unistd::write;

/// The agent's end of what a program reads from: a pipe, or a terminal's master.
#[derive(Debug)]
pub(super) struct Input {
    fd: OwnedFd,
    pub(super) is_terminal: bool,
    waiting: VecDeque<u8>,
    /// What waits is the end of the input.
    ends: bool,
}

/// What became of the input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fed {
    /// The program has that much more.
    Taken(usize),
    /// It has that much more, and that was all.
    Done(usize),
    /// It has no reader any more.
    Unwanted,
}

impl Input {
    /// `fd` must not block.
    pub(super) fn new(fd: OwnedFd, is_terminal: bool) -> Self {
        Self { fd, is_terminal, waiting: VecDeque::new(), ends: false }
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.waiting.extend(bytes);
    }

    pub(super) fn end(&mut self) {
        self.ends = true;
    }

    pub(super) fn is_waiting(&self) -> bool {
        !self.waiting.is_empty() || self.ends
    }

    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }

    /// Writes what fits.
    pub(super) fn feed(&mut self) -> Fed {
        let mut taken = 0;
        while !self.waiting.is_empty() {
            match write(&self.fd, self.waiting.as_slices().0) {
                Ok(length) => {
                    self.waiting.drain(..length);
                    taken += length;
                }
                Err(Errno::EAGAIN) => return Fed::Taken(taken),
                Err(Errno::EINTR) => (),
                Err(_) => return Fed::Unwanted,
            }
        }
        if self.ends { Fed::Done(taken) } else { Fed::Taken(taken) }
    }
}
