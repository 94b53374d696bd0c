//! What is in force on a pipe of a running lab.

use crate::direction::PipePlace;
use netloom_link::{PipeConfig, ReorderConfig};
use netloom_units::Duration;

/// What is in force on one pipe.
#[derive(Clone, Debug)]
pub(crate) struct PipeState {
    pub(crate) place: PipePlace,
    pub(crate) config: PipeConfig,
    pub(crate) up: bool,
    /// Whether the delay was changed since the lab started.
    pub(crate) delay_changed: bool,
}

impl PipeState {
    /// The delay of every packet since the lab started, if it was always the same.
    pub(crate) fn steady_delay(&self) -> Option<Duration> {
        // What overtakes travels for a shorter time.
        let is_in_order = self.config.reorder == ReorderConfig::default();
        let is_steady = is_in_order && !self.delay_changed && !self.config.schedule.changes_delay();
        self.config.delay.is_constant().filter(|_| is_steady)
    }
}
