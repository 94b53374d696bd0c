//! One descriptor to wait on for any number of ports.

use crate::sys::{check, own};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
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
        // SAFETY: epoll_create1() takes no pointers, and nothing else owns what it returns.
        let epoll = unsafe { own(check(libc::epoll_create1(libc::EPOLL_CLOEXEC))?) };
        Ok(Arc::new(Self { epoll }))
    }

    /// Tells what has happened since the last call, without waiting; returns how much that was.
    ///
    /// # Errors
    /// When the kernel refuses to tell.
    pub fn drain(&self, mut each: impl FnMut(Event)) -> io::Result<usize> {
        let mut events = [libc::epoll_event { events: 0, u64: 0 }; BATCH];
        let room = libc::c_int::try_from(BATCH).expect("a small constant");
        // SAFETY: the array has that much room and lives through the call.
        let count = check(unsafe { libc::epoll_wait(self.as_raw_fd(), events.as_mut_ptr(), room, 0) })?;
        let count = usize::try_from(count).expect("checked not to be negative");
        for event in &events[..count] {
            let token = u32::try_from(event.u64 & u64::from(u32::MAX)).expect("32 bits");
            each(if event.u64 & KICK == 0 { Event::Message(token) } else { Event::Kick(token) });
        }
        Ok(count)
    }

    /// Watches a socket until the returned guard is dropped.
    pub(crate) fn watch_socket(self: &Arc<Self>, fd: OwnedFd, token: u32) -> io::Result<Watched> {
        self.watch(fd, u64::from(token), libc::EPOLLIN | libc::EPOLLRDHUP)
    }

    /// Watches a descriptor that a guest rings. It is told of once per ring and never read: what the guest gave may be
    /// something whose reading waits.
    pub(crate) fn watch_kick(self: &Arc<Self>, fd: OwnedFd, token: u32) -> io::Result<Watched> {
        self.watch(fd, u64::from(token) | KICK, libc::EPOLLIN | libc::EPOLLET)
    }

    fn watch(self: &Arc<Self>, fd: OwnedFd, token: u64, what: libc::c_int) -> io::Result<Watched> {
        let mut event = libc::epoll_event { events: what.cast_unsigned(), u64: token };
        // SAFETY: the event lives through the call.
        check(unsafe { libc::epoll_ctl(self.as_raw_fd(), libc::EPOLL_CTL_ADD, fd.as_raw_fd(), &raw mut event) })?;
        Ok(Watched { fd, poller: Arc::clone(self) })
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

impl AsRawFd for Watched {
    fn as_raw_fd(&self) -> RawFd {
        self.fd.as_raw_fd()
    }
}

impl Drop for Watched {
    /// Closing is not enough: the guest has a copy of the descriptor, and the poller would go on watching.
    fn drop(&mut self) {
        // SAFETY: no event is passed. A descriptor that is watched can be taken out.
        unsafe {
            libc::epoll_ctl(self.poller.as_raw_fd(), libc::EPOLL_CTL_DEL, self.fd.as_raw_fd(), std::ptr::null_mut())
        };
    }
}
