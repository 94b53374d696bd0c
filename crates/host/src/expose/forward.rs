//! The ways from the relay into a node.

use std::io::{self, PipeReader, PipeWriter};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddrV4, SocketAddrV6};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sched::{CloneFlags, setns};
use nix::sys::socket::{self, AddressFamily, Shutdown, SockFlag, SockType, SockaddrIn, SockaddrIn6, sockopt};

use crate::error::{Attempted, KernelError};
use crate::fds::{send_with_fds, try_receive_with_fds};
use crate::netlink::Home;

/// The transport protocol of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// TCP: connections lead to it.
    Tcp,
    /// UDP: datagrams lead to it.
    Udp,
}

/// How connections get into a node.
#[derive(Debug)]
pub enum ForwardPath {
    /// By sockets of its network namespace.
    Namespace {
        /// That namespace.
        home: Home,
        /// Its addresses, beside those of its loopback.
        addresses: Vec<IpAddr>,
    },
    /// By sockets of a network namespace, to these addresses alone.
    Network {
        /// The namespace; none: that of this process.
        namespace: Option<std::fs::File>,
        /// The addresses, in the order in which they are tried.
        addresses: Vec<IpAddr>,
    },
    /// By programs that the session starts there: each gets the connection, or the datagrams of a client, as standard input
    /// and output. See [`ProgramRequest::receive`].
    Programs(OwnedFd),
}

/// A request to the session: to start a program in the node that joins its standard streams to a port of the node.
#[derive(Debug)]
pub struct ProgramRequest {
    /// The port.
    pub port: u16,
    /// The transport protocol of the port.
    pub protocol: Protocol,
    /// The program's standard input.
    pub input: OwnedFd,
    /// The program's standard output.
    pub output: OwnedFd,
}

impl ProgramRequest {
    /// Makes a channel and returns both of its ends, for [`ForwardPath::Programs`] and for [`ProgramRequest::receive`].
    ///
    /// # Errors
    /// The kernel's refusal.
    pub fn channel() -> Result<(OwnedFd, OwnedFd), KernelError> {
        // Neither side waits for the other: it might wait for the end of this one.
        let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
        socket::socketpair(AddressFamily::Unix, SockType::SeqPacket, None, flags).attempted(|| "make a socket pair")
    }

    /// Receives the next request, without waiting; none if there is none.
    pub fn receive(channel: impl AsFd) -> Option<Self> {
        let mut asked = [0; 3];
        let received =
            try_receive_with_fds(channel, &mut asked).ok().filter(|received| received.length == asked.len())?;
        let [input, output] = <[OwnedFd; 2]>::try_from(received.fds).ok()?;
        let [high, low, udp] = asked;
        let protocol = if udp == 0 { Protocol::Tcp } else { Protocol::Udp };
        Some(Self { port: u16::from_be_bytes([high, low]), protocol, input, output })
    }
}

impl ForwardPath {
    /// Enters the node's network namespace, if that is the way, in the thread that uses it from now on.
    pub(super) fn enter(self) -> Result<EnteredPath, KernelError> {
        match self {
            Self::Namespace { home, addresses } => {
                let attempted = || "enter the network of a node";
                let path = match home {
                    Home::Process(init) => format!("/proc/{init}/ns/net"),
                    Home::Descriptor(fd) => format!("/proc/self/fd/{fd}"),
                };
                let namespace = std::fs::File::open(path).attempted(attempted)?;
                setns(namespace, CloneFlags::CLONE_NEWNET).attempted(attempted)?;
                let loopback = [IpAddr::from(Ipv4Addr::LOCALHOST), IpAddr::from(Ipv6Addr::LOCALHOST)];
                Ok(EnteredPath::Namespace(loopback.into_iter().chain(addresses).collect()))
            }
            Self::Network { namespace, addresses } => {
                if let Some(namespace) = namespace {
                    setns(namespace, CloneFlags::CLONE_NEWNET).attempted(|| "enter a network namespace")?;
                }
                Ok(EnteredPath::Namespace(addresses))
            }
            Self::Programs(channel) => Ok(EnteredPath::Programs(channel)),
        }
    }
}

impl EnteredPath {
    /// How many connections a node has at once; further ones wait in the kernel until one of these ends. And how many clients
    /// that send datagrams. Each program takes memory of the node's.
    pub(super) fn most(&self) -> usize {
        match self {
            Self::Namespace(_) => 256,
            Self::Programs(_) => 64,
        }
    }
}

/// A way, seen from where it begins.
#[derive(Debug)]
pub(super) enum EnteredPath {
    /// All addresses at which the node may listen.
    Namespace(Vec<IpAddr>),
    /// Where programs are asked for.
    Programs(OwnedFd),
}

/// The node's end of a connection.
#[derive(Debug)]
pub(super) enum NodeEnd {
    /// A socket for both directions.
    Socket(OwnedFd),
    /// What a program prints, and what it reads until it is closed.
    Pipes(PipeReader, Option<PipeWriter>),
}

