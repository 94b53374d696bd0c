//! From the fabric to the kernel, in batches.

use super::BATCH;
use super::slow::{Refusal, Slow};
use crate::clock::Clock;
use crate::edge::Handover;
use crate::sys::{check, packet_socket, set_option};
use netloom_fabric::{Delivery, Ethernet, PortId};
use netloom_figures::PortReport;
use netloom_packet::{MAX_HEAD, Packet, TAG_LEN, VIRTIO_HEADER_LEN};
use netloom_units::Instant;
use rustix::net::sockopt::{set_socket_send_buffer_size, set_socket_send_buffer_size_force};
use std::collections::HashMap;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::time::Duration as RealDuration;

/// The packets of a batch that were refused, that no peer received, and that are put off, are bits of words.
const _: () = assert!(BATCH <= u64::BITS as usize);
/// After such a pause the caches hold other things.
const COOLS_DOWN: RealDuration = RealDuration::from_micros(100);
/// The loopback interface is the first of every network namespace.
const LOOPBACK: i32 = 1;
/// An ICMP echo request from 127.0.0.1 to itself (RFC 792), complete with its checksums.
const WARM_UP_FRAME: [u8; 42] = [
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x08, 0x00, // Ethernet: no addresses, IPv4
    0x45, 0, 0, 28, 0, 0, 0x40, 0, 64, 1, 0x3c, 0xdf, 127, 0, 0, 1, 127, 0, 0, 1, // IPv4: 28 bytes, ICMP
    8, 0, 0xf7, 0xff, 0, 0, 0, 0, // ICMP: echo request
];
/// Virtio header, headers, payload.
const PARTS: usize = 3;
const SEND_BUFFER: usize = 64 << 20;
// linux/if_packet.h; libc lacks some of them.
const PACKET_VNET_HDR: i32 = 15;
const PACKET_QDISC_BYPASS: i32 = 20;

/// Sends to all ports.
pub(crate) struct Sender {
    socket: ClosedApart,
    clock: Clock,
    /// The interface index of each port, 0 where there is none.
    ifindexes: Vec<u32>,
    ethernet: Ethernet,
    /// The VLAN of each port whose frames get a tag, 0 of others; shorter if those behind have none.
    vlans: Vec<u16>,
    /// Whether the interfaces are the lab's own, which nobody but the lab brings down.
    is_ours: bool,
    scratch: Box<Scratch>,
    /// When something was sent last, packet or frame to keep warm. Wall time since the epoch.
    last_sent: RealDuration,
    /// Packets (segments) for interfaces that are down: the lab took their carrier away.
    pub(crate) unheard: u64,
    /// Packets (segments) that the kernel refused, by port.
    refused: Vec<u64>,
    /// Which packets of the batch it refused: a bit each.
    refused_now: u64,
    /// The bits of the packets of the batch that no peer received.
    unheard_now: u64,
    /// The bits of those that cannot be sent with the others.
    later_now: u64,
    /// By port: what is there to be sent one by one.
    slow: Vec<Option<Box<Slow>>>,
    /// How many of these there are.
    slow_ports: usize,
    /// The ports where packets wait.
    behind: Vec<PortId>,
    /// Packets that the kernel took, by port.
    taken: Vec<u64>,
    /// The error of the latest refusal.
    pub(crate) last_error: Option<io::Error>,
}

/// A packet socket that is closed by a thread of its own: the kernel first waits until no processor is at work with it
/// (`packet_release` of net/packet/af_packet.c), some 20 ms, and just as long for the socket that receives.
struct ClosedApart(Option<OwnedFd>);

impl ClosedApart {
    fn number(&self) -> RawFd {
        self.0.as_ref().map_or(-1, AsRawFd::as_raw_fd)
    }
}

impl Drop for ClosedApart {
    fn drop(&mut self) {
        let socket = self.0.take();
        // Without a thread it is closed here.
        let _ = std::thread::Builder::new().name("netloom-close".into()).spawn(move || drop(socket));
    }
}

/// What `sendmmsg` reads, made once and filled for every batch.
struct Scratch {
    virtio: [[u8; VIRTIO_HEADER_LEN]; BATCH],
    heads: [[u8; MAX_HEAD + TAG_LEN]; BATCH],
    addresses: [libc::sockaddr_ll; BATCH],
    parts: [[libc::iovec; PARTS]; BATCH],
    messages: [libc::mmsghdr; BATCH],
}

// SAFETY: the pointers inside are set anew for every batch, from buffers that live through the call.
unsafe impl Send for Scratch {}

