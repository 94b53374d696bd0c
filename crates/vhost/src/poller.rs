//! One descriptor to wait on for any number of ports.

use rustix::event::Timespec;
use rustix::event::epoll::{self, EventData, EventFlags};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::sync::Arc;

/// Events taken at once.
const BATCH: usize = 64;
/// Set in the token of descriptors that ring and have nothing to read.
const KICK: u64 = 1 << 32;

/// Why a port wants attention.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// Its socket has something: call [`Port::service`](crate::Port::service) of the port with this token.
    Message(u32),
    /// Its guest put frames into a queue, or room for frames: call [`Port::receive`](crate::Port::receive), and send
    /// what found no room before.
    Kick(u32),
}

/// Waits for the sockets and the kicks of ports (an epoll descriptor). Idle ports cost nothing.
#[derive(Debug)]
pub struct Poller {
    epoll: OwnedFd,
}

impl Poller {
    /// A poller without ports.
    ///
    /// # Errors
    /// When the kernel refuses the descriptor.
    pub fn new() -> io::Result<Arc<Self>> {
        Ok(Arc::new(Self { epoll: epoll::create(epoll::CreateFlags::CLOEXEC)? }))
    }

    /// Tells what has happened since the last call, without waiting; returns how much that was.
    ///
    /// # Errors
    /// When the kernel refuses to tell.
    pub fn drain(&self, mut each: impl FnMut(Event)) -> io::Result<usize> {
        let mut events = [epoll::Event { flags: EventFlags::empty(), data: EventData::new_u64(0) }; BATCH];
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        let count = epoll::wait(&self.epoll, &mut events, Some(&now))?;
        for event in &events[..count] {
            let data = event.data.u64();
            let token = u32::try_from(data & u64::from(u32::MAX)).expect("32 bits");
            each(if data & KICK == 0 { Event::Message(token) } else { Event::Kick(token) });
        }
        Ok(count)
    }

    /// Watches a socket until the returned guard is dropped.
    pub(crate) fn watch_socket(self: &Arc<Self>, fd: OwnedFd, token: u32) -> io::Result<Watched> {
        self.watch(fd, u64::from(token), EventFlags::IN | EventFlags::RDHUP)
    }

    /// Watches a descriptor that a guest rings. It is reported once per ring and never read: what the guest gave may be
    /// something whose reading waits.
    pub(crate) fn watch_kick(self: &Arc<Self>, fd: OwnedFd, token: u32) -> io::Result<Watched> {
        self.watch(fd, u64::from(token) | KICK, EventFlags::IN | EventFlags::ET)
    }

    fn watch(self: &Arc<Self>, fd: OwnedFd, token: u64, what: EventFlags) -> io::Result<Watched> {
        epoll::add(&self.epoll, &fd, EventData::new_u64(token), what)?;
        Ok(Watched { fd, poller: Arc::clone(self) })
    }
}

impl AsFd for Poller {
    /// Readable when [`Poller::drain`] has something to tell.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.epoll.as_fd()
    }
}

impl AsRawFd for Poller {
    /// Readable when [`Poller::drain`] has something to tell.
    fn as_raw_fd(&self) -> RawFd {
        self.epoll.as_raw_fd()
    }
}

/// A descriptor that a poller watches.
#[derive(Debug)]
pub(crate) struct Watched {
    fd: OwnedFd,
    poller: Arc<Poller>,
}

impl AsFd for Watched {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

impl Drop for Watched {
    /// Closing is not enough: the guest has a copy of the descriptor, and the poller would go on watching.
    fn drop(&mut self) {
        // A descriptor that is watched can be taken out.
        let _ = epoll::delete(&self.poller.epoll, &self.fd);
    }
}
