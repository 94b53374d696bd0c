//! Packets on the way whose due instants come in any order.
//!
//! A heap of everything would cost a walk through cold memory for each of a million packets. Time is therefore cut into
//! slots: what is due in later slots is only appended to its slot's list, and the slot that time has reached is a heap,
//! which is small and stays in the processor's cache (Brown 1988, "Calendar queues", with a tree in place of the year).

use crate::Departure;
use alloc::collections::{BTreeMap, BinaryHeap};
use alloc::vec::Vec;
use core::cmp::Reverse;
use netloom_units::Instant;

/// A slot has 2^16 ns, some 65 µs: a million packets of one 10 ms have 6,500 in each.
const SLOT_BITS: u32 = 16;

/// See the module.
#[derive(Clone, Debug, Default)]
pub(crate) struct Overtaking {
    /// Which slot is open.
    slot: u64,
    /// What is due until the end of the open slot, in the order in which it was sent; none where it has left.
    open: Vec<Option<Departure>>,
    /// The instants of these and their places, the first to leave on top.
    order: BinaryHeap<Reverse<(Instant, usize)>>,
    /// The slots after the open one.
    later: BTreeMap<u64, Slot>,
    /// Empty room of slots that are over: as many as there were at once.
    spare: Vec<Vec<Option<Departure>>>,
}

#[derive(Clone, Debug)]
struct Slot {
    /// The first instant at which something of it is due, and whether that was on its way for no time.
    first: (Instant, bool),
    /// In the order in which they were sent.
    departures: Vec<Option<Departure>>,
}

impl Overtaking {
    /// Puts a packet on the way. Of several with one due instant the first sent leaves first.
    pub(crate) fn push(&mut self, departure: Departure) {
        let (due, is_instant) = (departure.due, departure.delay.is_zero());
        let slot = due.as_nanos() >> SLOT_BITS;
        if slot <= self.slot {
            self.order.push(Reverse((due, self.open.len())));
            self.open.push(Some(departure));
            return;
        }
        let spare = &mut self.spare;
        let new = || Slot { first: (due, is_instant), departures: spare.pop().unwrap_or_default() };
        let slot = self.later.entry(slot).or_insert_with(new);
        if due < slot.first.0 {
            slot.first = (due, is_instant);
        }
        slot.departures.push(Some(departure));
    }

    /// Whether nothing overtakes.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.order.is_empty() && self.later.is_empty()
    }

    /// When the first of them is due.
    pub(crate) fn next_due(&self) -> Option<Instant> {
        let open = self.order.peek().map(|Reverse((due, _))| *due);
        open.or_else(|| self.later.first_key_value().map(|(_, slot)| slot.first.0))
    }

    /// When the first of them is due, and whether it was on its way for no time.
    pub(crate) fn first(&self) -> Option<(Instant, bool)> {
        let Some(Reverse((due, place))) = self.order.peek() else {
            return self.later.first_key_value().map(|(_, slot)| slot.first);
        };
        Some((*due, self.open[*place].as_ref()?.delay.is_zero()))
    }

    /// Takes the first of them. Asked once it is due, so that the open slot is never ahead of time.
    pub(crate) fn pop(&mut self) -> Option<Departure> {
        if self.order.is_empty() {
            self.open_next();
        }
        let Reverse((_, place)) = self.order.pop()?;
        self.open[place].take()
    }

    /// Takes what leaves next if it is the next segment of `train` and due at the same instant.
    pub(crate) fn pop_follower(&mut self, train: &Departure) -> Option<Departure> {
        let Reverse((due, place)) = self.order.peek()?;
        let next = self.open[*place].as_ref()?;
        if *due != train.due || !train.packet.is_followed_by(&next.packet) {
            return None;
        }
        self.pop()
    }

    fn open_next(&mut self) {
        let Some((number, slot)) = self.later.pop_first() else { return };
        self.slot = number;
        let mut over = core::mem::replace(&mut self.open, slot.departures);
        over.clear();
        self.spare.push(over);
        let mut order = core::mem::take(&mut self.order).into_vec();
        order.extend(self.open.iter().zip(0..).filter_map(|(one, place)| Some(Reverse((one.as_ref()?.due, place)))));
        self.order = order.into();
    }

    /// Takes all of them, in no order.
    pub(crate) fn drain(&mut self) -> impl Iterator<Item = Departure> + use<> {
        let all = core::mem::take(self);
        all.open.into_iter().chain(all.later.into_values().flat_map(|slot| slot.departures)).flatten()
    }
}
