//! The lab's end of the channel to its guard.

use crate::Event;
use crate::jsonl::{Lines, to_line};
use crate::message::Order;
use std::cell::RefCell;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::rc::Rc;

/// Tells the guard what happens, without ever waiting for it: a guard that was stopped with Ctrl-Z must not stop the
/// lab.
#[derive(Debug)]
pub(crate) struct GuardLink {
    teller: Teller,
    lines: Lines,
}

/// The half of the channel that tells; others than the session may have it, too.
#[derive(Clone, Debug)]
pub(crate) struct Teller {
    stream: Rc<UnixStream>,
    unsent: Rc<RefCell<Vec<u8>>>,
}

/// What the guard wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Heard {
    /// Nothing.
    Nothing,
    /// The lab shall end.
    Stop,
    /// The guard is dead.
    Gone,
}

impl GuardLink {
    pub(crate) fn new(stream: UnixStream) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        Ok(Self { teller: Teller { stream: Rc::new(stream), unsent: Rc::default() }, lines: Lines::default() })
    }

    /// For others who have something to tell.
    pub(crate) fn teller(&self) -> Teller {
        self.teller.clone()
    }

    /// Tells the guard something.
    pub(crate) fn tell(&mut self, event: &Event) {
        self.teller.tell(event);
    }

    /// Tells the guard something that the next such event makes worthless: nothing, if the guard does not listen.
    pub(crate) fn mention(&mut self, event: &Event) {
        if !self.has_unsent() {
            self.tell(event);
        }
    }

    /// Says what is being done.
    pub(crate) fn step(&mut self, text: impl Into<String>) {
        self.tell(&Event::Step { text: text.into() });
    }

    /// Whether something waits until the guard listens.
    pub(crate) fn has_unsent(&self) -> bool {
        !self.teller.unsent.borrow().is_empty()
    }

    /// Sends what the guard takes now. That it is gone shows when it is read.
    pub(crate) fn flush(&mut self) {
        self.teller.flush();
    }

    /// Tells the guard the last thing, and waits until it has heard it or is gone.
    pub(crate) fn last_words(self, event: &Event) {
        let Teller { stream, unsent } = &self.teller;
        unsent.borrow_mut().extend(to_line(event));
        if stream.set_nonblocking(false).is_ok() {
            // There is nobody left to tell that this failed.
            let _ = stream.as_ref().write_all(&unsent.borrow());
        }
    }

    /// Reads what the guard said. To be called when the channel can be read.
    pub(crate) fn listen(&mut self) -> Heard {
        let mut buffer = [0; 1024];
        match self.teller.stream.as_ref().read(&mut buffer) {
            Ok(0) => return Heard::Gone,
            Ok(length) => self.lines.feed(&buffer[..length]),
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {}
            Err(_) => return Heard::Gone,
        }
        match self.lines.next::<Order>() {
            Some(Ok(Order::Stop)) => Heard::Stop,
            _ => Heard::Nothing,
        }
    }
}

impl Teller {
    /// Tells the guard something, as [`GuardLink::tell`] does.
    pub(crate) fn tell(&self, event: &Event) {
        self.unsent.borrow_mut().extend(to_line(event));
        self.flush();
    }

    fn flush(&self) {
        let mut unsent = self.unsent.borrow_mut();
        while !unsent.is_empty() {
            match self.stream.as_ref().write(&unsent) {
                Ok(0) | Err(_) => return,
                Ok(length) => drop(unsent.drain(..length)),
            }
        }
    }
}

impl AsFd for GuardLink {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.teller.stream.as_fd()
    }
}
