//! Tunnels: what leaves the fabric at such a port goes to a lab of another machine in datagrams of UDP, and comes from there.
//!
//! The path between the machines takes time, which is taken off what the links describe: a packet is sent ahead of the instant
//! at which it is due (`Fabric::take_ahead`), by as much as the path takes at most, bears that instant, and waits at the other
//! end until it has come. There it enters at that instant, even if it came a little later: then the pipe behind makes up
//! for it, as far as it has a delay.
//!
//! Frames that do not fit into a datagram of the path go in pieces (`pieces`); where the tunnel has a key, datagrams are authenticated and
//! encrypted (`seal`). The module `path` estimates how far the clocks of both machines are apart. The meter of a pipe counts what its
//! delay could not make up for as lateness, and the crate `judge` judges the reports of tunnels.

mod day;
mod end;
mod far_end;
mod heard;
mod identity;
mod message;
mod numbers;
mod path;
mod pieces;
mod refusal;
mod repair;
mod room;
mod seal;
mod socket;
#[cfg(test)]
mod tests;
mod tracking;

use super::{BATCH, Opened, PortConfig, PortGroup, Received, Site, Window};
use crate::clock::Clock;
use crate::edge::{Edge, Handover};
use end::Addressees;
pub use end::TunnelEnd;
use far_end::{Come, FarEnd};
use netloom_fabric::{Delivery, Ethernet, Fabric, PipeId, PortId};
use netloom_figures::{Distribution, EngineReport, PortReport, TunnelReport};
use netloom_packet::{Head, LARGE_FRAME, MAX_HEAD, Packet, Pool, SMALL_FRAME, VIRTIO_HEADER_LEN, VirtioHeader};
use netloom_units::{Duration, Instant};
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags};
use pieces::Content;
pub use refusal::{Refusal, TunnelKey, TunnelSettings};
pub use room::tunnel_path_least;
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create, timerfd_settime,
};
use socket::Inbox;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
pub use tracking::Tracker;

/// Datagrams of one train that the kernel cuts: no more than all kernels can (`UDP_MAX_SEGMENTS`).
const SEGMENTS: usize = 64;
/// Memory of frames that wait for their instant, at most, in bytes.
const ROOM: usize = 256 << 20;
/// Turns of reading before a greeting that has to be said, so that a flood does not keep this end from it.
const TURNS: usize = 64;
/// Frames that are due later than this are none: no path takes so long.
const FARTHEST: u64 = 10_000_000_000;
/// What is sent ahead is so much earlier than three ways over the path at most: that of a frame, that of a request for it if it was lost, and
/// that of the frame once more. It is not earlier than the second.
const SPARE: u64 = 300_000 + repair::OVERTAKES + repair::SAID_AFTER;
const MOST_AHEAD: u64 = 2_000_000_000;
/// Bytes that are given to the kernel at once, about.
const PORTION: usize = 512 << 10;
/// The shortest frame: an Ethernet header.
const SHORTEST: usize = 14;

/// What a frame of this length takes in the pool.
fn memory(len: usize) -> usize {
    if len <= SMALL_FRAME { SMALL_FRAME } else { LARGE_FRAME }
}

/// The packet or train that a frame carries; none if there is no room for it, or if it is a train that cannot be cut into packets of at
/// most `mtu` bytes from the IP header on.
fn packet_of(content: Content, frame: &[u8], mtu: u64, pool: &mut Pool) -> Option<Packet> {
    let (virtio, bytes) = match content {
        Content::Packet => (VirtioHeader::COMPLETE, frame),
        Content::Train => {
            let (head, rest) = frame.split_first_chunk::<VIRTIO_HEADER_LEN>()?;
            (VirtioHeader::parse(head), rest)
        }
    };
    let packet = pool.fill_with(bytes.len(), |buffer| {
        buffer[..bytes.len()].copy_from_slice(bytes);
        Some((bytes.len(), virtio))
    })?;
    // The first segment of a train is as long as any.
    if content == Content::Train && (packet.segments() < 2 || packet.segment_size(0).get() > mtu) {
        pool.recycle(packet);
        return None;
    }
    Some(packet)
}

/// A frame that waits for its instant.
struct Waiting {
    due: Instant,
    /// Frames of one instant leave in the order in which they came.
    order: u64,
    packet: Packet,
}

impl PartialEq for Waiting {
    fn eq(&self, other: &Self) -> bool {
        (self.due, self.order) == (other.due, other.order)
    }
}

impl Eq for Waiting {}

impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Waiting {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.due, self.order).cmp(&(other.due, other.order))
    }
}

