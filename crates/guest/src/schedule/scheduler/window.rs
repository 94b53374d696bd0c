//! Windows and rounds: the kernels of a group run, all at once.

use super::{Scheduler, SchedulerError, Sent};
use crate::schedule::member::{Grant, INSTANT, StopRule};
use crate::schedule::{Machine, MachineError};
use netloom_units::{Duration, Instant};

/// An instant that goes on for so many rounds never ends: frames go in circles over links without delay.
const MOST_ROUNDS: u32 = 100_000;

/// How long a machine may run alone at a time: one that never sends comes back, too.
const MOST_ALONE: Duration = Duration::from_secs(1);

/// Kernels of a group run.
#[derive(Debug)]
pub(super) struct Window {
    pub(super) grant: Grant,
    /// Those that have not been let run yet, since others have their processor.
    pub(super) waiting: Vec<usize>,
    /// Those that have not reported.
    pub(super) running: Vec<usize>,
    /// What the others sent.
    outbox: Vec<Sent>,
    /// Whether the links left no lookahead.
    pub(super) is_round: bool,
}

impl<M: Machine> Scheduler<M> {
    /// Lets a group run as far as it is known what reaches it, if it has something to do before that.
    pub(super) fn begin_window(&mut self, group: usize) -> Result<(), SchedulerError> {
        let (known, now) = (self.groups[group].known, self.groups[group].now);
        let Some(begin) = self.groups[group].next.map(|next| next.max(now)).filter(|begin| *begin < known) else {
            return Ok(());
        };
        let until = self.learn_inside(group, begin).min(begin + self.longest_window);
        if let Some(far) = self.until_answers(group, begin, until) {
            return self.begin_heeding(group, begin, far);
        }
        if until > begin {
            return self.let_run(group, Grant { begin, until, stop: StopRule::Nowhere }, false);
        }
        self.begin_round(group, begin)
    }

    /// Plays the instant `begin` once; or, if only one machine has something to do, what that does until it sends.
    fn begin_round(&mut self, group: usize, begin: Instant) -> Result<(), SchedulerError> {
        let state = &mut self.groups[group];
        state.rounds = if state.now == begin { state.rounds + 1 } else { 1 };
        state.now = begin;
        let known = state.known;
        let alone = self.alone_until(group, begin);
        let until = alone.map_or(begin + INSTANT, |until| until.min(known).min(begin + self.longest_window));
        let stop = if alone.is_some() { StopRule::Sent } else { StopRule::Nowhere };
        self.let_run(group, Grant { begin, until, stop }, true)
    }

    /// If only one machine of the group has something to do at `begin`, and it can be stopped when it sends: when something
    /// else happens next. Until then, whatever happens in the group is an effect of what it sends.
    fn alone_until(&self, group: usize, begin: Instant) -> Option<Instant> {
        let mut until = (begin + MOST_ALONE).min(self.next_inside(group).unwrap_or(Instant::MAX));
        let mut busy = 0;
        for machine in &self.groups[group].machines {
            let member = &self.members[*machine];
            let Some(next) = member.next() else { continue };
            if next > begin {
                until = until.min(next);
                continue;
            }
            busy += 1;
            if busy > 1 || !member.machine.stops_after_sending() {
                return None;
            }
            // All frames that it is given are of one instant.
            let later = member.inbox.iter().map(|waiting| waiting.timed_frame.at).find(|at| *at > begin);
            until = until.min(later.unwrap_or(Instant::MAX));
        }
        (busy == 1).then_some(until)
    }

    /// A window of all who have something to do in it, and lets those run whose processor is free.
    pub(super) fn let_run(&mut self, group: usize, grant: Grant, is_round: bool) -> Result<(), SchedulerError> {
        let has_something = |machine: &usize| self.members[*machine].next().is_some_and(|next| next < grant.until);
        let waiting: Vec<usize> = self.groups[group].machines.iter().copied().filter(has_something).collect();
        self.let_these_run(group, grant, is_round, waiting)
    }

