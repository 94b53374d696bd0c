//! Scheduled events: changes of pipes at instants that are known ahead of time.
//!
//! The driver of a fabric keeps them itself: the fabric advances until just before the instant, what arrived
//! before it enters, then the event is executed, before anything else happens at that instant. So a driver that
//! is late still changes pipes at the described instant, and only the driver can delay a change.

use crate::series::{INSTANT, Sampling};
use netloom_fabric::{PipeId, PortId};
use netloom_figures::Snapshot;
use netloom_link::PipeChange;
use netloom_units::{Duration, Instant};
use std::collections::VecDeque;

/// A change that happens to a pipe.
#[derive(Clone, Debug, PartialEq)]
pub enum Act {
    /// The pipe is changed with packets inside.
    Change(Box<PipeChange>),
    /// The pipe is cut, or restored.
    SetUp(bool),
    /// The pipe is cut, and what is on the wire is lost, too: the interfaces at its ends lose their carrier.
    Unplug,
    /// The guests at the entrances of the pipe hear that their link has a carrier, or none.
    SetCarrier(bool),
    /// The guest at a port of the pipe hears that its link has a carrier, or none.
    SetPortCarrier(PortId, bool),
}

/// The purpose of a scheduled event.
#[derive(Clone, Debug, PartialEq)]
pub enum Task {
    /// Pipes are changed, in this order.
    Acts(Vec<(PipeId, Act)>),
    /// Counting begins: what was counted and measured so far is forgotten, and what is inside pipes is counted as such.
    Begin,
    /// Everything is measured.
    Measure,
    /// All pipes are looked at, and so again and again from then on. It is not reported as executed.
    Sample(Sampling),
}

/// The treatment of events of which a thread of the engine learns when it is beyond the first of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IfLate {
    /// The events are executed at once.
    Execute,
    /// The events are executed on no thread, and everything that was scheduled before is forgotten.
    Forget,
}

/// Something to be done at an instant of lab time.
#[derive(Clone, Debug, PartialEq)]
pub struct ScheduledEvent {
    /// The number by which it is reported.
    pub number: u64,
    /// The instant at which it is due.
    pub at: Instant,
    /// The task that is due.
    pub task: Task,
}

/// An event that was executed.
#[derive(Clone, Debug)]
pub struct ExecutedEvent {
    /// The number of the scheduled event.
    pub number: u64,
    /// How much later than its instant the driver came to it. What was done took effect at its instant all the same, or, if
    /// the fabric was beyond that already, as soon as possible.
    pub late: Duration,
    /// The measurements, if the task was [`Task::Measure`].
    pub snapshot: Option<Snapshot>,
}

/// Events that are still to be executed, in order.
#[derive(Debug, Default)]
pub struct EventQueue(VecDeque<ScheduledEvent>);

impl EventQueue {
    /// Adds events; of those at one instant, the order is kept.
    pub fn add(&mut self, scheduled_events: impl IntoIterator<Item = ScheduledEvent>) {
        self.0.extend(scheduled_events);
        self.0.make_contiguous().sort_by_key(|scheduled_event| scheduled_event.at);
    }

    /// One more, behind those of its instant.
    pub fn insert(&mut self, scheduled_event: ScheduledEvent) {
        let place = self.0.partition_point(|other| other.at <= scheduled_event.at);
        self.0.insert(place, scheduled_event);
    }

    /// When the next one is.
    pub fn next(&self) -> Option<Instant> {
        self.0.front().map(|scheduled_event| scheduled_event.at)
    }

    /// The last instant before the next one, as far as everything may go on at `now`.
    pub fn limit(&self, now: Instant) -> Instant {
        self.next().map_or(now, |next| now.min(next - INSTANT))
    }

    /// The next one, if it is due at `now`.
    pub fn take_due(&mut self, now: Instant) -> Option<ScheduledEvent> {
        if self.next()? <= now { self.0.pop_front() } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measure(number: u64, at: u64) -> ScheduledEvent {
        ScheduledEvent { number, at: Instant::from_nanos(at), task: Task::Measure }
    }

    #[test]
    fn scheduled_events_come_in_order_of_instants_then_as_they_were_made() {
        let mut event_queue = EventQueue::default();
        event_queue.add([measure(0, 20), measure(1, 10), measure(2, 20)]);
        event_queue.insert(measure(3, 10));
        let at = Instant::from_nanos;
        assert_eq!((event_queue.limit(at(5)), event_queue.limit(at(10))), (at(5), at(9)));
        assert_eq!(event_queue.take_due(at(9)), None);
        let order: Vec<u64> =
            std::iter::from_fn(|| event_queue.take_due(at(30))).map(|executed| executed.number).collect();
        assert_eq!(order, [1, 3, 0, 2]);
        assert_eq!(event_queue.limit(at(7)), at(7));
    }
}
