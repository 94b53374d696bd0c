//! What a pipe counts. Packets are segments: a train of ten counts ten.

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
    /// Packets dropped for any cause.
    pub fn packets(&self) -> u64 {
        self.loss.packets + self.queue.packets + self.early.packets + self.down.packets
    }
}

/// Where packets of one kind are. At every moment
/// `arrived` + `duplicated` = `departed` + `dropped` + `queued` + `travelling`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PipeCounters {
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
        self.arrived.packets + self.duplicated.packets
            == self.departed.packets + self.dropped.packets() + self.queued.packets + self.travelling.packets
            && cross.arrived.packets + cross.duplicated.packets
                == cross.departed.packets + cross.dropped.packets + cross.queued.packets + cross.travelling.packets
    }
}
