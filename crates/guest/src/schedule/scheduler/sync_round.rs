//! A synchronization round: every group computes what happens in it, each for itself.
//!
//! It ends at an instant that depends on the lab alone, and then all groups are there. So what agents have said in it can be
//! answered there: at the same instant in every run.

use super::group::{Group, groups_of};
use super::{Scheduler, SchedulerError};
use crate::schedule::Machine;
use crate::schedule::member::INSTANT;
use netloom_fabric::{PipeId, PortId};
use netloom_link::PipeChange;
use netloom_packet::Packet;
use netloom_units::{Duration, Instant};
use std::cmp::Reverse;
use std::time;

/// How long a synchronization round is if the links have no more lookahead: the longer, the later agents are served, and the less
/// often groups wait for each other.
const SYNC_ROUND: Duration = Duration::from_millis(10);

/// How long to wait for a machine until it is looked at.
pub(super) const LOOK_INTERVAL: time::Duration = time::Duration::from_millis(10);

/// See the module.
#[derive(Debug)]
pub(super) struct SyncRound {
    end: Instant,
    failure: Option<SchedulerError>,
}

/// What is to be done when the synchronization round is over.
pub(super) enum Deferred {
    Send(usize, Packet),
    Change(PipeId, Box<PipeChange>),
    SetUp(PipeId, bool),
    Hold(PipeId, bool),
    Unplug(PipeId),
    SetCarrier(PipeId, bool),
    SetPortCarrier(PortId, bool),
    Freeze(usize, Instant),
}

impl<M: Machine> Scheduler<M> {
    /// The synchronization round that begins at `begin`, where something happens, and ends at `limit` or before.
    pub(super) fn sync_round(&mut self, begin: Instant, limit: Instant) -> SyncRound {
        let mut failure = None;
        if self.groups.is_empty() {
            self.find_groups();
            failure = self.find_shared().err();
        }
        self.receive(|fabric, sink| fabric.advance(begin, |delivery| sink(begin, delivery)), begin);
        (0..self.groups.len()).for_each(|group| self.find_next(group));
        let ahead = self.fabric.lookahead_until(begin).max(begin + SYNC_ROUND);
        let end = ahead.min(begin + self.longest_window).min(limit);
        self.begin_divided(end);
        SyncRound { end, failure }
    }

    /// Runs a synchronization round; false if `pause`, an instant of wall time, came before its end.
    pub(super) fn run_round(
        &mut self,
        mut sync_round: SyncRound,
        pause: Option<time::Instant>,
    ) -> Result<bool, SchedulerError> {
        loop {
            let has_heard = self.hear().unwrap_or_else(|lost| {
                sync_round.failure.get_or_insert(lost);
                false
            });
            let floor = self.floor();
            let is_running = self.groups.iter().any(|group| group.window.is_some());
            if !is_running && (floor >= sync_round.end || sync_round.failure.is_some()) {
                break;
            }
            if sync_round.failure.is_none() {
                sync_round.failure = self.begin_windows(floor, sync_round.end).err();
            }
            if sync_round.failure.is_some() {
                self.groups.iter_mut().flat_map(|group| &mut group.window).for_each(|window| window.waiting.clear());
                self.leave_others();
            }
            // Pipes that were called and delivered nothing may let groups know more.
            let has_come = self.collect_all(&mut sync_round) || has_heard || self.floor() > floor;
            let now = time::Instant::now();
            let is_late = pause.is_some_and(|pause| pause <= now);
            if has_come && !is_late {
                continue;
            }
            if is_late || !self.wait(&mut sync_round, now) && pause.is_some() {
                self.open = Some(sync_round);
                return Ok(false);
            }
        }
        self.end(sync_round).map(|()| true)
    }

    pub(super) fn find_groups(&mut self) {
        let places = &self.places;
        let machine_at = |port: PortId| places.get(port.0 as usize).copied().flatten().map(|(machine, _)| machine);
        self.group_of = groups_of(&self.fabric, self.members.len(), machine_at);
        self.groups = Group::all(&self.fabric, &self.group_of, machine_at, self.now);
        self.find_between();
    }