/// One tunnel.
struct Tunnel {
    port: PortId,
    far: FarEnd,
    /// The pipes that lead there.
    pipes: Vec<PipeId>,
    waiting: BinaryHeap<Reverse<Waiting>>,
    /// Their memory.
    held: usize,
    /// Frames that came, and those among them that found no room or were none.
    received: u64,
    lost_receiving: u64,
    /// Frames that were too long, beside what the kernel refused.
    too_long: u64,
    /// Frames that nobody was there for, and those of them after the far end had been there.
    unheard: u64,
    missed: u64,
    /// How late frames came after their instant.
    behind: Distribution,
}

/// See the module.
struct Tunnels {
    clock: Clock,
    tunnels: Vec<Tunnel>,
    by_port: BTreeMap<PortId, usize>,
    /// The sockets: the place of the first tunnel of each, which is read, and which of those from there on a datagram is for.
    sockets: Vec<(usize, Addressees)>,
    inbox: Inbox,
    epoll: Epoll,
    /// Ends a sleep when a far end is to be asked for the time, and when that is: nobody spins for it.
    timer: OwnedFd,
    asks_at: u64,
    ethernet: Ethernet,
    frame: Vec<u8>,
}

/// The tunnels of each shard.
pub(super) fn open(sites: &mut [Site<'_>]) -> io::Result<Vec<Option<Opened>>> {
    let open = |site: &mut Site<'_>| {
        let ends = site.take(|config| match config {
            PortConfig::Tunnel { ports, end } => Ok((ports, end)),
            other => Err(other),
        });
        if ends.is_empty() {
            return Ok(None);
        }
        let ports = ends.iter().flat_map(|(ports, _)| ports.iter().copied()).collect();
        let fabric = &site.shard.fabric;
        let (mut tunnels, mut sockets) = (Vec::new(), Vec::new());
        for (own, end) in ends {
            let TunnelEnd { far, others, addressees, .. } = *end;
            sockets.push((tunnels.len(), addressees));
            let joined = own.into_iter().zip([far].into_iter().chain(others));
            tunnels.extend(joined.map(|(port, each)| Tunnel::new(port, each, fabric.pipes_to(port).collect())));
        }
        let group = Tunnels::new(site.clock, tunnels, sockets, fabric.ethernet().clone())?;
        Ok(Some(Opened { group: Box::new(group), ports }))
    };
    sites.iter_mut().map(open).collect()
}

impl Tunnels {
    fn new(
        clock: Clock,
        tunnels: Vec<Tunnel>,
        sockets: Vec<(usize, Addressees)>,
        ethernet: Ethernet,
    ) -> io::Result<Self> {
        let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?;
        for (first, _) in &sockets {
            epoll.add(&tunnels[*first].far.socket, EpollEvent::new(EpollFlags::EPOLLIN, 0))?;
        }
        let by_port = tunnels.iter().map(|tunnel| tunnel.port).zip(0..).collect();
        let timer = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK)?;
        epoll.add(&timer, EpollEvent::new(EpollFlags::EPOLLIN, 0))?;
        let (inbox, frame) = (Inbox::new(), Vec::new());
        // Set in the first turn.
        Ok(Self { clock, tunnels, by_port, sockets, inbox, epoll, timer, asks_at: u64::MAX, ethernet, frame })
    }

    /// Has the next sleep end when there is something to say; an expired timer is quiet from then on.
    fn set_timer(&mut self) {
        let next = self.tunnels.iter().map(|tunnel| tunnel.far.next()).min().unwrap_or(u64::MAX);
        if next == self.asks_at {
            return;
        }
        let part = |ns: u64| i64::try_from(ns).unwrap_or(i64::MAX);
        let it_value = Timespec { tv_sec: part(next / 1_000_000_000), tv_nsec: part(next % 1_000_000_000) };
        let it_interval = Timespec { tv_sec: 0, tv_nsec: 0 };
        // A timer that cannot be set only lets the far end wait for its question.
        if timerfd_settime(&self.timer, TimerfdTimerFlags::ABSTIME, &Itimerspec { it_interval, it_value }).is_ok() {
            self.asks_at = next;
        }
    }
}

impl PortGroup for Tunnels {
    fn receive(&mut self, edge: &mut Edge, window: Window) -> Received {
        let Self { clock, tunnels, sockets, inbox, .. } = self;
        let mut received = Received::default();
        for (first, addressees) in sockets {
            let count = inbox.fill(&mut tunnels[*first].far.socket);
            for place in 0..count {
                let (bytes, came) = inbox.datagram(place);
                // The first one counts what is for none.
                let own = *first + addressees.of_datagram(bytes).unwrap_or(0);
                tunnels[own].take(bytes, came, *clock, edge);
            }
            received.count += count;
            received.has_more |= count >= BATCH;
        }
        for tunnel in tunnels {
            let entered = tunnel.enter(clock.now().min(window.end), window, edge);
            tunnel.far.speak(clock.monotonic_at(clock.now()));
            received.count += entered;
            received.is_lively |= entered > 0;
            received.has_more |= entered >= BATCH;
        }
        self.set_timer();
        received
    }

