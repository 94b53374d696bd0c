//! Messages with file descriptors over Unix sockets (`SCM_RIGHTS`).

use std::io::{self, IoSlice, IoSliceMut};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

use nix::sys::socket::{ControlMessage, ControlMessageOwned, MsgFlags, recv, recvmsg, sendmsg};

/// The most descriptors that one message may carry: three standard streams and a few to spare.
pub const MAX_FDS: usize = 16;

/// Sends `bytes` with `fds`, and returns how many bytes went out; a stream socket may take fewer than all, and the
/// rest is then sent without descriptors. The receiver gets descriptors of its own; these stay open here.
///
/// # Errors
/// The kernel's error; a closed peer is [`io::ErrorKind::BrokenPipe`] and raises no signal.
///
/// # Panics
/// If there are more than [`MAX_FDS`] descriptors, or descriptors but no byte to carry them.
pub fn send_with_fds(socket: impl AsFd, bytes: &[u8], fds: &[BorrowedFd<'_>]) -> io::Result<usize> {
    assert!(fds.len() <= MAX_FDS, "{} descriptors in one message", fds.len());
    assert!(fds.is_empty() || !bytes.is_empty(), "descriptors need at least one byte to travel with");
    let raw: Vec<RawFd> = fds.iter().map(AsRawFd::as_raw_fd).collect();
    let rights = [ControlMessage::ScmRights(&raw)];
    let control = if raw.is_empty() { &[] } else { &rights[..] };
    retry(|| sendmsg::<()>(socket.as_fd().as_raw_fd(), &[IoSlice::new(bytes)], control, MsgFlags::MSG_NOSIGNAL, None))
}

/// What [`receive_with_fds`] got.
#[derive(Debug)]
pub struct Received {
    /// Bytes written to the buffer; 0 means that the peer is gone.
    pub length: usize,
    /// The descriptors that came along, closed on exec.
    pub fds: Vec<OwnedFd>,
}

/// Receives one message (of a `SOCK_SEQPACKET` socket) or some bytes (of a stream) into `buffer`.
///
/// # Errors
/// The kernel's error; [`io::ErrorKind::InvalidData`] when descriptors or bytes did not fit.
pub fn receive_with_fds(socket: impl AsFd, buffer: &mut [u8]) -> io::Result<Received> {
    receive(socket.as_fd(), buffer, MsgFlags::empty())
}

/// The same without waiting: [`io::ErrorKind::WouldBlock`] when nothing has arrived.
///
/// # Errors
/// As for [`receive_with_fds`].
pub fn try_receive_with_fds(socket: impl AsFd, buffer: &mut [u8]) -> io::Result<Received> {
    receive(socket.as_fd(), buffer, MsgFlags::MSG_DONTWAIT)
}

/// How long the next packet of a socket that keeps packets apart is; 0 when the other side is gone. Who makes a buffer of just
/// that length touches no more memory than it needs: in a node's process, each page that is touched is one of its own.
///
/// # Errors
/// The kernel's error, also those of a receive.
pub(crate) fn next_packet(socket: impl AsFd) -> nix::Result<usize> {
    loop {
        match recv(socket.as_fd().as_raw_fd(), &mut [], MsgFlags::MSG_PEEK | MsgFlags::MSG_TRUNC) {
            Err(nix::errno::Errno::EINTR) => {}
            other => return other,
        }
    }
}

fn receive(socket: BorrowedFd<'_>, buffer: &mut [u8], flags: MsgFlags) -> io::Result<Received> {
    let mut space = nix::cmsg_space!([RawFd; MAX_FDS]);
    retry(|| {
        let mut slices = [IoSliceMut::new(buffer)];
        let flags = flags | MsgFlags::MSG_CMSG_CLOEXEC;
        let message = recvmsg::<()>(socket.as_raw_fd(), &mut slices, Some(&mut space), flags)?;
        let cut = message.flags.intersects(MsgFlags::MSG_TRUNC | MsgFlags::MSG_CTRUNC);
        // A cut control message still installs those descriptors that fitted: own them first, so that none leaks.
        let fds = message.cmsgs().map(|all| all.flat_map(owned).collect()).unwrap_or_default();
        Ok((cut, Received { length: message.bytes, fds }))
    })
    .and_then(|(cut, received)| if cut { Err(io::ErrorKind::InvalidData.into()) } else { Ok(received) })
}

fn owned(message: ControlMessageOwned) -> Vec<OwnedFd> {
    let ControlMessageOwned::ScmRights(raw) = message else { return Vec::new() };
    // SAFETY: the kernel has just installed these descriptors for this process, and nothing else knows them.
    raw.into_iter().map(|fd| unsafe { OwnedFd::from_raw_fd(fd) }).collect()
}

/// Repeats a call that a signal interrupted.
fn retry<T>(mut call: impl FnMut() -> nix::Result<T>) -> io::Result<T> {
    loop {
        match call() {
            Err(nix::errno::Errno::EINTR) => (),
            other => return other.map_err(Into::into),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::os::unix::net::UnixStream;

    #[test]
    fn descriptors_arrive_open_and_usable() {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let (mut reader, writer) = io::pipe().unwrap();
        assert_eq!(send_with_fds(&ours, b"x", &[writer.as_fd()]).unwrap(), 1);
        drop(writer);
        let mut buffer = [0; 8];
        let received = receive_with_fds(&theirs, &mut buffer).unwrap();
        assert_eq!((received.length, received.fds.len()), (1, 1));
        std::fs::File::from(received.fds.into_iter().next().unwrap()).write_all(b"hello").unwrap();
        let mut text = String::new();
        reader.read_to_string(&mut text).unwrap();
        assert_eq!(text, "hello");
    }

    #[test]
    fn nothing_there_would_block_and_a_closed_peer_is_zero() {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let error = try_receive_with_fds(&theirs, &mut [0; 8]).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
        drop(ours);
        assert_eq!(receive_with_fds(&theirs, &mut [0; 8]).unwrap().length, 0);
        let broken = send_with_fds(&theirs, b"x", &[]).unwrap_err();
        assert_eq!(broken.kind(), io::ErrorKind::BrokenPipe);
    }
}
