//! Partitions, of which each part of a lab has the same one: packets are judged where they enter a link, on whatever machine that is.

use super::Ground;
use super::shares::{Divided, divisible, undrawn};
use super::tree::{key, list, text, with};
use crate::diagnostics::Diagnostic;
use crate::resolve::{WrittenPartition, written_by_hand, written_partition};
use crate::yaml::Node;
use std::collections::BTreeSet;

/// Divides a partition of the timeline.
pub(super) fn partition(ground: &Ground<'_>, item: &Node) -> Divided {
    let homes = homes(ground);
    if homes.len() < 2 {
        return divisible(ground, item, "");
    }
    undrawn(item)?;
    let all = ground.root.value("timeline").map_or(&[][..], Node::items);
    let earlier = all.iter().take_while(|own| own.span != item.span).count();
    let written = written_partition(item, &all[..earlier], ground.plan)?;
    Ok(homes.into_iter().map(|machine| (machine, of_machine(ground, machine, item, &written))).collect())
}

/// Divides a partition that a user makes by hand, which was the `number`th.
pub(super) fn by_hand(ground: &Ground<'_>, item: &Node, number: usize) -> Result<Vec<(usize, Node)>, Diagnostic> {
    let written = written_by_hand(item, number, ground.plan)?;
    Ok(homes(ground).into_iter().map(|machine| (machine, of_machine(ground, machine, item, &written))).collect())
}

/// The machines that have nodes.
fn homes(ground: &Ground<'_>) -> BTreeSet<usize> {
    ground.placement.nodes.iter().map(|(home, _)| *home).collect()
}

/// The entry of a machine: with its own nodes, and those of others that it knows.
fn of_machine(ground: &Ground<'_>, machine: usize, item: &Node, written: &WrittenPartition) -> Node {
    let is_known = |node: &usize| ground.home(*node) == machine || ground.speaks(*node);
    let name = |node: usize| text(&ground.plan.nodes[node].name);
    let group = |nodes: &Vec<usize>| list(nodes.iter().copied().filter(is_known).map(name));
    let groups = written.groups.iter().filter(|nodes| nodes.iter().any(is_known)).map(group);
    let pairs = written.neighbors.iter().filter(|(one, other)| is_known(one) && is_known(other));
    // Written even if there is none: those that follow from the links of a part are others.
    let pairs = pairs.map(|(one, other)| list([name(*one), name(*other)]));
    let own = with(item, vec![key("partition", list(groups)), key("neighbors", list(pairs))]);
    let kept = own.entries().iter().filter(|entry| entry.name != "others").cloned();
    super::tree::map(kept)
}
