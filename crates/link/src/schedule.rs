//! Changes that a pipe makes by itself at known times.

use crate::PipeChange;
use netloom_units::Instant;

/// How the pipe changes by itself as time goes by.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum ScheduleConfig {
    /// Not at all.
    #[default]
    None,
}

/// A schedule and how far it has come.
#[derive(Debug)]
pub(crate) struct Schedule {}

impl Schedule {
    /// The schedule from `now` on; none if there is nothing to do.
    pub(crate) fn new(config: &ScheduleConfig, now: Instant) -> Option<Self> {
        let _ = now;
        match config {
            ScheduleConfig::None => None,
        }
    }

    /// When it changes something next.
    pub(crate) fn next(&self) -> Option<Instant> {
        None
    }

    /// What is to be changed at that instant.
    pub(crate) fn take(&mut self) -> PipeChange {
        PipeChange::default()
    }
}