    /// A window of these machines of a group.
    pub(super) fn let_these_run(
        &mut self,
        group: usize,
        grant: Grant,
        is_round: bool,
        waiting: Vec<usize>,
    ) -> Result<(), SchedulerError> {
        let has_run = u64::from(!waiting.is_empty());
        self.statistics.windows += has_run;
        self.statistics.rounds += if is_round { has_run } else { 0 };
        self.groups[group].window = Some(Window { grant, waiting, running: Vec::new(), outbox: Vec::new(), is_round });
        self.tell_window(group)?;
        self.feed(group)
    }

    /// Lets those of a group's window run that wait for a processor which is free by now.
    pub(super) fn feed(&mut self, group: usize) -> Result<(), SchedulerError> {
        let Self { groups, members, pool, lanes, division, .. } = self;
        let Some(window) = &mut groups[group].window else { return Ok(()) };
        for machine in std::mem::take(&mut window.waiting) {
            let is_elsewhere = division.as_ref().is_some_and(|division| division.is_elsewhere(machine));
            if !is_elsewhere && !lanes.has_room(machine) {
                window.waiting.push(machine);
                continue;
            }
            self.statistics.grants += 1;
            members[machine]
                .grant(window.grant, is_elsewhere, pool)
                .map_err(|error| SchedulerError { machine, error })?;
            if !is_elsewhere {
                lanes.enter(machine);
            }
            window.running.push(machine);
        }
        Ok(())
    }

    /// Takes the reports of those of a group that have done what they were let do. Says whether there was one, or all had
    /// reported; then the window is over.
    pub(super) fn collect(&mut self, group: usize) -> Result<bool, SchedulerError> {
        let Self { groups, members, lanes, pool, division, .. } = self;
        let Some(window) = &mut groups[group].window else { return Ok(false) };
        let (grant, outbox, before) = (window.grant, &mut window.outbox, window.running.len());
        let mut failure = None;
        window.running.retain(|machine| {
            let is_elsewhere = division.as_ref().is_some_and(|division| division.is_elsewhere(*machine));
            let division = division.as_mut().map(|division| (*machine, division));
            let reported = members[*machine].report(grant, division, pool);
            if !is_elsewhere && !matches!(reported, Ok(None)) {
                lanes.leave(*machine);
            }
            match reported {
                Ok(None) => return true,
                Ok(Some(sent)) => {
                    outbox.extend(sent.map(|timed_frame| Sent { machine: *machine, timed_frame }));
                }
                Err(error) => drop(failure.get_or_insert(SchedulerError { machine: *machine, error })),
            }
            false
        });
        let left = window.running.len();
        let is_over = left == 0 && window.waiting.is_empty();
        if is_over && let Some(over) = self.groups[group].window.take() {
            let ended = self.end_window(group, over);
            failure = failure.or(ended.err());
        }
        failure.map_or(Ok(left < before || is_over), Err)
    }

    /// All have reported: what they sent enters the fabric.
    fn end_window(&mut self, group: usize, window: Window) -> Result<(), SchedulerError> {
        let Window { grant: Grant { begin, until, stop }, mut outbox, is_round, .. } = window;
        outbox.sort_by_key(|sent| (sent.timed_frame.at, sent.machine, sent.timed_frame.device));
        let (first, last) = (outbox.first().map(|first| first.timed_frame.at), outbox.last().map(|last| last.machine));
        if self.is_led(group) {
            let end = first.filter(|_| stop == StopRule::Sent).map_or(until, |first| (first + INSTANT).min(until));
            let Self { groups, members, .. } = self;
            groups[group].machines.iter().for_each(|machine| members[*machine].was_let_run_elsewhere(end, is_round));
        }
        self.send(group, outbox);
        let state = &mut self.groups[group];
        match stop {
            StopRule::Sent => state.now = first.unwrap_or(until - INSTANT),
            StopRule::Answerable => self.end_heeding(group, begin, until),
            StopRule::Nowhere if is_round => {}
            StopRule::Nowhere => {
                (state.now, state.rounds) = (until, 0);
                self.fabric.catch_up(until - INSTANT);
            }
        }
        self.find_next(group);
        match last.filter(|_| self.groups[group].rounds > MOST_ROUNDS) {
            Some(machine) => {
                let at = begin.as_nanos();
                let what = format!("frames go in circles over links without delay, and time stands still at {at} ns");
                Err(SchedulerError { machine, error: MachineError::Protocol(what) })
            }
            None => Ok(()),
        }
    }
}
