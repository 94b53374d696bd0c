//! What a pipe counts. Packets are segments: a train of ten counts ten.

use crate::cause::Cause;
use netloom_packet::Packet;

/// A number of packets and their bytes from the IP header on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Packets; the segments of a train one by one.
    pub packets: u64,
    /// Their bytes from the IP header on.
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

/// What was dropped, by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Drops {
    /// By the loss model.
    pub loss: Tally,
    /// Because the queue was full.
    pub queue: Tally,
    /// By the queue's discipline, though there was room (active queue management).
    pub early: Tally,
    /// Because the link was down.
    pub down: Tally,
}

impl Drops {
    /// What is dropped for this cause.
    pub(crate) fn of(&mut self, cause: Cause) -> &mut Tally {
        match cause {
            Cause::Loss => &mut self.loss,
            Cause::Full => &mut self.queue,
            Cause::Early => &mut self.early,
            Cause::Down => &mut self.down,
        }
    }

    /// Packets dropped for any cause.
    pub fn packets(&self) -> u64 {
        self.loss.packets + self.queue.packets + self.early.packets + self.down.packets
    }
}

/// Where packets of one kind are, and what has become of them since counting began: with the pipe, or with
/// [`Pipe::begin_counting`]. At every moment
/// `initial` + `arrived` + `duplicated` = `departed` + `dropped` + `queued` + `travelling`.
///
/// [`Pipe::begin_counting`]: crate::Pipe::begin_counting
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PipeCounters {
    /// Was inside when counting began.
    pub initial: Tally,
    /// Came in.
    pub arrived: Tally,
    /// Was made beside what came in.
    pub duplicated: Tally,
    /// Was delivered at the other end.
    pub departed: Tally,
    /// Was dropped.
    pub dropped: Drops,
    /// Waits for the transmitter.
    pub queued: Tally,
    /// Is being sent or propagates.
    pub travelling: Tally,
    /// Of what came in, what had a bit flipped.
    pub corrupted: Tally,
    /// Of what came in, what was marked as having experienced congestion.
    pub marked: Tally,
    /// Of what was sent, what overtook other packets on purpose.
    pub reordered: Tally,
    /// The most packets that ever waited at once, cross traffic included.
    pub queue_peak: u64,
    /// Cross traffic. It is not part of the figures above, and leaves the pipe when its last bit is sent.
    pub cross: CrossCounters,
}

/// Where the packets of the cross traffic are; they balance as those of [`PipeCounters`] do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CrossCounters {
    /// Was inside when counting began.
    pub initial: Tally,
    /// Was generated.
    pub arrived: Tally,
    /// Was duplicated by the pipe.
    pub duplicated: Tally,
    /// Was sent.
    pub departed: Tally,
    /// Was dropped for any cause.
    pub dropped: Tally,
    /// Waits for the transmitter.
    pub queued: Tally,
    /// Is being sent.
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

    /// How many packets are inside: those that wait, are sent or travel.
    pub fn in_flight(&self) -> u64 {
        self.queued.packets + self.travelling.packets
    }

    /// Counting begins anew: what is inside stays inside, and nothing else has happened yet.
    pub(crate) fn begin(&mut self) {
        let Self { queued, travelling, cross, .. } = *self;
        let cross = CrossCounters {
            initial: cross.queued.and(cross.travelling),
            queued: cross.queued,
            travelling: cross.travelling,
            ..CrossCounters::default()
        };
        let queue_peak = queued.packets + cross.queued.packets;
        *self = Self { initial: queued.and(travelling), queued, travelling, queue_peak, cross, ..Self::default() };
    }
}
