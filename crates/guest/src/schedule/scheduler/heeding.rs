//! Windows in which kernels heed what may be answered.
//!
//! A router may answer at once what a kernel sends it. Where the link between them has no delay, there is no lookahead, though
//! everybody else is far away: the kernel would have to stop at each instant. In these windows it runs on, and stops with the first
//! frame that its router does not pass on for certain; mostly there is none. What others send reaches it behind the window.
//!
//! Devices take in packets in order, so they have to wait for what the kernels send in the window. What they will deliver meanwhile is
//! foreseen on a copy of the fabric, and given to the kernels. When the window is over, the fabric itself goes on as far as all
//! kernels have come, and what it delivers then, they have got already. A kernel that was stopped gets what follows from there on anew;
//! the others wait for it where they are.

use super::{Give, Scheduler, SchedulerError};
use crate::schedule::member::{Grant, Member, StopRule};
use crate::schedule::{Machine, NextWake};
use netloom_fabric::{Fabric, ForwardingRule, PortId};
use netloom_packet::Packet;
use netloom_units::{Duration, Instant};

/// Where windows are at least so long anyway, there is nothing to gain.
const LONG: Duration = Duration::from_micros(200);

/// A copy of the fabric costs as much as some windows, and tens of microseconds of wall time.
const GAIN: u64 = 4;
const LEAST: Duration = Duration::from_micros(20);

/// Knows what may be answered at once, by port.
#[derive(Debug, Default)]
pub(super) struct Heeded {
    ports: Vec<Answers>,
    /// Where something waits in front of a link that may be answered when it comes through, and when depends on what is sent behind it.
    waiting: Vec<PortId>,
}

/// The answers that a port's packets may get.
#[derive(Clone, Debug, Default)]
enum Answers {
    /// Anything, for all that is known.
    #[default]
    Unknown,
    Nothing,
    /// Nothing, if it is passed on.
    But(ForwardingRule),
}

impl Heeded {
    /// A machine is at this port; `heed` says whether it stops after what may be answered.
    pub(super) fn add(&mut self, fabric: &Fabric, port: PortId, heed: impl FnOnce(&ForwardingRule) -> bool) {
        let rule = fabric.rule(port).filter(heed);
        let answers = match rule {
            Some(rule) => Answers::But(rule),
            None if fabric.is_never_answered(port) => Answers::Nothing,
            None => return,
        };
        let place = port.0 as usize;
        self.ports.resize(self.ports.len().max(place + 1), Answers::Unknown);
        self.ports[place] = answers;
    }

    /// A packet is sent at this port.
    pub(super) fn note(&mut self, port: PortId, packet: &Packet) {
        if let Some(Answers::But(rule)) = self.ports.get(port.0 as usize)
            && !rule.passes(packet)
            && !self.waiting.contains(&port)
        {
            self.waiting.push(port);
        }
    }

    fn look(&mut self, fabric: &Fabric) {
        self.waiting.retain(|port| !fabric.is_settled_at(*port));
    }

    /// Whether nothing comes back at this port at once, as long as it is heeded.
    fn is_left_out(&self, port: PortId) -> bool {
        !matches!(self.ports.get(port.0 as usize), None | Some(Answers::Unknown)) && !self.waiting.contains(&port)
    }
}

impl<M: Machine> Scheduler<M> {
    /// Until when a group can run from `begin` on if its kernels heed what may be answered; none where that is hardly later than `until`.
    pub(super) fn until_answers(&mut self, group: usize, begin: Instant, until: Instant) -> Option<Instant> {
        let without = until.since(begin);
        if self.heeded.ports.is_empty() || !self.fabric.has_devices() || without >= LONG {
            return None;
        }
        let Self { fabric, heeded, .. } = self;
        heeded.look(fabric);
        let far = fabric.lookahead_but_answers(begin, |port| heeded.is_left_out(port));
        let far = far.min(self.groups[group].known).min(begin + self.longest_window);
        let least = LEAST.max(Duration::from_nanos(without.as_nanos() * GAIN));
        (far.since(begin) > least).then_some(far)
    }

    /// Foresees what the kernels of a group get before `until`, and lets them run.
    pub(super) fn begin_heeding(&mut self, group: usize, begin: Instant, until: Instant) -> Result<(), SchedulerError> {
        let state = &mut self.groups[group];
        state.rounds = if state.now == begin { state.rounds + 1 } else { 1 };
        state.now = begin;
        let Self { fabric, pool, members, places, whole, .. } = self;
        let ethernet = fabric.ethernet().clone();
        members.iter_mut().for_each(Member::begin_copy);
        let mut give = Give { ethernet: &ethernet, pool, members, whole, is_between: &[] };
        fabric.preview(until, |leave, delivery| {
            let place = places.get(delivery.port.0 as usize).copied().flatten();
            let at = delivery.departure.due.max(leave).max(begin);
            match place.filter(|(machine, _)| give.is_news(*machine, at, delivery.pipe)) {
                Some(place) => give.foreseen(place, at, delivery),
                None => give.pool.recycle(delivery.departure.packet),
            }
        });
        for machine in &self.groups[group].machines {
            let member = &mut self.members[*machine];
            if member.next_wake != NextWake::Off {
                member.reached = member.reached.max(until);
            }
        }
        self.let_run(group, Grant { begin, until, stop: StopRule::Answerable }, false)
    }

    /// All have reported: the fabric goes on until the first instant at which a kernel was stopped.
    pub(super) fn end_heeding(&mut self, group: usize, begin: Instant, until: Instant) {
        let running = self.groups[group].machines.iter().map(|machine| &self.members[*machine]);
        let reached = running.filter(|member| member.next_wake != NextWake::Off).map(|member| member.reached).min();
        let stopped = reached.filter(|reached| *reached < until);
        let end = stopped.unwrap_or(until);
        self.receive(|fabric, sink| fabric.play_until(end, sink), begin);
        let state = &mut self.groups[group];
        if stopped != Some(begin) {
            state.rounds = u32::from(stopped.is_some());
        }
        state.now = end;
    }
}
