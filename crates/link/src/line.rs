//! The delay line: what has been sent and is still on its way. It is never full.

use crate::Departure;
use crate::internal_events::earlier;
use crate::overtaking::Overtaking;
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use netloom_packet::Packet;
use netloom_units::{Duration, Instant};

/// See the module.
///
/// Almost everything is due after all that was sent before it, and stands in a queue; what overtakes stands apart.
#[derive(Clone, Debug, Default)]
pub(crate) struct Line {
    travelling: VecDeque<Departure>,
    /// When the head leaves, if it is known to leave alone: the next is not of its frame. Both the driver's question and
    /// its answer need that, and mostly it is so; to find it out once a packet takes a tenth off its cost.
    alone: Option<Instant>,
    overtaking: Overtaking,
    last_due: Instant,
}

impl Line {
    /// Puts a packet on the way behind all others: what would be due before them will be due with the last of them.
    // Inlined, so that its fields are written to the line at once: to collect them first and to copy the whole stalls the
    // processor, which takes a tenth of what a packet costs.
    #[inline(always)]
    pub(crate) fn push(&mut self, mut departure: Departure) {
        let late = self.last_due.since(departure.due);
        departure.due = departure.due + late;
        departure.first_due = departure.first_due + late;
        departure.delay = departure.delay + late;
        self.last_due = departure.due;
        self.travelling.push_back(departure);
        if self.travelling.len() == 2 {
            self.alone = self.leaves_alone(0);
        }
    }

    /// When the entry at `place` leaves, if it will leave alone once it is the head.
    fn leaves_alone(&self, place: usize) -> Option<Instant> {
        let (head, next) = (self.travelling.get(place)?, self.travelling.get(place + 1)?);
        if head.packet.is_followed_by(&next.packet) { None } else { Some(head.due) }
    }

    /// When the next leaves, if what the transmitter sends does not matter for that.
    #[inline]
    pub(crate) fn next_alone(&self) -> Option<Instant> {
        if self.overtaking.is_empty() { self.alone } else { None }
    }

    /// Whether what leaves next was on its way for no time.
    pub(crate) fn takes_no_time(&self) -> bool {
        let in_order = self.travelling.front().map(|head| (head.due, head.delay.is_zero()));
        // Of two with one due instant, the one in order leaves first.
        match (in_order, self.overtaking.first()) {
            (Some(head), Some(other)) if other.0 < head.0 => other.1,
            (Some(head), _) => head.1,
            (None, other) => other.is_some_and(|(_, is_instant)| is_instant),
        }
    }

    /// The first of those in order.
    pub(crate) fn head(&self) -> Option<&Packet> {
        self.travelling.front().map(|head| &head.packet)
    }

    /// Takes the head; see [`Line::next_alone`].
    #[inline(always)]
    pub(crate) fn pop_alone(&mut self) -> Option<Departure> {
        self.alone = self.leaves_alone(1);
        self.travelling.pop_front()
    }

    /// Puts a packet on the way that may overtake others; says whether it does.
    pub(crate) fn push_free(&mut self, departure: Departure) -> bool {
        if departure.due >= self.last_due {
            self.push(departure);
            return false;
        }
        self.overtaking.push(departure);
        true
    }

    /// When the last of those in order is due.
    pub(crate) fn last(&self) -> Option<Instant> {
        self.travelling.back().map(|last| last.due)
    }

    /// When what is due at `due` will be due behind what is on the way.
    pub(crate) fn due_behind(&self, due: Instant) -> Instant {
        due.max(self.last_due)
    }

    /// The instant at which something leaves next.
    ///
    /// Neighbouring segments leave together if the last is due within `coalesce` of the first, as the interrupt
    /// moderation of a receiving network card would deliver them. `sending`: what the transmitter will put on the
    /// way next, and when that will be due.
    pub(crate) fn next_leave(&self, coalesce: Duration, sending: Option<(&Packet, Instant)>) -> Option<Instant> {
        let in_order = self.first_train(coalesce, sending).map(|(leave, _)| leave);
        earlier(in_order, self.overtaking.next_due())
    }

    /// Takes what leaves until `now`, the first of it; see [`Line::next_leave`].
    pub(crate) fn pop(
        &mut self,
        now: Instant,
        coalesce: Duration,
        sending: Option<(&Packet, Instant)>,
    ) -> Option<Departure> {
        let in_order = self.first_train(coalesce, sending).filter(|(leave, _)| *leave <= now);
        if let Some(due) = self.overtaking.next_due().filter(|due| *due <= now) {
            // Of two with one due instant, the one in order was sent first: what comes after an overtaker in order is
            // due later than that.
            if in_order.is_none_or(|(leave, _)| due < leave) {
                return self.overtake();
            }
        }
        self.join(in_order?.1)
    }

    /// Takes the first of those that overtake. It waits for none behind it, but a train whose segments are all due at
    /// one instant stays together.
    fn overtake(&mut self) -> Option<Departure> {
        let mut train = self.overtaking.pop()?;
        while let Some(next) = self.overtaking.pop_follower(&train) {
            train.join(&next);
        }
        Some(train)
    }

    /// When the head of those in order can leave, and how many leave with it as one train.
    fn first_train(&self, coalesce: Duration, sending: Option<(&Packet, Instant)>) -> Option<(Instant, usize)> {
        let head = self.travelling.front()?;
        let horizon = head.due + coalesce;
        if let Some(due) = self.alone {
            return Some((due, 1));
        }
        let mut last = head;
        for (joined, next) in self.travelling.range(1..).enumerate() {
            if next.due > horizon || !last.packet.is_followed_by(&next.packet) {
                return Some((last.due, joined + 1));
            }
            last = next;
        }
        let leave = match sending {
            Some((segment, due)) if due <= horizon && last.packet.is_followed_by(segment) => due,
            _ => last.due,
        };
        Some((leave, self.travelling.len()))
    }

    /// Takes the first `entries` as one train.
    fn join(&mut self, entries: usize) -> Option<Departure> {
        let mut train = self.travelling.pop_front()?;
        for _ in 1..entries {
            if let Some(next) = self.travelling.pop_front() {
                train.join(&next);
            }
        }
        self.alone = self.leaves_alone(0);
        Some(train)
    }

    /// Takes off the way what would be due after `now`, in order of due instants.
    pub(crate) fn cut(&mut self, now: Instant) -> Vec<Packet> {
        self.last_due = Instant::ZERO;
        let arrived = self.travelling.partition_point(|departure| departure.due <= now);
        let (lost, arriving): (Vec<_>, Vec<_>) = self.overtaking.drain().partition(|departure| departure.due > now);
        arriving.into_iter().for_each(|departure| self.overtaking.push(departure));
        let mut all: Vec<Departure> = self.travelling.drain(arrived..).chain(lost).collect();
        self.alone = self.leaves_alone(0);
        all.sort_by_key(|departure| departure.due);
        all.into_iter().map(|departure| departure.packet).collect()
    }
}
