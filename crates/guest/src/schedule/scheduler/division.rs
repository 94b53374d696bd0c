//! How a scheduler follows the other parts of its lab.

use super::group::Group;
use super::sync_round::LOOK_INTERVAL;
use super::{Division, Scheduler, SchedulerError};
use crate::schedule::member::{Grant, StopRule};
use crate::schedule::parts::{Begun, Parted, Stated, Told, Wire};
use crate::schedule::{Machine, MachineError};
use netloom_fabric::PortId;
use netloom_units::Instant;

impl<M: Machine> Scheduler<M> {
    /// From now on this is part `here` of a lab that is played in several: it runs only the machines whose home that is, and hears from
    /// the others what theirs do. To be called before time goes on.
    ///
    /// # Panics
    /// If there are not as many homes as machines.
    pub fn divide(&mut self, here: usize, homes: &[usize], wire: Box<dyn Wire>) {
        assert_eq!(homes.len(), self.members.len(), "each machine has a home");
        self.groups.clear();
        self.division = Some(Division::new(here, homes, wire));
    }

    /// This part cannot go on, for this reason, which the others hear.
    pub fn fail(&mut self, why: &str) {
        self.division.iter_mut().for_each(|division| division.wire.fail(why));
    }

    /// This part has come to its end, which the others hear behind all that it told. Time does not go on any more.
    pub fn leave(&mut self) {
        if let Some(mut division) = self.division.take() {
            // Who has gone needs nothing.
            let _ = division.wire.flush();
        }
    }

    /// Whether the lab is played in several parts.
    pub fn is_divided(&self) -> bool {
        self.division.is_some()
    }

    /// Tells the other parts what this one has found out about a machine of it at this instant.
    ///
    /// # Errors
    /// When a part is lost.
    pub fn state(&mut self, machine: usize, statement: &[u8]) -> Result<(), SchedulerError> {
        let Self { division: Some(division), now, .. } = self else { return Ok(()) };
        let told = Told::Stated(Stated { machine, at: *now, statement: statement.to_vec() });
        division.tell(&told).map_err(|error| SchedulerError { machine, error })?;
        self.flush()
    }

    /// Returns what the part of a machine has found out about it at this instant, or none if that has not come: it waits for a moment.
    ///
    /// # Errors
    /// When a part is lost, or is not at this instant.
    pub fn stated(&mut self, machine: usize) -> Result<Option<Vec<u8>>, SchedulerError> {
        let has_heard = self.hear()?;
        let Self { division: Some(division), now, doorbell, .. } = self else { return Ok(None) };
        let elsewhere = |what: String| SchedulerError { machine, error: MachineError::Elsewhere(what) };
        match division.stated[machine].pop_front() {
            Some(stated) if stated.at == *now => return Ok(Some(stated.statement)),
            Some(Stated { at, .. }) => {
                let (theirs, own) = (at.as_nanos(), now.as_nanos());
                return Err(elsewhere(format!(
                    "the parts have diverged: they are at {theirs} ns there, and at {own} ns here"
                )));
            }
            None => {}
        }
        if let Some(ended) = division.wire.ended(division.homes[machine]) {
            return Err(elsewhere(ended.what));
        }
        if let Some(doorbell) = doorbell.as_mut().filter(|_| !has_heard) {
            doorbell.wait(LOOK_INTERVAL);
        }
        Ok(None)
    }

    /// Whether a machine runs in another part.
    pub fn is_elsewhere(&self, machine: usize) -> bool {
        self.division.as_ref().is_some_and(|division| division.is_elsewhere(machine))
    }

    /// The only part that plays a group, and says which windows it runs in; none if all parts compute them, since machines of several are
    /// in it or it is the only group.
    fn leader_of(&self, group: usize) -> Option<usize> {
        let homes = &self.division.as_ref().filter(|_| self.groups.len() > 1 && !self.fabric.has_devices())?.homes;
        let machines = &self.groups[group].machines;
        machines.iter().all(|machine| homes[*machine] == homes[machines[0]]).then_some(homes[machines[0]])
    }

