//! A kernel as the scheduler knows it.

use super::{Device, Machine, MachineError, MachineStatistics, NextWake, TimedFrame};
use netloom_fabric::PortId;
use netloom_packet::Pool;
use netloom_units::{Duration, Instant};
use std::collections::VecDeque;

/// The shortest span: that of one instant.
pub(super) const INSTANT: Duration = Duration::from_nanos(1);

/// What a kernel is let do.
#[derive(Clone, Copy, Debug)]
pub(super) struct Grant {
    /// Nothing happens before this.
    pub(super) begin: Instant,
    /// It does everything before this,
    pub(super) until: Instant,
    /// or, if it runs alone, ends with the instant at which it first sends something.
    pub(super) alone: bool,
}

/// See the module.
#[derive(Debug)]
pub(super) struct Member<M> {
    pub(super) machine: M,
    /// Where its devices meet the fabric, by their numbers.
    ports: Vec<Option<PortId>>,
    /// What it will be given next, in order of instants; of those at one instant, by the number before each.
    pub(super) inbox: VecDeque<(u32, TimedFrame)>,
    given: Vec<TimedFrame>,
    pub(super) next_wake: NextWake,
    pub(super) statistics: MachineStatistics,
    /// What it sent in this window.
    sent: Vec<TimedFrame>,
}

impl<M: Machine> Member<M> {
    /// A kernel that wants to run from the beginning.
    pub(super) fn new(machine: M) -> Self {
        Self {
            machine,
            ports: Vec::new(),
            inbox: VecDeque::new(),
            given: Vec::new(),
            next_wake: NextWake::At(Instant::ZERO),
            statistics: MachineStatistics::default(),
            sent: Vec::new(),
        }
    }

    pub(super) fn attach(&mut self, device: Device, port: PortId) {
        let place = usize::from(device.0);
        if self.ports.len() <= place {
            self.ports.resize(place + 1, None);
        }
        self.ports[place] = Some(port);
    }

    pub(super) fn port(&self, device: Device) -> Option<PortId> {
        self.ports.get(usize::from(device.0)).copied().flatten()
    }

    /// Waits for the first word of a kernel that was started without a grant.
    pub(super) fn boot(&mut self, pool: &mut Pool) -> Result<(), MachineError> {
        self.next_wake = loop {
            if let Some(next_wake) = self.machine.report(&mut self.sent, pool)? {
                break next_wake;
            }
            self.machine.look()?;
        };
        if self.sent.is_empty() {
            return Ok(());
        }
        Err(MachineError::Protocol("it sent a frame before it was allowed to run".into()))
    }

    /// It will be given this frame, behind others of the same instant that have the same number or a lower one.
    pub(super) fn take_in(&mut self, order: u32, timed_frame: TimedFrame) {
        let place = self.inbox.partition_point(|(before, other)| (other.at, *before) <= (timed_frame.at, order));
        self.inbox.insert(place, (order, timed_frame));
    }

    /// When it has something to do next.
    pub(super) fn next(&self) -> Option<Instant> {
        let next_wake = match self.next_wake {
            NextWake::At(at) => Some(at),
            NextWake::Never | NextWake::Off => None,
        };
        let frame = self.inbox.front().map(|(_, timed_frame)| timed_frame.at);
        [next_wake, frame].into_iter().flatten().min()
    }

    /// Lets it run until `until`.
    pub(super) fn grant(&mut self, grant: Grant, pool: &mut Pool) -> Result<(), MachineError> {
        self.statistics.grants += 1;
        let due = self.inbox.partition_point(|(_, timed_frame)| timed_frame.at < grant.until);
        self.statistics.received += due as u64;
        self.given.extend(self.inbox.drain(..due).map(|(_, timed_frame)| timed_frame));
        if grant.alone {
            self.machine.grant_alone(grant.until, &mut self.given, pool)
        } else {
            self.machine.grant(grant.until, &mut self.given, pool)
        }
    }

    /// What it sent, if it has done what it was let do.
    pub(super) fn report(
        &mut self,
        Grant { begin, until, alone }: Grant,
        pool: &mut Pool,
    ) -> Result<Option<impl Iterator<Item = TimedFrame> + '_>, MachineError> {
        let Some(next_wake) = self.machine.report(&mut self.sent, pool)? else { return Ok(None) };
        self.next_wake = next_wake;
        if next_wake == NextWake::Off {
            // What would reach it later is dropped.
            self.inbox.drain(..).for_each(|(_, timed_frame)| pool.recycle(timed_frame.packet));
        }
        let first = self.sent.first().filter(|_| alone).map(|timed_frame| timed_frame.at + INSTANT);
        let until = first.unwrap_or(until).min(until);
        let mut last = begin;
        for TimedFrame { at, .. } in &self.sent {
            if *at < last || *at >= until {
                let (at, least, until) = (at.as_nanos(), last.as_nanos(), until.as_nanos());
                let what =
                    format!("it sent a frame at {at} ns, where only {least} ns and later, before {until} ns, is right");
                return Err(MachineError::Protocol(what));
            }
            last = *at;
        }
        if let NextWake::At(at) = self.next_wake
            && at < until
        {
            let (at, until) = (at.as_nanos(), until.as_nanos());
            let what = format!("it stopped with something to do at {at} ns though it may run until {until} ns");
            return Err(MachineError::Protocol(what));
        }
        self.statistics.sent += self.sent.len() as u64;
        Ok(Some(self.sent.drain(..)))
    }
}
