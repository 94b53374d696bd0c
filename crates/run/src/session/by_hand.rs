//! What clients have asked for that happens as if the timeline had an entry for it.

use netloom_lab::Action;
use std::collections::BTreeMap;

/// The actions of clients, numbered behind the entries of the timeline.
#[derive(Debug, Default)]
pub(super) struct ByHand {
    actions: BTreeMap<usize, Action>,
    /// How many there were so far.
    count: usize,
    /// Why the agent of a node has refused one of those that are played now.
    pub(super) refusal: Option<String>,
    /// Whether any of them has treated packets.
    pub(super) treats_packets: bool,
}

impl ByHand {
    /// Returns the action with this number.
    pub(super) fn get(&self, event: usize) -> Option<&Action> {
        self.actions.get(&event)
    }

    /// Takes in an action, and returns its number. `first`: how many entries the timeline has.
    pub(super) fn add(&mut self, first: usize, action: Action) -> usize {
        let event = first + self.count;
        self.count += 1;
        self.actions.insert(event, action);
        event
    }

    /// Forgets all actions but those that last.
    pub(super) fn forget(&mut self, lasts: impl Fn(usize) -> bool) {
        self.actions.retain(|event, _| lasts(*event));
    }
}
