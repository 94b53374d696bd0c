//! How links and directions number the fabric's pipes and ports.

use netloom_fabric::{PipeId, PortId};
use netloom_lab::{Direction, PipePlan};

/// Where a pipe belongs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PipePlace {
    /// The link's place in the plan.
    pub(crate) link: usize,
    pub(crate) direction: Direction,
    /// The name of a further pipe; none: the direction's own.
    pub(crate) pipe: Option<String>,
}

impl PipePlace {
    pub(crate) fn of(plan: &PipePlan<'_>) -> Self {
        let pipe = plan.treatment.map(|treatment| treatment.name.clone());
        Self { link: plan.link, direction: plan.direction, pipe }
    }

    /// Whether it is one of this link, and of this direction if one is given.
    pub(crate) fn is_of(&self, link: usize, direction: Option<Direction>) -> bool {
        self.link == link && direction.is_none_or(|only| only == self.direction)
    }

    /// As part of a text: nothing, or a blank and the name of a further pipe.
    pub(crate) fn suffix(&self) -> String {
        self.pipe.as_ref().map_or_else(String::new, |pipe| format!(" {pipe}"))
    }
}

pub(crate) fn pipe_id(pipe: usize) -> PipeId {
    PipeId(number(pipe))
}

/// The port at an end of a link.
pub(crate) fn port_id(link: usize, end: usize) -> PortId {
    PortId(number(link * 2 + end))
}

fn number(value: usize) -> u32 {
    u32::try_from(value).expect("a lab has fewer than 2^31 links")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_are_numbered_by_ends() {
        assert_eq!(port_id(3, 1), PortId(7));
    }

    #[test]
    fn a_pipe_is_of_its_link_and_direction() {
        let place = PipePlace { link: 3, direction: Direction::Backward, pipe: Some("voip".into()) };
        assert!(place.is_of(3, None) && place.is_of(3, Some(Direction::Backward)));
        assert!(!place.is_of(2, None) && !place.is_of(3, Some(Direction::Forward)));
    }
}
