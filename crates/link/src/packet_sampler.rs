//! Some of the packets of each pipe, and what becomes of them, for whoever shows packets on their way.
//!
//! Systematic time-based sampling (RFC 5475, section 5.1): a pipe picks the first packet that comes in when a step of lab time has
//! passed since it picked one, so that a link with few packets shows all of them and one with many a bounded number. Of a train it
//! picks a segment, another one each time. Packets that are dropped as they come in are picked apart from these, by the same step:
//! they would hardly ever be among the others. So the share of those that are dropped is not that of the traffic, which counters tell.
//!
//! A pick has no effect on the packet, and takes no random number.

use crate::cause::Cause;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;
use core::mem;
use netloom_packet::{Flow, Packet};
use netloom_units::{Bytes, Duration, Instant};

/// So many picked packets of a pipe are inside at a time, and so many on their way: those of five seconds at the shortest step that
/// a lab uses. With more inside, none is picked; of more on their way it is not reported that they are lost there.
const MOST_OUTSTANDING: usize = 256;
/// So many records wait for whoever takes them: the newest.
const MOST_TOLD: usize = 4_096;

/// No frame has come in yet.
const NOTHING: (u64, Instant) = (0, Instant::MAX);

/// A sampled packet, and what has become of it in one pipe: it has been sent to the end of the pipe, or dropped. One that is
/// dropped on its way is reported a second time then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SampledPacket {
    /// The number of the pipe, as given to [`DropLog::of`](crate::DropLog::of).
    pub pipe: u32,
    /// The number that distinguishes the packet from the others that were sampled in its pipe since sampling began.
    pub number: u64,
    /// When the packet came in.
    pub entered: Instant,
    /// The times of the packet's transmission; none if it was not sent to the end.
    pub sent: Option<Sent>,
    /// When the packet was dropped, and why; none if it was not, or not yet.
    pub dropped: Option<(Instant, Cause)>,
    /// The size of all segments together, from the IP header on.
    pub size: Bytes,
    /// The number of segments that were sent or dropped together; the sampled one is among them.
    pub segments: u32,
    /// The flow of the packet; none if it is not an IP packet.
    pub flow: Option<Flow>,
}

/// When a packet was on the transmitter, and when it is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent {
    /// When its transmission began.
    pub start: Instant,
    /// When it ended.
    pub end: Instant,
    /// When it is due at the other end.
    pub due: Instant,
}

/// Records of sampled packets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SampledPackets {
    /// The records; those of one pipe are in the order in which it was known what became of the packets.
    pub packets: Vec<SampledPacket>,
    /// The number of older records that are missing, because nobody took them.
    pub lost: u64,
}

/// A segment: the number of its frame, and its own in it.
type Segment = (u64, u16);

/// See the module.
#[derive(Debug)]
pub(crate) struct PacketSampler {
    step: Duration,
    /// By the numbers of the pipes.
    pipes: Vec<Picks>,
    /// How many were picked.
    picked: u64,
    told: VecDeque<SampledPacket>,
    lost: u64,
}

/// Those of a pipe.
#[derive(Debug)]
struct Picks {
    /// When the next one is picked at the earliest,
    next: Instant,
    /// and of those that are dropped as they come in.
    next_dropped: Instant,
    /// The number of the frame that came in last, and when.
    latest: (u64, Instant),
    /// What waits or is being sent.
    inside: BTreeMap<Segment, Pick>,
    /// What has been sent and may be lost on its way.
    travelling: VecDeque<(Segment, SampledPacket)>,
}

#[derive(Clone, Copy, Debug)]
struct Pick {
    number: u64,
    entered: Instant,
}

impl PacketSampler {
    /// One that picks packets of each pipe that are at least so far apart.
    pub(crate) fn new(step: Duration) -> Self {
        Self { step, pipes: Vec::new(), picked: 0, told: VecDeque::new(), lost: 0 }
    }

    /// It comes to the entrance of a pipe.
    pub(crate) fn arrive(&mut self, pipe: u32, now: Instant, packet: &Packet) {
        self.of(pipe).latest = (packet.place().0, now);
    }

    /// The impairments have let it through.
    pub(crate) fn enter(&mut self, pipe: u32, now: Instant, packet: &Packet) {
        let (step, number) = (self.step, self.picked);
        let picks = self.of(pipe);
        if now < picks.next || picks.inside.len() >= MOST_OUTSTANDING {
            return;
        }
        let (frame, first) = packet.place();
        let which = u16::try_from(number % u64::from(packet.segments())).expect("less than what a frame counts");
        picks.next = now + step;
        picks.inside.insert((frame, first + which), Pick { number, entered: now });
        self.picked += 1;
    }