    /// Whether another part says which windows a group runs in.
    pub(super) fn is_led(&self, group: usize) -> bool {
        let here = self.division.as_ref().map(|division| division.here);
        self.leader_of(group).is_some_and(|leader| Some(leader) != here)
    }

    /// Whether other parts have to be told of the windows of a group.
    fn leads(&self, group: usize) -> bool {
        let here = self.division.as_ref().map(|division| division.here);
        here.is_some() && self.leader_of(group) == here
    }

    /// The first of the machines that are part of the same group as one of another part, beside other groups: nobody could say which windows
    /// that runs in.
    pub(super) fn find_shared(&self) -> Result<(), SchedulerError> {
        if self.division.is_none() || self.groups.len() < 2 || self.fabric.has_devices() {
            return Ok(());
        }
        (0..self.groups.len()).find(|group| self.leader_of(*group).is_none()).map_or(Ok(()), |group| {
            let what = "a link that leads from here to another part has no lookahead any more: less than 1 us of delay, or answers of faults";
            Err(SchedulerError { machine: self.groups[group].machines[0], error: MachineError::Elsewhere(what.to_owned()) })
        })
    }

    /// A synchronization round begins, which ends then in all parts.
    pub(super) fn begin_divided(&mut self, end: Instant) {
        if let Some(division) = &mut self.division {
            division.sync_rounds += 1;
            division.end = end;
        }
    }

    /// From now on frames are told whole to all other parts, also those of which only headers matter to their kernels: something there shows them.
    pub fn tell_whole(&mut self) {
        self.division.iter_mut().for_each(|division| division.is_whole = true);
    }

    /// Notes which pipes lead from one group to another, and which devices send to this part alone.
    pub(super) fn find_between(&mut self) {
        let Self { division: Some(division), fabric, places, group_of, .. } = self else { return };
        let place = |port: PortId| places.get(port.0 as usize).copied().flatten();
        let group_at = |port| place(port).map(|(machine, _)| group_of[machine]);
        division.is_between = fabric.ends().map(|(from, to)| group_at(from) != group_at(to)).collect();
        let (mut inner, mut outer) = (vec![Vec::new(); division.homes.len()], Vec::new());
        // What a switch, a transit router or a shared medium passes on may get everywhere.
        if !fabric.has_devices() && !division.is_whole {
            for ((machine, device), (other, _)) in fabric.ends().filter_map(|(from, to)| place(from).zip(place(to))) {
                let is_inner = division.homes[machine] == division.homes[other];
                if is_inner { inner[machine].push(device) } else { outer.push((machine, device)) }
            }
            outer.iter().for_each(|(machine, device)| inner[*machine].retain(|own| own != device));
        }
        division.inner = inner.into_iter().map(Into::into).collect();
    }

    /// Takes in what other parts have told; says whether something has come.
    pub(super) fn hear(&mut self) -> Result<bool, SchedulerError> {
        let Self { division, pool, .. } = self;
        let Some(division) = division else { return Ok(false) };
        division.hear(pool).map_err(|parted| lost(division, parted))
    }

    /// Sends what other parts have to know.
    pub(super) fn flush(&mut self) -> Result<(), SchedulerError> {
        let Some(division) = &mut self.division else { return Ok(()) };
        division.wire.flush().map_err(|parted| lost(division, parted))
    }

