//! The lab's end of the channel to its guard.

use crate::Event;
use crate::message::Order;
use crate::progress_writer::ProgressWriter;
use netloom_host::jsonl::Lines;
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;

/// Tells the guard what happens, without ever waiting for it: a guard that was stopped with Ctrl-Z must not stop the
/// lab.
#[derive(Debug)]
pub struct GuardLink {
    progress_writer: ProgressWriter,
    lines: Lines,
}

/// A wish of the guard, as it was last read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FromGuard {
    /// Nothing.
    Nothing,
    /// The lab shall end.
    Stop,
    /// And its programs shall have no time for it.
    Hurry,
    /// The guard is dead.
    Gone,
}

impl GuardLink {
    /// Takes over the lab's end of the channel.
    pub fn new(stream: UnixStream) -> io::Result<Self> {
        Ok(Self { progress_writer: ProgressWriter::new(stream)?, lines: Lines::default() })
    }

    /// For others who have something to tell.
    pub(crate) fn progress_writer(&self) -> ProgressWriter {
        self.progress_writer.clone()
    }

    /// Tells the guard something.
    pub fn report(&mut self, event: &Event) {
        self.progress_writer.report(event);
    }

    /// Tells the guard something that can be left out if it does not listen.
    pub fn report_if_ready(&mut self, event: &Event) {
        self.progress_writer.report_if_ready(event);
    }

    /// Says what is being done.
    pub fn step(&mut self, text: impl Into<String>) {
        self.report_if_ready(&Event::Step { text: text.into() });
    }

    /// Whether something waits until the guard listens.
    pub fn has_unsent(&self) -> bool {
        self.progress_writer.has_unsent()
    }

    /// Sends what the guard takes now. That it is gone shows when it is read.
    pub fn flush(&mut self) {
        self.progress_writer.flush();
    }

    /// Tells the guard the last thing, and waits until the guard has it or is gone.
    pub fn report_last(self, event: &Event) {
        self.progress_writer.report_last(event);
    }

    /// Reads what the guard said: the most of it. To be called when the channel can be read.
    pub fn listen(&mut self) -> FromGuard {
        let mut buffer = [0; 1024];
        match self.progress_writer.stream().read(&mut buffer) {
            Ok(0) => return FromGuard::Gone,
            Ok(length) => self.lines.feed(&buffer[..length]),
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {}
            Err(_) => return FromGuard::Gone,
        }
        let mut wanted = FromGuard::Nothing;
        while let Some(order) = self.lines.pop::<Order>() {
            wanted = match order {
                Ok(Order::Hurry) => FromGuard::Hurry,
                Ok(Order::Stop) if wanted == FromGuard::Nothing => FromGuard::Stop,
                _ => wanted,
            };
        }
        wanted
    }
}

impl AsFd for GuardLink {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.progress_writer.stream().as_fd()
    }
}
