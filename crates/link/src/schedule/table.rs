//! What a user says about a schedule: a table of steps, and the CSV file that may hold it.

mod csv;

use crate::ConfigError;
use alloc::{format, sync::Arc, vec::Vec};
use netloom_units::{Duration, Limit, Probability, Rate};

/// A schedule; see the module above.
#[derive(Clone, Debug, PartialEq)]
pub struct Timetable {
    /// At least one, in order of time.
    steps: Arc<[Step]>,
    /// The file that the schedule was read from, as the user named it; none if it stands in the lab file itself.
    pub file: Option<Arc<str>>,
    /// The interpolation between two steps.
    pub interpolation: Interpolation,
    /// Whether it begins again at the time of its last step, or stays as it is then.
    repeat: bool,
}

/// The changes at one instant of a schedule; what is none stays as it is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Step {
    /// The time of the changes, since the schedule began.
    pub at: Duration,
    /// The new rate.
    pub rate: Option<Rate>,
    /// The new propagation delay.
    pub delay: Option<Duration>,
    /// The new probability of loss.
    pub loss: Option<Probability>,
    /// The new limit of the queue; its discipline stays.
    pub queue: Option<Limit>,
}

/// The interpolation between two steps of a schedule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Interpolation {
    /// No interpolation: each step holds until the next.
    #[default]
    Step,
    /// Linear interpolation of rate, delay and loss; the queue's limit changes by steps.
    Linear,
}

impl Timetable {
    /// Creates the schedule with these steps.
    ///
    /// # Errors
    /// No steps, none that changes anything, times that do not rise, and a repeated schedule of no length.
    pub fn new(steps: Vec<Step>, interpolation: Interpolation, repeat: bool) -> Result<Self, ConfigError> {
        let Some(last) = steps.last() else {
            return Err(ConfigError::new("steps", "a schedule has at least one step"));
        };
        if repeat && last.at.is_zero() {
            let message = "the time of the last step is the length of what is repeated, and must be above 0";
            return Err(ConfigError::new("repeat", message));
        }
        if let Some(index) = steps.windows(2).position(|pair| pair[1].at <= pair[0].at) {
            let (before, at) = (steps[index].at, steps[index + 1].at);
            let message = format!("step {} at {at} is not behind the one at {before}: times rise", index + 2);
            return Err(ConfigError::new("steps", message));
        }
        if steps.iter().all(|step| *step == Step { at: step.at, ..Step::default() }) {
            return Err(ConfigError::new("steps", "no step changes anything: name a rate, delay, loss or queue"));
        }
        Ok(Self { steps: steps.into(), file: None, interpolation, repeat })
    }

    /// Reads a table in CSV: the first line names the columns with their units, `time_us,rate_Mbit_s,delay_ms`, and an
    /// empty cell stays as it is.
    ///
    /// # Errors
    /// The line and what is wrong with it, or what [`Timetable::new`] refuses.
    pub fn from_csv(text: &str, interpolation: Interpolation, repeat: bool) -> Result<Self, ConfigError> {
        Self::new(csv::steps(text)?, interpolation, repeat)
    }

    /// Returns all steps, in order of time.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Whether the schedule begins again.
    pub fn is_repeated(&self) -> bool {
        self.repeat
    }

    /// After how long it begins again.
    pub(super) fn period(&self) -> Option<Duration> {
        self.steps.last().map(|step| step.at).filter(|_| self.repeat)
    }

    /// The steps that name a quantity.
    pub(super) fn points<V>(&self, value: impl Fn(&Step) -> Option<V>) -> Vec<(Duration, V)> {
        self.steps.iter().filter_map(|step| Some((step.at, value(step)?))).collect()
    }
}
