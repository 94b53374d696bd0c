//! How links and directions number the fabric's pipes and ports.

use netloom_fabric::{PipeId, PortId};

/// The pipe at this place of the fabric.
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
}
