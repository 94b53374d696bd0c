//! What waits to be sent to a client.

use netloom_host::fds::send_with_fds;
use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;

/// See the module. It holds what the client has asked for and not taken, and nothing is taken of a client that has something
/// to take.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    bytes: Vec<u8>,
    /// How many of them have been sent.
    sent: usize,
    /// Descriptors, each with the place of the byte that carries it.
    fds: VecDeque<(usize, OwnedFd)>,
}

impl Outbox {
    pub(super) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// How many bytes wait.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.bytes.len() - self.sent
    }

    pub(super) fn push(&mut self, line: &[u8]) {
        self.bytes.extend_from_slice(line);
    }

    /// Descriptors travel with the first byte of the line.
    pub(super) fn push_with(&mut self, line: &[u8], fd: OwnedFd) {
        self.fds.push_back((self.bytes.len(), fd));
        self.push(line);
    }

    /// Sends what the client takes now.
    ///
    /// # Errors
    /// When it has gone.
    pub(super) fn flush(&mut self, stream: &UnixStream) -> io::Result<()> {
        while self.sent < self.bytes.len() {
            let is_next = |(place, _): &&(usize, OwnedFd)| *place == self.sent;
            let fd = self.fds.front().filter(is_next).map(|(_, fd)| fd.as_fd());
            let end = self.fds.get(usize::from(fd.is_some())).map_or(self.bytes.len(), |(place, _)| *place);
            match send_with_fds(stream, &self.bytes[self.sent..end], fd.as_slice()) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(length) => {
                    if fd.is_some() {
                        self.fds.pop_front();
                    }
                    self.sent += length;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error),
            }
        }
        // The memory that one long answer took is not kept.
        *self = Self::default();
        Ok(())
    }
}
