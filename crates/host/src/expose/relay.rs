//! The thread that joins connections from this machine to a node, and passes datagrams on.

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
use super::datagrams::{Datagrams, Ready};
use super::forward::{EnteredPath, ForwardPath};
use super::listen::{Exposed, Sockets};
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
    /// Passes connections and datagrams to these ports on. A client that sends datagrams is forgotten when there was none for
    /// the time `idle`, nor an answer.
    ///
    /// # Errors
    /// The kernel's refusal.
    pub fn start(ports: Vec<Exposed>, way: ForwardPath, idle: Duration) -> Result<Self, KernelError> {
        let (stopped, stop) = io::pipe().attempted(|| "make a pipe")?;
        let (told, entered) = mpsc::channel();
        let (mut listeners, mut sockets) = (Vec::new(), Vec::new());
        for Exposed { sockets: of_port, to } in ports {
            match of_port {
                Sockets::Tcp(all) => listeners.extend(all.into_iter().map(|one| (one, to))),
                Sockets::Udp(all) => sockets.extend(all.into_iter().map(|one| (one, to))),
            }
        }
        let datagrams = Datagrams::new(sockets, idle);
        let body = move || {
            // Writing to a closed connection returns an error.
            let _ = SigSet::all().thread_set_mask();
            match way.enter() {
                Ok(way) => {
                    let _ = told.send(Ok(()));
                    drop(told);
                    Switch { stopped, listeners, way, connections: Vec::new(), datagrams, pauses: false }.run();
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
    way: EnteredPath,
    connections: Vec<Connection>,
    datagrams: Datagrams,
    /// Whether the machine has refused another connection just now.
    pauses: bool,
}

/// What a descriptor that is waited for belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Source {
    Stop,
    Listener(usize),
    Connection(usize),
    Datagrams(Ready),
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
            let datagrams = ready.iter().filter_map(|source| match source {
                Source::Datagrams(one) => Some(*one),
                _ => None,
            });
            self.datagrams.serve(&datagrams.collect::<Vec<_>>(), &self.way);
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
        self.datagrams.awaited().for_each(|(ready, fd, flags)| add(Source::Datagrams(ready), fd, flags));
        // Rounded up, so that there is something to do then.
        let end = self.datagrams.next_end().map(|end| end + Duration::from_millis(1));
        let pause = self.pauses.then_some(PAUSE);
        let timeout = end.into_iter().chain(pause).min();
        let timeout = timeout.map_or(PollTimeout::NONE, |span| span.try_into().unwrap_or(PollTimeout::MAX));
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
