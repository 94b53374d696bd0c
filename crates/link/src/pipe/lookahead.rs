//! What a pipe will certainly deliver, whatever enters it: the lookahead of virtual time.
//!
//! A conservative scheduler lets the nodes of a lab run ahead of each other, as far as it knows what they will receive
//! meanwhile (Chandy and Misra 1979; Bryant 1977). What it knows of a pipe follows from these facts. From `now` on, let
//! nothing but packets act on it:
//! - Whatever is not on its way yet, leaves the transmitter at `now` at the earliest; if that is sending, not before its
//!   end; and then travels for the least delay of the model. It is due at E or later.
//! - Where nothing overtakes, E is not before what is due last now.
//! - What is on its way keeps its due instant, and leaves in a train whose end follows from those behind it. Only the last
//!   train may still grow, and only by what is due within the coalescing window of its head.
//!
//! So everything that leaves before E is known, except that the last train counts only if its window ends before E.
//! What the pipe does by itself to its delay, its rate or its state ends this knowledge at the instant at which it does.

use super::Pipe;
use crate::Departure;
use crate::drop_log::DropLog;
use crate::ledger::Ledger;
use netloom_packet::Packet;
use netloom_units::{Duration, Instant};

impl Pipe {
    /// Returns the instant before which all deliveries are known at `now`, no matter which packets enter from `now` on; at least
    /// `now`. It holds until the pipe is changed, cut or joined by hand. A pipe that is cut delivers nothing unknown:
    /// [`Instant::MAX`].
    ///
    /// An answer may be earlier than what could be proved, never later.
    pub fn lookahead_until(&mut self, now: Instant, drop_log: &mut DropLog) -> Instant {
        self.run_until(now, drop_log);
        let unknown = match self.foresee_air(now, drop_log) {
            Some(until) if self.cuts.is_up() => until,
            _ => self.first_unknown(now),
        };
        let certain = match self.last_known() {
            Some(last) if last + self.coalesce >= unknown => unknown.min(last),
            _ => unknown,
        };
        let change = self.internal_events.as_ref().and_then(|internal_events| internal_events.next_change(true));
        certain.min(change.unwrap_or(Instant::MAX)).max(now)
    }

    /// Returns the instant before which all deliveries will be known at `now` once every packet is known that enters before
    /// `from`; at least `from`. It holds until the pipe is changed, cut or joined by hand, and does nothing to the pipe.
    ///
    /// An answer may be earlier than what could be proved, never later.
    pub fn lookahead_behind(&self, now: Instant, from: Instant) -> Instant {
        // A packet that may still join a known train is due within the window of its head.
        let least = Duration::from_nanos(self.least_delay(now).as_nanos().saturating_sub(self.coalesce.as_nanos()));
        let unknown = if self.cuts.is_up() { from + least } else { Instant::MAX };
        let change = self.internal_events.as_ref().and_then(|internal_events| internal_events.next_change(true));
        unknown.min(change.unwrap_or(Instant::MAX)).max(from)
    }

    /// Returns how long whatever enters is on its way at least, at any time, unless the pipe is changed by hand: so much later
    /// than `now` [`Pipe::lookahead_until`] always is. Zero where that is not known.
    pub fn lookahead(&self) -> Duration {
        if self.internal_events.as_ref().is_some_and(|internal_events| internal_events.has_schedule()) {
            return Duration::ZERO;
        }
        let least = self.reorder.hurried_least(self.delay.least() + self.transmitter.least_delay());
        let least = self.air.as_ref().map_or(least, |air| air.lookahead());
        // A packet that joins the train before it leaves with it, or makes it leave.
        Duration::from_nanos(least.as_nanos().saturating_sub(self.coalesce.as_nanos()))
    }

    /// Returns whether the pipe does something by itself, as cross traffic, that it may put off: then [`Pipe::next_wake`] depends on how far
    /// [`Pipe::lookahead_until`] has been asked.
    pub fn puts_off(&self) -> bool {
        self.internal_events.is_some()
    }

    /// Nothing that is not on its way at `now` is due before this.
    fn first_unknown(&self, now: Instant) -> Instant {
        if !self.cuts.is_up() {
            return Instant::MAX;
        }
        let free = self.transmitter.finish().unwrap_or(now).max(now);
        let unknown = free + self.least_delay(now);
        if self.is_simple() { self.line.due_behind(unknown) } else { unknown }
    }

    /// No packet that leaves the transmitter from `now` on travels for less.
    fn least_delay(&self, now: Instant) -> Duration {
        let least = self.slopes.least_delay(now).unwrap_or_else(|| self.delay.least());
        self.reorder.hurried_least(least + self.transmitter.least_delay())
    }

    /// When the last of those that go in order is due. What the transmitter sends is one of them, unless it may overtake.
    fn last_known(&self) -> Option<Instant> {
        let coming = if self.is_simple() { self.coming() } else { None };
        coming.map(|(_, due)| due).or_else(|| self.line.last())
    }

    /// What the transmitter will put on the way next, and when that will be due if it goes in order.
    fn coming(&self) -> Option<(&Packet, Instant)> {
        let sending = self.transmitter.sending().filter(|sending| !sending.segment.is_phantom())?;
        Some((&sending.segment, self.line.due_behind(sending.due())))
    }

    /// Returns whether the packet that leaves next has entered at the instant at which it leaves.
    pub fn is_head_instant(&self) -> bool {
        self.transmitter.rate().is_none() && self.air.is_none() && self.line.takes_no_time()
    }

    /// Returns whether the packets inside leave when they would if nothing else entered: none waits in a queue whose discipline lets
    /// later packets change the fate of earlier ones, and none is held.
    pub fn is_settled(&self) -> bool {
        self.queue.is_settled() && self.counters.held.packets == 0
    }

    /// Returns when the first packet that is on its way leaves. It is what the pipe delivers next if it leaves before what
    /// [`Pipe::lookahead_until`] returned.
    pub fn next_certain(&self) -> Option<Instant> {
        self.line.next_leave(self.coalesce, self.coming())
    }

    /// Returns when the first packet that is on its way or on the transmitter leaves, as far as that is known now.
    pub fn next_known(&self) -> Option<Instant> {
        self.next_certain().or_else(|| self.coming().map(|(_, due)| due))
    }

    /// Returns when the first packet on its way is due, less `ahead`; of one that the transmitter sends, not before that has done.
    pub fn next_ahead(&self, ahead: Duration) -> Option<Instant> {
        if let Some(leave) = self.next_certain() {
            return Some(leave - ahead);
        }
        let finish = self.transmitter.finish()?;
        self.coming().map(|(_, due)| (due - ahead).max(finish))
    }

    /// Takes what leaves at `leave`, the answer of [`Pipe::next_certain`], ahead of time. `leave`: before what
    /// [`Pipe::lookahead_until`] returned last.
    ///
    /// The entrance of the pipe stays where it is in time. The counters have the packet as departed from now on.
    pub fn pop_certain(&mut self, leave: Instant, drop_log: &mut DropLog) -> Option<Departure> {
        let coming = self.transmitter.sending().filter(|sending| !sending.segment.is_phantom());
        let coming = coming.map(|s| (&s.segment, self.line.due_behind(s.due())));
        let departure = self.line.pop(leave, self.coalesce, coming)?;
        Ledger { counters: &mut self.counters, drop_log, now: self.now }.depart(&departure.packet, leave);
        Some(departure)
    }
}
