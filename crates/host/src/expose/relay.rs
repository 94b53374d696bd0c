//! The thread that joins connections from this machine to a node.

use std::io::{self, PipeReader, PipeWriter};
use std::net::TcpListener;
use std::os::fd::AsFd;
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::Duration;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::SigSet;

use super::connection::Connection;
use super::listen::Exposed;
use super::way::{Entered, Way};
use crate::error::{Attempted, KernelError};

/// When the machine has no descriptors or memory for another connection, the relay tries again after this span.
const PAUSE: Duration = Duration::from_millis(100);

/// A thread that passes connections on to a node, and nothing else. It and they end when this is dropped.
#[derive(Debug)]
pub struct Relay {
    stop: Option<PipeWriter>,
    thread: Option<JoinHandle<()>>,
}

impl Relay {
    /// Passes connections to these ports on.
    ///
    /// # Errors
    /// The kernel's refusal.
    pub fn start(ports: Vec<Exposed>, way: Way) -> Result<Self, KernelError> {
        let (stopped, stop) = io::pipe().attempted(|| "make a pipe")?;
        let (told, entered) = mpsc::channel();
        let listeners = ports.into_iter().flat_map(|port| port.listeners.into_iter().map(move |one| (one, port.to)));
        let listeners = listeners.collect();
        let body = move || {
            // Writing to a closed connection returns an error.
            let _ = SigSet::all().thread_set_mask();
            match way.enter() {
                Ok(way) => {
                    let _ = told.send(Ok(()));
                    drop(told);
                    Switch { stopped, listeners, way, connections: Vec::new(), pauses: false }.run();
                }
                Err(error) => drop(told.send(Err(error))),
            }
        };
        let thread = std::thread::Builder::new().name("netloom-expose".into()).spawn(body);
        let thread = thread.attempted(|| "start a thread for the ports of a node")?;
        let relay = Self { stop: Some(stop), thread: Some(thread) };
        match entered.recv() {
            Ok(outcome) => outcome.map(|()| relay),
            Err(_) => Err(KernelError::new("start a thread for the ports of a node", 0).with_detail("it ended")),
        }
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        drop(self.stop.take());
        // It returns nothing.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

/// The state of the thread.
struct Switch {
    stopped: PipeReader,
    /// Each with the node's port.
    listeners: Vec<(TcpListener, u16)>,
    way: Entered,
    connections: Vec<Connection>,
    /// Whether the machine has refused another connection just now.
    pauses: bool,
}

/// What a descriptor that is waited for belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Source {
    Stop,
    Listener(usize),
    Connection(usize),
}

impl Switch {
    fn run(mut self) {
        // Without memory for as little as this, the lab itself would not go on.
        while let Ok(ready) = self.wait() {
            if ready.contains(&Source::Stop) {
                return;
            }
            self.pauses = false;
            let mut over = vec![false; self.connections.len()];
            for source in &ready {
                match *source {
                    // Two of its descriptors may be ready.
                    Source::Connection(number) if !over[number] => {
                        over[number] = !self.connections[number].go_on(&self.way);
                    }
                    _ => {}
                }
            }
            let mut over = over.into_iter();
            self.connections.retain(|_| over.next() != Some(true));
            for source in ready {
                if let Source::Listener(number) = source {
                    self.accept(number);
                }
            }
        }
    }

    fn wait(&self) -> io::Result<Vec<Source>> {
        let mut sources = vec![Source::Stop];
        let mut fds = vec![PollFd::new(self.stopped.as_fd(), PollFlags::POLLIN)];
        let mut add = |source: Source, fd, flags| {
            sources.push(source);
            fds.push(PollFd::new(fd, flags));
        };
        for (number, connection) in self.connections.iter().enumerate() {
            connection.awaited().for_each(|(fd, flags)| add(Source::Connection(number), fd, flags));
        }
        if self.connections.len() < self.way.most() && !self.pauses {
            let listeners = self.listeners.iter().enumerate();
            listeners.for_each(|(number, (one, _))| add(Source::Listener(number), one.as_fd(), PollFlags::POLLIN));
        }
        let timeout =
            if self.pauses { PollTimeout::try_from(PAUSE).unwrap_or(PollTimeout::MAX) } else { PollTimeout::NONE };
        match poll(&mut fds, timeout) {
            Ok(_) | Err(Errno::EINTR) => {}
            Err(error) => return Err(error.into()),
        }
        let ready = fds.iter().zip(sources).filter(|(fd, _)| fd.any() == Some(true));
        Ok(ready.map(|(_, source)| source).collect())
    }

    fn accept(&mut self, number: usize) {
        let (listener, port) = &self.listeners[number];
        while self.connections.len() < self.way.most() {
            match listener.accept() {
                // One that cannot be made ready is closed.
                Ok((outside, _)) => {
                    let Ok(mut made) = Connection::new(outside, *port) else { continue };
                    if made.go_on(&self.way) {
                        self.connections.push(made);
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                // The next may be better: this one has gone already.
                Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
                // The machine has no descriptors or no memory for it.
                Err(_) => {
                    self.pauses = true;
                    return;
                }
            }
        }
    }
}
