//! The streams of a node's programs, joined to descriptors of the lab's, and the one descriptor that tells when any of
//! them wants something.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use netloom_host::guest::message::{OUTPUT_WINDOW, Stream};
use netloom_host::node::{NodeEvent, ProcessId, Standard};
use netloom_host::terminal::{WindowSize, window_size};
use nix::errno::Errno;
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use nix::sys::stat::{SFlag, fstat, major, minor};

use super::sink::Sink;
use super::source::Source;

/// The streams that programs write to.
pub(super) const OUTPUTS: [Stream; 2] = [Stream::Output, Stream::Error];

/// A program's streams.
#[derive(Debug, Default)]
pub(super) struct Joined {
    pub(super) input: Option<Source>,
    pub(super) outputs: BTreeMap<Stream, Sink>,
    /// What the program wrote while the answer that it was started was still to be read.
    pub(super) early: BTreeMap<Stream, Vec<u8>>,
    /// Which streams ended in that time.
    pub(super) early_ends: BTreeSet<Stream>,
    /// Whether it is still in that time.
    pub(super) is_joined: bool,
    /// Whether its end has been reported.
    pub(super) told: bool,
    /// It has ended; reported when all that it wrote has been written.
    pub(super) ended: Option<NodeEvent>,
    /// It is to be killed: its end does not wait for its output.
    pub(super) killed: bool,
    pub(super) terminal: Option<Terminal>,
}

/// The lab's end of a program's terminal.
#[derive(Debug)]
pub(super) struct Terminal {
    fd: OwnedFd,
    known: Option<WindowSize>,
}

impl Terminal {
    pub(super) fn new(fd: OwnedFd) -> Self {
        let known = window_size(&fd);
        Self { fd, known }
    }

    /// Rows and columns.
    pub(super) fn window(&self) -> Option<(u16, u16)> {
        self.known.map(|size| (size.rows, size.columns))
    }

    /// Rows and columns, if they have changed.
    pub(super) fn resized(&mut self) -> Option<(u16, u16)> {
        let now = window_size(&self.fd)?;
        (self.known != Some(now)).then(|| {
            self.known = Some(now);
            (now.rows, now.columns)
        })
    }
}

impl Joined {
    /// Keeps what came before the streams were joined; false if that is more than the agent may send.
    pub(super) fn keep_early(&mut self, stream: Stream, bytes: &[u8]) -> bool {
        let kept = self.early.entry(stream).or_default();
        let fits = kept.len() + bytes.len() <= OUTPUT_WINDOW;
        if fits {
            kept.extend_from_slice(bytes);
        }
        fits
    }

    /// Whether all that has come was written.
    pub(super) fn is_written(&self) -> bool {
        self.killed || !self.outputs.values().any(Sink::is_waiting)
    }
}

/// What a descriptor of the lab's is to be inside.
pub(super) fn standard(fd: &OwnedFd) -> Standard {
    const NULL: (u64, u64) = (1, 3); // Documentation/admin-guide/devices.txt
    match fstat(fd) {
        Ok(facts) => {
            let is_device = SFlag::from_bits_truncate(facts.st_mode) & SFlag::S_IFMT == SFlag::S_IFCHR;
            let number = (major(facts.st_rdev), minor(facts.st_rdev));
            if is_device && number == NULL { Standard::Null } else { Standard::Joined }
        }
        Err(_) => Standard::Joined,
    }
}

/// Whether two descriptors lead to the same file.
pub(super) fn same_file(one: &OwnedFd, other: &OwnedFd) -> bool {
    match (fstat(one), fstat(other)) {
        (Ok(one), Ok(other)) => (one.st_dev, one.st_ino) == (other.st_dev, other.st_ino),
        _ => false,
    }
}

/// Something that a node waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token {
    /// Frames of the agent.
    Channel,
    /// The end of the kernel.
    Kernel,
    /// An event that was noticed while something else was waited for.
    Doorbell,
    /// What the machine tells of itself.
    Machine,
    /// Time to look at the sizes of terminals.
    Look,
    /// Input for a program.
    Input(ProcessId),
    /// Room for a program's output.
    Output(ProcessId, Stream),
}

/// An epoll descriptor whose events are tokens.
#[derive(Debug)]
pub(super) struct Watch {
    epoll: Epoll,
    /// By the number that stands for them in the kernel, in the order in which they came.
    tokens: BTreeMap<u64, (Token, i32)>,
    next: u64,
}

/// How many descriptors are looked at per turn; the others come next.
const AT_ONCE: usize = 64;

impl Watch {
    pub(super) fn new() -> io::Result<Self> {
        let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?;
        Ok(Self { epoll, tokens: BTreeMap::new(), next: 0 })
    }

    /// Watches `fd`; false if its kind cannot be watched, because it is always ready.
    pub(super) fn add(&mut self, fd: BorrowedFd<'_>, token: Token) -> io::Result<bool> {
        let flags = if let Token::Output(..) = token { EpollFlags::EPOLLOUT } else { EpollFlags::EPOLLIN };
        match self.epoll.add(fd, EpollEvent::new(flags, self.next)) {
            Ok(()) => {
                self.tokens.insert(self.next, (token, fd.as_raw_fd()));
                self.next += 1;
                Ok(true)
            }
            Err(Errno::EPERM) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Does not watch `fd` any more. To be called before it is closed, since another process may have it open.
    pub(super) fn remove(&mut self, fd: BorrowedFd<'_>) {
        // One that is not watched need not be removed.
        let _ = self.epoll.delete(fd);
        self.tokens.retain(|_, (_, known)| *known != fd.as_raw_fd());
    }

    /// What is ready now, in the order in which it was added.
    pub(super) fn ready(&self) -> Vec<Token> {
        let mut events = [EpollEvent::empty(); AT_ONCE];
        let count = self.epoll.wait(&mut events, EpollTimeout::ZERO).unwrap_or(0);
        let mut numbers: Vec<u64> = events[..count].iter().map(EpollEvent::data).collect();
        numbers.sort_unstable();
        numbers.into_iter().filter_map(|number| self.tokens.get(&number).map(|(token, _)| *token)).collect()
    }
}

impl AsFd for Watch {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.epoll.0.as_fd()
    }
}
