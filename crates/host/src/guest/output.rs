use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Instant;

use nix::errno::Errno;
use nix::unistd::read;

use super::message::{LONGEST_CHUNK, OUTPUT_WINDOW};

/// The agent's end of what a program writes to: a pipe, or a terminal's master.
#[derive(Debug)]
pub(super) struct Output {
    fd: OwnedFd,
    is_terminal: bool,
    /// How much more the lab process takes, in bytes.
    window: usize,
    owed: Owed,
}

/// What has to be passed on before the program's end may be reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Owed {
    /// The program runs.
    Everything,
    /// It has ended and left that many bytes. Others who have inherited the stream may write on.
    Bytes(usize),
    /// It has ended and left a terminal, whose contents are on their way to this end: until that is empty and closed,
    /// or until this instant.
    Rest(Instant),
}

/// What reading gave.
pub(super) enum Read {
    Bytes(Vec<u8>),
    Nothing,
    End,
}

impl Output {
    /// `fd` must not block.
    pub(super) fn new(fd: OwnedFd, is_terminal: bool) -> Self {
        Self { fd, is_terminal, window: OUTPUT_WINDOW, owed: Owed::Everything }
    }

    /// Whether it is to be read when it can be.
    pub(super) fn is_wanted(&self) -> bool {
        self.window > 0
    }

    pub(super) fn grant(&mut self, bytes: usize) {
        self.window += bytes;
    }

    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }

    /// The program has ended; a terminal is awaited until `limit`.
    pub(super) fn program_ended(&mut self, limit: Instant) {
        self.owed = if self.is_terminal { Owed::Rest(limit) } else { Owed::Bytes(self.unread()) };
    }

    /// Whether all that the program itself wrote has been passed on.
    pub(super) fn is_settled(&self, now: Instant) -> bool {
        match self.owed {
            Owed::Everything => false,
            Owed::Bytes(left) => left == 0,
            Owed::Rest(limit) => limit <= now,
        }
    }

    /// When it is settled at the latest, if that depends on time.
    pub(super) fn deadline(&self) -> Option<Instant> {
        if let Owed::Rest(limit) = self.owed { Some(limit) } else { None }
    }

    /// Some of what there is.
    pub(super) fn read(&mut self) -> io::Result<Read> {
        let mut buffer = vec![0; LONGEST_CHUNK.min(self.window)];
        match read(&self.fd, &mut buffer) {
            // A terminal that no process has open any more gives an error.
            Ok(0) | Err(Errno::EIO) => Ok(Read::End),
            Ok(length) => {
                buffer.truncate(length);
                self.window -= length;
                if let Owed::Bytes(left) = &mut self.owed {
                    *left = left.saturating_sub(length);
                }
                Ok(Read::Bytes(buffer))
            }
            Err(Errno::EAGAIN | Errno::EINTR) => Ok(Read::Nothing),
            Err(error) => Err(error.into()),
        }
    }

    /// How many bytes can be read at once.
    fn unread(&self) -> usize {
        rustix::io::ioctl_fionread(&self.fd).map_or(0, |bytes| usize::try_from(bytes).unwrap_or(0))
    }
}
