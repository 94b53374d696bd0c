//! A debugger that a user talks to in a run that stands at an instant. Lab time stands while the user thinks, and goes on while the debugger, or the program under
//! it, has something to do: a millisecond at a time, until the debugger asks for its next command. So the same commands find the same in each run, however fast
//! they are typed.

use crate::client::Client;
use crate::error::ControlError;
use crate::protocol::Exec;
use nix::errno::Errno;
use nix::fcntl::OFlag;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::unistd::{pipe2, read, write};
use std::collections::VecDeque;
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How far lab time goes at once, in nanoseconds: a program that has hit a breakpoint stands, and the rest of the lab goes on until the step is over.
const STEP: u64 = 1_000_000;
/// The endings of what gdb writes when it waits for its user.
const PROMPTS: [&[u8]; 5] = [b"(gdb) ", b"\n>", b"(y or n) ", b"(y or [n]) ", b"([y] or n) "];
/// As many bytes of the output are kept as the longest prompt has.
const TAIL: usize = 16;
/// How often to look whether the run stands.
const LOOK: Duration = Duration::from_millis(20);
/// How long to wait for the user before a look whether the run is over, in milliseconds.
const PATIENCE: u8 = 100;
/// How long the lab may take to fetch a line.
const FETCHED_WITHIN: Duration = Duration::from_secs(10);
/// A line has no more bytes than a pipe takes at once.
const LONGEST_LINE: usize = 60_000;

/// Waits until the run `lab` stands, starts the debugger in it with `exec`, and passes lines of standard input on to it and its words to standard output until it
/// ends. Lab time goes on then. Nothing happens once the run `is_over`.
///
/// # Errors
/// When the lab refuses the program, or goes away before the debugger has begun.
pub fn debug(lab: &str, exec: Exec, is_over: &AtomicBool) -> Result<(), ControlError> {
    let mut time = loop {
        if is_over.load(Ordering::Relaxed) {
            return Ok(());
        }
        // Before the lab is made and when it is over, there is none.
        if let Some(client) = Client::connect(lab).ok().and_then(standing) {
            break client;
        }
        sleep(LOOK);
    };
    let held = talk(lab, exec, &mut time, is_over);
    // Whatever became of the debugger, the run goes on; one that has ended needs no more time.
    held.and(unless_lost(time.resume().map(drop)))
}

fn talk(lab: &str, exec: Exec, time: &mut Client, is_over: &AtomicBool) -> Result<(), ControlError> {
    let pipe = || pipe2(OFlag::O_CLOEXEC).map_err(|errno| ControlError::Join(errno.into()));
    let ((their_input, input), (output, their_output)) = (pipe()?, pipe()?);
    nonblocking(&output)?;
    // The debugger ends with this connection, if it has not ended.
    let mut program = Client::connect(lab)?;
    program.exec(exec, [their_input.as_fd(), their_output.as_fd(), their_output.as_fd()])?;
    drop((their_input, their_output));
    unless_lost(Dialogue { time, input, output, tail: VecDeque::new(), lines: Lines::default() }.hold(is_over))
}

/// Leaves out that the lab has come to its end, as runs do.
fn unless_lost(done: Result<(), ControlError>) -> Result<(), ControlError> {
    done.or_else(|error| if is_lost(&error) { Ok(()) } else { Err(error) })
}

/// A client of a run that stands.
fn standing(mut client: Client) -> Option<Client> {
    client.info().is_ok_and(|info| info.paused).then_some(client)
}

/// Whether the lab has come to its end.
fn is_lost(error: &ControlError) -> bool {
    match error {
        ControlError::Lost { .. } | ControlError::Ending { .. } | ControlError::NoSuchLab { .. } => true,
        ControlError::Refused { code, .. } => *code == netloom_judge::ExitCode::NoSuchLab,
        _ => false,
    }
}

fn nonblocking(fd: &OwnedFd) -> Result<(), ControlError> {
    rustix::io::ioctl_fionbio(fd, true).map_err(|errno| ControlError::Join(errno.into()))
}

struct Dialogue<'a> {
    /// Lets lab time go on.
    time: &'a mut Client,
    input: OwnedFd,
    output: OwnedFd,
    /// The last bytes of its output.
    tail: VecDeque<u8>,
    lines: Lines,
}