impl Sender {
    /// `whole`: the ports whose nodes get whole frames.
    pub(crate) fn open(
        clock: Clock,
        ports: &HashMap<u32, PortId>,
        whole: &[PortId],
        ethernet: Ethernet,
    ) -> io::Result<Self> {
        let socket = packet_socket()?;
        // Interfaces of pairs take super-packets as they are, and nobody gives them a queue.
        set_option(&socket, libc::SOL_PACKET, PACKET_QDISC_BYPASS, &1_i32)?;
        let last = ports.values().map(|port| port.0).max().unwrap_or(0);
        let mut ifindexes = vec![0; last as usize + 1];
        for (&ifindex, port) in ports {
            ifindexes[port.0 as usize] = ifindex;
        }
        let mut sender = Self::of(socket, clock, ifindexes, ethernet)?;
        whole.iter().for_each(|port| sender.make_slow(*port, Slow::cutting(false)));
        Ok(sender)
    }

    /// Sends by this socket to the interface of this index, for these ports, each with the VLAN of its frames. The interface's
    /// queue is not passed by: the kernel cuts super-packets and makes checksums there if the network card cannot. `whole`: that is
    /// done here for these ports.
    pub(crate) fn to_wire(
        socket: OwnedFd,
        clock: Clock,
        ifindex: u32,
        ports: &[(PortId, Option<u16>)],
        whole: &[PortId],
        ethernet: Ethernet,
    ) -> io::Result<Self> {
        let last = ports.iter().map(|(port, _)| port.0).max().unwrap_or(0);
        let (mut ifindexes, mut vlans) = (vec![0; last as usize + 1], vec![0; last as usize + 1]);
        for (port, vlan) in ports {
            ifindexes[port.0 as usize] = ifindex;
            vlans[port.0 as usize] = vlan.unwrap_or_default();
        }
        let mut sender = Self { vlans, is_ours: false, ..Self::of(socket, clock, ifindexes, ethernet)? };
        whole.iter().for_each(|port| sender.make_slow(*port, Slow::cutting(true)));
        Ok(sender)
    }

    fn of(socket: OwnedFd, clock: Clock, ifindexes: Vec<u32>, ethernet: Ethernet) -> io::Result<Self> {
        set_option(&socket, libc::SOL_PACKET, PACKET_VNET_HDR, &1_i32)?;
        // Beyond the system's maximum where the privileges allow it, else up to the maximum.
        set_socket_send_buffer_size_force(&socket, SEND_BUFFER)
            .or_else(|_| set_socket_send_buffer_size(&socket, SEND_BUFFER))?;
        let (refused, taken) = (vec![0; ifindexes.len()], vec![0; ifindexes.len()]);
        let slow = ifindexes.iter().map(|_| None).collect();
        Ok(Self {
            socket: ClosedApart(Some(socket)),
            clock,
            ifindexes,
            ethernet,
            vlans: Vec::new(),
            is_ours: true,
            scratch: Scratch::new(),
            last_sent: RealDuration::ZERO,
            unheard: 0,
            refused,
            refused_now: 0,
            unheard_now: 0,
            later_now: 0,
            slow,
            slow_ports: 0,
            behind: Vec::new(),
            taken,
            last_error: None,
        })
    }

    /// Called while the engine spins, with wall time since the epoch. If nothing was sent for a while, sends an echo request to the lab's own namespace,
    /// through its loopback interface, so that the kernel's code and data for sending and receiving are in the
    /// processor's caches when the next packet is due: the kernel delivers a packet to the node's stack within the call
    /// that sends it. Otherwise the first packet after a pause would be 25 to 50 us late.
    pub(crate) fn keep_warm(&mut self, now: RealDuration) {
        if now.saturating_sub(self.last_sent) > COOLS_DOWN {
            self.last_sent = now;
            self.warm_up();
        }
    }

    fn warm_up(&mut self) {
        let Scratch { virtio, heads, addresses, parts, messages } = &mut *self.scratch;
        virtio[0] = [0; VIRTIO_HEADER_LEN];
        heads[0][..WARM_UP_FRAME.len()].copy_from_slice(&WARM_UP_FRAME);
        addresses[0].sll_ifindex = LOOPBACK;
        parts[0] = [part(&virtio[0]), part(&heads[0][..WARM_UP_FRAME.len()]), part(&[])];
        messages[0].msg_hdr.msg_name = std::ptr::from_mut(&mut addresses[0]).cast();
        messages[0].msg_hdr.msg_iov = parts[0].as_mut_ptr();
        // Without a loopback interface there is nothing to warm up with, and nothing is lost.
        let _ = self.send_from(0, 1);
    }

