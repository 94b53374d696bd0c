//! Windows and rounds: kernels run, all at once.

use super::{Scheduler, SchedulerError, Sent};
use crate::schedule::member::{Grant, INSTANT};
use crate::schedule::{Machine, MachineError};
use netloom_fabric::PipeId;
use netloom_link::PipeChange;
use netloom_packet::Packet;
use netloom_units::Instant;
use std::collections::VecDeque;

/// An instant that goes on for so many rounds never ends: frames go in circles over links without delay.
const MOST_ROUNDS: u32 = 100_000;

/// Kernels run.
pub(super) struct Window {
    grant: Grant,
    /// Those that have not reported, in order.
    pub(super) running: VecDeque<usize>,
    failure: Option<SchedulerError>,
    /// Whether the links left no lookahead.
    is_round: bool,
}

/// What is to be done when the window is over.
pub(super) enum PutOff {
    Send(usize, Packet),
    Change(PipeId, Box<PipeChange>),
    SetUp(PipeId, bool),
}

impl<M: Machine> Scheduler<M> {
    /// Begins a window at `begin` that ends at `limit` or before.
    pub(super) fn begin(&mut self, begin: Instant, limit: Instant) -> Window {
        self.receive(|fabric, sink| fabric.advance(begin, sink), begin);
        let until = self.fabric.certain_until(begin).min(limit).min(begin + self.longest_window);
        if until > begin {
            self.receive(|fabric, sink| fabric.advance_certain(until, sink), begin);
            return self.let_run(Grant { begin, until, alone: false }, false);
        }
        self.begin_round(begin, limit)
    }

    /// Plays the instant `begin` once; or, if only one machine has something to do, what that does until it sends.
    fn begin_round(&mut self, begin: Instant, limit: Instant) -> Window {
        self.rounds = if self.now == begin { self.rounds + 1 } else { 1 };
        self.now = begin;
        let alone = self.alone_until(begin);
        let until = alone.map_or(begin + INSTANT, |until| until.min(limit).min(begin + self.longest_window));
        self.let_run(Grant { begin, until, alone: alone.is_some() }, true)
    }

    /// Lets everybody run who has something to do, all at once.
    fn let_run(&mut self, grant: Grant, is_round: bool) -> Window {
        let (mut failure, mut running) = (None, VecDeque::new());
        for (machine, member) in self.members.iter_mut().enumerate() {
            if member.next().is_none_or(|next| next >= grant.until) {
                continue;
            }
            match member.grant(grant, &mut self.pool) {
                Ok(()) => running.push_back(machine),
                Err(error) => failure = failure.or(Some(SchedulerError { machine, error })),
            }
        }
        let has_run = u64::from(!running.is_empty());
        self.statistics.windows += has_run;
        self.statistics.rounds += if is_round { has_run } else { 0 };
        self.statistics.grants += running.len() as u64;
        Window { grant, running, failure, is_round }
    }

    /// Waits until all have reported, and puts what they sent into the fabric; false when our time came to `pause` before.
    pub(super) fn go_on(
        &mut self,
        mut window: Window,
        pause: Option<std::time::Instant>,
    ) -> Result<bool, SchedulerError> {
        while let Some(machine) = window.running.front().copied() {
            match self.await_report(machine, window.grant, pause) {
                Ok(true) => {}
                Ok(false) => {
                    self.open = Some(window);
                    return Ok(false);
                }
                Err(error) => window.failure = window.failure.or(Some(SchedulerError { machine, error })),
            }
            window.running.pop_front();
        }
        self.end(window)?;
        for asked in std::mem::take(&mut self.put_off) {
            match asked {
                PutOff::Send(machine, packet) => drop(self.send_agent(machine, packet)),
                PutOff::Change(pipe, change) => self.change(pipe, &change),
                PutOff::SetUp(pipe, up) => self.set_up(pipe, up),
            }
        }
        Ok(true)
    }

    /// A window is over.
    fn end(&mut self, Window { grant, failure, is_round, .. }: Window) -> Result<(), SchedulerError> {
        if grant.alone {
            self.now = self.outbox.first().map_or(grant.until - INSTANT, |first| first.passage.at);
        }
        let last = self.outbox.last().map(|sent| sent.machine);
        self.send();
        match (failure, last) {
            (Some(failure), _) => return Err(failure),
            (None, Some(machine)) if self.rounds > MOST_ROUNDS => {
                let at = grant.begin.as_nanos();
                let what = format!("frames go in circles over links without delay, and time stands still at {at} ns");
                return Err(SchedulerError { machine, error: MachineError::Protocol(what) });
            }
            (None, _) => {}
        }
        if !is_round {
            self.fabric.catch_up(grant.until - INSTANT);
            (self.now, self.rounds) = (grant.until, 0);
        }
        Ok(())
    }

    fn await_report(
        &mut self,
        machine: usize,
        grant: Grant,
        pause: Option<std::time::Instant>,
    ) -> Result<bool, MachineError> {
        let start = std::time::Instant::now();
        let member = &mut self.members[machine];
        let outbox = &mut self.outbox;
        let sent = member.report(grant, pause, &mut self.pool);
        let result =
            sent.map(|sent| sent.map(|sent| outbox.extend(sent.map(|passage| Sent { machine, passage }))).is_some());
        let waited = start.elapsed();
        self.members[machine].statistics.waited += waited;
        self.statistics.waited += waited;
        result
    }
}
