//! Everything that the lab's main loop waits for.

use super::Session;
use crate::control::ClientId;
use netloom_units::{Duration, Instant};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::TimeSpec;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};

/// Something that can be read, or that takes more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// The channel to the guard.
    Guard,
    /// A signal.
    Signals,
    /// A new connection to the control socket.
    Listener,
    /// A connection to the control socket.
    Client(ClientId),
    /// A node's agent.
    Node(usize),
}

/// Without anything due, the loop looks around this often.
const LONGEST_WAIT: Duration = Duration::from_secs(1);

impl Session<'_> {
    /// Waits until something can be served, or until `wake`.
    pub(super) fn wait(&self, now: Instant, wake: Option<Instant>) -> io::Result<Vec<Source>> {
        let mut sources = Vec::new();
        let mut fds = Vec::new();
        for (source, fd, writes) in self.sources() {
            let flags = if writes { PollFlags::POLLIN | PollFlags::POLLOUT } else { PollFlags::POLLIN };
            sources.push(source);
            fds.push(PollFd::new(fd, flags));
        }
        let span = wake.map_or(LONGEST_WAIT, |at| at.since(now).min(LONGEST_WAIT));
        match ppoll(&mut fds, Some(timeout(span)), None) {
            Ok(_) | Err(Errno::EINTR) => {}
            Err(errno) => return Err(errno.into()),
        }
        let ready = fds.iter().zip(sources).filter(|(fd, _)| fd.any() == Some(true));
        Ok(ready.map(|(_, source)| source).collect())
    }

    fn sources(&self) -> impl Iterator<Item = (Source, BorrowedFd<'_>, bool)> {
        let guard = (!self.guard_is_gone).then(|| (Source::Guard, self.guard.as_fd(), self.guard.has_unsent()));
        let fixed = [(Source::Signals, self.signals.as_fd(), false), (Source::Listener, self.server.listener(), false)];
        let clients = self.server.connections().map(|(id, fd, writes)| (Source::Client(id), fd, writes));
        let nodes = self.nodes.iter().enumerate().filter(|(index, _)| !self.gone.contains(index));
        let nodes = nodes.map(|(index, node)| (Source::Node(index), node.as_fd(), false));
        guard.into_iter().chain(fixed).chain(clients).chain(nodes)
    }
}

fn timeout(span: Duration) -> TimeSpec {
    let ns = span.as_nanos();
    let part = |value: u64| i64::try_from(value).expect("a wait is at most a second");
    TimeSpec::new(part(ns / 1_000_000_000), part(ns % 1_000_000_000))
}
