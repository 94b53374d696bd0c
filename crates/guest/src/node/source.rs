use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use netloom_host::guest::message::{INPUT_WINDOW, LONGEST_CHUNK};
use nix::errno::Errno;
use nix::unistd::read;

/// Where a program's input comes from: a descriptor that other processes share.
#[derive(Debug)]
pub(super) struct Source {
    fd: OwnedFd,
    /// How much more the agent takes, in bytes.
    window: usize,
    /// Whether the descriptor is watched for input.
    pub(super) watched: bool,
    /// A file or the like, which is always ready and cannot be watched.
    pub(super) always_ready: bool,
}

/// What reading gave.
pub(super) enum Read {
    Bytes(Vec<u8>),
    Nothing,
    End,
}

impl Source {
    pub(super) fn new(fd: OwnedFd) -> Self {
        Self { fd, window: INPUT_WINDOW, watched: false, always_ready: false }
    }

    pub(super) fn is_open(&self) -> bool {
        self.window > 0
    }

    /// The agent has taken so much; it never takes more than it was sent.
    pub(super) fn grant(&mut self, bytes: usize) {
        self.window = self.window.saturating_add(bytes).min(INPUT_WINDOW);
    }

    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }

    /// Some of what there is; only to be called when there is something.
    pub(super) fn read(&mut self) -> Read {
        let mut buffer = vec![0; self.window.min(LONGEST_CHUNK)];
        match read(&self.fd, &mut buffer) {
            Ok(0) => Read::End,
            Ok(length) => {
                buffer.truncate(length);
                self.window -= length;
                Read::Bytes(buffer)
            }
            Err(Errno::EAGAIN | Errno::EINTR) => Read::Nothing,
            // A terminal that was hung up, for example.
            Err(_) => Read::End,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Otherwise one that says so could have `/dev/zero` read for ever.
    #[test]
    fn an_agent_that_says_it_took_more_than_it_got_gets_no_more() {
        let mut source = Source::new(std::fs::File::open("/dev/zero").unwrap().into());
        let mut sent = 0;
        while let (true, Read::Bytes(bytes)) = (source.is_open(), source.read()) {
            sent += bytes.len();
        }
        assert_eq!(sent, INPUT_WINDOW);
        (0..3).for_each(|_| source.grant(usize::MAX));
        assert_eq!(source.window, INPUT_WINDOW);
    }
}
