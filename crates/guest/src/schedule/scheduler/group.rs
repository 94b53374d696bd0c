//! Groups: machines that run together, and what a group knows of the others.
//!
//! Machines that a link without lookahead joins are one *group*: what one of them sends may reach another at the same
//! instant, so they take turns. Between groups every link has a lookahead, so that each group runs by itself, as far as it is
//! known what will reach it.

use super::Scheduler;
use super::window::Window;
use crate::schedule::Machine;
use netloom_fabric::{Fabric, PipeId, PortId};
use netloom_units::{Duration, Instant};

/// Links with less lookahead than this join machines to a group: to let a group run for so short costs more than it gains.
const LEAST_LOOKAHEAD: Duration = Duration::from_micros(1);

/// See the module.
#[derive(Debug)]
pub(super) struct Group {
    /// In order.
    pub(super) machines: Vec<usize>,
    /// The pipes between them, in order; with transit devices, those that lead to them.
    inner: Vec<PipeId>,
    incoming: Vec<Incoming>,
    /// Everything before this has happened.
    pub(super) now: Instant,
    /// How many rounds there were at `now`.
    pub(super) rounds: u32,
    /// Everything is known that reaches it from elsewhere before this.
    pub(super) known: Instant,
    /// When something happens in it next, as far as that is known.
    pub(super) next: Option<Instant>,
    /// What is to happen in it.
    pub(super) window: Option<Window>,
}

/// A pipe that leads to a group from another one.
#[derive(Debug)]
struct Incoming {
    pipe: PipeId,
    /// The machine whose packets enter it, if there is one.
    from: Option<usize>,
}

/// Which machines are of one group: for each machine the number of its group. Groups are numbered by their first machine.
///
/// Where there are transit routers, all are one group: what reaches a router is known for the whole fabric only.
pub(super) fn groups_of(fabric: &Fabric, machines: usize, machine_at: impl Fn(PortId) -> Option<usize>) -> Vec<usize> {
    let mut leaders: Vec<usize> = (0..machines).collect();
    for ((from, to), pipe) in fabric.ends().zip(0..) {
        let (Some(from), Some(to)) = (machine_at(from), machine_at(to)) else { continue };
        // What a fault answers goes back at the instant at which it was sent.
        if fabric.lookahead(PipeId(pipe)) < LEAST_LOOKAHEAD || fabric.may_answer(PipeId(pipe)) {
            let (one, other) = (leader_of(&leaders, from), leader_of(&leaders, to));
            leaders[one.max(other)] = one.min(other);
        }
    }
    let mut numbers = vec![0; machines];
    let mut count = 0;
    for machine in 0..machines {
        let first = if fabric.has_devices() { 0 } else { leader_of(&leaders, machine) };
        numbers[machine] = if first == machine { count } else { numbers[first] };
        count += usize::from(first == machine);
    }
    numbers
}

fn leader_of(leaders: &[usize], mut machine: usize) -> usize {
    while leaders[machine] != machine {
        machine = leaders[machine];
    }
    machine
}

impl Group {
    /// The groups of a fabric at `now`.
    pub(super) fn all(
        fabric: &Fabric,
        numbers: &[usize],
        machine_at: impl Fn(PortId) -> Option<usize>,
        now: Instant,
    ) -> Vec<Self> {
        let mut groups: Vec<Self> = Vec::new();
        for (machine, number) in numbers.iter().enumerate() {
            if *number == groups.len() {
                groups.push(Self::new(now));
            }
            groups[*number].machines.push(machine);
        }
        let group_at = |port| machine_at(port).map(|machine| numbers[machine]);
        for ((from, to), pipe) in fabric.ends().zip(0..) {
            let (from, pipe) = (group_at(from), PipeId(pipe));
            match group_at(to) {
                Some(to) if from == Some(to) => groups[to].inner.push(pipe),
                // What comes from a device comes from the group itself, which then has all machines.
                Some(to) if fabric.has_devices() => groups[to].inner.push(pipe),
                Some(to) => groups[to].incoming.push(Incoming { pipe, from }),
                None => {}
            }
        }
        groups
    }