    /// Tells the other parts that a group begins a window. Of one in which no machine runs they need to know nothing: then pipes of this part
    /// alone are called, and others may have come to a later instant without it.
    pub(super) fn tell_window(&mut self, group: usize) -> Result<(), SchedulerError> {
        if !self.leads(group) {
            return Ok(());
        }
        let Self { groups, division: Some(division), .. } = self else { return Ok(()) };
        let Some(window) = groups[group].window.as_ref().filter(|window| !window.waiting.is_empty()) else {
            return Ok(());
        };
        let Grant { begin, until, stop } = window.grant;
        let leader = groups[group].machines[0];
        let begun = Begun {
            sync_round: division.sync_rounds,
            end: division.end,
            leader,
            begin,
            until,
            is_alone: stop == StopRule::Sent,
            round: window.is_round.then_some(groups[group].rounds),
            machines: window.waiting.clone(),
        };
        division.tell(&Told::Begun(begun)).map_err(|error| SchedulerError { machine: leader, error })
    }

    /// Says that a part has come to its end without which this one cannot go on: a machine of it owes a report, or has something to do before
    /// anybody else, before `end`.
    pub(super) fn find_ended(&mut self, end: Instant) -> Result<(), SchedulerError> {
        let floor = self.floor();
        for group in 0..self.groups.len() {
            let is_led = self.is_led(group);
            let Self { division: Some(division), groups, members, .. } = self else { return Ok(()) };
            let Group { machines, window, .. } = &groups[group];
            let is_told = !division.begun[machines[0]].is_empty();
            for machine in machines.iter().filter(|machine| division.homes[**machine] != division.here) {
                let is_awaited = match window {
                    Some(window) => window.running.contains(machine) && division.reported[*machine].is_empty(),
                    None => {
                        is_led && !is_told && members[*machine].next().is_some_and(|next| next <= floor && next < end)
                    }
                };
                if is_awaited && let Some(ended) = division.wire.ended(division.homes[*machine]) {
                    return Err(SchedulerError { machine: *machine, error: MachineError::Elsewhere(ended.what) });
                }
            }
        }
        Ok(())
    }

    /// Waits no more for machines of other parts, since this one cannot go on.
    pub(super) fn leave_others(&mut self) {
        let Self { division: Some(division), groups, .. } = self else { return };
        for window in groups.iter_mut().filter_map(|group| group.window.as_mut()) {
            window.running.retain(|machine| !division.is_elsewhere(*machine));
        }
    }

    /// Lets a group of another part run as that part has told, if it has.
    pub(super) fn follow(&mut self, group: usize) -> Result<(), SchedulerError> {
        let leader = self.groups[group].machines[0];
        let Some(division) = &mut self.division else { return Ok(()) };
        let (current, end) = (division.sync_rounds, division.end);
        let is_due = |begun: &Begun| begun.sync_round <= current;
        let Some(next) = division.begun[leader].front().filter(|begun| is_due(begun)) else { return Ok(()) };
        if next.sync_round < current || next.end != end || next.begin < self.groups[group].now {
            let what = format!(
                "the parts have diverged: synchronization round {} ends at {} ns there, and round {current} at {} ns here",
                next.sync_round,
                next.end.as_nanos(),
                end.as_nanos()
            );
            return Err(SchedulerError { machine: leader, error: MachineError::Elsewhere(what) });
        }
        let Some(begun) = division.begun[leader].pop_front() else { return Ok(()) };
        self.deliver_inside(group, begun.begin, begun.until);
        let Self { groups, members, .. } = self;
        groups[group].machines.iter().for_each(|machine| members[*machine].is_let_run_elsewhere(begun.until));
        if let Some(round) = begun.round {
            (self.groups[group].now, self.groups[group].rounds) = (begun.begin, round);
        }
        let stop = if begun.is_alone { StopRule::Sent } else { StopRule::Nowhere };
        let grant = Grant { begin: begun.begin, until: begun.until, stop };
        self.let_these_run(group, grant, begun.round.is_some(), begun.machines)
    }
}

/// A part that is lost ends the run in the name of its first machine.
fn lost(division: &Division, Parted { part, what }: Parted) -> SchedulerError {
    let machine = division.homes.iter().position(|home| *home == part).unwrap_or(0);
    SchedulerError { machine, error: MachineError::Elsewhere(what) }
}
