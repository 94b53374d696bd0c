//! Sockets that are opened inside a node and used outside of it: a socket stays in the network namespace in which it was opened.

use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::sys::socket::{Backlog, SockaddrStorage, bind, connect, listen, setsockopt, sockopt};
use serde::{Deserialize, Serialize};

use crate::error::{Attempted, KernelError};

/// A socket to be opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SocketConfig {
    /// Its family.
    pub family: SocketFamily,
    /// Its type.
    pub kind: SocketKind,
    /// The number of the protocol, such as 1 for ICMP; 0: the usual one of family and type.
    pub protocol: i32,
    /// Its own address.
    pub bind: Option<SocketAddr>,
    /// The address that it is connected to. A stream socket may still be connecting when it is handed over; the first call
    /// that sends or receives waits for it.
    pub connect: Option<SocketAddr>,
    /// How many connections may wait for it to accept them; none: it does not listen.
    pub listen: Option<u16>,
}

/// A family of sockets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum SocketFamily {
    /// IPv4.
    Inet,
    /// IPv6.
    Inet6,
}

/// A type of socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum SocketKind {
    /// A stream of bytes: TCP.
    Stream,
    /// Datagrams: UDP.
    Dgram,
    /// Messages over a connection, for protocols that have them: SCTP.
    Seqpacket,
    /// Packets of an IP protocol.
    Raw,
}

impl SocketConfig {
    /// In words.
    fn text(&self) -> String {
        let Self { family, kind, protocol, .. } = self;
        let family = if *family == SocketFamily::Inet { "IPv4" } else { "IPv6" };
        let kind = match kind {
            SocketKind::Stream => "stream",
            SocketKind::Dgram => "datagram",
            SocketKind::Seqpacket => "seqpacket",
            SocketKind::Raw => "raw",
        };
        let protocol = if *protocol == 0 { String::new() } else { format!(" with protocol {protocol}") };
        format!("{family} {kind} socket{protocol}")
    }
}

/// Opens a socket in the network namespace of this process. It waits for nothing.
pub(super) fn open(config: &SocketConfig) -> Result<OwnedFd, KernelError> {
    let text = config.text();
    let socket = make(config).attempted(|| format!("open an {text}"))?;
    if let Some(address) = config.bind {
        if config.listen.is_some() {
            // As servers do, so that one can be started again at once.
            let reused = setsockopt(&socket, sockopt::ReuseAddr, &true);
            reused.attempted(|| format!("let the address of an {text} be used again"))?;
        }
        bind(socket.as_raw_fd(), &SockaddrStorage::from(address))
            .attempted(|| format!("bind an {text} to {address}"))?;
    }
    if let Some(address) = config.connect {
        begin_to_connect(&socket, address).attempted(|| format!("connect an {text} to {address}"))?;
    }
    if let Some(waiting) = config.listen {
        let backlog = Backlog::new(i32::from(waiting).min(Backlog::MAXCONN.into())).unwrap_or(Backlog::MAXCONN);
        listen(&socket, backlog).attempted(|| format!("listen on an {text}"))?;
    }
    Ok(socket)
}

fn make(config: &SocketConfig) -> io::Result<OwnedFd> {
    let family = match config.family {
        SocketFamily::Inet => libc::AF_INET,
        SocketFamily::Inet6 => libc::AF_INET6,
    };
    let kind = match config.kind {
        SocketKind::Stream => libc::SOCK_STREAM,
        SocketKind::Dgram => libc::SOCK_DGRAM,
        SocketKind::Seqpacket => libc::SOCK_SEQPACKET,
        SocketKind::Raw => libc::SOCK_RAW,
    };
    // SAFETY: plain numbers.
    match unsafe { libc::socket(family, kind | libc::SOCK_CLOEXEC, config.protocol) } {
        -1 => Err(io::Error::last_os_error()),
        // SAFETY: the kernel has just made this descriptor, and nothing else knows it.
        fd => Ok(unsafe { OwnedFd::from_raw_fd(fd) }),
    }
}

/// The node's first process must not wait for an answer from the network.
fn begin_to_connect(socket: &OwnedFd, address: SocketAddr) -> io::Result<()> {
    let flags = OFlag::from_bits_retain(fcntl(socket, FcntlArg::F_GETFL)?);
    fcntl(socket, FcntlArg::F_SETFL(flags | OFlag::O_NONBLOCK))?;
    match connect(socket.as_raw_fd(), &SockaddrStorage::from(address)) {
        Ok(()) | Err(Errno::EINPROGRESS) => {}
        Err(errno) => return Err(errno.into()),
    }
    fcntl(socket, FcntlArg::F_SETFL(flags))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};

    const PLAIN: SocketConfig = SocketConfig {
        family: SocketFamily::Inet,
        kind: SocketKind::Stream,
        protocol: 0,
        bind: None,
        connect: None,
        listen: None,
    };

    #[test]
    fn a_socket_is_bound_listens_and_connects() {
        let anywhere = Some("127.0.0.1:0".parse().unwrap());
        let listener = TcpListener::from(open(&SocketConfig { bind: anywhere, listen: Some(4), ..PLAIN }).unwrap());
        let connect = Some(listener.local_addr().unwrap());
        let mut client = TcpStream::from(open(&SocketConfig { connect, ..PLAIN }).unwrap());
        // It waits for the connection by itself.
        client.write_all(b"hello").unwrap();
        drop(client);
        let mut text = String::new();
        listener.accept().unwrap().0.read_to_string(&mut text).unwrap();
        assert_eq!(text, "hello");
    }

    #[test]
    fn what_the_kernel_refuses_is_said_with_what_was_attempted() {
        let foreign = Some("192.0.2.1:1".parse().unwrap());
        let error = open(&SocketConfig { bind: foreign, ..PLAIN }).unwrap_err();
        assert_eq!(error.to_string(), "bind an IPv4 stream socket to 192.0.2.1:1: Cannot assign requested address");
        let odd = SocketConfig { family: SocketFamily::Inet6, kind: SocketKind::Dgram, protocol: 6, ..PLAIN };
        let text = open(&odd).unwrap_err().to_string();
        assert!(text.starts_with("open an IPv6 datagram socket with protocol 6: "), "{text}");
    }
}
