//! What faults have done to packets.

use super::world::VirtualTime;
use netloom_fabric::Fabric;
use netloom_link::Firing;

impl VirtualTime {
    /// Returns what faults of the timeline have done to packets since the last call.
    pub(crate) fn firings(&self) -> Vec<Firing> {
        let mut all = self.0.borrow_mut().scheduler.look(Fabric::take_firings);
        // Kernels that run ahead of each other send in any order.
        all.sort_by_key(|firing| (firing.at, firing.pipe));
        all
    }
}
