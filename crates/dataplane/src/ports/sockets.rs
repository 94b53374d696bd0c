//! Ports of programs that send and receive frames themselves: Unix sockets, each message of which is a whole frame from its
//! Ethernet header on. QEMU speaks so (`-netdev dgram`), and any program can.
//!
//! Such a program knows nothing of trains and unfinished checksums: it gets packet by packet, complete.

use super::backlog::Backlog;
use super::{BATCH, Opened, PortConfig, PortGroup, Received, Site, Window};
use crate::clock::Clock;
use crate::edge::{Edge, Handover};
use netloom_fabric::{Delivery, Ethernet, PortId};
use netloom_figures::{EngineReport, PortReport};
use netloom_packet::{LARGE_FRAME, Packet, VirtioHeader};
use nix::errno::Errno;
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use nix::sys::socket::{MsgFlags, SockType, getsockopt, recv, send, sockopt};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

/// The shortest frame: an Ethernet header.
const SHORTEST: usize = 14;

/// See the module.
struct Sockets {
    clock: Clock,
    epoll: Epoll,
    sockets: Vec<Socket>,
    /// By port of the fabric: the place of its socket.
    places: Vec<usize>,
    ethernet: Ethernet,
    /// A frame that came.
    incoming: Vec<u8>,
    /// A frame that goes.
    outgoing: Vec<u8>,
    /// Packets for programs that have gone.
    unheard: u64,
}

struct Socket {
    id: PortId,
    fd: OwnedFd,
    /// Whether a message without bytes is the end, since the other side has closed the connection.
    is_connected: bool,
    backlog: Backlog,
    /// Frames that came, and those among them that were too short or too long, or found no memory.
    received: u64,
    lost_receiving: u64,
    lost_sending: u64,
    /// Why nothing comes or goes here any more.
    ended: Option<String>,
}

/// What became of a packet for a program.
enum Sent {
    Done,
    /// There is no room for what is left of it.
    Full,
    /// The program has closed its socket.
    Down,
}

/// The sockets of each shard.
pub(super) fn open(sites: &mut [Site<'_>]) -> io::Result<Vec<Option<Opened>>> {
    let open = |site: &mut Site<'_>| {
        let sockets = site.take(|config| match config {
            PortConfig::Socket { port, socket } => Ok((port, socket)),
            other => Err(other),
        });
        if sockets.is_empty() {
            return Ok(None);
        }
        let ports = sockets.iter().map(|(port, _)| *port).collect();
        let group = Sockets::open(site.clock, sockets, site.shard.fabric.ethernet().clone())?;
        Ok(Some(Opened { group: Box::new(group), ports }))
    };
    sites.iter_mut().map(open).collect()
}

impl PortGroup for Sockets {
    /// A frame arrives when it is found: these sockets tell no instant.
    fn receive(&mut self, edge: &mut Edge, window: Window) -> Received {
        if window.is_overdue {
            return Received::default();
        }
        let mut events = [EpollEvent::empty(); BATCH];
        // What could not be asked now is asked in the next turn.
        let ready = self.epoll.wait(&mut events, EpollTimeout::ZERO).unwrap_or(0);
        let mut count = 0;
        for event in &events[..ready] {
            let place = usize::try_from(event.data()).expect("places are small");
            if event.events().contains(EpollFlags::EPOLLOUT) {
                self.catch_up(place, &mut edge.handover);
            }
            let arrival = window.arrival(self.clock.now());
            while count < BATCH {
                let Some(frame) = self.sockets[place].receive(&mut self.incoming) else { break };
                count += 1;
                let socket = &mut self.sockets[place];
                let complete = |buffer: &mut [u8]| {
                    buffer[..frame.len()].copy_from_slice(frame);
                    Some((frame.len(), VirtioHeader::COMPLETE))
                };
                let is_frame = (SHORTEST..=LARGE_FRAME).contains(&frame.len());
                match is_frame.then(|| edge.handover.pool.fill_with(frame.len(), complete)).flatten() {
                    Some(packet) => edge.enter(arrival, socket.id, packet),
                    None => socket.lost_receiving += 1,
                }
            }
            self.let_go(place, &mut edge.handover);
        }
        Received { count, is_lively: count > 0, has_more: false }
    }

    fn push(&mut self, batch: &mut Vec<Delivery>, out: &mut Handover) {
        for delivery in batch.drain(..) {
            let place = self.places[delivery.port.0 as usize];
            if self.sockets[place].backlog.is_empty() {
                self.offer(place, delivery, out);
            } else {
                self.sockets[place].keep(delivery, out);
            }
        }
    }

    fn descriptor(&self) -> RawFd {
        self.epoll.0.as_raw_fd()
    }

    fn report(&mut self, report: &mut EngineReport) {
        report.ports.extend(self.sockets.iter().map(Socket::report));
        let ended = |socket: &Socket| Some((socket.id, socket.ended.clone()?));
        report.ended_ports.extend(self.sockets.iter().filter_map(ended));
        report.unheard += self.unheard;
    }
}

impl Sockets {
    fn open(clock: Clock, ports: Vec<(PortId, OwnedFd)>, ethernet: Ethernet) -> io::Result<Self> {
        let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?;
        let last = ports.iter().map(|(port, _)| port.0 as usize + 1).max().unwrap_or(0);
        let mut places = vec![0; last];
        let mut sockets = Vec::new();
        for (id, fd) in ports {
            places[id.0 as usize] = sockets.len();
            epoll.add(&fd, EpollEvent::new(EpollFlags::EPOLLIN, sockets.len() as u64))?;
            sockets.push(Socket::new(id, fd)?);
        }
        // With a byte more than a frame may have, those that are too long are told from the longest.
        let (incoming, outgoing) = (vec![0; LARGE_FRAME + 1], Vec::with_capacity(LARGE_FRAME));
        Ok(Self { clock, epoll, sockets, places, ethernet, incoming, outgoing, unheard: 0 })
    }

