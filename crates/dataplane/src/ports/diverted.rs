//! Traffic of the machine itself, which rules of its firewall divert into a queue of netfilter.
//!
//! The kernel holds each packet of the queue until it gets a verdict. What happens to a packet depends on where it was caught and
//! on what the pipes do:
//!
//! - *Held*: the packet stays in the kernel, and what goes through the pipe stands for it. When that comes out, the packet is
//!   accepted, and goes on where it was caught; when a model drops it, the kernel does. So are packets that this machine
//!   received, to which this is the only way to go on as if nothing had happened: with their interface, past firewall and NAT.
//! - *Taken out*: a packet that this machine made itself is dropped from the queue at once, and sent again through a raw socket when it
//!   comes out of the pipe. While the kernel holds it, it counts against its sender's socket: TCP keeps no more than a millisecond of
//!   its rate there (TCP small queues), so that over a delay of 40 ms it would send at a fraction of the rate.
//!
//! While no pipe has a model, nothing has to wait: all packets are held, super-packets stay whole, and only headers are read. As
//! soon as one has, the kernel cuts super-packets, so that each packet meets the model by itself.

mod message;
mod owners;
mod queue;
mod reinject;

pub use owners::Owners;
pub use queue::NetfilterQueue;
pub use reinject::RawSockets;

use super::{BATCH, Opened, PortConfig, PortGroup, Received, Site, Window};
use crate::clock::{Clock, TimeOfDay};
use crate::edge::{Edge, Handover};
use message::{LOCAL_OUT, Message, Queued, Verdict};
use netloom_fabric::{Delivery, PipeId, PortId};
use netloom_figures::{EngineReport, PortReport};
use netloom_link::{Filter, PipeChange, PipeConfig, QueueConfig};
use netloom_packet::{Flow, MAX_HEAD, Packet, Pool, VirtioHeader};
use netloom_units::{Duration, Instant};
use reinject::Reinjector;
use std::collections::HashSet;
use std::io;
use std::net::IpAddr;
use std::os::fd::RawFd;

/// In front of a packet's bytes stands a header as of Ethernet, which says what it is to the kernel.
const ETHERNET: usize = 14;
/// The first bytes of both of its addresses: of such as nobody else has (locally administered).
const MAGIC: [u8; 2] = [0x02, 0x4e];
/// A packet that was received longer ago than the kernel takes to hand it over bears another clock's time.
const OLDEST: Duration = Duration::from_millis(1_000);
/// A packet that is longer than any the kernel makes is taken to be that long.
const LONGEST: usize = 1 << 20;

/// The traffic of a machine that goes through two pipes.
#[derive(Debug)]
pub struct Diverted {
    /// Where packets that match enter the fabric, and where those of the other direction do; each leaves where the other enters.
    pub ports: [PortId; 2],
    /// Which packets go forward, from the first port to the second. What goes the other way is what matches with source and
    /// destination exchanged.
    pub filter: Filter,
    /// Whose packets go forward; none: everybody's.
    pub owners: Option<Owners>,
    /// Whether nothing goes the other way.
    pub is_one_way: bool,
    /// The pipes between both ports, as they are described when the engine starts.
    pub pipes: Vec<(PipeId, PipeConfig)>,
    /// Where packets come from.
    pub queue: NetfilterQueue,
    /// By which packets of this machine go on.
    pub sockets: RawSockets,
}

/// See the module.
struct Group {
    clock: Clock,
    day: TimeOfDay,
    queue: NetfilterQueue,
    inbox: queue::Inbox,
    verdicts: queue::Verdicts,
    reinjector: Reinjector,
    sides: Vec<Side>,
    owners: Option<Owners>,
    pipes: Vec<(PipeId, PipeConfig)>,
    /// Whether no pipe has a model.
    is_plain: bool,
    /// Whether a pipe may change bytes of packets.
    is_altering: bool,
    /// The packets that the kernel holds for those in the fabric.
    held: HashSet<u32>,
    /// The number of the latest packet. The kernel counts through.
    latest: u32,
    /// How many numbers are missing: of packets for which the socket had no room.
    missed: u64,
}

/// A direction.
struct Side {
    filter: Filter,
    report: PortReport,
}

