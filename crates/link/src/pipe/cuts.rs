//! Cuts of a pipe, by hand and by flapping.

use super::Pipe;
use crate::cause::Cause;
use crate::drop_log::DropLog;
use crate::ledger::Ledger;
use crate::state::{Carrier, Cuts, OnTheWire};
use netloom_units::Instant;

impl Pipe {
    /// Cuts the link or restores it.
    ///
    /// A cut drops what waits and the segment that is being sent; what had left the transmitter arrives, unless the
    /// pipe was configured to lose it. While the link is down, everything that comes in is dropped.
    pub fn set_up(&mut self, now: Instant, up: bool, drop_log: &mut DropLog) {
        self.advance(now, drop_log);
        self.cuts.carrier(now);
        self.switch(|cuts| cuts.by_hand = !up, drop_log);
    }

    /// Returns whether the pipe is up at `now`, and how often it has gone down, as whoever listens at its end hears it.
    ///
    /// That one may be ahead of what enters the pipe, and behind it.
    pub fn carrier(&mut self, now: Instant) -> Carrier {
        self.cuts.carrier(now)
    }

    /// Cuts the pipe as [`Pipe::set_up`] does, but nothing arrives any more: what is on the wire is lost, whatever `on_cut` says.
    pub fn unplug(&mut self, now: Instant, drop_log: &mut DropLog) {
        self.set_up(now, false, drop_log);
        self.clear_wire(drop_log);
    }

    /// Records that a node at the link stops, or runs again: while any has stopped, the pipe is cut, whatever else restores it.
    /// `wire`: what becomes then of what has left the transmitter, unless the pipe was configured to lose it.
    pub fn hold(&mut self, now: Instant, stopped: bool, wire: OnTheWire, drop_log: &mut DropLog) {
        self.advance(now, drop_log);
        self.cuts.carrier(now);
        let count = |cuts: &mut Cuts| {
            cuts.by_nodes = if stopped { cuts.by_nodes + 1 } else { cuts.by_nodes.saturating_sub(1) };
        };
        self.switch(count, drop_log);
        if stopped && wire == OnTheWire::Lost {
            self.clear_wire(drop_log);
        }
    }

    fn clear_wire(&mut self, drop_log: &mut DropLog) {
        let mut ledger = Ledger { counters: &mut self.counters, drop_log, now: self.now };
        for packet in self.line.cut(self.now) {
            ledger.lose(packet, Cause::Down);
        }
    }

    pub(super) fn switch(&mut self, change: impl FnOnce(&mut Cuts), drop_log: &mut DropLog) {
        let was_up = self.cuts.is_up();
        change(&mut self.cuts);
        if !was_up || self.cuts.is_up() {
            return;
        }
        self.clear_air(drop_log);
        let mut ledger = Ledger { counters: &mut self.counters, drop_log, now: self.now };
        if let Some(sending) = self.transmitter.abort() {
            ledger.lose(sending.segment, Cause::Down);
        }
        for train in self.queue.drain(self.now) {
            ledger.evict(train, Cause::Down);
        }
        if self.on_the_wire == OnTheWire::Lost {
            for packet in self.line.cut(self.now) {
                ledger.lose(packet, Cause::Down);
            }
        }
        self.opening = None;
    }
}