    /// Sends a packet to the program at this place, or keeps it until there is room.
    fn offer(&mut self, place: usize, mut delivery: Delivery, out: &mut Handover) -> Sent {
        let Self { sockets, ethernet, outgoing, .. } = self;
        let sent = sockets[place].send(&mut delivery, ethernet, outgoing);
        match sent {
            Sent::Done => out.handed(delivery, self.clock.now()),
            Sent::Down => {
                self.unheard += out.unheard(delivery);
                self.let_go(place, out);
            }
            Sent::Full => {
                self.sockets[place].backlog.put_back(delivery, ());
                self.watch(place, EpollFlags::EPOLLIN | EpollFlags::EPOLLOUT);
            }
        }
        sent
    }

    /// There is room again for what waited.
    fn catch_up(&mut self, place: usize, out: &mut Handover) {
        while let Some((delivery, ())) = self.sockets[place].backlog.pop() {
            if !matches!(self.offer(place, delivery, out), Sent::Done) {
                return;
            }
        }
        self.watch(place, EpollFlags::EPOLLIN);
    }

    fn watch(&mut self, place: usize, what: EpollFlags) {
        let socket = &mut self.sockets[place];
        if let Err(error) = self.epoll.modify(&socket.fd, &mut EpollEvent::new(what, place as u64)) {
            socket.end(&io::Error::from(error).to_string());
        }
    }

    /// A socket that has ended stays readable for ever, so it is not watched any more.
    fn let_go(&mut self, place: usize, out: &mut Handover) {
        let socket = &mut self.sockets[place];
        if socket.ended.is_some() {
            // One that is not watched any more needs nothing.
            let _ = self.epoll.delete(&socket.fd);
            while let Some((delivery, ())) = socket.backlog.pop() {
                self.unheard += out.unheard(delivery);
            }
        }
    }
}

impl Socket {
    fn new(id: PortId, fd: OwnedFd) -> io::Result<Self> {
        let kind = getsockopt(&fd, sockopt::SockType)?;
        if !matches!(kind, SockType::Datagram | SockType::SeqPacket) {
            let message =
                format!("the socket of port {} has no messages: it must be SOCK_DGRAM or SOCK_SEQPACKET", id.0);
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        let is_connected = kind == SockType::SeqPacket;
        let (backlog, ended) = (Backlog::default(), None);
        Ok(Self { id, fd, is_connected, backlog, received: 0, lost_receiving: 0, lost_sending: 0, ended })
    }

    /// The next frame, if there is one. One that is too long fills the buffer beyond the longest frame.
    fn receive<'a>(&mut self, buffer: &'a mut [u8]) -> Option<&'a [u8]> {
        if self.ended.is_some() {
            return None;
        }
        loop {
            match recv(self.fd.as_raw_fd(), buffer, MsgFlags::MSG_DONTWAIT) {
                Ok(0) if self.is_connected => self.end("its program closed the connection"),
                Ok(len) => {
                    self.received += 1;
                    return Some(&buffer[..len]);
                }
                Err(Errno::EINTR) => continue,
                Err(Errno::EAGAIN) => {}
                Err(error) => self.end(&io::Error::from(error).to_string()),
            }
            return None;
        }
    }

    /// Sends a packet, its segments one by one; what there is no room for stays in `delivery`.
    fn send(&mut self, delivery: &mut Delivery, ethernet: &Ethernet, bytes: &mut Vec<u8>) -> Sent {
        let packet = &mut delivery.departure.packet;
        while let Some(first) = packet.split_front(1) {
            match self.send_one(&first, ethernet, bytes) {
                Sent::Done => {}
                other => {
                    let rest = std::mem::replace(packet, first);
                    packet.append(&rest);
                    return other;
                }
            }
        }
        self.send_one(packet, ethernet, bytes)
    }

    fn send_one(&mut self, packet: &Packet, ethernet: &Ethernet, bytes: &mut Vec<u8>) -> Sent {
        packet.complete(bytes);
        if let Some(addresses) = ethernet.of(self.id, packet) {
            bytes[..addresses.len()].copy_from_slice(&addresses);
        }
        loop {
            if self.ended.is_some() {
                return Sent::Down;
            }
            match send(self.fd.as_raw_fd(), bytes, MsgFlags::MSG_DONTWAIT | MsgFlags::MSG_NOSIGNAL) {
                Ok(_) => return Sent::Done,
                Err(Errno::EAGAIN | Errno::ENOBUFS) => return Sent::Full,
                Err(Errno::EINTR) => {}
                Err(error) => self.end(&io::Error::from(error).to_string()),
            }
        }
    }

    /// Keeps a packet behind those that wait, unless they are too many.
    fn keep(&mut self, delivery: Delivery, out: &mut Handover) {
        if let Err(too_much) = self.backlog.push(delivery, ()) {
            self.lost_sending += out.lost(too_much);
        }
    }

    fn end(&mut self, why: &str) {
        self.ended = Some(why.to_owned());
    }

    fn report(&self) -> PortReport {
        PortReport {
            port: self.id,
            is_interface: false,
            received: self.received,
            lost_receiving: self.lost_receiving,
            lost_sending: self.lost_sending,
            taken: 0,
        }
    }
}