/// What stands in the header in front of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Tag {
    id: u32,
    /// Whether the kernel holds the packet.
    is_held: bool,
    /// Whether its bytes here may differ from those in the kernel, and all of them are here.
    is_altered: bool,
}

impl Tag {
    fn write(self, protocol: u16) -> [u8; ETHERNET] {
        let [a, b, c, d] = self.id.to_be_bytes();
        let [e, f] = protocol.to_be_bytes();
        let flags = u8::from(self.is_held) | u8::from(self.is_altered) << 1;
        [MAGIC[0], MAGIC[1], a, b, c, d, MAGIC[0], MAGIC[1], flags, 0, 0, 0, e, f]
    }

    fn of(packet: &Packet) -> Option<Self> {
        let header = packet.bytes().get(..ETHERNET).filter(|_| !packet.is_phantom())?;
        let (id, flags) = (u32::from_be_bytes(header[2..6].try_into().ok()?), header[8]);
        let is_ours = header[..2] == MAGIC && header[6..8] == MAGIC;
        is_ours.then_some(Self { id, is_held: flags & 1 != 0, is_altered: flags & 2 != 0 })
    }
}

/// The diverted traffic of each shard.
pub(super) fn open(sites: &mut [Site<'_>]) -> io::Result<Vec<Option<Opened>>> {
    let open = |site: &mut Site<'_>| {
        let mut diverted = site.take(|config| match config {
            PortConfig::Diverted(diverted) => Ok(*diverted),
            other => Err(other),
        });
        if diverted.len() > 1 {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "an engine has one queue of diverted traffic at most",
            ));
        }
        let Some(diverted) = diverted.pop() else { return Ok(None) };
        let ports = diverted.ports.to_vec();
        let group = Group::new(site.clock, diverted);
        group.configure()?;
        Ok(Some(Opened { group: Box::new(group), ports }))
    };
    sites.iter_mut().map(open).collect()
}

impl PortGroup for Group {
    /// A packet of this machine arrives when it is read: the kernel tells an instant only of those that it has received.
    fn receive(&mut self, edge: &mut Edge, window: Window) -> Received {
        // What could not be read now is read in the next turn.
        let found = self.inbox.receive(&self.queue).unwrap_or(0);
        let now = self.clock.now();
        if found > 0 {
            self.day.follow();
        }
        let Self { day, inbox, queue, verdicts, reinjector, sides, owners, held, latest, missed, .. } = self;
        let (is_plain, is_altering) = (self.is_plain, self.is_altering);
        let mut count = 0;
        for message in (0..found).flat_map(|number| inbox.messages(number)) {
            let Message::Packet(queued) = message else { continue };
            count += 1;
            *missed += u64::from(queued.id.wrapping_sub(*latest).saturating_sub(1));
            *latest = queued.id;
            let Some(side) = side_of(sides, owners.as_ref(), &queued) else {
                // The rules divert more than what matches, where they cannot say it exactly.
                verdicts.add(queue, queued.id, Verdict::Accept, &[]);
                continue;
            };
            let side = &mut sides[side];
            side.report.received += 1;
            let is_taken = !is_plain && can_be_reinjected(&queued, reinjector);
            let tag = Tag { id: queued.id, is_held: !is_taken, is_altered: is_altering && is_whole(&queued) };
            let Some(packet) = packet_of(&queued, tag, &mut edge.handover.pool) else {
                side.report.lost_receiving += 1;
                verdicts.add(queue, queued.id, Verdict::Drop, &[]);
                continue;
            };
            if is_taken {
                verdicts.add(queue, queued.id, Verdict::Drop, &[]);
            } else {
                held.insert(queued.id);
            }
            edge.enter(window.arrival(arrival(&queued, day, now)), side.report.port, packet);
        }
        if count == 0 {
            reinjector.forget();
        }
        Received { count, is_lively: count > 0, has_more: false }
    }