    fn new(now: Instant) -> Self {
        Self {
            machines: Vec::new(),
            inner: Vec::new(),
            incoming: Vec::new(),
            now,
            rounds: 0,
            known: now,
            next: None,
            window: None,
        }
    }

    /// How long it may run from when something happens in it; none if nothing is known to happen.
    pub(super) fn window_length(&self) -> Option<Duration> {
        let begin = self.next?.max(self.now);
        (begin < self.known).then(|| self.known.since(begin))
    }

    /// Before this, nothing that is not in the fabric yet leaves it. `floor`: before this nothing happens anywhere.
    fn quiet_until(&self, floor: Instant) -> Instant {
        match &self.window {
            Some(window) => window.grant.begin,
            None => self.next.unwrap_or(Instant::MAX).min(self.known).max(floor),
        }
    }
}

impl<M: Machine> Scheduler<M> {
    /// When something happens in a group next, as far as that is known.
    pub(super) fn find_next(&mut self, group: usize) {
        let pipes = self.next_inside(group);
        let Self { groups, members, .. } = self;
        let group = &mut groups[group];
        let machines = group.machines.iter().filter_map(|machine| members[*machine].next()).min();
        group.next = [machines, pipes].into_iter().flatten().min();
    }

    /// When a pipe inside a group wants to be called next.
    pub(super) fn next_inside(&self, group: usize) -> Option<Instant> {
        if self.fabric.has_devices() {
            return self.fabric.next_wake();
        }
        self.groups[group].inner.iter().filter_map(|pipe| self.fabric.pipe_next_wake(*pipe)).min()
    }

    /// Takes in what is known of all that reaches a group before `end`.
    pub(super) fn learn(&mut self, group: usize, floor: Instant, end: Instant) {
        let mut known = end;
        for place in 0..self.groups[group].incoming.len() {
            let Incoming { pipe, from } = self.groups[group].incoming[place];
            let quiet = from.map_or(Instant::MAX, |from| self.groups[from].quiet_until(floor));
            let until = self.receive_known(pipe, quiet, end);
            known = known.min(until);
        }
        self.groups[group].known = known.max(self.groups[group].known);
        self.find_next(group);
    }

    /// What the pipes inside a group deliver as far as that is known at `begin`; before which instant that is all.
    pub(super) fn learn_inside(&mut self, group: usize, begin: Instant) -> Instant {
        let known = self.groups[group].known;
        if self.fabric.has_devices() {
            self.receive(|fabric, sink| fabric.advance(begin, |delivery| sink(begin, delivery)), begin);
            let until = self.fabric.lookahead_until(begin).min(known);
            if until > begin {
                self.receive(|fabric, sink| fabric.advance_certain(until, sink), begin);
            }
            return until;
        }
        let mut until = known;
        for place in 0..self.groups[group].inner.len() {
            let pipe = self.groups[group].inner[place];
            until = until.min(self.receive_known(pipe, begin, known));
        }
        until
    }

    /// Delivers what the pipes inside a group have before `until`, when everything has entered them that does so before `begin`.
    pub(super) fn deliver_inside(&mut self, group: usize, begin: Instant, until: Instant) {
        for place in 0..self.groups[group].inner.len() {
            let pipe = self.groups[group].inner[place];
            self.receive_known(pipe, begin, until);
        }
    }

    fn receive_known(&mut self, pipe: PipeId, from: Instant, end: Instant) -> Instant {
        let mut until = end;
        let already = self.known_of[pipe.0 as usize];
        self.receive(|fabric, sink| until = fabric.take_known(pipe, from, end, sink), already);
        self.known_of[pipe.0 as usize] = until.max(already);
        until
    }
}
