//! How the lab process and the agent of a node on this machine's kernel reach each other: JSON in packets of a `SOCK_SEQPACKET`
//! socket, with descriptors.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::protocol::ProcessId;
use crate::fds::{next_packet, receive_with_fds, send_with_fds};

/// Something that happened in a node, over a socket of its own.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Event {
    /// `status` is what wait(2) tells.
    Exited { process: ProcessId, status: i32, cpu_ns: u64 },
}

/// Bytes in a packet at most. A socket buffer holds at least 200 kB.
const PACKET: usize = 64 * 1024;

/// The first byte of a packet: whether the message goes on in the next one.
const MORE: u8 = 1;
const LAST: u8 = 0;

/// Sends a message, of any length, and waits until it is on its way. Descriptors travel with its last packet.
pub(crate) fn send<T: Serialize>(socket: impl AsFd, message: &T, fds: &[BorrowedFd<'_>]) -> io::Result<()> {
    let bytes = serde_json::to_vec(message)?;
    let mut chunks = bytes.chunks(PACKET - 1).peekable();
    while let Some(chunk) = chunks.next() {
        let last = chunks.peek().is_none();
        let packet = [&[if last { LAST } else { MORE }], chunk].concat();
        send_with_fds(socket.as_fd(), &packet, if last { fds } else { &[] })?;
    }
    Ok(())
}

/// Receives a message with its descriptors; `None` when the other side is gone.
pub(crate) fn receive<T: DeserializeOwned>(socket: impl AsFd) -> io::Result<Option<(T, Vec<OwnedFd>)>> {
    let mut message = Vec::new();
    loop {
        let mut buffer = Vec::new();
        let length = next_packet(socket.as_fd()).map_err(io::Error::from);
        let received = length.and_then(|length| {
            buffer.resize(length, 0);
            receive_with_fds(socket.as_fd(), &mut buffer)
        });
        let received = match received {
            Ok(received) => received,
            // A peer that dies with unread messages resets the connection instead of closing it.
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => return Ok(None),
            Err(error) => return Err(error),
        };
        let Some((more, chunk)) = buffer[..received.length].split_first() else { return Ok(None) };
        message.extend_from_slice(chunk);
        if *more == LAST {
            return Ok(Some((serde_json::from_slice(&message)?, received.fds)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::node::protocol::{Request, Transport};
    use nix::sys::socket::{AddressFamily, SockFlag, SockType, socketpair};

    /// The second takes two packets, of which the last has the descriptor.
    #[test]
    fn messages_of_any_length_come_with_their_descriptors() {
        let (one, other) = socketpair(AddressFamily::Unix, SockType::SeqPacket, None, SockFlag::SOCK_CLOEXEC).unwrap();
        let long = Request::Exists { path: "x".repeat(PACKET).into() };
        for (request, count) in [(Request::Listening { transport: Transport::Tcp, port: 80 }, 0), (long, 1)] {
            let fds = [one.as_fd()];
            send(&one, &request, &fds[..count]).unwrap();
            let (came, descriptors) = receive::<Request>(&other).unwrap().unwrap();
            assert_eq!((came, descriptors.len()), (request, count));
        }
        drop(one);
        assert!(receive::<Request>(&other).unwrap().is_none());
    }
}