    fn push(&mut self, batch: &mut Vec<Delivery>, out: &mut Handover) {
        let is_taken = |delivery: &&Delivery| Tag::of(&delivery.departure.packet).is_none_or(|tag| !tag.is_held);
        let refused = self.reinjector.send(batch.iter().filter(is_taken).map(|delivery| &delivery.departure.packet));
        // By position in the batch: whether it has been lost.
        let (mut lost, mut taken) = (0_u64, 0);
        for (index, delivery) in batch.iter().enumerate() {
            let is_lost = match Tag::of(&delivery.departure.packet).filter(|tag| tag.is_held) {
                Some(tag) => !self.release(tag, &delivery.departure.packet),
                None => {
                    taken += 1;
                    refused >> (taken - 1) & 1 == 1
                }
            };
            lost |= u64::from(is_lost) << index;
        }
        self.verdicts.send(&self.queue, self.held.is_empty());
        let now = self.clock.now();
        for (index, delivery) in batch.drain(..).enumerate() {
            if lost >> index & 1 == 0 {
                out.handed(delivery, now);
                continue;
            }
            let side = self.sides.iter_mut().find(|side| side.report.port == delivery.port);
            let segments = out.lost(delivery);
            // With one direction only, nothing enters where it leaves.
            let side = side.map(|side| &mut side.report);
            if let Some(report) = side {
                report.lost_sending += segments;
            }
        }
    }

    fn flush(&mut self, _out: &mut Handover) {
        self.verdicts.send(&self.queue, self.held.is_empty());
    }

    fn descriptor(&self) -> RawFd {
        self.queue.descriptor()
    }

    fn report(&mut self, report: &mut EngineReport) {
        report.lost_receiving += self.queue.drops() + self.missed;
        report.ports.extend(self.sides.iter().map(|side| side.report));
        if let Some(error) = &self.reinjector.last_error {
            report.last_send_error = Some(error.to_string());
        }
    }

    fn hears_of_drops(&self) -> bool {
        true
    }

    /// The kernel drops what it holds for it.
    fn dropped(&mut self, packet: &Packet) {
        if let Some(tag) = Tag::of(packet).filter(|tag| tag.is_held)
            && self.held.remove(&tag.id)
        {
            self.verdicts.add(&self.queue, tag.id, Verdict::Drop, &[]);
        }
    }

    fn changed(&mut self, pipe: PipeId, change: &PipeChange) {
        for (_, config) in self.pipes.iter_mut().filter(|(own, _)| *own == pipe) {
            *config = change.applied_to(config);
        }
        let was_plain = self.is_plain;
        self.judge_pipes();
        if was_plain != self.is_plain {
            // A queue that was configured once can be so again; else packets come as they did.
            let _ = self.configure();
        }
    }
}

impl Group {
    fn new(clock: Clock, diverted: Diverted) -> Self {
        let Diverted { ports, filter, owners, is_one_way, pipes, queue, sockets } = diverted;
        let backward = (!is_one_way).then(|| filter.reversed());
        let side = |(port, matching): (PortId, Filter)| {
            let report =
                PortReport { port, is_interface: false, received: 0, lost_receiving: 0, lost_sending: 0, taken: 0 };
            Side { filter: matching, report }
        };
        let mut this = Self {
            clock,
            day: TimeOfDay::new(clock),
            queue,
            inbox: queue::Inbox::new(),
            verdicts: queue::Verdicts::new(),
            reinjector: Reinjector::new(sockets),
            sides: ports.into_iter().zip([Some(filter), backward].into_iter().flatten()).map(side).collect(),
            owners,
            pipes,
            is_plain: false,
            is_altering: false,
            held: HashSet::new(),
            latest: 0,
            missed: 0,
        };
        this.judge_pipes();
        this
    }

    fn configure(&self) -> io::Result<()> {
        self.queue.configure(self.is_plain, self.owners.is_some())
    }

    fn judge_pipes(&mut self) {
        self.is_plain = self.pipes.iter().all(|(_, config)| is_plain(config));
        self.is_altering = self.pipes.iter().any(|(_, config)| is_altering(config));
    }