impl Dialogue<'_> {
    /// Goes on until the debugger has ended, or the run.
    fn hold(&mut self, is_over: &AtomicBool) -> Result<(), ControlError> {
        while self.until_prompt()? {
            let typed = loop {
                match self.lines.next(PATIENCE.into())? {
                    Typed::Nothing if is_over.load(Ordering::Relaxed) => return Ok(()),
                    Typed::Nothing => {}
                    Typed::Line(line) => break line,
                    Typed::End => break b"quit\n".into(),
                }
            };
            self.feed(&typed)?;
        }
        Ok(())
    }

    /// Lets time go on until the debugger asks for a command; returns whether it does, or has ended.
    fn until_prompt(&mut self) -> Result<bool, ControlError> {
        loop {
            self.time.advance(STEP)?;
            if !self.pass_on()? {
                return Ok(false);
            }
            if self.is_asking() {
                // It has been seen.
                self.tail.clear();
                return Ok(true);
            }
        }
    }

    /// Gives the debugger a line, and waits until the lab has it: it belongs to the instant at which time stands.
    fn feed(&mut self, line: &[u8]) -> Result<(), ControlError> {
        let mut rest = line;
        while !rest.is_empty() {
            match write(&self.input, rest) {
                Ok(length) => rest = &rest[length..],
                Err(Errno::EINTR) => {}
                // It has closed its input, and will end.
                Err(Errno::EPIPE) => return Ok(()),
                Err(errno) => return Err(ControlError::Join(errno.into())),
            }
        }
        let begun = Instant::now();
        while rustix::io::ioctl_fionread(&self.input).is_ok_and(|left| left > 0) && begun.elapsed() < FETCHED_WITHIN {
            sleep(Duration::from_millis(1));
        }
        Ok(())
    }

    /// Passes on what the debugger has written; returns whether more can come.
    fn pass_on(&mut self) -> Result<bool, ControlError> {
        let mut buffer = [0; 16 * 1024];
        loop {
            match read(&self.output, &mut buffer) {
                Ok(0) => return Ok(false),
                Ok(length) => {
                    let text = &buffer[..length];
                    self.tail.extend(&text[length.saturating_sub(TAIL)..]);
                    self.tail.drain(..self.tail.len().saturating_sub(TAIL));
                    let mut out = io::stdout().lock();
                    // A reader that is gone ends nothing: the run goes on.
                    let _ = out.write_all(text).and_then(|()| out.flush());
                }
                Err(Errno::EAGAIN) => return Ok(true),
                Err(Errno::EINTR) => {}
                Err(errno) => return Err(ControlError::Join(errno.into())),
            }
        }
    }

    fn is_asking(&mut self) -> bool {
        let tail = self.tail.make_contiguous();
        PROMPTS.iter().any(|prompt| tail.ends_with(prompt))
    }
}

/// What there is to read.
#[derive(Debug, PartialEq, Eq)]
enum Typed {
    Line(Vec<u8>),
    Nothing,
    End,
}

/// Lines of standard input.
#[derive(Default)]
struct Lines {
    waiting: VecDeque<u8>,
    is_over: bool,
}

impl Lines {
    /// The next line, with its end, if one comes within this time.
    fn next(&mut self, patience: PollTimeout) -> Result<Typed, ControlError> {
        loop {
            if let Some(end) = self.waiting.iter().position(|byte| *byte == b'\n') {
                return Ok(Typed::Line(self.waiting.drain(..=end).collect()));
            }
            if self.is_over {
                return Ok(self.rest());
            }
            if self.waiting.len() > LONGEST_LINE {
                self.is_over = true;
                let why = format!("a line of standard input is longer than {LONGEST_LINE} bytes");
                return Err(ControlError::Join(io::Error::other(why)));
            }
            let stdin = io::stdin();
            match poll(&mut [PollFd::new(stdin.as_fd(), PollFlags::POLLIN)], patience) {
                Ok(0) => return Ok(Typed::Nothing),
                Ok(_) => {}
                Err(Errno::EINTR) => continue,
                Err(errno) => return Err(ControlError::Join(errno.into())),
            }
            let mut buffer = [0; 4096];
            match read(&stdin, &mut buffer) {
                Ok(0) => self.is_over = true,
                Ok(length) => self.waiting.extend(&buffer[..length]),
                Err(Errno::EINTR) => {}
                Err(errno) => return Err(ControlError::Join(errno.into())),
            }
        }
    }

    /// A last line without an end, or the end.
    fn rest(&mut self) -> Typed {
        if self.waiting.is_empty() {
            return Typed::End;
        }
        let mut line: Vec<u8> = self.waiting.drain(..).collect();
        line.push(b'\n');
        Typed::Line(line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_one_by_one() {
        let mut lines = Lines { waiting: b"break f\n\nbt".iter().copied().collect(), is_over: true };
        let all: Vec<Typed> = (0..4).map(|_| lines.next(PollTimeout::ZERO).unwrap()).collect();
        let line = |text: &str| Typed::Line(text.as_bytes().into());
        assert_eq!(all, [line("break f\n"), line("\n"), line("bt\n"), Typed::End]);
    }

    #[test]
    fn a_lab_that_has_ended_is_no_failure() {
        assert!(is_lost(&ControlError::Ending { lab: "x".into() }));
        assert!(!is_lost(&ControlError::NoLab));
        let refused = |code| ControlError::Refused { code, message: String::new() };
        assert!(is_lost(&refused(netloom_judge::ExitCode::NoSuchLab)));
        assert!(!is_lost(&refused(netloom_judge::ExitCode::Usage)));
    }
}
