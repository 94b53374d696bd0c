//! Machines that go while the lab lives, and others that take their places.

use super::{Machine, Scheduler};
use crate::schedule::NextWake;

impl<M: Machine> Scheduler<M> {
    /// Whether all machines have come to the same instant, so that one may go or come.
    pub fn is_at_an_instant(&self) -> bool {
        self.open.is_none()
    }

    /// A machine is gone, now. Nothing that is on its way to it arrives.
    ///
    /// # Panics
    /// If not all machines have come to the same instant.
    pub fn remove(&mut self, machine: usize) {
        assert!(self.is_at_an_instant(), "machines go at an instant that all have come to");
        self.members[machine].leave(&mut self.pool);
        self.groups.clear();
    }

    /// Another machine takes the place of one, and runs from now on. Returns the one before.
    ///
    /// # Panics
    /// If not all machines have come to the same instant.
    pub fn replace(&mut self, machine: usize, other: M) -> M {
        assert!(self.is_at_an_instant(), "machines come at an instant that all have come to");
        let Self { fabric, members, pool, heeded, now, .. } = self;
        let member = &mut members[machine];
        member.leave(pool);
        let before = member.begin_as(other, NextWake::At(*now), *now);
        for (device, port) in member.ports().collect::<Vec<_>>() {
            heeded.add(fabric, port, |rule| member.heed(device, rule));
        }
        self.groups.clear();
        before
    }
}