impl NodeEnd {
    /// What the node sends.
    pub(super) fn output(&self) -> BorrowedFd<'_> {
        match self {
            Self::Socket(socket) => socket.as_fd(),
            Self::Pipes(reader, _) => reader.as_fd(),
        }
    }

    /// Where it takes what is sent to it; none when that has ended.
    pub(super) fn input(&self) -> Option<BorrowedFd<'_>> {
        match self {
            Self::Socket(socket) => Some(socket.as_fd()),
            Self::Pipes(_, writer) => writer.as_ref().map(AsFd::as_fd),
        }
    }

    /// Whether the peer is gone. A socket says so when it is written to.
    pub(super) fn refuses_input(&self) -> bool {
        let Self::Pipes(_, Some(writer)) = self else { return false };
        let mut fds = [PollFd::new(writer.as_fd(), PollFlags::empty())];
        poll(&mut fds, PollTimeout::ZERO).is_ok_and(|found| found > 0)
    }

    /// Tells the node that nothing more comes.
    pub(super) fn end_input(&mut self) -> io::Result<()> {
        match self {
            Self::Socket(socket) => end(socket.as_fd()),
            Self::Pipes(_, writer) => {
                *writer = None;
                Ok(())
            }
        }
    }
}

/// A connection into a node that is being made.
#[derive(Debug)]
pub(super) struct Connecting {
    port: u16,
    /// Which address is tried next.
    next: usize,
    socket: Option<OwnedFd>,
}

/// What became of it.
#[derive(Debug)]
pub(super) enum ConnectOutcome {
    Done(NodeEnd),
    /// The kernel will tell.
    Pending,
    /// Nothing listens there.
    Refused,
}

impl Connecting {
    pub(super) fn new(port: u16) -> Self {
        Self { port, next: 0, socket: None }
    }

    /// What to wait for, until it can be written to.
    pub(super) fn fd(&self) -> Option<BorrowedFd<'_>> {
        self.socket.as_ref().map(AsFd::as_fd)
    }

    /// Continues: looks at the outcome of the last attempt, then tries further addresses.
    pub(super) fn go_on(&mut self, way: &EnteredPath) -> io::Result<ConnectOutcome> {
        let addresses = match way {
            EnteredPath::Namespace(addresses) => addresses,
            EnteredPath::Programs(channel) => {
                let pipes = ask(channel, self.port, Protocol::Tcp)?;
                let done = |(reader, writer)| ConnectOutcome::Done(NodeEnd::Pipes(reader, Some(writer)));
                return Ok(pipes.map_or(ConnectOutcome::Refused, done));
            }
        };
        if let Some(socket) = self.socket.take()
            && socket::getsockopt(&socket, sockopt::SocketError)? == 0
        {
            return Ok(ConnectOutcome::Done(NodeEnd::Socket(socket)));
        }
        while let Some(address) = addresses.get(self.next) {
            self.next += 1;
            let family = if address.is_ipv4() { AddressFamily::Inet } else { AddressFamily::Inet6 };
            let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
            let socket = match socket::socket(family, SockType::Stream, flags, None) {
                Ok(socket) => socket,
                // Without IPv6, there is only the other family.
                Err(Errno::EAFNOSUPPORT) => continue,
                Err(error) => return Err(error.into()),
            };
            match connect(&socket, *address, self.port) {
                Ok(()) => return Ok(ConnectOutcome::Done(NodeEnd::Socket(socket))),
                Err(Errno::EINPROGRESS) => {
                    self.socket = Some(socket);
                    return Ok(ConnectOutcome::Pending);
                }
                Err(_) => {}
            }
        }
        Ok(ConnectOutcome::Refused)
    }
}

fn connect(socket: &OwnedFd, address: IpAddr, port: u16) -> nix::Result<()> {
    match address {
        IpAddr::V4(address) => socket::connect(socket.as_raw_fd(), &SockaddrIn::from(SocketAddrV4::new(address, port))),
        IpAddr::V6(address) => {
            socket::connect(socket.as_raw_fd(), &SockaddrIn6::from(SocketAddrV6::new(address, port, 0, 0)))
        }
    }
}

/// Asks for a program that goes on in the node: what it prints, and what it reads. If none is started, its ends of the pipes
/// are closed. None if too many are asked for already.
pub(super) fn ask(channel: &OwnedFd, port: u16, protocol: Protocol) -> io::Result<Option<(PipeReader, PipeWriter)>> {
    let (input, to_program) = io::pipe()?;
    let (from_program, output) = io::pipe()?;
    for ours in [to_program.as_fd(), from_program.as_fd()] {
        fcntl(ours, FcntlArg::F_SETFL(OFlag::O_NONBLOCK))?;
    }
    let [high, low] = port.to_be_bytes();
    let asked = [high, low, u8::from(protocol == Protocol::Udp)];
    match send_with_fds(channel, &asked, &[input.as_fd(), output.as_fd()]) {
        Ok(_) => Ok(Some((from_program, to_program))),
        // The queue of requests is full.
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
        Err(error) => Err(error),
    }
}

/// Tells the other end of a socket that nothing more comes.
pub(super) fn end(ours: BorrowedFd<'_>) -> io::Result<()> {
    match socket::shutdown(ours.as_raw_fd(), Shutdown::Write) {
        // It has gone already.
        Ok(()) | Err(Errno::ENOTCONN) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
