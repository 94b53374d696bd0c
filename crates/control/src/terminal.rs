//! The user's terminal, joined to the one of a program in a node.

use crate::client::Client;
use crate::error::ControlError;
use netloom_host::signals::Signals;
use netloom_host::terminal::{set_window_size, window_size};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::Signal;
use nix::unistd::{read, write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// The streams between the two, with what one has given and the other not taken yet. Neither is read before that, and
/// neither waits for the other: a program that echoes what it reads would wait for us to read, and we for it.
pub(crate) struct Relay<'a> {
    master: &'a OwnedFd,
    stdin: BorrowedFd<'a>,
    stdout: BorrowedFd<'a>,
    input: Way,
    output: Way,
}

/// One direction.
#[derive(Default)]
struct Way {
    waiting: Vec<u8>,
    /// Nothing more comes, or nothing more is taken.
    is_over: bool,
}

/// What is polled.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Client,
    Signals,
    Stdin,
    Stdout,
    Master,
}

impl<'a> Relay<'a> {
    /// `master` must not wait.
    pub(crate) fn new(master: &'a OwnedFd, stdin: BorrowedFd<'a>, stdout: BorrowedFd<'a>) -> Self {
        Self { master, stdin, stdout, input: Way::default(), output: Way::default() }
    }

    /// Until the program has ended; its exit code.
    pub(crate) fn until_exit(&mut self, client: &mut Client, signals: &Signals) -> Result<i32, ControlError> {
        let mut answered = false;
        loop {
            if let Some(code) = client.exit_code(answered)? {
                return Ok(code);
            }
            let ready = self.wait(client, signals)?;
            let is = |end, flag| ready.iter().any(|(other, flags)| *other == end && flags.intersects(flag));
            answered = is(End::Client, ANY);
            if is(End::Signals, ANY) {
                match signals.next() {
                    Some(Signal::SIGWINCH) => self.copy_window_size()?,
                    Some(signal) => client.signal(signal as i32)?,
                    None => {}
                }
            }
            if is(End::Stdin, ANY) {
                self.input.fill(self.stdin);
            }
            if is(End::Master, ANY) {
                self.input.empty(self.master.as_fd());
                self.output.fill(self.master.as_fd());
            }
            if is(End::Stdout, ANY) {
                self.output.empty(self.stdout);
            }
        }
    }

    /// Waits until one of them wants something. What is at its end would always be ready, and is left out.
    fn wait(&self, client: &Client, signals: &Signals) -> Result<Vec<(End, PollFlags)>, ControlError> {
        let wanted = |wanted, flag| if wanted { flag } else { PollFlags::empty() };
        let typed = wanted(self.input.is_wanted(), PollFlags::POLLIN);
        let shown = wanted(!self.output.waiting.is_empty(), PollFlags::POLLOUT);
        let program = wanted(self.output.is_wanted(), PollFlags::POLLIN)
            | wanted(!self.input.waiting.is_empty(), PollFlags::POLLOUT);
        let all = [
            (End::Client, client.as_fd(), PollFlags::POLLIN),
            (End::Signals, signals.as_fd(), PollFlags::POLLIN),
            (End::Stdin, self.stdin, typed),
            (End::Stdout, self.stdout, shown),
            (End::Master, self.master.as_fd(), program),
        ];
        let used = all.iter().filter(|(_, _, flags)| !flags.is_empty());
        let mut polled: Vec<PollFd<'_>> = used.clone().map(|(_, fd, flags)| PollFd::new(*fd, *flags)).collect();
        match poll(&mut polled, PollTimeout::NONE) {
            Ok(_) => Ok(used.zip(polled).map(|((end, ..), fd)| (*end, fd.revents().unwrap_or(ANY))).collect()),
            Err(Errno::EINTR) => Ok(Vec::new()),
            Err(errno) => Err(ControlError::Join(errno.into())),
        }
    }

    pub(crate) fn copy_window_size(&self) -> Result<(), ControlError> {
        window_size(self.stdin)
            .map_or(Ok(()), |size| set_window_size(self.master, size))
            .map_err(ControlError::Terminal)
    }

    /// What the program wrote just before it ended.
    pub(crate) fn drain(&mut self) {
        loop {
            while !self.output.waiting.is_empty() {
                // The program that reads our output may have made it non-blocking.
                let _ = poll(&mut [PollFd::new(self.stdout, PollFlags::POLLOUT)], PollTimeout::NONE);
                self.output.empty(self.stdout);
            }
            self.output.fill(self.master.as_fd());
            if self.output.waiting.is_empty() {
                return;
            }
        }
    }
}

const ANY: PollFlags = PollFlags::all();

impl Way {
    /// Whether more is to be read.
    fn is_wanted(&self) -> bool {
        !self.is_over && self.waiting.is_empty()
    }

    /// Reads what is there. The end of a terminal whose program has gone is an error of the kernel's.
    fn fill(&mut self, from: BorrowedFd<'_>) {
        if !self.is_wanted() {
            return;
        }
        let mut buffer = [0; 4096];
        match read(from, &mut buffer) {
            Ok(0) => self.is_over = true,
            Ok(length) => self.waiting.extend_from_slice(&buffer[..length]),
            Err(Errno::EINTR | Errno::EAGAIN) => {}
            Err(_) => self.is_over = true,
        }
    }

    /// Writes what is taken.
    fn empty(&mut self, to: BorrowedFd<'_>) {
        if self.waiting.is_empty() {
            return;
        }
        match write(to, &self.waiting) {
            Ok(length) => drop(self.waiting.drain(..length)),
            Err(Errno::EINTR | Errno::EAGAIN) => {}
            Err(_) => {
                self.is_over = true;
                self.waiting.clear();
            }
        }
    }
}