    /// The kernel lets a packet go on. False if it has gone on before: of what it holds it can make no second one.
    fn release(&mut self, tag: Tag, packet: &Packet) -> bool {
        if !self.held.remove(&tag.id) {
            return false;
        }
        if !tag.is_altered {
            self.verdicts.add(&self.queue, tag.id, Verdict::Accept, &[]);
            return true;
        }
        let mut head = [0; MAX_HEAD];
        let written = packet.write_head(&mut head);
        let bytes = &packet.bytes()[written.payload];
        let parts = match written.len {
            0 => [&[][..], bytes.get(ETHERNET..).unwrap_or_default()],
            len => [head[..len].get(ETHERNET..).unwrap_or_default(), bytes],
        };
        self.verdicts.add(&self.queue, tag.id, Verdict::Accept, &parts);
        true
    }
}

/// Whether packets come out as they go in, at once.
fn is_plain(config: &PipeConfig) -> bool {
    // Where nothing waits, queue and overhead mean nothing; and a cut drops super-packets whole.
    let PipeConfig { queue, overhead, state, .. } = config.clone();
    *config == PipeConfig { queue, overhead, state, ..PipeConfig::default() }
}

/// Whether it may flip bits, or mark packets in its queue.
fn is_altering(config: &PipeConfig) -> bool {
    let is_fifo = matches!(config.queue, QueueConfig::DropTail(_) | QueueConfig::DropHead(_));
    config.corrupt != PipeConfig::default().corrupt || !is_fifo
}

/// The direction that a packet goes; none if it does not match.
fn side_of(sides: &[Side], owners: Option<&Owners>, queued: &Queued<'_>) -> Option<usize> {
    let flow = Flow::of_ip(queued.bytes);
    let matching = |side: &usize| sides[*side].filter.matches(flow.as_ref());
    let mut order = 0..sides.len();
    if owners::goes_forward(owners, queued) { order.find(matching) } else { order.rfind(matching) }
}

/// When a packet came that is read now.
fn arrival(queued: &Queued<'_>, day: &TimeOfDay, now: Instant) -> Instant {
    let stamp = queued.stamp.map(|(seconds, microseconds)| day.lab_time(seconds, microseconds * 1_000));
    // What was before the epoch is at the epoch.
    let is_likely = |at: &Instant| *at > Instant::ZERO && *at <= now && now.since(*at) <= OLDEST;
    stamp.filter(is_likely).unwrap_or(now)
}

/// Whether it is a packet of this machine that can be sent again: not one of several, nor one that others cut, nor one that belongs
/// to an interface instead of a route.
fn can_be_reinjected(queued: &Queued<'_>, reinjector: &mut Reinjector) -> bool {
    let Some(to) = destination(queued.bytes) else { return false };
    let is_routed = match to {
        IpAddr::V4(to) => !to.is_multicast() && !to.is_broadcast(),
        IpAddr::V6(to) => !to.is_multicast() && !to.is_unicast_link_local(),
    };
    let is_own = queued.hook == LOCAL_OUT && is_routed && is_whole(queued);
    is_own && reinjector.takes(to.is_ipv6(), queued.len, queued.out_interface)
}

/// Whether all of its bytes are here, and nobody changes them later.
fn is_whole(queued: &Queued<'_>) -> bool {
    !queued.is_unfinished && queued.bytes.len() == queued.len
}

fn destination(ip: &[u8]) -> Option<IpAddr> {
    match ip.first()? >> 4 {
        4 => Some(IpAddr::from(<[u8; 4]>::try_from(ip.get(16..20)?).ok()?)),
        6 => Some(IpAddr::from(<[u8; 16]>::try_from(ip.get(24..40)?).ok()?)),
        _ => None,
    }
}

/// The packet for the fabric; none if there is no memory for it.
fn packet_of(queued: &Queued<'_>, tag: Tag, pool: &mut Pool) -> Option<Packet> {
    let len = ETHERNET + queued.bytes.len();
    let fill = |buffer: &mut [u8]| {
        buffer[..ETHERNET].copy_from_slice(&tag.write(queued.protocol));
        buffer[ETHERNET..len].copy_from_slice(queued.bytes);
    };
    if queued.bytes.len() < queued.len {
        return pool.fill_head(len, ETHERNET + queued.len.min(LONGEST), fill);
    }
    pool.fill_with(len, |buffer| {
        fill(buffer);
        Some((len, VirtioHeader::COMPLETE))
    })
}

/// The packets of a batch are bits of a word.
const _: () = assert!(BATCH <= u64::BITS as usize);

#[cfg(test)]
mod tests;
