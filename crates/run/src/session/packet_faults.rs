//! What faults of the timeline have done to packets: the engine does it, and the session takes note of it.

use super::state::Session;
use netloom_judge::RunError;
use netloom_lab::{Action, describe_firing};

impl Session<'_> {
    /// Notes what faults have done since the last call, if the timeline has any.
    pub(super) fn note_firings(&mut self) -> Result<(), RunError> {
        let is_fault = |action: &Action| matches!(action, Action::Set { change, .. } if !change.faults.is_empty());
        let Some(zero) = self.context.zero() else { return Ok(()) };
        let is_any_planned = self.context.job.plan.timeline.iter().any(|event| is_fault(&event.action));
        if !is_any_planned && !self.context.by_hand.treats_packets {
            return Ok(());
        }
        // Why the engine has ended, if it has, is told elsewhere.
        for firing in self.context.links.firings().unwrap_or_default() {
            let details = describe_firing(&self.context.job.plan, &firing);
            self.context.events.add(firing.at, Some(zero), "packet fault", details)?;
        }
        Ok(())
    }
}
