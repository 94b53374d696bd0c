//! Changes that a pipe makes by itself at known times.
//!
//! | parameter | unit | range | default |
//! |---|---|---|---|
//! | time of a step | ns | rising from step to step | - |
//! | rate | bit/s | 1 and above | as it is |
//! | delay | ns | 0 and above | as it is |
//! | loss | probability | 0 to 1 | as it is |
//! | queue | a limit | 0 and above | as it is |
//! | between steps | step or linear | - | step |
//! | repeat | - | - | no |
//!
//! Every quantity is a track of its own: a step that does not name it is none of its steps, and what is set by other
//! means holds until its next step. A repeated schedule begins again at the time of its last step, as a trace of
//! mahimahi does. Source: the models of the literature that change in time (dummynet with a timed script, the traces of
//! mahimahi, TheaterQ), in one form.
//!
//! Linear: from one step to the next that names the quantity, the rate, the delay and the loss change in a straight
//! line. A transmission ends when the integral of the rate reaches the packet's bits, a packet travels for the delay at
//! the instant its transmission ends, and is lost with the probability at its arrival.

mod table;
mod track;

pub use table::{Interpolation, Step, Timetable};

use crate::slope::Slope;
use netloom_units::{Instant, Limit};
use track::{Point, Track};

/// How the pipe changes by itself as time goes by.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum ScheduleConfig {
    /// Not at all.
    #[default]
    None,
    /// At the times of a table.
    Table(Timetable),
}

impl ScheduleConfig {
    /// Whether it changes how long packets travel.
    pub fn changes_delay(&self) -> bool {
        matches!(self, Self::Table(table) if table.steps().iter().any(|step| step.delay.is_some()))
    }

    /// Every limit that it gives the queue.
    pub(crate) fn limits(&self) -> impl Iterator<Item = Limit> + '_ {
        let table = match self {
            Self::None => None,
            Self::Table(table) => Some(table),
        };
        table.into_iter().flat_map(Timetable::steps).filter_map(|step| step.queue)
    }
}

/// What begins at a step of a schedule.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Leg {
    /// In bits per second.
    pub(crate) rate: Option<Slope>,
    /// In nanoseconds.
    pub(crate) delay: Option<Slope>,
    /// In parts per trillion.
    pub(crate) loss: Option<Slope>,
    pub(crate) queue: Option<Limit>,
}

/// A schedule and how far it has come.
#[derive(Clone, Debug)]
pub(crate) struct Schedule {
    interpolation: Interpolation,
    rate: Track<u64>,
    delay: Track<u64>,
    loss: Track<u64>,
    queue: Track<Limit>,
}

impl Schedule {
    /// The schedule from `now` on; none if there is nothing to do.
    pub(crate) fn new(config: &ScheduleConfig, now: Instant) -> Option<Self> {
        let ScheduleConfig::Table(table) = config else { return None };
        let period = table.period();
        Some(Self {
            interpolation: table.interpolation,
            rate: Track::new(table.points(|step| Some(step.rate?.as_bits_per_second())), period, now),
            delay: Track::new(table.points(|step| Some(step.delay?.as_nanos())), period, now),
            loss: Track::new(table.points(|step| Some(step.loss?.as_parts_per_trillion())), period, now),
            queue: Track::new(table.points(|step| step.queue), period, now),
        })
    }

    /// When it changes something next.
    pub(crate) fn next(&self) -> Option<Instant> {
        let tracks = [self.rate.next(), self.delay.next(), self.loss.next(), self.queue.next()];
        tracks.into_iter().flatten().min()
    }

    /// What begins at that instant.
    pub(crate) fn take(&mut self) -> Leg {
        let Some(at) = self.next() else { return Leg::default() };
        let linear = self.interpolation == Interpolation::Linear;
        let line = |point: Point<u64>| slope(at, point, linear);
        Leg {
            rate: self.rate.take(at).map(line),
            delay: self.delay.take(at).map(line),
            loss: self.loss.take(at).map(line),
            queue: self.queue.take(at).map(|point| point.value),
        }
    }

    /// Leaves out what is replaced until `until` anyway.
    pub(crate) fn skip(&mut self, until: Instant) {
        self.rate.skip(until);
        self.delay.skip(until);
        self.loss.skip(until);
        self.queue.skip(until);
    }
}

fn slope(begin: Instant, point: Point<u64>, linear: bool) -> Slope {
    match point.next.filter(|(end, _)| linear && *end > begin) {
        Some((end, to)) => Slope { begin, end, from: point.value, to },
        None => Slope::flat(point.value),
    }
}
