//! Entries of the timeline that clients ask for while a lab runs: they happen when they are read.

use super::timeline::entry;
use crate::errors::Errors;
use crate::spec::{ActionSpec, WrittenSpec};
use crate::yaml::{Content, Node};

/// The kinds of entries that only a timeline has, and what to do instead.
const OF_FILES: [(&str, &str); 4] = [
    ("run", "programs are started by hand with `netloom exec`: write a fault"),
    ("ramp", "a change by hand is made at once: write `set` with the last values"),
    ("move", "nodes move on the timeline alone: cut one link by `down`, and restore the other by `up`"),
    ("log", "marks are on the timeline alone: write a fault"),
];

/// The keys that say when an entry happens.
const TIMES: [&str; 4] = ["at", "every", "times", "until"];

/// An entry of a client.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "one is made at a time")]
pub(crate) enum ByHand {
    /// Nodes are parted.
    Partition,
    /// All other entries.
    Action(ActionSpec),
}

/// Reads an entry that happens when it is read.
pub(crate) fn by_hand(node: &Node, errors: &mut Errors) -> Option<ByHand> {
    let Content::Map(keys) = &node.content else {
        return errors.reject(node.expected("an entry like `{on: client, clock: {step: 3 s}}`"));
    };
    let has = |name: &str| keys.iter().any(|key| key.name == name);
    if has("partition") {
        return Some(ByHand::Partition);
    }
    if let Some((kind, instead)) = OF_FILES.into_iter().find(|(kind, _)| has(kind)) {
        return errors.reject(node.error(format!("`{kind}` is no entry that can be made by hand: {instead}")));
    }
    for key in TIMES {
        errors.extend(node.value(key).map(|value| value.error("it happens at once: leave this out")));
    }
    let before = errors.len();
    let WrittenSpec { when, action, .. } = entry(node, errors)?;
    if when.lasts.is_some() {
        errors.push(node.error("nothing is drawn by hand: write how long"));
    }
    (errors.len() == before).then_some(ByHand::Action(action))
}
