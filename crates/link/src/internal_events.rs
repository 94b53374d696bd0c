//! What a pipe does without packets from outside: its schedule, its flapping, its cross traffic, and what partitions held.

use crate::cross::Cross;
use crate::held::Held;
use crate::schedule::{Leg, Schedule};
use crate::state::Flapping;
use crate::{PipeChange, PipeConfig};
use alloc::boxed::Box;
use netloom_packet::Packet;
use netloom_units::{Duration, Instant, Seed};

/// A pipe that carries nothing else does what happens in it in portions of this span, so that a packet that arrives
/// after a long silence finds little left to do.
pub(crate) const CATCH_UP: Duration = Duration::from_millis(10);

/// Something that the pipe does by itself.
#[derive(Clone, Debug)]
pub(crate) enum TimedEvent {
    Step(Leg),
    SetUp(bool),
    Arrival(Packet),
    /// A partition does not hold it any more.
    Release(Packet),
}

/// See the module.
#[derive(Clone, Debug)]
pub(crate) struct InternalEvents {
    schedule: Option<Schedule>,
    flapping: Option<Flapping>,
    cross: Option<Cross>,
    /// What partitions hold.
    held: Held,
    seed: Seed,
}

impl InternalEvents {
    /// The internal events of `config`; none if there is nothing to do.
    pub(crate) fn new(config: &PipeConfig, seed: Seed) -> Option<Box<Self>> {
        let change = PipeChange {
            schedule: Some(config.schedule.clone()),
            state: Some(config.state.clone()),
            cross: Some(config.cross.clone()),
            ..PipeChange::default()
        };
        Self::changed(None, Instant::ZERO, &change, seed)
    }

    /// `internal_events` with the change made; times count from `now`.
    pub(crate) fn changed(
        internal_events: Option<Box<Self>>,
        now: Instant,
        change: &PipeChange,
        seed: Seed,
    ) -> Option<Box<Self>> {
        let was_there = internal_events.is_some();
        let mut this = internal_events.unwrap_or_else(|| Self::none(seed));
        if let Some(schedule) = &change.schedule {
            this.schedule = Schedule::new(schedule, now);
        }
        if let Some(state) = &change.state {
            this.flapping = Flapping::of_pipe(state, now, this.seed);
        }
        if let Some(cross) = &change.cross {
            this.cross = Cross::new(cross, now, this.seed.derive("cross"));
        }
        let is_idle = this.schedule.is_none() && this.flapping.is_none() && this.cross.is_none();
        // Once there, it stays: packets of former cross traffic may still be in front of others.
        (was_there || !is_idle).then_some(this)
    }

    fn none(seed: Seed) -> Box<Self> {
        Box::new(Self { schedule: None, flapping: None, cross: None, held: Held::default(), seed })
    }

    /// What partitions hold, with room for more.
    pub(crate) fn held(internal_events: &mut Option<Box<Self>>, seed: Seed) -> &mut Held {
        &mut internal_events.get_or_insert_with(|| Self::none(seed)).held
    }

    /// Whether partitions hold anything.
    pub(crate) fn is_holding(&self) -> bool {
        !self.held.is_empty()
    }

    /// When a partition lets something go by itself next.
    pub(crate) fn next_release(&self) -> Option<Instant> {
        self.held.next()
    }

    /// When it changes the pipe next so that packets inside may leave at another instant. A schedule does so only while
    /// the pipe is `busy`, with a packet that waits or is being sent.
    pub(crate) fn next_change(&self, busy: bool) -> Option<Instant> {
        let schedule = self.schedule.as_ref().filter(|_| busy).and_then(Schedule::next);
        earlier(schedule, self.flapping.as_ref().and_then(Flapping::next))
    }

    /// Whether it changes how the pipe is.
    pub(crate) fn has_schedule(&self) -> bool {
        self.schedule.is_some()
    }

    /// Of what the schedule does until `end` in an idle pipe, leaves out what it replaces itself before anything arrives.
    pub(crate) fn skip(&mut self, end: Instant) {
        let Some(schedule) = &mut self.schedule else { return };
        let entering = earlier(self.cross.as_ref().and_then(Cross::next), self.held.next());
        let until = earlier(Some(end), entering).unwrap_or(end);
        schedule.skip(until);
    }

    /// When cross traffic arrives next.
    pub(crate) fn next_arrival(&self) -> Option<Instant> {
        self.cross.as_ref().and_then(Cross::next)
    }

    /// When it does something next.
    pub(crate) fn next(&self) -> Option<Instant> {
        earlier(self.next_change(true), earlier(self.next_arrival(), self.next_release()))
    }

    /// What it does then. Of events at one instant the schedule comes first, then the state, then what was held, then an arrival.
    pub(crate) fn take(&mut self, at: Instant) -> Option<TimedEvent> {
        if let Some(schedule) = self.schedule.as_mut().filter(|schedule| schedule.next() == Some(at)) {
            return Some(TimedEvent::Step(schedule.take()));
        }
        if let Some(flapping) = self.flapping.as_mut().filter(|flapping| flapping.next() == Some(at)) {
            return Some(TimedEvent::SetUp(flapping.take()));
        }
        if self.held.next() == Some(at) {
            return self.held.take_first().map(TimedEvent::Release);
        }
        let cross = self.cross.as_mut().filter(|cross| cross.next() == Some(at))?;
        cross.take().map(TimedEvent::Arrival)
    }
}

/// The earlier of two instants, as far as there are any.
pub(crate) fn earlier(one: Option<Instant>, other: Option<Instant>) -> Option<Instant> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}
