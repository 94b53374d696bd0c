//! What taps are shown, in an order that depends on the lab alone.
//!
//! Groups run a synchronization round each for itself, and which of them is ahead is chance. So what happens in a synchronization round is put
//! into order at its end: by instant, then by group; in a group what leaves the fabric comes before what enters it, but for
//! links without delay, where the one follows from the other.

use super::Scheduler;
use super::group::Group;
use crate::schedule::Machine;
use netloom_fabric::{Delivery, PortId, Tap, TapId};
use netloom_link::Departure;
use netloom_packet::Packet;
use netloom_units::Instant;

/// A packet that is to be shown, and what it is sorted by.
#[derive(Debug)]
pub(super) struct Shown {
    /// When, in which group, in which round, whether it enters, and by which pipe.
    key: (Instant, usize, u32, bool, u32),
    what: What,
}

#[derive(Debug)]
enum What {
    Enters(PortId, Packet),
    Leaves(Delivery),
}

/// The taps that are shown packets.
pub(super) struct Show<'a> {
    pub(super) taps: &'a mut Vec<(TapId, Box<dyn Tap>)>,
    pub(super) shown: &'a mut Vec<Shown>,
    pub(super) groups: &'a mut Vec<Group>,
    /// Whether pipes lead from one group to another, by number; empty in a lab in one piece.
    pub(super) is_between: &'a [bool],
}

impl Show<'_> {
    /// Shows something to the taps that take it now; whether others will want it in order.
    fn now(&mut self, mut show: impl FnMut(&mut dyn Tap)) -> bool {
        let is_put_off = self.groups.len() > 1;
        let mut is_wanted = false;
        for (_, tap) in self.taps.iter_mut() {
            if is_put_off && tap.minds_order() {
                is_wanted = true;
            } else {
                show(tap.as_mut());
            }
        }
        is_wanted
    }

    /// A packet enters the fabric from a machine of a group.
    pub(super) fn enters(&mut self, group: usize, port: PortId, at: Instant, packet: &Packet) {
        if self.now(|tap| tap.enters(port, at, packet)) {
            let round = self.groups[group].rounds.saturating_sub(1);
            self.shown.push(Shown { key: (at, group, round, true, 0), what: What::Enters(port, packet.duplicate()) });
        }
    }

    /// A packet leaves the fabric, at `leave`, for a machine of a group.
    pub(super) fn leaves(&mut self, group: usize, leave: Instant, delivery: &Delivery) {
        if self.now(|tap| tap.leaves(delivery)) {
            let Departure { packet, due, first_due, delay, busy } = &delivery.departure;
            let (due, first_due, delay, busy) = (*due, *first_due, *delay, *busy);
            let departure = Departure { packet: packet.duplicate(), due, first_due, delay, busy };
            let state = &self.groups[group];
            // What comes from another group is there before the first round of its instant.
            let is_between = self.is_between.get(delivery.pipe.0 as usize).copied().unwrap_or_default();
            let round = if state.now == leave && !is_between { state.rounds } else { 0 };
            let what = What::Leaves(Delivery { pipe: delivery.pipe, port: delivery.port, departure });
            self.shown.push(Shown { key: (leave, group, round, false, delivery.pipe.0), what });
        }
    }
}

impl<M: Machine> Scheduler<M> {
    /// Shows what was put off.
    pub(super) fn show_all(&mut self) {
        let Self { taps, shown, pool, fabric, .. } = self;
        shown.sort_by_key(|shown| shown.key);
        for Shown { key: (at, ..), what } in shown.drain(..) {
            let minding = taps.iter_mut().filter(|(_, tap)| tap.minds_order());
            match what {
                What::Enters(port, packet) => {
                    minding.for_each(|(_, tap)| tap.enters(port, at, &packet));
                    pool.recycle(packet);
                }
                What::Leaves(delivery) => {
                    minding.for_each(|(_, tap)| tap.leaves(&delivery));
                    pool.recycle(delivery.departure.packet);
                }
            }
        }
        fabric.fates().for_each(|fate| taps.iter_mut().for_each(|(_, tap)| tap.fate(&fate)));
        fabric.frames(|ppdu| taps.iter_mut().for_each(|(_, tap)| tap.frame(ppdu)));
        taps.iter_mut().for_each(|(_, tap)| tap.settle(pool));
    }

    /// Shows what has passed transit routers, where all machines are one group.
    pub(super) fn show_passes(&mut self) {
        let Self { fabric, taps, pool, .. } = self;
        fabric.show_passes(pool, |pass| {
            let watching = taps.iter_mut().filter(|(_, tap)| tap.watches_routers());
            watching.for_each(|(_, tap)| tap.packet(pass.port, pass.way, pass.first, pass.last, &pass.packet));
        });
        taps.iter_mut().for_each(|(_, tap)| tap.settle(pool));
    }
}