    /// Sends these packets, in one system call if nothing is refused. What finds no room at an interface of the lab waits for it.
    pub(crate) fn send(&mut self, batch: &mut Vec<Delivery>, out: &mut Handover) {
        let begin = self.clock.now();
        self.prepare(batch);
        self.send_all(batch);
        self.last_sent = self.clock.real();
        let end = self.clock.at(self.last_sent);
        let count = batch.len() as u64;
        let (refused, unheard) = (std::mem::take(&mut self.refused_now), std::mem::take(&mut self.unheard_now));
        let later = std::mem::take(&mut self.later_now);
        for (index, delivery) in batch.drain(..).enumerate() {
            // The kernel delivers packet after packet within the call; each is taken to be there after its share.
            let share = end.since(begin).as_nanos() * (index as u64 + 1) / count;
            let handed = Instant::from_nanos(begin.as_nanos() + share);
            if refused >> index & 1 == 1 {
                let port = delivery.port.0 as usize;
                self.refused[port] += out.lost(delivery);
            } else if unheard >> index & 1 == 1 {
                self.unheard += out.unheard(delivery);
            } else if later >> index & 1 == 1 {
                self.put_off(delivery, out);
            } else {
                self.taken[delivery.port.0 as usize] += 1;
                out.handed(delivery, handed);
            }
        }
        self.catch_up(out);
    }

    /// Whether packets wait for room.
    pub(crate) fn is_behind(&self) -> bool {
        !self.behind.is_empty()
    }

    /// Sends what waited, as far as there is room now.
    pub(crate) fn catch_up(&mut self, out: &mut Handover) {
        if self.behind.is_empty() {
            return;
        }
        for port in std::mem::take(&mut self.behind) {
            let Some(mut own) = self.slow[port.0 as usize].take() else { continue };
            self.empty(port, &mut own, out);
            if !own.is_empty() {
                self.behind.push(port);
            }
            if own.is_needed() {
                self.slow[port.0 as usize] = Some(own);
            } else {
                self.slow_ports -= 1;
            }
        }
        self.last_sent = self.clock.real();
    }

    fn make_slow(&mut self, port: PortId, slow: Slow) {
        self.slow[port.0 as usize] = Some(Box::new(slow));
        self.slow_ports += 1;
    }

    fn is_slow(&self, port: PortId) -> bool {
        self.slow_ports > 0 && self.slow[port.0 as usize].is_some()
    }

    /// A packet waits behind the others of its port.
    fn put_off(&mut self, delivery: Delivery, out: &mut Handover) {
        let port = delivery.port;
        let Some(own) = &mut self.slow[port.0 as usize] else { unreachable!("who puts off has made the port slow") };
        if own.is_empty() {
            self.behind.push(port);
        }
        if let Err(too_much) = own.push(delivery) {
            self.refused[port.0 as usize] += out.lost(too_much);
        }
    }

    /// Sends what waits at a port until there is no more, or no room.
    fn empty(&mut self, port: PortId, own: &mut Slow, out: &mut Handover) {
        while let Some(mut delivery) = own.pop() {
            let completes = own.completes();
            let refusal = own.offer(&mut delivery, |packet| {
                if completes { self.send_one(port, &self.finished(port, packet)) } else { self.send_one(port, packet) }
            });
            match refusal {
                Ok(()) => out.handed(delivery, self.clock.now()),
                Err(Refusal::Full) if self.is_ours && own.may_wait(self.clock.real()) => return own.put_back(delivery),
                Err(Refusal::Down) => self.unheard += out.unheard(delivery),
                Err(Refusal::Full) if self.is_ours => {
                    // There was no room for long: those behind it would find none, either.
                    let all = std::iter::once(delivery).chain(own.drain());
                    self.refused[port.0 as usize] += all.map(|lost| out.lost(lost)).sum::<u64>();
                }
                Err(Refusal::Full | Refusal::Final) => self.refused[port.0 as usize] += out.lost(delivery),
            }
        }
    }

    /// The packet as a wire carries it.
    fn finished(&self, port: PortId, packet: &Packet) -> Packet {
        let mut bytes = Vec::new();
        packet.complete(&mut bytes);
        if let Some(ethernet) = self.ethernet.of(port, packet) {
            bytes[..ethernet.len()].copy_from_slice(&ethernet);
        }
        Packet::from_bytes(bytes.into_boxed_slice())
    }

