//! Nodes that stand still for a while.

use super::world::VirtualTime;
use netloom_units::Instant;

impl VirtualTime {
    /// The kernel of this node and all in it stand still from now until then, and do not notice. Says whether there is such a kernel.
    pub fn freeze(&self, node: &str, until: Instant) -> bool {
        let world = &mut *self.0.borrow_mut();
        let Some(machine) = world.names.iter().position(|name| name == node) else { return false };
        world.scheduler.freeze(machine, until);
        true
    }
}
