//! The lab in virtual time as a part of one that is played in several.

use super::world::VirtualTime;
use netloom_judge::RunError;
use netloom_parts::{PartRequest, Peers};
use std::io;

impl VirtualTime {
    /// From now on this is a part of a lab that is played in several. `captures`: whether packets of all links are recorded here.
    pub(super) fn divide(
        &self,
        request: &PartRequest,
        homes: &[usize],
        mut peers: Peers,
        captures: bool,
    ) -> io::Result<()> {
        let scheduler = &mut self.0.borrow_mut().scheduler;
        if let Some(doorbell) = scheduler.doorbell() {
            peers.start(&doorbell.ringer())?;
        }
        scheduler.divide(request.here, homes, Box::new(peers));
        if captures {
            scheduler.tell_whole();
        }
        Ok(())
    }

    /// Whether this is a part of a lab that is played in several: what one of them did by itself, the others would not know.
    pub fn is_part(&self) -> bool {
        self.0.borrow().scheduler.is_divided()
    }

    /// This part of a lab has come to its end, as other parts hear; those that need nothing more of it go on.
    pub fn leave_parts(&self) {
        self.0.borrow_mut().scheduler.leave();
    }

    /// Returns what `find` finds out about the kernel at this place, which only the part of the lab can do that it runs in; other parts hear it
    /// from that one, at the same instant.
    pub(super) fn known_of(
        &self,
        node: usize,
        find: impl FnOnce() -> Result<Vec<u8>, RunError>,
    ) -> Result<Vec<u8>, RunError> {
        let world = &mut *self.0.borrow_mut();
        if !world.scheduler.is_elsewhere(node) {
            let found = find()?;
            world.scheduler.state(node, &found).map_err(|error| world.failure(error))?;
            return Ok(found);
        }
        loop {
            if let Some(stated) = world.scheduler.stated(node).map_err(|error| world.failure(error))? {
                return Ok(stated);
            }
            world.look_for_alarms()?;
        }
    }

    /// Whether the kernel at this place runs in another part of the lab.
    pub(super) fn is_elsewhere(&self, node: usize) -> bool {
        self.0.borrow().scheduler.is_elsewhere(node)
    }
}
