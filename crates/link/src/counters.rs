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
    /// Because the link was down.
    pub down: Tally,
}

impl Drops {
    /// Packets dropped for any cause.
    pub fn packets(&self) -> u64 {
        self.loss.packets + self.queue.packets + self.down.packets
    }
}

/// All that went in, and where it is. At every moment `arrived` = `departed` + `dropped` + `queued` + `travelling`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PipeCounters {
    /// Came in.
    pub arrived: Tally,
    /// Was handed out at the other end.
    pub departed: Tally,
    /// Was dropped.
    pub dropped: Drops,
    /// Waits for the transmitter.
    pub queued: Tally,
    /// Is being sent or propagates.
    pub travelling: Tally,
    /// The most packets that ever waited at once.
    pub queue_peak: u64,
}

impl PipeCounters {
    /// Whether every packet that came in is accounted for.
    pub fn balance(&self) -> bool {
        self.arrived.packets
            == self.departed.packets + self.dropped.packets() + self.queued.packets + self.travelling.packets
    }
}
