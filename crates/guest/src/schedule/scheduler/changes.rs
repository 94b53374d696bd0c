//! Changes of pipes. In the middle of a synchronization round they wait for its end.

use super::sync_round::Deferred;
use super::{Machine, Scheduler};
use netloom_fabric::PipeId;
use netloom_link::{OnTheWire, PipeChange};

impl<M: Machine> Scheduler<M> {
    /// Changes a pipe now, before anything else that happens now.
    ///
    /// # Panics
    /// If there is no such pipe.
    pub fn change(&mut self, pipe: PipeId, change: &PipeChange) {
        if self.open.is_some() {
            return self.deferred.push(Deferred::Change(pipe, change.clone().into()));
        }
        self.groups.clear();
        self.fabric.change(self.now, pipe, change);
    }

    /// Cuts a pipe now, or restores it, before anything else that happens now.
    ///
    /// # Panics
    /// If there is no such pipe.
    pub fn set_up(&mut self, pipe: PipeId, up: bool) {
        if self.open.is_some() {
            return self.deferred.push(Deferred::SetUp(pipe, up));
        }
        self.groups.clear();
        self.fabric.set_up(self.now, pipe, up);
    }

    /// A node at a pipe's link stops now, or runs again: while any has stopped, the pipe is cut, whatever else restores it.
    ///
    /// # Panics
    /// If there is no such pipe.
    pub fn hold(&mut self, pipe: PipeId, stopped: bool) {
        if self.open.is_some() {
            return self.deferred.push(Deferred::Hold(pipe, stopped));
        }
        self.groups.clear();
        self.fabric.hold(self.now, pipe, stopped, OnTheWire::Lost);
    }
}
