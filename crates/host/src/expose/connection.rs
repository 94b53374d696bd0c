//! A connection from this machine into a node: two directions, each of which ends independently.

use std::io;
use std::net::TcpStream;
use std::ops::Range;
use std::os::fd::{AsFd, BorrowedFd};

use nix::errno::Errno;
use nix::poll::PollFlags;
use nix::sys::socket::{setsockopt, sockopt};
use nix::unistd::{read, write};

use super::forward::{ConnectOutcome, Connecting, EnteredPath, NodeEnd, end};

/// What waits in one direction at most, in bytes. A sender of more has to wait: no more is read than fits.
const ROOM: usize = 64 * 1024;

/// A connection.
#[derive(Debug)]
pub(super) struct Connection {
    outside: TcpStream,
    stage: Stage,
    to_node: Flow,
    from_node: Flow,
}

#[derive(Debug)]
enum Stage {
    Connecting(Connecting),
    Open(NodeEnd),
}

impl Connection {
    /// From `outside` to `port` of a node.
    pub(super) fn new(outside: TcpStream, port: u16) -> io::Result<Self> {
        outside.set_nonblocking(true)?;
        // Small pieces must not wait twice for more data (Nagle's algorithm).
        outside.set_nodelay(true)?;
        let (to_node, from_node) = (Flow::default(), Flow::default());
        Ok(Self { outside, stage: Stage::Connecting(Connecting::new(port)), to_node, from_node })
    }

    /// Does what can be done without waiting; false when the connection is over. One that fails on one side is reset
    /// on the other.
    pub(super) fn go_on(&mut self, way: &EnteredPath) -> bool {
        match self.step(way) {
            Ok(()) => !(self.to_node.told && self.from_node.told),
            Err(_) => {
                reset(self.outside.as_fd());
                if let Stage::Open(NodeEnd::Socket(socket)) = &self.stage {
                    reset(socket.as_fd());
                }
                false
            }
        }
    }

    fn step(&mut self, way: &EnteredPath) -> io::Result<()> {
        if let Stage::Connecting(connecting) = &mut self.stage {
            match connecting.go_on(way)? {
                ConnectOutcome::Pending => return Ok(()),
                ConnectOutcome::Refused => return Err(io::ErrorKind::ConnectionRefused.into()),
                ConnectOutcome::Done(inside) => {
                    if let NodeEnd::Socket(socket) = &inside {
                        setsockopt(socket, sockopt::TcpNoDelay, &true)?;
                    }
                    self.stage = Stage::Open(inside);
                }
            }
        }
        let Stage::Open(inside) = &mut self.stage else { return Ok(()) };
        if inside.refuses_input() {
            inside.end_input()?;
            self.to_node.give_up();
        }
        self.to_node.go_on(self.outside.as_fd(), inside.input())?;
        self.from_node.go_on(inside.output(), Some(self.outside.as_fd()))?;
        if self.to_node.is_over() {
            inside.end_input()?;
            self.to_node.told = true;
        }
        if self.from_node.is_over() {
            end(self.outside.as_fd())?;
            self.from_node.told = true;
        }
        Ok(())
    }

    /// What to wait for: only events that are handled now.
    pub(super) fn awaited(&self) -> impl Iterator<Item = (BorrowedFd<'_>, PollFlags)> {
        let when = |wanted: bool, flags: PollFlags| if wanted { flags } else { PollFlags::empty() };
        let (reads, writes) = (PollFlags::POLLIN, PollFlags::POLLOUT);
        let outside = when(self.to_node.takes(), reads) | when(self.from_node.has(), writes);
        let (output, input) = (when(self.from_node.takes(), reads), when(self.to_node.has(), writes));
        let wanted = |fd, flags: PollFlags| (!flags.is_empty()).then_some((fd, flags));
        let all = match &self.stage {
            Stage::Connecting(connecting) => [connecting.fd().map(|fd| (fd, writes)), None, None],
            Stage::Open(NodeEnd::Socket(socket)) => {
                [wanted(self.outside.as_fd(), outside), wanted(socket.as_fd(), output | input), None]
            }
            Stage::Open(NodeEnd::Pipes(reader, writer)) => [
                wanted(self.outside.as_fd(), outside),
                wanted(reader.as_fd(), output),
                // With nothing to write, it still reports that the program has gone.
                writer.as_ref().map(|writer| (writer.as_fd(), input)),
            ],
        };
        all.into_iter().flatten()
    }
}

/// One direction.
#[derive(Debug, Default)]
struct Flow {
    /// None before the first byte.
    buffer: Vec<u8>,
    /// Which part of the buffer waits to go out.
    waiting: Range<usize>,
    /// The input has ended.
    ended: bool,
    /// And the other side has been notified.
    told: bool,
}

impl Flow {
    fn takes(&self) -> bool {
        !self.ended && self.waiting.is_empty()
    }

    fn has(&self) -> bool {
        !self.waiting.is_empty()
    }

    fn is_over(&self) -> bool {
        self.ended && self.waiting.is_empty() && !self.told
    }

    /// The other side has closed its input.
    fn give_up(&mut self) {
        (self.waiting, self.ended, self.told) = (0..0, true, true);
    }

    /// One read and one write at most, so that no connection keeps others waiting.
    fn go_on(&mut self, from: BorrowedFd<'_>, to: Option<BorrowedFd<'_>>) -> io::Result<()> {
        if self.takes() {
            self.buffer.resize(ROOM, 0);
            match unless_busy(read(from, &mut self.buffer))? {
                Some(0) => self.ended = true,
                Some(length) => self.waiting = 0..length,
                None => {}
            }
        }
        if let Some(to) = to.filter(|_| self.has()) {
            let written = unless_busy(write(to, &self.buffer[self.waiting.clone()]))?;
            self.waiting.start += written.unwrap_or_default();
        }
        Ok(())
    }
}

fn unless_busy(result: nix::Result<usize>) -> io::Result<Option<usize>> {
    match result {
        Ok(length) => Ok(Some(length)),
        Err(Errno::EAGAIN | Errno::EINTR) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Lets a socket be reset when it is closed, rather than as if all had gone well.
fn reset(socket: BorrowedFd<'_>) {
    // Where that is refused, the other end sees an ordinary end.
    let _ = setsockopt(&socket, sockopt::Linger, &libc::linger { l_onoff: 1, l_linger: 0 });
}
