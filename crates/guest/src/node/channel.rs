use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use netloom_host::guest::frames::LONGEST_FROM_GUEST;
use netloom_units::Instant;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::{MsgFlags, recv, send};

/// How control frames reach a kernel and come from it. They are never lost and keep their order.
///
/// In real and dilated time that is a socket to the thread that serves the kernel's control device. In virtual time a
/// frame enters the kernel at the present instant, and [`Channel::wait`] lets time go on.
pub trait Channel {
    /// Sends a frame to the kernel's device 0.
    ///
    /// # Errors
    /// When the other side has gone.
    fn send(&mut self, frame: &[u8]) -> io::Result<()>;

    /// The next frame that the kernel's device 0 has sent; none if there is none yet.
    ///
    /// # Errors
    /// When the other side has gone.
    fn receive(&mut self) -> io::Result<Option<Vec<u8>>>;

    /// Waits until [`Channel::receive`] may have something, until `kernel` (a pidfd) tells that the kernel has ended, or
    /// until `limit` has passed.
    ///
    /// # Errors
    /// When it cannot be waited for.
    fn wait(&mut self, kernel: BorrowedFd<'_>, limit: Duration) -> io::Result<()>;

    /// At which instant of lab time the frame was sent that [`Channel::receive`] gave last, if the channel knows.
    fn heard_at(&self) -> Option<Instant> {
        None
    }

    /// Readable when [`Channel::receive`] may have something.
    fn as_fd(&self) -> BorrowedFd<'_>;
}

/// Control frames as packets of a `SOCK_SEQPACKET` socket.
#[derive(Debug)]
pub struct SocketChannel {
    socket: OwnedFd,
    buffer: Vec<u8>,
}

impl SocketChannel {
    /// One packet is one frame.
    pub fn new(socket: OwnedFd) -> Self {
        Self { socket, buffer: vec![0; LONGEST_FROM_GUEST] }
    }
}

impl Channel for SocketChannel {
    fn send(&mut self, frame: &[u8]) -> io::Result<()> {
        loop {
            match send(self.socket.as_raw_fd(), frame, MsgFlags::MSG_NOSIGNAL) {
                Ok(_) => return Ok(()),
                Err(Errno::EINTR) => (),
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn receive(&mut self) -> io::Result<Option<Vec<u8>>> {
        loop {
            match recv(self.socket.as_raw_fd(), &mut self.buffer, MsgFlags::MSG_DONTWAIT) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(length) => return Ok(Some(self.buffer[..length].to_vec())),
                Err(Errno::EAGAIN) => return Ok(None),
                Err(Errno::EINTR) => (),
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn wait(&mut self, kernel: BorrowedFd<'_>, limit: Duration) -> io::Result<()> {
        let mut fds = [PollFd::new(self.socket.as_fd(), PollFlags::POLLIN), PollFd::new(kernel, PollFlags::POLLIN)];
        // Rounded up, so that the last wait does not become a busy loop.
        let timeout = PollTimeout::try_from(limit + Duration::from_millis(1)).unwrap_or(PollTimeout::MAX);
        match poll(&mut fds, timeout) {
            Ok(_) | Err(Errno::EINTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}
