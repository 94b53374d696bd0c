//! How links and directions number the fabric's pipes and ports.

use netloom_fabric::{PipeId, PortId};
use netloom_lab::Direction;

/// The direction of the pipe with this number: a link's pipes follow one another, forward first.
pub(crate) fn direction_of(pipe: usize) -> Direction {
    Direction::BOTH[pipe % 2]
}

/// The number of this direction's pipe of `link`.
pub(crate) fn pipe_number(link: usize, direction: Direction) -> usize {
    link * 2 + direction.index()
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
    fn pipes_and_directions_agree() {
        for pipe in 0..6 {
            assert_eq!(pipe_number(pipe / 2, direction_of(pipe)), pipe);
        }
        assert_eq!(port_id(3, 1), PortId(7));
    }
}
