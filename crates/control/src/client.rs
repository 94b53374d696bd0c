//! The user's side of the control socket.

use crate::error::ControlError;
use crate::protocol::{
    Advance, Capture, Exec, Fault, LabInfo, LabStats, NodeName, Now, OpenConsole, Partition, Refused, Reply, Request,
    Restart, Set, SignalProgram, SoFar, Topology,
};
use crate::running::find;
use netloom_host::fds::{receive_with_fds, send_with_fds};
use netloom_host::jsonl::{Lines, to_line};
use netloom_host::runtime::{control_socket, is_ending};
use netloom_judge::{ExerciseReport, ExitCode};
use nix::sys::socket::{AddressFamily, SockFlag, SockType, UnixAddr, connect, socket};
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long a lab may take to answer: it takes milliseconds, on a busy machine a second.
pub(crate) const PATIENCE: Duration = Duration::from_secs(3);

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
    /// [`ControlError::NoSuchLab`] if no such lab is up.
    pub fn connect(lab: &str) -> Result<Self, ControlError> {
        let folder = find(lab)?.path;
        let path = control_socket(&folder);
        let stream = open(&path).map_err(|error| match error.kind() {
            io::ErrorKind::WouldBlock => ControlError::Silent { lab: lab.to_owned() },
            _ if is_ending(&folder) => ControlError::Ending { lab: lab.to_owned() },
            _ => ControlError::Starting { lab: lab.to_owned(), socket: path.clone(), error },
        })?;
        Ok(Self { lab: lab.to_owned(), stream, lines: Lines::default() })
    }

    /// Limits the time that this client waits for each answer from now on. After that time, the error is that the lab
    /// does not answer.
    ///
    /// # Errors
    /// [`ControlError::Lost`] if the kernel refuses.
    pub fn answer_within(&mut self, patience: Duration) -> Result<(), ControlError> {
        self.stream.set_read_timeout(Some(patience)).map_err(|error| self.gone(error))
    }

    /// Returns the lab's description, with its nodes and services.
    ///
    /// # Errors
    /// [`ControlError::Lost`] if the lab goes away before it answers.
    pub fn info(&mut self) -> Result<LabInfo, ControlError> {
        match self.ask(&Request::Info, &[])? {
            Reply::Info(info) => Ok(info),
            other => Err(self.unexpected(other)),
        }
    }

    /// Returns what the lab's pipes and switches have counted so far.
    ///
    /// # Errors
    /// [`ControlError::Lost`] if the lab goes away before it answers.
    pub fn stats(&mut self) -> Result<LabStats, ControlError> {
        match self.ask(&Request::Stats, &[])? {
            Reply::Stats(stats) => Ok(stats),
            other => Err(self.unexpected(other)),
        }
    }

    /// Returns what speaks against the lab's run so far, and how late packets are.
    ///
    /// # Errors
    /// [`ControlError::Lost`] if the lab goes away before it answers, or [`ControlError::Refused`] if it has not begun.
    pub fn verdict(&mut self) -> Result<SoFar, ControlError> {
        match self.ask(&Request::Verdict, &[])? {
            Reply::Verdict(so_far) => Ok(so_far),
            other => Err(self.unexpected(other)),
        }
    }

    /// Lets a command, or the services of a node, end and start again.
    ///
    /// # Errors
    /// [`ControlError::Refused`] if there is no such command or node.
    pub fn restart(&mut self, name: &str) -> Result<(), ControlError> {
        self.done(&Request::Restart(Restart { name: name.to_owned() }))
    }

    /// Stops a node, and returns when it has stopped.
    ///
    /// # Errors
    /// [`ControlError::Refused`] if there is no such node, or it cannot be stopped, or has been.
    pub fn stop(&mut self, node: &str) -> Result<(), ControlError> {
        self.done(&Request::Stop(NodeName { node: node.to_owned() }))
    }

    /// Starts a node that has stopped, and returns when its setup has run and its services are ready.
    ///
    /// # Errors
    /// [`ControlError::Refused`] if there is no such node, or it runs, or something that starts with it fails.
    pub fn start(&mut self, node: &str) -> Result<(), ControlError> {
        self.done(&Request::Start(NodeName { node: node.to_owned() }))
    }

    /// Returns how far the tasks of the lab's exercise are; there are none if it has no exercise.
    ///
    /// # Errors
    /// [`ControlError::Lost`] if the lab goes away before it answers, or [`ControlError::Refused`] if it is older and knows no exercises.
    pub fn exercise(&mut self) -> Result<ExerciseReport, ControlError> {
        match self.ask(&Request::Exercise, &[])? {
            Reply::Exercise(exercise) => Ok(exercise),
            other => Err(self.unexpected(other)),
        }
    }

    /// Returns the lab's network as it is now: what is connected, and which settings are in force.
    ///
    /// # Errors
    /// [`ControlError::Lost`] if the lab goes away before it answers.
    pub fn topology(&mut self) -> Result<Topology, ControlError> {
        match self.ask(&Request::Topology, &[])? {
            Reply::Topology(topology) => Ok(topology),
            other => Err(self.unexpected(other)),
        }
    }

    /// Changes a link.
    ///
    /// # Errors
    /// [`ControlError::Refused`] if there is no such link, or a key or value is wrong.
    pub fn set(&mut self, set: Set) -> Result<(), ControlError> {
        self.done(&Request::Set(set))
    }

    /// Parts nodes from now on, as this entry of the timeline describes.
    ///
    /// # Errors
    /// [`ControlError::Refused`] if the entry is wrong.
    pub fn partition(&mut self, entry: String) -> Result<(), ControlError> {
        self.done(&Request::Partition(Partition { entry }))
    }

    /// Disturbs programs or nodes now, as this entry of the timeline describes.
    ///
    /// # Errors
    /// [`ControlError::Refused`] if the entry is wrong, or what it names is not there.
    pub fn fault(&mut self, entry: String) -> Result<(), ControlError> {
        self.done(&Request::Fault(Fault { entry }))
    }

    /// Ends all partitions that clients asked for.
    ///
    /// # Errors
    /// [`ControlError::Refused`] if there is none.
    pub fn heal(&mut self) -> Result<(), ControlError> {
        self.done(&Request::Heal)
    }

    /// Lets the time of a lab in virtual time go on by so much, and returns when it is there.
    ///
    /// # Errors
    /// [`ControlError::Refused`] if its time goes on by itself, or another client advances it.
    pub fn advance(&mut self, by_ns: u64) -> Result<Now, ControlError> {
        self.time(&Request::Advance(Advance { by_ns, until_exit: false }))
    }

    /// Holds the time of a lab in virtual time.
    ///
    /// # Errors
    /// [`ControlError::Refused`] if its time goes on by itself.
    pub fn pause(&mut self) -> Result<Now, ControlError> {
        self.time(&Request::Pause)
    }

    /// Lets the time of a lab in virtual time go on.
    ///
    /// # Errors
    /// [`ControlError::Refused`] if its time goes on by itself.
    pub fn resume(&mut self) -> Result<Now, ControlError> {
        self.time(&Request::Resume)
    }

    /// Asks the lab to end. It has ended when its runtime folder is gone.
    ///
    /// # Errors
    /// [`ControlError::Lost`] if the lab goes away before it answers.
    pub fn down(&mut self) -> Result<(), ControlError> {
        self.done(&Request::Down)
    }

    /// Starts a program in a node with these as its standard input, output and error.
    ///
    /// # Errors
    /// [`ControlError::Refused`] if there is no such node or program.
    pub fn exec(&mut self, exec: Exec, stdio: [BorrowedFd<'_>; 3]) -> Result<(), ControlError> {
        match self.ask(&Request::Exec(exec), &stdio)? {
            Reply::Started => Ok(()),
            other => Err(self.unexpected(other)),
        }
    }

    /// Captures the packets of a link to `out`, until this client is dropped.
    ///
    /// # Errors
    /// [`ControlError::Refused`] if there is no such link.
    pub fn capture(&mut self, wanted: Capture, out: BorrowedFd<'_>) -> Result<(), ControlError> {
        match self.ask(&Request::Capture(wanted), &[out])? {
            Reply::Started => Ok(()),
            other => Err(self.unexpected(other)),
        }
    }

    /// Opens the serial console of a node, and returns the file of what it shows, and where to write what is typed.
    ///
    /// # Errors
    /// [`ControlError::Refused`] if there is no such node, or it has no console.
    pub fn console(&mut self, node: &str) -> Result<(PathBuf, OwnedFd), ControlError> {
        self.send(&Request::Console(OpenConsole { node: node.to_owned() }), &[])?;
        // The descriptor comes with the first byte of the answer.
        let mut buffer = [0; 1024];
        let received = receive_with_fds(&self.stream, &mut buffer).map_err(|error| self.gone(error))?;
        self.lines.feed(&buffer[..received.length]);
        match (answered(self.receive()?)?, received.fds.into_iter().next()) {
            (Reply::Console { log }, Some(input)) => Ok((log, input)),
            (other, _) => Err(self.unexpected(other)),
        }
    }

    /// Sends a signal to the program that [`Client::exec`] started.
    ///
    /// # Errors
    /// [`ControlError::Lost`] if the lab went away.
    pub fn signal(&mut self, signal: i32) -> Result<(), ControlError> {
        self.send(&Request::Signal(SignalProgram { signal }), &[])
    }

    /// Returns the exit code of the program that [`Client::exec`] started, if it has come. To be called once before
    /// waiting for the connection, since the code may have come along with an earlier message, and whenever it can be
    /// read.
    ///
    /// # Errors
    /// [`ControlError::Lost`] if the lab went away.
    pub fn exit_code(&mut self, readable: bool) -> Result<Option<i32>, ControlError> {
        if readable {
            self.read()?;
        }
        while let Some(line) = self.lines.pop() {
            if let Reply::Exited { code } = line.map_err(|error| self.nonsense(error))? {
                return Ok(Some(code));
            }
        }
        Ok(None)
    }

    /// Returns the connection itself and what was read of its next line, for those who wait for it in their own way.
    pub fn into_stream(self) -> (UnixStream, Vec<u8>) {
        (self.stream, self.lines.into_rest())
    }

    fn time(&mut self, request: &Request) -> Result<Now, ControlError> {
        match self.ask(request, &[])? {
            Reply::Now(now) => Ok(now),
            other => Err(self.unexpected(other)),
        }
    }

    fn done(&mut self, request: &Request) -> Result<(), ControlError> {
        match self.ask(request, &[])? {
            Reply::Done => Ok(()),
            other => Err(self.unexpected(other)),
        }
    }

    fn ask(&mut self, request: &Request, fds: &[BorrowedFd<'_>]) -> Result<Reply, ControlError> {
        self.send(request, fds)?;
        answered(self.receive()?)
    }

    fn send(&mut self, request: &Request, fds: &[BorrowedFd<'_>]) -> Result<(), ControlError> {
        let line = to_line(request);
        let sent = send_with_fds(&self.stream, &line, fds).map_err(|error| self.gone(error))?;
        (&self.stream).write_all(&line[sent..]).map_err(|error| self.gone(error))
    }

    fn receive(&mut self) -> Result<Reply, ControlError> {
        loop {
            if let Some(line) = self.lines.pop() {
                return line.map_err(|error| self.nonsense(error));
            }
            self.read()?;
        }
    }

    /// Waits for something to read.
    fn read(&mut self) -> Result<(), ControlError> {
        let mut buffer = [0; 16 * 1024];
        match self.stream.read(&mut buffer) {
            Ok(0) => Err(self.gone(io::ErrorKind::UnexpectedEof.into())),
            Ok(length) => {
                self.lines.feed(&buffer[..length]);
                Ok(())
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(()),
            Err(error) => Err(self.gone(error)),
        }
    }

    fn nonsense(&self, error: serde_json::Error) -> ControlError {
        ControlError::Invalid { lab: self.lab.clone(), error }
    }

    fn gone(&self, error: io::Error) -> ControlError {
        if error.kind() == io::ErrorKind::WouldBlock {
            return ControlError::Silent { lab: self.lab.clone() };
        }
        ControlError::Lost { lab: self.lab.clone(), error }
    }

    fn unexpected(&self, reply: Reply) -> ControlError {
        ControlError::Unexpected { lab: self.lab.clone(), reply: Box::new(reply) }
    }
}

/// A reply that says why not is an error.
fn answered(reply: Reply) -> Result<Reply, ControlError> {
    match reply {
        Reply::Refused(Refused { code, message, .. }) => {
            Err(ControlError::Refused { code: ExitCode::from_number(code).unwrap_or(ExitCode::Died), message })
        }
        reply => Ok(reply),
    }
}

/// Connects. A stopped lab accepts no connection, and behind a full backlog the call would wait for ever.
fn open(path: &Path) -> io::Result<UnixStream> {
    let stream = UnixStream::from(socket(AddressFamily::Unix, SockType::Stream, SockFlag::SOCK_CLOEXEC, None)?);
    stream.set_write_timeout(Some(PATIENCE))?;
    connect(stream.as_raw_fd(), &UnixAddr::new(path)?)?;
    stream.set_write_timeout(None)?;
    Ok(stream)
}

impl AsFd for Client {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }
}
