//! Keeps the books of a pipe: each method is one thing that can happen to a packet.

use crate::cause::Cause;
use crate::drop_log::{DropLog, Dropped};
use crate::note::{Event, Outcome};
use crate::{PipeCounters, Tally};
use netloom_packet::Packet;
use netloom_units::Instant;

/// Counters to write to, where dropped packets go, and the instant of what happens.
#[derive(Debug)]
pub(crate) struct Ledger<'a> {
    pub(crate) counters: &'a mut PipeCounters,
    pub(crate) drop_log: &'a mut DropLog,
    pub(crate) now: Instant,
}

impl Ledger<'_> {
    /// It came in.
    pub(crate) fn arrive(&mut self, packet: &Packet) {
        if packet.is_phantom() {
            self.counters.cross.arrived.add(packet);
        } else {
            self.counters.arrived.add(packet);
        }
        self.drop_log.arrive(self.now, packet);
    }

    /// A partition holds it from now on.
    pub(crate) fn hold(&mut self, packet: &Packet) {
        self.counters.held.add(packet);
    }

    /// No partition holds it any more.
    pub(crate) fn release_held(&mut self, packet: &Packet) {
        self.counters.held.take(packet);
    }

    /// It was made beside what came in.
    pub(crate) fn duplicate(&mut self, packet: &Packet) {
        let phantom = packet.is_phantom();
        if phantom { &mut self.counters.cross.duplicated } else { &mut self.counters.duplicated }.add(packet);
        self.drop_log.duplicate(packet);
    }

    /// It waits in the queue from now on.
    pub(crate) fn admit(&mut self, packet: &Packet) {
        self.queued(packet).add(packet);
        let waiting = self.counters.queued.packets + self.counters.cross.queued.packets;
        self.counters.queue_peak = self.counters.queue_peak.max(waiting);
    }

    /// It leaves the queue for the transmitter.
    pub(crate) fn release(&mut self, packet: &Packet) {
        self.queued(packet).take(packet);
    }

    /// It is dropped before it was in the queue.
    pub(crate) fn refuse(&mut self, packet: Packet, cause: Cause) {
        if packet.is_phantom() {
            return self.counters.cross.dropped.add(&packet);
        }
        self.counters.dropped.of(cause).add(&packet);
        self.drop_log.note(self.now, &packet, || Event::dropped(&packet, cause));
        self.drop_log.seal(self.now, &packet, Outcome::Dropped(cause));
        self.drop_log.drop(self.now, &packet, cause);
        self.drop_log.push(Dropped { packet, at: self.now, cause });
    }

    /// It was in the queue and is dropped.
    pub(crate) fn evict(&mut self, packet: Packet, cause: Cause) {
        self.release(&packet);
        self.refuse(packet, cause);
    }

    /// It is on the transmitter from now on.
    pub(crate) fn send(&mut self, packet: &Packet) {
        self.travelling(packet).add(packet);
    }

    /// It is taken off the transmitter or the line and dropped.
    pub(crate) fn lose(&mut self, packet: Packet, cause: Cause) {
        self.travelling(&packet).take(&packet);
        self.drop_log.lose(self.now, &packet, cause);
        self.refuse(packet, cause);
    }

    /// It leaves the pipe at `leave`, which may be ahead of what happens now.
    pub(crate) fn depart(&mut self, packet: &Packet, leave: Instant) {
        self.drop_log.note(leave, packet, || Event::Left);
        self.travelling(packet).take(packet);
        let phantom = packet.is_phantom();
        if phantom { &mut self.counters.cross.departed } else { &mut self.counters.departed }.add(packet);
        self.drop_log.depart(packet);
    }

    /// Marks it as having experienced congestion if its sender understands that; says whether it does.
    pub(crate) fn mark(&mut self, packet: &mut Packet) -> bool {
        let capable = packet.mark_congested();
        if capable && !packet.is_phantom() {
            self.counters.marked.add(packet);
            self.drop_log.note(self.now, packet, || Event::Marked);
            self.drop_log.seal(self.now, packet, Outcome::Marked);
            self.drop_log.mark(packet);
        }
        capable
    }

    fn queued(&mut self, packet: &Packet) -> &mut Tally {
        if packet.is_phantom() { &mut self.counters.cross.queued } else { &mut self.counters.queued }
    }

    fn travelling(&mut self, packet: &Packet) -> &mut Tally {
        if packet.is_phantom() { &mut self.counters.cross.travelling } else { &mut self.counters.travelling }
    }
}
