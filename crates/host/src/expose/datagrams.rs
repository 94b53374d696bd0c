//! Datagrams from this machine into a node. Each client has an association with the node's port, so that answers find back to
//! it; it ends when nothing has come either way for a while, or when others need its place.

use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

use nix::poll::PollFlags;

use super::attempts::{Attempts, LONGEST};
use super::forward::{EnteredPath, Protocol, ask};
use super::frames::{Frames, framed};

/// How many datagrams of a socket are passed on at a time, so that the others do not wait for long.
const TURN: usize = 32;

/// See the module.
#[derive(Debug)]
pub(super) struct Datagrams {
    /// The sockets of this machine, each with the node's port.
    sockets: Vec<(UdpSocket, u16)>,
    associations: Vec<Association>,
    /// After how long without a datagram an association ends.
    idle: Duration,
    buffer: Vec<u8>,
}

/// What is ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ready {
    /// A socket of this machine, by its number.
    Socket(usize),
    /// The node's side of an association, by its number.
    Association(usize),
}

#[derive(Debug)]
struct Association {
    /// The number of the socket to which the client sends.
    socket: usize,
    client: SocketAddr,
    node: Node,
    /// When there was a datagram last.
    last: Instant,
}

/// The node's side.
#[derive(Debug)]
enum Node {
    Socket(Attempts),
    Program(Program),
}

/// A program in the node that sends and receives the datagrams.
#[derive(Debug)]
struct Program {
    reader: PipeReader,
    writer: PipeWriter,
    /// The rest of a datagram of which the program has taken a part.
    unwritten: Vec<u8>,
    answers: Frames,
}

impl Datagrams {
    pub(super) fn new(sockets: Vec<(UdpSocket, u16)>, idle: Duration) -> Self {
        let buffer = if sockets.is_empty() { Vec::new() } else { vec![0; LONGEST] };
        Self { sockets, associations: Vec::new(), idle, buffer }
    }

    /// What to wait for.
    pub(super) fn awaited(&self) -> impl Iterator<Item = (Ready, BorrowedFd<'_>, PollFlags)> {
        let input = PollFlags::POLLIN;
        let sockets = self.sockets.iter().enumerate();
        let sockets = sockets.map(move |(number, (socket, _))| (Ready::Socket(number), socket.as_fd(), input));
        let associations = self.associations.iter().enumerate().flat_map(move |(number, one)| {
            let ready = Ready::Association(number);
            let (reads, writes) = match &one.node {
                Node::Socket(socket) => (socket.as_fd(), None),
                Node::Program(program) => {
                    let waits = !program.unwritten.is_empty();
                    (program.reader.as_fd(), waits.then(|| (ready, program.writer.as_fd(), PollFlags::POLLOUT)))
                }
            };
            [Some((ready, reads, input)), writes].into_iter().flatten()
        });
        sockets.chain(associations)
    }

    /// How long until an association ends if nothing comes.
    pub(super) fn next_end(&self) -> Option<Duration> {
        self.associations.iter().map(|one| self.idle.saturating_sub(one.last.elapsed())).min()
    }

    /// Passes on what there is at these.
    pub(super) fn serve(&mut self, all: &[Ready], way: &EnteredPath) {
        let mut over = vec![false; self.associations.len()];
        for ready in all {
            if let Ready::Association(number) = *ready {
                over[number] |= !self.answer(number);
            }
        }
        let (mut over, idle) = (over.into_iter(), self.idle);
        self.associations.retain(|one| over.next() != Some(true) && one.last.elapsed() < idle);
        for ready in all {
            if let Ready::Socket(number) = *ready {
                self.pass_on(number, way);
            }
        }
    }

    /// From the node to the client; false when the association is over.
    fn answer(&mut self, number: usize) -> bool {
        let Self { sockets, associations, buffer, .. } = self;
        let Some(Association { socket, client, node, last }) = associations.get_mut(number) else { return false };
        let outside = &sockets[*socket].0;
        let mut deliver = |datagram: &[u8]| {
            *last = Instant::now();
            // If the client has gone, or its buffer is full, it is lost as datagrams are.
            let _ = outside.send_to(datagram, *client);
        };
        match node {
            Node::Socket(attempts) => {
                for _ in 0..TURN {
                    let Some(length) = attempts.receive(buffer) else { break };
                    deliver(&buffer[..length]);
                }
                true
            }
            Node::Program(program) => program.flush().and_then(|()| program.receive(buffer, deliver)).is_ok(),
        }
    }

    /// From clients into the node.
    fn pass_on(&mut self, number: usize, way: &EnteredPath) {
        for _ in 0..TURN {
            let (socket, port) = &self.sockets[number];
            let (length, client) = match socket.recv_from(&mut self.buffer) {
                Ok(received) => received,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(_) => return,
            };
            let port = *port;
            // A datagram for which the machine has no descriptors or memory is lost.
            let Some(place) = self.association(number, client, port, way) else { continue };
            let association = &mut self.associations[place];
            association.last = Instant::now();
            let datagram = &self.buffer[..length];
            match &mut association.node {
                Node::Socket(attempts) => attempts.send(datagram),
                Node::Program(program) => program.send(datagram),
            }
        }
    }

    /// The place of a client's association, which is made if there is none.
    fn association(&mut self, socket: usize, client: SocketAddr, port: u16, way: &EnteredPath) -> Option<usize> {
        let is_its = |one: &Association| one.socket == socket && one.client == client;
        if let Some(place) = self.associations.iter().position(is_its) {
            return Some(place);
        }
        let node = match way {
            EnteredPath::Namespace(addresses) => Node::Socket(Attempts::new(addresses, port).ok()?),
            EnteredPath::Programs(channel) => {
                let (reader, writer) = ask(channel, port, Protocol::Udp).ok()??;
                Node::Program(Program { reader, writer, unwritten: Vec::new(), answers: Frames::default() })
            }
        };
        let last = Instant::now();
        let new = Association { socket, client, node, last };
        if self.associations.len() < way.most() {
            self.associations.push(new);
            return Some(self.associations.len() - 1);
        }
        let (oldest, _) = self.associations.iter().enumerate().min_by_key(|(_, one)| one.last)?;
        self.associations[oldest] = new;
        Some(oldest)
    }
}

impl Program {
    /// Sends a datagram, unless the program has not taken the one before yet.
    fn send(&mut self, datagram: &[u8]) {
        // If the program has gone, reading tells it.
        if self.flush().is_ok()
            && self.unwritten.is_empty()
            && let Some(framed) = framed(datagram)
        {
            self.unwritten = framed;
            let _ = self.flush();
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        while !self.unwritten.is_empty() {
            match self.writer.write(&self.unwritten) {
                Ok(written) => drop(self.unwritten.drain(..written)),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Gives what has come to `take`.
    fn receive(&mut self, buffer: &mut [u8], take: impl FnMut(&[u8])) -> io::Result<()> {
        match self.reader.read(buffer) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(length) => self.answers.feed(&buffer[..length]),
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {}
            Err(error) => return Err(error),
        }
        self.answers.drain(take);
        Ok(())
    }
}