    /// Before this, nothing happens anywhere any more.
    pub(super) fn floor(&self) -> Instant {
        let begins = self.groups.iter().map(|group| match &group.window {
            Some(window) => Some(window.grant.begin),
            None => group.next,
        });
        begins.flatten().chain(self.fabric.next_wake()).min().unwrap_or(Instant::MAX)
    }

    /// Lets all groups run that can.
    fn begin_windows(&mut self, floor: Instant, end: Instant) -> Result<(), SchedulerError> {
        if floor < end {
            self.receive(|fabric, sink| fabric.advance(floor, |delivery| sink(floor, delivery)), floor);
        }
        let mut ready = Vec::new();
        for group in 0..self.groups.len() {
            if self.groups[group].window.is_some() {
                self.feed(group)?;
            } else if self.has_room(group) {
                self.learn(group, floor, end);
                if self.is_led(group) {
                    self.follow(group)?;
                    continue;
                }
                ready.extend(self.groups[group].window_length().map(|length| (Reverse(length), group)));
            }
        }
        ready.sort_unstable();
        for (_, group) in ready {
            if self.has_room(group) {
                self.begin_window(group)?;
            }
        }
        Ok(())
    }

    /// Whether a machine of this group could be let run.
    fn has_room(&self, group: usize) -> bool {
        self.groups[group].machines.iter().any(|machine| self.is_elsewhere(*machine) || self.lanes.has_room(*machine))
    }

    /// Takes all reports; says whether there were any.
    fn collect_all(&mut self, sync_round: &mut SyncRound) -> bool {
        let mut has_come = false;
        for group in 0..self.groups.len() {
            match self.collect(group) {
                Ok(came) => has_come |= came,
                Err(error) => {
                    has_come = true;
                    sync_round.failure.get_or_insert(error);
                }
            }
        }
        has_come
    }

    /// Waits for a report, and looks at those who owe one; false if there is nothing to wait at.
    fn wait(&mut self, sync_round: &mut SyncRound, now: time::Instant) -> bool {
        if let Err(lost) = self.flush().and_then(|()| self.find_ended(sync_round.end)) {
            sync_round.failure.get_or_insert(lost);
            return true;
        }
        let Some(doorbell) = &mut self.doorbell else { return false };
        let has_rung = doorbell.wait(LOOK_INTERVAL);
        self.statistics.waited += now.elapsed();
        if has_rung {
            return true;
        }
        let Self { groups, members, lanes, division, .. } = self;
        for window in groups.iter_mut().filter_map(|group| group.window.as_mut()) {
            window.running.retain(|machine| {
                if division.as_ref().is_some_and(|division| division.is_elsewhere(*machine)) {
                    return true;
                }
                let looked = members[*machine].machine.look();
                let failed = |error| {
                    lanes.leave(*machine);
                    sync_round.failure.get_or_insert(SchedulerError { machine: *machine, error });
                };
                looked.map_err(failed).is_ok()
            });
        }
        true
    }

    /// A synchronization round is over, or cannot go on.
    fn end(&mut self, mut sync_round: SyncRound) -> Result<(), SchedulerError> {
        if let Err(lost) = self.flush() {
            sync_round.failure.get_or_insert(lost);
        }
        self.show_all();
        self.agents.sort_by_key(|frame| (frame.at, frame.machine));
        if let Some(failure) = sync_round.failure {
            return Err(failure);
        }
        self.now = sync_round.end;
        if self.groups.len() > 1 && !self.fabric.has_devices() {
            // How far each pipe was asked depends on which group was ahead; when the next synchronization round begins must not.
            self.fabric.do_put_off(self.now - INSTANT);
        }
        self.write_down();
        for asked in std::mem::take(&mut self.deferred) {
            match asked {
                Deferred::Send(machine, packet) => drop(self.send_agent(machine, packet)),
                Deferred::Change(pipe, change) => self.change(pipe, &change),
                Deferred::SetUp(pipe, up) => self.set_up(pipe, up),
                Deferred::Hold(pipe, stopped) => self.hold(pipe, stopped),
                Deferred::Unplug(pipe) => self.unplug(pipe),
                Deferred::SetCarrier(pipe, on) => self.set_carrier(pipe, on),
                Deferred::SetPortCarrier(port, on) => self.set_port_carrier(port, on),
                Deferred::Freeze(machine, until) => self.freeze(machine, until),
            }
        }
        Ok(())
    }
}
