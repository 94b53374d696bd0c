//! Gives machines what the fabric delivers.

use crate::schedule::member::Member;
use crate::schedule::{Device, Machine, NextWake, TimedFrame};
use netloom_fabric::{Delivery, Ethernet, PipeId};
use netloom_packet::{Packet, Pool};
use netloom_units::Instant;

/// See the module.
pub(super) struct Give<'a, M> {
    pub(super) ethernet: &'a Ethernet,
    pub(super) pool: &'a mut Pool,
    pub(super) members: &'a mut [Member<M>],
    /// By port: whether frames leave there as on a wire.
    pub(super) whole: &'a [bool],
    /// Whether pipes lead from one group to another, by number; empty in a lab in one piece.
    pub(super) is_between: &'a [bool],
}

/// The fate of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Known {
    /// The machine has it already.
    Given,
    New,
    /// The machine is off.
    Lost,
}

impl<M: Machine> Give<'_, M> {
    /// Returns the fate of a frame for this machine at this instant.
    pub(super) fn known(&mut self, machine: usize, at: Instant, pipe: PipeId) -> Known {
        let is_between = self.is_between.get(pipe.0 as usize).copied().unwrap_or_default();
        let member = &mut self.members[machine];
        if member.was_given(at, order(pipe)) || member.had(at, is_between) {
            Known::Given
        } else if member.next_wake == NextWake::Off {
            Known::Lost
        } else {
            Known::New
        }
    }

    /// Whether a machine is to get what a copy of the fabric delivers.
    pub(super) fn is_news(&mut self, machine: usize, at: Instant, pipe: PipeId) -> bool {
        let member = &mut self.members[machine];
        !member.was_given_in_copy(at, order(pipe)) && member.next_wake != NextWake::Off
    }

    /// A machine is to get this; false if its frame could not be made.
    pub(super) fn received(&mut self, place: (usize, Device), at: Instant, delivery: Delivery) -> bool {
        self.put(place, delivery, |member, order, _, device, packet| {
            member.take_in(order, TimedFrame { at, device, packet });
        })
    }

    /// The same, before the fabric itself delivers it.
    pub(super) fn foreseen(&mut self, place: (usize, Device), at: Instant, delivery: Delivery) {
        self.put(place, delivery, |member, order, is_last, device, packet| {
            member.foresee(order, is_last, TimedFrame { at, device, packet });
        });
    }

    fn put(
        &mut self,
        (machine, device): (usize, Device),
        Delivery { pipe, port, departure }: Delivery,
        put: impl Fn(&mut Member<M>, u32, bool, Device, Packet),
    ) -> bool {
        let Self { ethernet, pool, members, whole, .. } = self;
        let packet = match ethernet.readdress(port, departure.packet, pool) {
            Ok(packet) => packet,
            Err(packet) => {
                pool.recycle(packet);
                return false;
            }
        };
        let mut give = |part, is_last| put(&mut members[machine], order(pipe), is_last, device, part);
        if whole.get(port.0 as usize).copied().unwrap_or_default() {
            one_by_one(packet, pool, &mut give);
        } else {
            give(packet, true);
        }
        true
    }
}

/// Frames of one instant come in order of pipes, behind those of the agent.
fn order(pipe: PipeId) -> u32 {
    1 + pipe.0
}

/// The segments of a packet, each as a wire carries it; with the last one it is told so.
fn one_by_one(mut packet: Packet, pool: &mut Pool, give: &mut impl FnMut(Packet, bool)) {
    while let Some(first) = packet.split_front(1) {
        give(first.completed(), false);
        pool.recycle(first);
    }
    give(packet.completed(), true);
    pool.recycle(packet);
}
