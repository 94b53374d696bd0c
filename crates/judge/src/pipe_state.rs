//! Where a pipe belongs, and what is in force on it.

use netloom_lab::{Direction, PipePlan};
use netloom_link::{PipeConfig, ReorderConfig};
use netloom_units::Duration;

/// Where a pipe belongs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PipePlace {
    /// The link's place in the plan.
    pub link: usize,
    /// The direction of the link to which the pipe belongs.
    pub direction: Direction,
    /// The name of a further pipe; none: the direction's own.
    pub pipe: Option<String>,
}

impl PipePlace {
    /// Returns the place of a pipe of the plan.
    pub fn of(plan: &PipePlan<'_>) -> Self {
        let pipe = plan.treatment.map(|treatment| treatment.name.clone());
        Self { link: plan.link, direction: plan.direction, pipe }
    }

    /// Whether the pipe belongs to this link, and to this direction if one is given.
    pub fn is_of(&self, link: usize, direction: Option<Direction>) -> bool {
        self.link == link && direction.is_none_or(|only| only == self.direction)
    }

    /// Returns a blank and the name of a further pipe, as part of a text; nothing for the direction's own pipe.
    pub fn suffix(&self) -> String {
        self.pipe.as_ref().map_or_else(String::new, |pipe| format!(" {pipe}"))
    }
}

/// The state of a pipe: the models in force on it, and whether it is up.
#[derive(Clone, Debug)]
pub struct PipeState {
    /// The place of the pipe: its link and direction.
    pub place: PipePlace,
    /// The models of the pipe.
    pub config: PipeConfig,
    /// Whether neither the timeline nor a user has cut the pipe.
    pub up: bool,
    /// How many nodes at the pipe's link have stopped.
    pub stopped_nodes: u32,
    /// Whether the delay was changed since the lab started.
    pub delay_changed: bool,
}

impl PipeState {
    /// Whether the pipe is up: neither the timeline, a user nor a node that has stopped has cut it.
    pub fn is_up(&self) -> bool {
        self.up && self.stopped_nodes == 0
    }

    /// Returns the delay of every packet since the lab started, if it was always the same.
    pub fn steady_delay(&self) -> Option<Duration> {
        // What overtakes travels for a shorter time.
        let is_in_order = self.config.reorder == ReorderConfig::default();
        let is_steady = is_in_order && !self.delay_changed && !self.config.schedule.changes_delay();
        self.config.delay.is_constant().filter(|_| is_steady)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pipe_is_of_its_link_and_direction() {
        let place = PipePlace { link: 3, direction: Direction::Backward, pipe: Some("voip".into()) };
        assert!(place.is_of(3, None) && place.is_of(3, Some(Direction::Backward)));
        assert!(!place.is_of(2, None) && !place.is_of(3, Some(Direction::Forward)));
    }
}
