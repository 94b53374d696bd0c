//! Changes of pipes, and machines that stand still. In the middle of a synchronization round they wait for its end.

use super::sync_round::Deferred;
use super::{Machine, Scheduler};
use netloom_fabric::{PipeId, PortId};
use netloom_link::{OnTheWire, PipeChange};
use netloom_units::Instant;

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

    /// A machine stands still from now until then, and does not notice: its own time falls behind by as much. What is sent to it waits as in
    /// the ring of a device, and is dropped when that is full.
    ///
    /// # Panics
    /// If there is no such machine.
    pub fn freeze(&mut self, machine: usize, until: Instant) {
        if self.open.is_some() {
            return self.deferred.push(Deferred::Freeze(machine, until));
        }
        self.groups.clear();
        self.members[machine].freeze(self.now, until);
    }

    /// Returns the packets for which machines that stood still had no room, and those that came to interfaces which were down: of all machines,
    /// whichever part of the lab they run in.
    pub fn unheard(&self) -> u64 {
        self.members.iter().map(|member| member.unheard + member.left_out).sum()
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

    /// Cuts a pipe now, before anything else that happens now, and what is on the wire is lost, too.
    ///
    /// # Panics
    /// If there is no such pipe.
    pub fn unplug(&mut self, pipe: PipeId) {
        if self.open.is_some() {
            return self.deferred.push(Deferred::Unplug(pipe));
        }
        self.groups.clear();
        self.fabric.unplug(self.now, pipe);
    }

    /// The machines at the entrances of a pipe hear, before anything else that happens now, that their link has a carrier from now on, or
    /// none.
    pub fn set_carrier(&mut self, pipe: PipeId, on: bool) {
        if self.open.is_some() {
            return self.deferred.push(Deferred::SetCarrier(pipe, on));
        }
        let ports: Vec<PortId> = self.fabric.entrances(pipe).collect();
        ports.into_iter().for_each(|port| self.set_port_carrier(port, on));
    }

    /// The machine at a port hears, before anything else that happens now, that its link has a carrier from now on, or none.
    pub fn set_port_carrier(&mut self, port: PortId, on: bool) {
        if self.open.is_some() {
            return self.deferred.push(Deferred::SetPortCarrier(port, on));
        }
        if let Some((machine, device)) = self.places.get(port.0 as usize).copied().flatten() {
            self.members[machine].set_carrier(self.now, device, on);
        }
    }
}
