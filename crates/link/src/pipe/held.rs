//! What partitions do to packets that come to a pipe: they are refused, or held until they may go on.

use super::Pipe;
use crate::PartitionKind;
use crate::cause::Cause;
use crate::drop_log::DropLog;
use crate::internal_events::InternalEvents;
use crate::ledger::Ledger;
use netloom_packet::Packet;
use netloom_units::Instant;

impl Pipe {
    /// Treats a packet that comes in as a partition does that is between the nodes from which and for which it is.
    pub fn part(&mut self, now: Instant, packet: Packet, kind: PartitionKind, drop_log: &mut DropLog) {
        self.advance(now, drop_log);
        let mut ledger = Ledger { counters: &mut self.counters, drop_log, now: self.now };
        ledger.arrive(&packet);
        if kind == PartitionKind::Drop {
            return ledger.refuse(packet, Cause::Partition);
        }
        let held = InternalEvents::held(&mut self.internal_events, self.seed);
        if !held.has_room(&packet) {
            return ledger.refuse(packet, Cause::Partition);
        }
        ledger.hold(&packet);
        held.push(packet, self.now, kind);
    }

    /// Whether partitions hold packets here.
    #[inline]
    pub fn is_holding(&self) -> bool {
        self.internal_events.as_ref().is_some_and(|internal_events| internal_events.is_holding())
    }

    /// Decides anew what becomes of packets that partitions hold, since other partitions are in force from `now` on. What is not parted
    /// any more goes on at once, in the order in which it came; what is held for a time goes on when that has passed since it came.
    pub fn judge_held(
        &mut self,
        now: Instant,
        judge: impl Fn(&Packet) -> Option<PartitionKind>,
        drop_log: &mut DropLog,
    ) {
        self.advance(now, drop_log);
        if !self.is_holding() {
            return;
        }
        for (arrived, packet) in InternalEvents::held(&mut self.internal_events, self.seed).take() {
            match judge(&packet) {
                None => self.release(packet, drop_log),
                Some(PartitionKind::Drop) => {
                    let mut ledger = Ledger { counters: &mut self.counters, drop_log, now: self.now };
                    ledger.release_held(&packet);
                    ledger.refuse(packet, Cause::Partition);
                }
                Some(PartitionKind::Slow(delay)) if arrived + delay <= self.now => self.release(packet, drop_log),
                Some(kind) => InternalEvents::held(&mut self.internal_events, self.seed).push(packet, arrived, kind),
            }
        }
    }

    /// No partition holds this packet any more.
    pub(super) fn release(&mut self, packet: Packet, drop_log: &mut DropLog) {
        Ledger { counters: &mut self.counters, drop_log: &mut *drop_log, now: self.now }.release_held(&packet);
        self.come_in(packet, drop_log);
    }
}
