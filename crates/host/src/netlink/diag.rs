//! What the kernel tells of TCP sockets (sock_diag(7)), for the network namespace in which the socket was opened.

use std::os::fd::{AsRawFd, OwnedFd};

use nix::sys::socket::{AddressFamily, MsgFlags, SockFlag, SockProtocol, SockType, send, socket};

use crate::error::{Attempted, KernelError};

/// TCPDIAG_GETSOCK of linux/inet_diag.h: the request that asks for the sockets of both families at once. A look through the kernel's
/// table of connections, which all network namespaces of a machine share, takes longer than what is found in it.
const GETSOCK: u16 = 18;
/// Attributes of linux/inet_diag.h. What an algorithm tells of itself is asked for by the second, whichever it is.
const INET_DIAG_INFO: u8 = 2;
const INET_DIAG_VEGASINFO: u8 = 3;
const INET_DIAG_CONG: u8 = 4;
/// States of net/tcp_states.h in which a socket has a peer and a state of its own: ESTABLISHED, SYN_SENT, FIN_WAIT1, FIN_WAIT2,
/// CLOSE_WAIT, LAST_ACK, CLOSING.
const STATES: u32 = 1 << 1 | 1 << 2 | 1 << 4 | 1 << 5 | 1 << 8 | 1 << 9 | 1 << 11;

/// Bytes of `nlmsghdr`, of `inet_diag_sockid` and of `inet_diag_req`.
const HEADER: usize = 16;
const SOCKET_ID: usize = 48;
const REQUEST: usize = 4 + SOCKET_ID + 8;

/// The kernel fills packets of at most so many bytes.
const PACKET: usize = 32 << 10;
/// So many are taken with one call.
const PACKETS: usize = 4;

/// A socket that asks for the state of TCP connections.
#[derive(Debug)]
pub(crate) struct TcpDiag {
    socket: OwnedFd,
    sequence: u32,
    buffers: Vec<Vec<u8>>,
}

impl TcpDiag {
    /// Opens a socket in the current network namespace, to which it stays bound.
    ///
    /// # Errors
    /// The kernel's refusal.
    pub(crate) fn open() -> Result<Self, KernelError> {
        let socket =
            socket(AddressFamily::Netlink, SockType::Raw, SockFlag::SOCK_CLOEXEC, SockProtocol::NetlinkSockDiag)
                .attempted(|| "open a socket for the state of TCP")?;
        Ok(Self { socket, sequence: 0, buffers: vec![vec![0; PACKET]; PACKETS] })
    }

    /// Hands the body of the message about each connection to `each`: `inet_diag_msg` and attributes. It takes two system calls, or
    /// one more for each 128 kB of answers.
    ///
    /// # Errors
    /// The kernel's refusal.
    pub(crate) fn connections(&mut self, mut each: impl FnMut(&[u8])) -> Result<(), KernelError> {
        const ATTEMPTED: &str = "read the state of TCP connections";
        self.sequence = self.sequence.wrapping_add(1);
        send(self.socket.as_raw_fd(), &request(self.sequence), MsgFlags::empty()).attempted(|| ATTEMPTED)?;
        loop {
            let lengths = receive(&self.socket, &mut self.buffers).attempted(|| ATTEMPTED)?;
            for (buffer, length) in self.buffers.iter().zip(lengths) {
                match read(&buffer[..length.min(PACKET)], self.sequence, &mut each) {
                    Read::More => {}
                    Read::Done => return Ok(()),
                    Read::Refused(code) => return Err(KernelError::new(ATTEMPTED, code)),
                }
            }
        }
    }
}

/// Asks for all TCP connections.
fn request(sequence: u32) -> [u8; HEADER + REQUEST] {
    let mut message = [0; HEADER + REQUEST];
    let length = u32::try_from(message.len()).expect("a request is short");
    let flags = u16::try_from(libc::NLM_F_REQUEST | libc::NLM_F_DUMP).expect("flags have 16 bits");
    message[..4].copy_from_slice(&length.to_ne_bytes());
    message[4..6].copy_from_slice(&GETSOCK.to_ne_bytes());
    message[6..8].copy_from_slice(&flags.to_ne_bytes());
    message[8..12].copy_from_slice(&sequence.to_ne_bytes());
    // The family says nothing in this request.
    message[HEADER + 3] = [INET_DIAG_INFO, INET_DIAG_VEGASINFO, INET_DIAG_CONG].iter().map(|bit| 1 << (bit - 1)).sum();
    let states = HEADER + 4 + SOCKET_ID;
    message[states..states + 4].copy_from_slice(&STATES.to_ne_bytes());
    message
}

