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
    /// The file that it was read from, as the user named it; none if it stands in the lab file itself.
    pub file: Option<Arc<str>>,
    /// What happens between two steps.
    pub interpolation: Interpolation,
    /// Whether it begins again at the time of its last step, or stays as it is then.
    repeat: bool,
}

/// What is changed at an instant; what is none stays as it is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Step {
    /// When, since the schedule began.
    pub at: Duration,
    /// The rate.
    pub rate: Option<Rate>,
    /// The propagation delay.
    pub delay: Option<Duration>,
    /// The probability of loss.
    pub loss: Option<Probability>,
    /// The limit of the queue, whatever its discipline.
    pub queue: Option<Limit>,
}

/// What happens between two steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Interpolation {
    /// Nothing: each step holds until the next.
    #[default]
    Step,
    /// Rate, delay and loss change in a straight line; the queue's limit by steps.
    Linear,
}

impl Timetable {
    /// The schedule with these steps.
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

    /// All steps, in order of time.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Whether it begins again.
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
