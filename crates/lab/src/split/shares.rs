//! The shares of machines in an entry.

use super::Ground;
use crate::diagnostics::Diagnostic;
use crate::yaml::{Content, Node};
use std::collections::{BTreeMap, BTreeSet};

/// The shares of machines in something.
pub(super) type Shares = BTreeMap<usize, Node>;
pub(super) type Divided = Result<Shares, Diagnostic>;

/// Keys whose values can be drawn from the seed.
const DRAWN: [&str; 4] = ["at", "every", "for", "delay"];

/// Everything of an entry on one machine.
pub(super) fn whole(machine: usize, item: &Node) -> Divided {
    Ok(Shares::from([(machine, item.clone())]))
}

/// Something that can be on one machine only: all of it if there is no other.
pub(super) fn divisible(ground: &Ground<'_>, item: &Node, message: &str) -> Divided {
    let homes: BTreeSet<usize> = ground.placement.nodes.iter().map(|(home, _)| *home).collect();
    match homes.first() {
        Some(only) if homes.len() == 1 => whole(*only, item),
        _ => Err(item.error(message)),
    }
}

/// Refuses drawn times, which each part would draw anew.
pub(super) fn undrawn(item: &Node) -> Result<(), Diagnostic> {
    let drawn = DRAWN.iter().filter_map(|name| item.value(name)).find(|value| matches!(value.content, Content::Map(_)));
    match drawn {
        Some(value) => {
            Err(value.error("this is about two machines, which would draw times of their own: write the time"))
        }
        None => Ok(()),
    }
}
