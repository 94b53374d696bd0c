//! The user's side of the control socket.

use super::protocol::{Capture, Exec, LabInfo, LabStats, Reply, Request, Set};
use crate::jsonl::{Lines, to_line};
use crate::{ExitCode, RunError};
use netloom_host::fds::send_with_fds;
use netloom_host::runtime::{self, RunningLab, RuntimeError, control_socket};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// A connection to a running lab.
#[derive(Debug)]
pub struct Client {
    lab: String,
    stream: UnixStream,
    lines: Lines,
}

impl Client {
    /// Connects to the lab with this name.
    ///
    /// # Errors
    /// [`RunError::Lab`] if no such lab is up.
    pub fn connect(lab: &str) -> Result<Self, RunError> {
        let path = control_socket(&find(lab)?.path);
        let stream = UnixStream::connect(&path).map_err(|error| {
            RunError::Lab(format!("lab `{lab}` is still being made (connecting to {}: {error})", path.display()))
        })?;
        Ok(Self { lab: lab.to_owned(), stream, lines: Lines::default() })
    }

    /// Who the lab is.
    ///
    /// # Errors
    /// [`RunError::Died`] if the lab goes away before it answers.
    pub fn info(&mut self) -> Result<LabInfo, RunError> {
        match self.ask(&Request::Info, &[])? {
            Reply::Info(info) => Ok(info),
            other => Err(self.unexpected(&other)),
        }
    }

    /// What its pipes have counted.
    ///
    /// # Errors
    /// [`RunError::Died`] if the lab goes away before it answers.
    pub fn stats(&mut self) -> Result<LabStats, RunError> {
        match self.ask(&Request::Stats, &[])? {
            Reply::Stats(stats) => Ok(stats),
            other => Err(self.unexpected(&other)),
        }
    }

    /// Changes a link.
    ///
    /// # Errors
    /// [`RunError::Reported`] if there is no such link, or a key or value is wrong.
    pub fn set(&mut self, set: Set) -> Result<(), RunError> {
        self.done(&Request::Set(set))
    }

    /// Has the lab end. It is gone when its runtime folder is.
    ///
    /// # Errors
    /// [`RunError::Died`] if the lab goes away before it answers.
    pub fn down(&mut self) -> Result<(), RunError> {
        self.done(&Request::Down)
    }