    /// Sends one packet as it is.
    fn send_one(&mut self, port: PortId, packet: &Packet) -> Result<(), Refusal> {
        self.prepare_one(0, port, packet);
        loop {
            match self.send_from(0, 1) {
                Ok(_) => {
                    self.taken[port.0 as usize] += 1;
                    return Ok(());
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(self.understand(error)),
            }
        }
    }

    /// What it means that the kernel refused a packet.
    fn understand(&mut self, error: io::Error) -> Refusal {
        match error.raw_os_error() {
            // Only the lab itself brings its own end of a pair down, to take the node's carrier away.
            Some(libc::ENETDOWN) if self.is_ours => Refusal::Down,
            // The interface has no room, or the socket's own buffer.
            Some(libc::ENOBUFS | libc::EAGAIN) => {
                self.last_error = Some(error);
                Refusal::Full
            }
            _ => {
                self.last_error = Some(error);
                Refusal::Final
            }
        }
    }

    /// The report of a port, with what the kernel refused to send there.
    pub(crate) fn complete(&self, port: PortReport) -> PortReport {
        let place = port.port.0 as usize;
        PortReport { lost_sending: self.refused[place], taken: self.taken[place], ..port }
    }

    fn prepare(&mut self, batch: &[Delivery]) {
        for (index, delivery) in batch.iter().enumerate() {
            self.prepare_one(index, delivery.port, &delivery.departure.packet);
        }
    }

    fn prepare_one(&mut self, index: usize, port: PortId, packet: &Packet) {
        let Scratch { virtio, heads, addresses, parts, messages } = &mut *self.scratch;
        let mut head = packet.write_head(heads[index].first_chunk_mut().expect("there is room for more"));
        if let Some(ethernet) = self.ethernet.of(port, packet) {
            heads[index][..ethernet.len()].copy_from_slice(&ethernet);
        }
        let vlan = self.vlans.get(port.0 as usize).copied().unwrap_or_default();
        if vlan != 0 {
            head.tag(vlan, &mut heads[index], packet.bytes());
        }
        virtio[index] = head.virtio.bytes();
        let payload = &packet.bytes()[head.payload];
        let ifindex = self.ifindexes[port.0 as usize];
        addresses[index].sll_ifindex = i32::try_from(ifindex).expect("interface indices are positive and small");
        parts[index] = [part(&virtio[index]), part(&heads[index][..head.len]), part(payload)];
        let message = &mut messages[index].msg_hdr;
        message.msg_name = std::ptr::from_mut(&mut addresses[index]).cast();
        message.msg_iov = parts[index].as_mut_ptr();
    }

    /// Sends the prepared messages, but for those at ports that are slow: their turn comes later. One that an interface of the lab has no
    /// room for makes its port slow; another one that the kernel refuses is counted and skipped.
    fn send_all(&mut self, batch: &[Delivery]) {
        let total = batch.len();
        let mut sent = 0;
        while sent < total {
            let port = batch[sent].port;
            let count = if self.slow_ports == 0 { total - sent } else { self.fast(&batch[sent..]) };
            if count == 0 {
                self.later_now |= 1 << sent;
                sent += 1;
                continue;
            }
            match self.send_from(sent, count) {
                // A call that sent less than it should was refused the next one; that is asked for again, since it does not say why.
                Ok(done) => sent += done,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    match self.understand(error) {
                        Refusal::Full if self.is_ours => {
                            self.make_slow(port, Slow::default());
                            self.later_now |= 1 << sent;
                        }
                        Refusal::Down => self.unheard_now |= 1 << sent,
                        Refusal::Full | Refusal::Final => self.refused_now |= 1 << sent,
                    }
                    sent += 1;
                }
            }
        }
    }

    /// How many of these packets come before the first one at a slow port.
    fn fast(&self, batch: &[Delivery]) -> usize {
        batch.iter().take_while(|delivery| !self.is_slow(delivery.port)).count()
    }

    fn send_from(&mut self, first: usize, count: usize) -> io::Result<usize> {
        let messages = self.scratch.messages[first..].as_mut_ptr();
        let count = u32::try_from(count).expect("a batch is small");
        // SAFETY: `prepare` filled the messages from `first` on; all that they point to lives in `scratch` and in the
        // packets of the batch, which stay where they are through the call.
        let sent = check(unsafe { libc::sendmmsg(self.socket.number(), messages, count, libc::MSG_DONTWAIT) })?;
        Ok(usize::try_from(sent).expect("checked not to be negative").max(1))
    }
}

impl Scratch {
    fn new() -> Box<Self> {
        // SAFETY: all-zero bytes are valid for every field: arrays of integers, null pointers and zero lengths.
        let mut scratch: Box<Self> = Box::new(unsafe { std::mem::zeroed() });
        for address in &mut scratch.addresses {
            address.sll_family = u16::try_from(libc::AF_PACKET).expect("a small constant");
        }
        for message in &mut scratch.messages {
            message.msg_hdr.msg_namelen =
                libc::socklen_t::try_from(size_of::<libc::sockaddr_ll>()).expect("a small structure");
            message.msg_hdr.msg_iovlen = PARTS;
        }
        scratch
    }
}

fn part(bytes: &[u8]) -> libc::iovec {
    libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() }
}
