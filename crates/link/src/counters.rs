//! What a pipe counts. Packets are segments: a train of ten counts ten.

use crate::cause::Cause;
use netloom_packet::Packet;
use netloom_units::Duration;

/// A number of packets and their bytes from the IP header on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// The number of packets; the segments of a train count one by one.
    pub packets: u64,
    /// The bytes of these packets from the IP header on.
    pub bytes: u64,
}

impl Tally {
    pub(crate) fn add(&mut self, packet: &Packet) {
        self.packets += u64::from(packet.segments());
        self.bytes += packet.size().get();
    }

    /// Both together.
    fn and(self, other: Self) -> Self {
        Self { packets: self.packets + other.packets, bytes: self.bytes + other.bytes }
    }

    pub(crate) fn take(&mut self, packet: &Packet) {
        self.packets -= u64::from(packet.segments());
        self.bytes -= packet.size().get();
    }
}

/// The packets that a pipe dropped, by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Drops {
    /// Packets that the loss model dropped.
    pub loss: Tally,
    /// Packets that were dropped because the queue was full.
    pub queue: Tally,
    /// Packets that the queue's discipline dropped though there was room (active queue management).
    pub early: Tally,
    /// Packets that were dropped because the link was down.
    pub down: Tally,
    /// Packets that were dropped because a partition was between the nodes from which and for which they were.
    pub partition: Tally,
    /// Packets that a fault of the timeline dropped.
    pub fault: Tally,
    /// Packets that were lost on the air: after their last retry, or to everybody in a collision.
    pub air: Tally,
}

impl Drops {
    /// What is dropped for this cause.
    pub(crate) fn of(&mut self, cause: Cause) -> &mut Tally {
        match cause {
            Cause::Loss => &mut self.loss,
            Cause::Full => &mut self.queue,
            Cause::Early => &mut self.early,
            Cause::Down => &mut self.down,
            Cause::Partition => &mut self.partition,
            Cause::Fault => &mut self.fault,
            Cause::Air => &mut self.air,
        }
    }

    /// Returns the number of packets dropped for any cause.
    pub fn packets(&self) -> u64 {
        let all = [self.loss, self.queue, self.early, self.down, self.partition, self.fault, self.air];
        all.iter().map(|tally| tally.packets).sum()
    }
}

/// The counters of a pipe: where packets of one kind are, and what has become of them since counting began. Counting begins
/// with the pipe, or with [`Pipe::begin_counting`]. At every moment
/// `initial` + `arrived` + `duplicated` = `departed` + `dropped` + `held` + `queued` + `travelling`.
///
/// [`Pipe::begin_counting`]: crate::Pipe::begin_counting
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PipeCounters {
    /// Packets that were inside when counting began.
    pub initial: Tally,
    /// Packets that came in.
    pub arrived: Tally,
    /// Packets that were made as duplicates of those that came in.
    pub duplicated: Tally,
    /// Packets that were delivered at the other end.
    pub departed: Tally,
    /// Packets that were dropped, by cause.
    pub dropped: Drops,
    /// Packets that came in and are held by a partition or a fault.
    pub held: Tally,
    /// Packets that wait for the transmitter.
    pub queued: Tally,
    /// Packets that are being sent or propagate.
    pub travelling: Tally,
    /// Packets that came in and had a bit flipped.
    pub corrupted: Tally,
    /// Packets that came in and were marked as having experienced congestion.
    pub marked: Tally,
    /// Packets that were sent and overtook others on purpose.
    pub reordered: Tally,
    /// The most packets that ever waited at once, cross traffic included.
    pub queue_peak: u64,
    /// The counters of the cross traffic. It is not part of the figures above, and leaves the pipe when its last bit is sent.
    pub cross: CrossCounters,
    /// The counters of the access to the air; zero without.
    pub air: AirCounters,
}

/// The counters of the access to a radio medium.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AirCounters {
    /// The attempts to send, each of one or several packets.
    pub attempts: u64,
    /// The attempts that collided with those of other stations.
    pub collisions: u64,
    /// The packets, or those that travel under one header, that an attempt failed to get across; each was sent again or given up.
    pub retries: u64,
    /// How long the medium was busy with transmissions that are over.
    pub busy: Duration,
    /// How long several stations sent at once, where all hear one another; zero with signals between positions.
    pub collided: Duration,
}

/// The counters of the cross traffic: where its packets are. They balance as those of [`PipeCounters`] do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CrossCounters {
    /// Packets of the cross traffic that were inside when counting began.
    pub initial: Tally,
    /// Packets of the cross traffic that were generated.
    pub arrived: Tally,
    /// Packets that the pipe made as duplicates of cross traffic.
    pub duplicated: Tally,
    /// Packets of the cross traffic that were sent.
    pub departed: Tally,
    /// Packets of the cross traffic that were dropped for any cause.
    pub dropped: Tally,
    /// Packets of the cross traffic that wait for the transmitter.
    pub queued: Tally,
    /// Packets of the cross traffic that are being sent.
    pub travelling: Tally,
}

impl PipeCounters {
    /// Whether every packet is accounted for.
    pub fn balance(&self) -> bool {
        let cross = &self.cross;
        self.initial.packets + self.arrived.packets + self.duplicated.packets
            == self.departed.packets + self.dropped.packets() + self.in_flight()
            && cross.initial.packets + cross.arrived.packets + cross.duplicated.packets
                == cross.departed.packets + cross.dropped.packets + cross.queued.packets + cross.travelling.packets
    }

    /// Returns how many packets are inside: those that are held, wait, are sent or travel.
    pub fn in_flight(&self) -> u64 {
        self.held.packets + self.queued.packets + self.travelling.packets
    }

    /// Counting begins anew: what is inside stays inside, and nothing else has happened yet.
    pub(crate) fn begin(&mut self) {
        let Self { held, queued, travelling, cross, .. } = *self;
        let cross = CrossCounters {
            initial: cross.queued.and(cross.travelling),
            queued: cross.queued,
            travelling: cross.travelling,
            ..CrossCounters::default()
        };
        let queue_peak = queued.packets + cross.queued.packets;
        let initial = held.and(queued).and(travelling);
        *self = Self { initial, held, queued, travelling, queue_peak, cross, ..Self::default() };
    }
}
