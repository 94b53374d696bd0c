//! Messages with file descriptors over Unix sockets (`SCM_RIGHTS`).

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use nix::sys::socket::{MsgFlags, recv};
use rustix::io::retry_on_intr;
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags, recvmsg};
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};

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
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_FDS))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    let fits = fds.is_empty() || control.push(SendAncillaryMessage::ScmRights(fds));
    assert!(fits, "there is room for {MAX_FDS} descriptors");
    Ok(retry_on_intr(|| sendmsg(&socket, &[IoSlice::new(bytes)], &mut control, SendFlags::NOSIGNAL))?)
}

/// The result of [`receive_with_fds`].
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
    receive(socket.as_fd(), buffer, RecvFlags::empty())
}

/// Receives as [`receive_with_fds`] does, without waiting: [`io::ErrorKind::WouldBlock`] when nothing has arrived.
///
/// # Errors
/// As for [`receive_with_fds`].
pub fn try_receive_with_fds(socket: impl AsFd, buffer: &mut [u8]) -> io::Result<Received> {
    receive(socket.as_fd(), buffer, RecvFlags::DONTWAIT)
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

fn receive(socket: BorrowedFd<'_>, buffer: &mut [u8], flags: RecvFlags) -> io::Result<Received> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_FDS))];
    // Of a truncated message, too, it owns the descriptors that have arrived: none stays open.
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let flags = flags | RecvFlags::CMSG_CLOEXEC;
    let message = retry_on_intr(|| recvmsg(socket, &mut [IoSliceMut::new(buffer)], &mut control, flags))?;
    let mut fds = Vec::new();
    for part in control.drain() {
        if let RecvAncillaryMessage::ScmRights(received) = part {
            fds.extend(received);
        }
    }
    // The buffer is aligned, and may have room for one more.
    if message.flags.intersects(ReturnFlags::TRUNC | ReturnFlags::CTRUNC) || fds.len() > MAX_FDS {
        return Err(io::ErrorKind::InvalidData.into());
    }
    Ok(Received { length: message.bytes, fds })
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

    #[test]
    fn descriptors_that_do_not_fit_are_closed() {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let (mut reader, writer) = io::pipe().unwrap();
        let many = [writer.as_fd(); MAX_FDS + 1];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_FDS + 1))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        assert!(control.push(SendAncillaryMessage::ScmRights(&many)));
        sendmsg(&ours, &[IoSlice::new(b"x")], &mut control, SendFlags::empty()).unwrap();
        drop(writer);
        let error = receive_with_fds(&theirs, &mut [0; 8]).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
        // The pipe ends when nobody can write into it any more. One that is still open somewhere would let this wait.
        rustix::io::ioctl_fionbio(&reader, true).unwrap();
        assert_eq!(reader.read(&mut [0; 8]).unwrap(), 0);
    }
}
