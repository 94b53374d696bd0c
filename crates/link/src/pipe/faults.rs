//! What faults do to packets that come to a pipe.

use super::Pipe;
use crate::cause::Cause;
use crate::drop_log::DropLog;
use crate::fault::{DnsFault, FaultAction};
use crate::fault_gate::Verdict;
use crate::internal_events::InternalEvents;
use crate::ledger::Ledger;
use netloom_packet::Packet;
use netloom_units::Instant;

impl Pipe {
    /// Treats a single packet that comes in as a fault does. Resets are packets of their own, which the caller pushes.
    pub fn treat(&mut self, now: Instant, mut segment: Packet, verdict: Verdict, drop_log: &mut DropLog) {
        self.advance(now, drop_log);
        let mut ledger = Ledger { counters: &mut self.counters, drop_log: &mut *drop_log, now: self.now };
        ledger.arrive(&segment);
        match verdict.action {
            FaultAction::Drop
            | FaultAction::Reset(_)
            | FaultAction::EndConnections
            | FaultAction::Dns(DnsFault::Answer(_)) => {
                return ledger.refuse(segment, Cause::Fault);
            }
            FaultAction::Hold(span) => {
                let held = InternalEvents::held(&mut self.internal_events, self.seed);
                if !held.has_room(&segment) {
                    return ledger.refuse(segment, Cause::Fault);
                }
                ledger.hold(&segment);
                return held.push_until(segment, self.now, self.now + span);
            }
            FaultAction::Duplicate => {
                let second = segment.duplicate();
                ledger.duplicate(&second);
                self.come_in(segment, drop_log);
                return self.come_in(second, drop_log);
            }
            FaultAction::Corrupt(byte) => {
                let corrupted = match byte {
                    Some(byte) => segment.with_flipped_byte(byte as usize),
                    None => segment.with_flipped_bit(verdict.pick),
                };
                if let Some(corrupted) = corrupted {
                    ledger.counters.corrupted.add(&corrupted);
                    segment = corrupted;
                }
            }
            FaultAction::Mark => {
                ledger.mark(&mut segment);
            }
            // The caller has changed what it says.
            FaultAction::Dns(DnsFault::Reverse | DnsFault::Stale) => {}
            FaultAction::Unmark => segment = segment.without_congestion().unwrap_or(segment),
        }
        self.come_in(segment, drop_log);
    }
}