    /// It has been sent to its end.
    pub(crate) fn send(
        &mut self,
        pipe: u32,
        packet: &Packet,
        start: Instant,
        end: Instant,
        due: impl FnOnce() -> Instant,
    ) {
        let picks = self.of(pipe);
        let Some((segment, pick)) = picks.take(packet) else { return };
        let sent = Sent { start, end, due: due() };
        let record = pick.record(pipe, packet, Some(sent), None);
        picks.travel(segment, record, end);
        self.report(record);
    }

    /// It is dropped, wherever it is.
    pub(crate) fn drop(&mut self, pipe: u32, at: Instant, packet: &Packet, cause: Cause) {
        let (step, number) = (self.step, self.picked);
        let picks = self.of(pipe);
        let dropped = Some((at, cause));
        if let Some((_, pick)) = picks.take(packet) {
            if pick.entered < at {
                let record = pick.record(pipe, packet, None, dropped);
                return self.report(record);
            }
            // The next one is picked in its place: where drops have the rhythm of the picks, none would be that is sent.
            picks.next = at;
        }
        // What has not just come in is no pick, or it has been reported already.
        if picks.latest == (packet.place().0, at) && at >= picks.next_dropped {
            picks.next_dropped = at + step;
            self.picked += 1;
            self.report(Pick { number, entered: at }.record(pipe, packet, None, dropped));
        }
    }

    /// It was on its way, and is dropped.
    pub(crate) fn lose(&mut self, pipe: u32, at: Instant, packet: &Packet, cause: Cause) {
        // If it came in at this instant, it is not reported as dropped at the entrance.
        self.of(pipe).latest = NOTHING;
        while let Some(record) = self.of(pipe).lose(packet, at) {
            self.report(SampledPacket { dropped: Some((at, cause)), ..record });
        }
    }

    /// What has become of picked packets since this was asked last.
    pub(crate) fn take(&mut self) -> SampledPackets {
        SampledPackets { packets: mem::take(&mut self.told).into(), lost: mem::take(&mut self.lost) }
    }

    fn report(&mut self, record: SampledPacket) {
        if self.told.len() >= MOST_TOLD {
            self.told.pop_front();
            self.lost += 1;
        }
        self.told.push_back(record);
    }

    fn of(&mut self, pipe: u32) -> &mut Picks {
        let place = pipe as usize;
        if self.pipes.len() <= place {
            self.pipes.resize_with(place + 1, Picks::new);
        }
        &mut self.pipes[place]
    }
}

impl Picks {
    fn new() -> Self {
        let (next, latest) = (Instant::ZERO, NOTHING);
        Self { next, next_dropped: next, latest, inside: BTreeMap::new(), travelling: VecDeque::new() }
    }

    /// The pick that is among these segments: it is inside no longer.
    fn take(&mut self, packet: &Packet) -> Option<(Segment, Pick)> {
        if self.inside.is_empty() {
            return None;
        }
        let (segment, _) = self.inside.range(span(packet)).next()?;
        let segment = *segment;
        self.inside.remove(&segment).map(|pick| (segment, pick))
    }

    /// It is on its way since `now`.
    fn travel(&mut self, segment: Segment, record: SampledPacket, now: Instant) {
        let has_arrived = |sampled: &SampledPacket| sampled.sent.is_none_or(|sent| sent.due <= now);
        while self.travelling.front().is_some_and(|(_, other)| has_arrived(other))
            || self.travelling.len() >= MOST_OUTSTANDING
        {
            self.travelling.pop_front();
        }
        if !has_arrived(&record) {
            self.travelling.push_back((segment, record));
        }
    }

    /// The report of a pick that is among these segments, and on its way at `now`: it is no longer.
    fn lose(&mut self, packet: &Packet, now: Instant) -> Option<SampledPacket> {
        let whose = span(packet);
        let is_meant = |(segment, record): &(Segment, SampledPacket)| {
            whose.contains(segment) && record.sent.is_some_and(|sent| sent.due > now)
        };
        let place = self.travelling.iter().position(is_meant)?;
        self.travelling.remove(place).map(|(_, record)| record)
    }
}

impl Pick {
    fn record(
        self,
        pipe: u32,
        packet: &Packet,
        sent: Option<Sent>,
        dropped: Option<(Instant, Cause)>,
    ) -> SampledPacket {
        let Self { number, entered } = self;
        let (size, segments, flow) = (packet.size(), packet.segments(), packet.flow());
        SampledPacket { pipe, number, entered, sent, dropped, size, segments, flow }
    }
}

/// Its segments.
fn span(packet: &Packet) -> core::ops::RangeInclusive<Segment> {
    let (frame, first) = packet.place();
    let last = first + u16::try_from(packet.segments() - 1).expect("less than what a frame counts");
    (frame, first)..=(frame, last)
}