/// Waits for at least one packet, and takes all that are there; returns their lengths.
fn receive(socket: &OwnedFd, buffers: &mut [Vec<u8>]) -> std::io::Result<Vec<usize>> {
    let mut parts: Vec<libc::iovec> = buffers
        .iter_mut()
        .map(|buffer| libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() })
        .collect();
    let message = |part: &mut libc::iovec| {
        // SAFETY: a structure of plain numbers and pointers, for which zeros are valid.
        let mut message: libc::mmsghdr = unsafe { std::mem::zeroed() };
        message.msg_hdr.msg_iov = part;
        message.msg_hdr.msg_iovlen = 1;
        message
    };
    let mut messages: Vec<libc::mmsghdr> = parts.iter_mut().map(message).collect();
    let count = u32::try_from(messages.len()).expect("a few packets");
    loop {
        let flags = libc::MSG_WAITFORONE;
        // SAFETY: each message has one part, which is a buffer of that length, and all of them outlive the call.
        let received = unsafe {
            libc::recvmmsg(socket.as_raw_fd(), messages.as_mut_ptr(), count, flags as _, std::ptr::null_mut())
        };
        match usize::try_from(received) {
            Ok(received) => return Ok(messages[..received].iter().map(|filled| filled.msg_len as usize).collect()),
            Err(_) => {
                let error = std::io::Error::last_os_error();
                if error.kind() != std::io::ErrorKind::Interrupted {
                    return Err(error);
                }
            }
        }
    }
}

/// What a packet was about.
#[derive(Debug, PartialEq, Eq)]
enum Read {
    More,
    Done,
    /// The error's number.
    Refused(i32),
}

/// Reads a packet of messages.
fn read(mut rest: &[u8], sequence: u32, each: &mut impl FnMut(&[u8])) -> Read {
    let number = |bytes: &[u8], at: usize| u32::from_ne_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
    while rest.len() >= HEADER {
        let length = (number(rest, 0) as usize).clamp(HEADER, rest.len());
        let (message, kind) = (&rest[..length], i32::from(u16::from_ne_bytes([rest[4], rest[5]])));
        if number(message, 8) == sequence {
            match kind {
                libc::NLMSG_DONE => return Read::Done,
                libc::NLMSG_ERROR if message.len() >= HEADER + 4 => {
                    return Read::Refused(number(message, HEADER).cast_signed().saturating_neg());
                }
                _ if kind == i32::from(GETSOCK) => each(&message[HEADER..]),
                // A socket of another family than IP has another one.
                _ => {}
            }
        }
        rest = &rest[length.next_multiple_of(4).min(rest.len())..];
    }
    Read::More
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(kind: u16, sequence: u32, body: &[u8]) -> Vec<u8> {
        let length = u32::try_from(HEADER + body.len()).unwrap();
        [&length.to_ne_bytes()[..], &kind.to_ne_bytes(), &[0; 2], &sequence.to_ne_bytes(), &[0; 4], body].concat()
    }

    #[test]
    fn messages_of_one_answer_are_read_to_its_end() {
        let mut bodies = Vec::new();
        let done = u16::try_from(libc::NLMSG_DONE).unwrap();
        let packet = [message(GETSOCK, 6, &[9; 8]), message(GETSOCK, 7, &[1; 8]), message(done, 7, &[0; 4])].concat();
        assert_eq!(read(&packet, 7, &mut |body| bodies.push(body.to_vec())), Read::Done);
        assert_eq!(bodies, [[1; 8]]);
        let refused = message(u16::try_from(libc::NLMSG_ERROR).unwrap(), 7, &(-libc::ENOENT).to_ne_bytes());
        assert_eq!(read(&refused, 7, &mut |_| {}), Read::Refused(libc::ENOENT));
        for length in 0..packet.len() {
            read(&packet[..length], 7, &mut |_| {});
        }
    }
}
