//! What waits to be sent to a client.

use std::io::{self, Write};
use std::os::unix::net::UnixStream;

/// See the module. It holds what the client has asked for and not taken, and nothing is taken of a client that has something
/// to take.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    bytes: Vec<u8>,
    /// How many of them have been sent.
    sent: usize,
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

    /// Sends what the client takes now.
    ///
    /// # Errors
    /// When it has gone.
    pub(super) fn flush(&mut self, mut stream: &UnixStream) -> io::Result<()> {
        while self.sent < self.bytes.len() {
            match stream.write(&self.bytes[self.sent..]) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(length) => self.sent += length,
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