    /// Starts a program in a node with these as its standard input, output and error.
    ///
    /// # Errors
    /// [`RunError::Reported`] if there is no such node or program.
    pub fn exec(&mut self, exec: Exec, stdio: [BorrowedFd<'_>; 3]) -> Result<(), RunError> {
        match self.ask(&Request::Exec(exec), &stdio)? {
            Reply::Started => Ok(()),
            other => Err(self.unexpected(&other)),
        }
    }

    /// Has the packets of a link written to `out`, until this client is dropped.
    ///
    /// # Errors
    /// [`RunError::Reported`] if there is no such link.
    pub fn capture(&mut self, wanted: Capture, out: BorrowedFd<'_>) -> Result<(), RunError> {
        match self.ask(&Request::Capture(wanted), &[out])? {
            Reply::Started => Ok(()),
            other => Err(self.unexpected(&other)),
        }
    }

    /// Sends a signal to the program that [`Client::exec`] started.
    ///
    /// # Errors
    /// [`RunError::Died`] if the lab went away.
    pub fn signal(&mut self, signal: i32) -> Result<(), RunError> {
        self.send(&Request::Signal { signal }, &[])
    }

    /// The exit code of the program that [`Client::exec`] started, if it has come. To be called once before waiting
    /// for the connection, since the code may have come along with an earlier message, and whenever it can be read.
    ///
    /// # Errors
    /// [`RunError::Died`] if the lab went away.
    pub fn exit_code(&mut self, readable: bool) -> Result<Option<i32>, RunError> {
        if readable {
            self.read()?;
        }
        while let Some(line) = self.lines.next() {
            if let Reply::Exited { code } = line.map_err(|error| self.nonsense(&error))? {
                return Ok(Some(code));
            }
        }
        Ok(None)
    }

    fn done(&mut self, request: &Request) -> Result<(), RunError> {
        match self.ask(request, &[])? {
            Reply::Done => Ok(()),
            other => Err(self.unexpected(&other)),
        }
    }

    fn ask(&mut self, request: &Request, fds: &[BorrowedFd<'_>]) -> Result<Reply, RunError> {
        self.send(request, fds)?;
        match self.receive()? {
            Reply::Refused { code, message } => {
                Err(RunError::Reported { code: ExitCode::from_number(code).unwrap_or(ExitCode::Died), message })
            }
            reply => Ok(reply),
        }
    }

    fn send(&mut self, request: &Request, fds: &[BorrowedFd<'_>]) -> Result<(), RunError> {
        let line = to_line(request);
        let sent = send_with_fds(&self.stream, &line, fds).map_err(|error| self.gone(&error))?;
        (&self.stream).write_all(&line[sent..]).map_err(|error| self.gone(&error))
    }

    fn receive(&mut self) -> Result<Reply, RunError> {
        loop {
            if let Some(line) = self.lines.next() {
                return line.map_err(|error| self.nonsense(&error));
            }
            self.read()?;
        }
    }

    /// Waits for something to read.
    fn read(&mut self) -> Result<(), RunError> {
        let mut buffer = [0; 16 * 1024];
        match self.stream.read(&mut buffer) {
            Ok(0) => Err(self.gone(&io::ErrorKind::UnexpectedEof.into())),
            Ok(length) => {
                self.lines.feed(&buffer[..length]);
                Ok(())
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(()),
            Err(error) => Err(self.gone(&error)),
        }
    }

    fn nonsense(&self, error: &serde_json::Error) -> RunError {
        RunError::Died(format!("lab `{}` answered nonsense: {error}", self.lab))
    }

    fn gone(&self, error: &io::Error) -> RunError {
        RunError::Died(format!("lab `{}` went away: {error}", self.lab))
    }

    fn unexpected(&self, reply: &Reply) -> RunError {
        RunError::Died(format!("lab `{}` gave an answer to another question: {reply:?}", self.lab))
    }
}

/// The names of the labs of this user that are up.
///
/// # Errors
/// [`RunError::Machine`] if the runtime folder cannot be read.
pub fn running_labs() -> Result<Vec<String>, RunError> {
    runtime::sweep_stale().map_err(refused)?;
    Ok(runtime::list().map_err(refused)?.into_iter().map(|lab| lab.name).collect())
}

fn find(lab: &str) -> Result<RunningLab, RunError> {
    runtime::find(lab).map_err(refused)?.ok_or_else(|| RunError::Lab(no_such_lab(lab)))
}

/// Names the labs that are up, for whoever mistyped one.
fn no_such_lab(lab: &str) -> String {
    let names = running_labs().unwrap_or_default();
    if names.is_empty() {
        return format!("no lab `{lab}` is up, and no other");
    }
    format!("no lab `{lab}` is up: there are {}", names.join(", "))
}

#[expect(clippy::needless_pass_by_value, reason = "made for map_err")]
fn refused(error: RuntimeError) -> RunError {
    RunError::Machine(error.to_string())
}

/// The name of the only lab that is up, for commands that were given none.
///
/// # Errors
/// [`RunError::Lab`] if none or several are.
pub fn only_lab() -> Result<String, RunError> {
    let mut labs = running_labs()?;
    match (labs.pop(), labs.is_empty()) {
        (Some(lab), true) => Ok(lab),
        (None, _) => Err(RunError::Lab("no lab is up".into())),
        (Some(last), false) => {
            labs.push(last);
            Err(RunError::Lab(format!("several labs are up, name one: {}", labs.join(", "))))
        }
    }
}

/// How long a lab may take to end; its programs have a second to do so, and everything else is a matter of
/// milliseconds.
const LONGEST_END: Duration = Duration::from_secs(10);
/// How often to look whether it is gone.
const LOOK: Duration = Duration::from_millis(5);

/// Stops a lab, and returns when everything it made is gone.
///
/// # Errors
/// [`RunError::Lab`] if no such lab is up, [`RunError::Died`] if it does not end.
pub fn take_down(lab: &str) -> Result<(), RunError> {
    let guard = find(lab)?.state.map(|state| Pid::from_raw(state.guard_pid));
    let mut patience = LONGEST_END;
    let ask = |mut client: Client| {
        // Its programs may need longer than others.
        patience += Duration::from_nanos(client.info()?.longest_stop_ns);
        client.down()
    };
    match (Client::connect(lab).and_then(ask), guard) {
        (Ok(()), _) => {}
        // It is just being made, or just ends: its guard ends it, or is gone by now.
        (Err(_), Some(guard)) => drop(kill(guard, Signal::SIGTERM)),
        (Err(error), None) => return Err(error),
    }
    let begun = Instant::now();
    while runtime::find(lab).map_err(refused)?.is_some() {
        if begun.elapsed() > patience {
            let seconds = patience.as_secs();
            return Err(RunError::Died(format!("lab `{lab}` was asked to end, and has not for {seconds} s")));
        }
        sleep(LOOK);
    }
    Ok(())
}

impl AsFd for Client {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }
}