    fn push(&mut self, batch: &mut Vec<Delivery>, out: &mut Handover) {
        for delivery in batch.drain(..) {
            let Self { clock, tunnels, by_port, ethernet, frame, .. } = self;
            let own = by_port.get(&delivery.port).expect("packets come to ports of this group");
            tunnels[*own].send(delivery, (*clock, ethernet, frame), out);
        }
    }

    fn ahead(&mut self, edge: &mut Edge) {
        let Self { clock, tunnels, ethernet, frame, .. } = self;
        for tunnel in tunnels.iter_mut() {
            let now = clock.now();
            let end = now + tunnel.lead();
            for place in 0..tunnel.pipes.len() {
                let pipe = tunnel.pipes[place];
                edge.leave_ahead(pipe, now, end, |delivery, out| tunnel.send(delivery, (*clock, ethernet, frame), out));
            }
            tunnel.far.socket.flush();
        }
    }

    fn flush(&mut self, _out: &mut Handover) {
        self.tunnels.iter_mut().for_each(|tunnel| tunnel.far.socket.flush());
    }

    fn next_arrival(&mut self, fabric: &Fabric) -> Option<Instant> {
        let next = |tunnel: &Tunnel| {
            let lead = tunnel.lead();
            let leaving = tunnel.pipes.iter().filter_map(|pipe| fabric.next_ahead(*pipe, lead)).min();
            let entering = tunnel.waiting.peek().map(|Reverse(first)| first.due);
            leaving.into_iter().chain(entering).min()
        };
        self.tunnels.iter().filter_map(next).min()
    }

    fn descriptor(&self) -> RawFd {
        self.epoll.0.as_raw_fd()
    }

    fn report(&mut self, report: &mut EngineReport) {
        let now = self.clock.monotonic_at(self.clock.now());
        for tunnel in &mut self.tunnels {
            report.ports.push(tunnel.port_report());
            report.unheard += tunnel.unheard;
            let told = tunnel.report(now, self.clock);
            report.tunnels.push(told);
            if let Some(error) = &tunnel.far.socket.last_error {
                report.last_send_error = Some(error.to_string());
            }
        }
    }
}

impl Tunnel {
    fn new(port: PortId, mut far: FarEnd, pipes: Vec<PipeId>) -> Self {
        far.takes_frames = true;
        far.path.begin_counting();
        // Greetings that the path did not carry were an attempt.
        (far.socket.refused, far.socket.last_error) = (0, None);
        Self {
            port,
            far,
            pipes,
            waiting: BinaryHeap::new(),
            held: 0,
            received: 0,
            lost_receiving: 0,
            too_long: 0,
            unheard: 0,
            missed: 0,
            behind: Distribution::default(),
        }
    }

    /// How long before they are due packets are sent.
    fn lead(&self) -> Duration {
        Duration::from_nanos(self.far.path.three_ways().saturating_add(SPARE).min(MOST_AHEAD))
    }

    /// Takes a datagram.
    fn take(&mut self, datagram: &mut [u8], came: u64, clock: Clock, edge: &mut Edge) {
        let (lengths, mtu) = (self.far.lengths(), u64::from(self.far.settings.mtu));
        let frame = match self.far.take(datagram, came) {
            Ok(frame) => frame,
            Err(_) => {
                self.far.heard_of.strays += 1;
                return;
            }
        };
        let Some(Come { due, content, bytes }) = frame else { return };
        self.received += 1;
        let is_frame = lengths.of(content).contains(&bytes.len()) && due.saturating_sub(came) < FARTHEST;
        let has_room = self.held + memory(bytes.len()) <= ROOM;
        let pool = &mut edge.handover.pool;
        let filled = (is_frame && has_room).then(|| packet_of(content, bytes, mtu, pool)).flatten();
        let Some(packet) = filled else {
            self.lost_receiving += 1;
            return;
        };
        self.behind.record(message::between(due, came), 1);
        self.held += memory(packet.bytes().len());
        let (due, order) = (clock.instant_at(due), self.received);
        self.waiting.push(Reverse(Waiting { due, order, packet }));
    }

