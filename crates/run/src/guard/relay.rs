//! What the guard does while the lab lives: it passes on what the lab tells, and what the user wants.

use netloom_host::jsonl::{Lines, to_line};
use netloom_host::lab::LabProcess;
use netloom_host::runtime::note_ending;
use netloom_host::signals::Signals;
use netloom_judge::{ExitCode, Report, RunError};
use netloom_provision::Event;
use netloom_provision::message::Order;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::Signal;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;

/// The guard's ends of everything.
pub(crate) struct Relay<'a> {
    pub(crate) process: LabProcess,
    pub(crate) channel: UnixStream,
    pub(crate) signals: Signals,
    pub(crate) watched: Watched,
    pub(crate) sink: &'a mut dyn FnMut(&Event),
    /// The lab's runtime folder.
    pub(crate) folder: &'a Path,
}

/// The processes without which the lab ends.
#[derive(Debug, Default)]
pub(crate) struct Watched {
    /// The command that waits for the lab to be up, until it is: a stream that hangs up with it.
    pub(crate) command: Option<OwnedFd>,
    /// The process that wants the lab for as long as it lives: a descriptor of it.
    pub(crate) parent: Option<OwnedFd>,
}

/// What the lab said before it exited.
#[derive(Debug, Default)]
struct Outcome {
    lines: Lines,
    report: Option<Box<Report>>,
    failure: Option<(u8, String)>,
    /// What the lab was asked so far.
    asked: Asked,
}

/// How urgently the lab was asked to end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Asked {
    #[default]
    Nothing,
    ToStop,
    ToHurry,
    /// It was not asked any more.
    Killed,
}

/// What a look at the sources found.
struct Seen {
    channel: bool,
    signals: bool,
    watched: bool,
}

impl Relay<'_> {
    /// Until the lab has exited; its report, or why there is none.
    pub(crate) fn until_exit(mut self) -> Result<Report, RunError> {
        let mut outcome = Outcome::default();
        loop {
            let seen = self.wait().map_err(|error| RunError::Died(format!("waiting for the lab: {error}")))?;
            if seen.watched {
                self.interrupt(&mut outcome, false);
            }
            if let Some(signal) = if seen.signals { self.signals.next() } else { None } {
                self.interrupt(&mut outcome, signal == Signal::SIGINT);
            }
            if seen.channel && !self.listen(&mut outcome) {
                break;
            }
        }
        let ending = self.process.wait().map_err(|error| RunError::Died(format!("waiting for the lab: {error}")))?;
        match outcome {
            Outcome { failure: Some((code, message)), .. } => {
                Err(RunError::Reported { code: ExitCode::from_number(code).unwrap_or(ExitCode::Died), message })
            }
            Outcome { report: Some(report), .. } => Ok(*report),
            Outcome { asked: Asked::Killed, .. } => Err(RunError::Reported {
                code: ExitCode::Interrupted,
                message: "the lab was killed before its results were complete".into(),
            }),
            _ => Err(RunError::Died(format!("the lab process died: {ending}"))),
        }
    }

    fn wait(&self) -> io::Result<Seen> {
        let mut fds = vec![readable(self.channel.as_fd()), readable(self.signals.as_fd())];
        let watched = [self.watched.command.as_ref(), self.watched.parent.as_ref()];
        fds.extend(watched.into_iter().flatten().map(|watched| readable(watched.as_fd())));
        match poll(&mut fds, PollTimeout::NONE) {
            Ok(_) | Err(nix::errno::Errno::EINTR) => {}
            Err(errno) => return Err(errno.into()),
        }
        let ready = |index: usize| fds.get(index).is_some_and(|fd| fd.any() == Some(true));
        Ok(Seen { channel: ready(0), signals: ready(1), watched: ready(2) || ready(3) })
    }

    /// Asks the lab to end. If the user `insists` by pressing Ctrl-C again, its programs are killed, and the third time
    /// the lab, of which the kernel then removes the rest. Other signals mean the same however often they come, since
    /// their sender may send them twice.
    fn interrupt(&mut self, outcome: &mut Outcome, insists: bool) {
        self.watched = Watched::default();
        // Whoever asks gets that answer, even while the lab is still being made.
        note_ending(self.folder);
        let (next, order) = match (outcome.asked, insists) {
            (Asked::Nothing, _) => (Asked::ToStop, Some(Order::Stop)),
            (Asked::ToStop, true) => (Asked::ToHurry, Some(Order::Hurry)),
            (Asked::ToHurry | Asked::Killed, true) => (Asked::Killed, None),
            (_, false) => return,
        };
        let is_sent = order.is_some_and(|order| self.channel.write_all(&to_line(&order)).is_ok());
        outcome.asked = if is_sent { next } else { Asked::Killed };
        if !is_sent {
            // It may have exited by itself in between; then there is no process to kill.
            let _ = self.process.kill();
        }
    }

    /// Takes in what the lab says; false when it will say no more.
    fn listen(&mut self, outcome: &mut Outcome) -> bool {
        let mut buffer = [0; 16 * 1024];
        match self.channel.read(&mut buffer) {
            Ok(0) | Err(_) => return false,
            Ok(length) => outcome.lines.feed(&buffer[..length]),
        }
        while let Some(line) = outcome.lines.pop::<Event>() {
            match line {
                Ok(event) => self.take_in(event, outcome),
                Err(error) => {
                    let message = format!("a message of the lab process cannot be read: {error}");
                    outcome.failure = Some((ExitCode::Died.number(), message));
                }
            }
        }
        true
    }

    fn take_in(&mut self, event: Event, outcome: &mut Outcome) {
        (self.sink)(&event);
        match event {
            Event::Finished { report } => outcome.report = Some(report),
            Event::Failed { code, message } => outcome.failure = Some((code, message)),
            Event::Ready => self.watched.command = None,
            _ => {}
        }
    }
}

fn readable(fd: BorrowedFd<'_>) -> PollFd<'_> {
    PollFd::new(fd, PollFlags::POLLIN)
}