    /// Lets in what is due before `end`, up to a batch; returns how many.
    fn enter(&mut self, end: Instant, window: Window, edge: &mut Edge) -> usize {
        let mut count = 0;
        while count < BATCH
            && let Some(first) = self.waiting.peek_mut().filter(|first| first.0.due < end)
        {
            let Reverse(Waiting { due, packet, .. }) = std::collections::binary_heap::PeekMut::pop(first);
            self.held -= memory(packet.bytes().len());
            edge.enter(window.arrival(due), self.port, packet);
            count += 1;
        }
        count
    }

    /// Sends a packet. All segments of a train are due at the instant of the last: it goes as it is, or one by one where the path loses frames.
    fn send(
        &mut self,
        mut delivery: Delivery,
        (clock, ethernet, frame): (Clock, &Ethernet, &mut Vec<u8>),
        out: &mut Handover,
    ) {
        let now = clock.now();
        if !self.far.takes(clock.monotonic_at(now)) {
            let count = out.unheard(delivery);
            self.unheard += count;
            self.missed += if self.far.was_ready() { count } else { 0 };
            return;
        }
        let due = delivery.departure.due;
        let stamp = clock.monotonic_at(due);
        let packet = &mut delivery.departure.packet;
        if packet.segments() > 1 && !self.far.loses() && self.send_train(packet, stamp, ethernet, frame) {
            return out.handed(delivery, now.max(due));
        }
        let whole = packet.duplicate();
        while let Some(first) = packet.split_front(1) {
            self.send_one(&first, stamp, ethernet, frame);
        }
        self.send_one(packet, stamp, ethernet, frame);
        *packet = whole;
        out.handed(delivery, now.max(due));
    }

    /// Sends a train as it is; false if it does not fit.
    fn send_train(&mut self, packet: &Packet, due: u64, ethernet: &Ethernet, frame: &mut Vec<u8>) -> bool {
        let mut own = [0; MAX_HEAD];
        let Head { virtio, len, payload } = packet.write_head(&mut own);
        frame.clear();
        frame.extend_from_slice(&virtio.bytes());
        frame.extend_from_slice(&own[..len]);
        frame.extend_from_slice(&packet.bytes()[payload]);
        if let Some(addresses) = ethernet.of(self.port, packet) {
            frame[VIRTIO_HEADER_LEN..][..addresses.len()].copy_from_slice(&addresses);
        }
        let fits = self.far.lengths().train.contains(&frame.len()) && self.far.send(due, Content::Train, frame);
        if fits && self.far.socket.waiting() > PORTION {
            self.far.socket.flush();
        }
        fits
    }

    fn send_one(&mut self, packet: &Packet, due: u64, ethernet: &Ethernet, frame: &mut Vec<u8>) {
        packet.complete(frame);
        if let Some(addresses) = ethernet.of(self.port, packet) {
            frame[..addresses.len()].copy_from_slice(&addresses);
        }
        if frame.len() > self.far.longest_packet() || !self.far.send(due, Content::Packet, frame) {
            self.too_long += 1;
            return;
        }
        if self.far.socket.waiting() > PORTION {
            self.far.socket.flush();
        }
    }

    fn port_report(&self) -> PortReport {
        PortReport {
            port: self.port,
            is_interface: true,
            received: self.received,
            lost_receiving: self.lost_receiving,
            lost_sending: self.far.socket.refused + self.too_long,
            taken: 0,
        }
    }

    fn report(&mut self, now: u64, clock: Clock) -> TunnelReport {
        let lost = self.far.lost(now);
        let far = &self.far;
        let heard = &far.heard_of;
        let is_silent = far.was_ready() && (far.has_left() || far.is_silent(now));
        TunnelReport {
            port: self.port,
            base: Duration::from_nanos(far.path.base()),
            has_common_clock: far.path.is_common(),
            clocks: far.clocks(),
            took: heard.took.clone(),
            behind: self.behind.clone(),
            sent: heard.sent,
            received: heard.before[0].saturating_add(far.numbers.come()),
            lost: heard.before[1].saturating_add(lost),
            repeated: heard.before[2].saturating_add(far.numbers.repeated()),
            missed: self.missed,
            strays: heard.strays,
            forged: heard.forged,
            replayed: heard.replayed,
            datagram: far.longest() as u64,
            cut: heard.cut,
            joined_frames: far.joining.counts.joined,
            unjoined: far.joining.counts.given_up,
            malformed: far.joining.counts.malformed,
            repeated_pieces: far.joining.counts.repeated,
            repaired: far.missing.repaired,
            resent: far.kept.resent,
            was_joined: far.was_ready(),
            gaps: heard.gaps,
            silent: Duration::from_nanos(heard.silent_ns),
            heard_until: is_silent.then(|| clock.instant_at(far.heard())),
            has_left: far.has_left(),
        }
    }
}
