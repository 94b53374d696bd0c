//! Partitions: which links lead from one part of the network to another, and which of them are to be restored.

use super::names::{Places, index_of};
use super::place;
use crate::diagnostics::{Diagnostic, Span, Spanned};
use crate::errors::Findings;
use crate::spec::{ActionSpec, EntrySpec, LinkSpec};
use netloom_units::Duration;
use std::collections::{BTreeMap, BTreeSet};

/// The groups of nodes as they are written.
type Groups = Spanned<Vec<Vec<Spanned<String>>>>;

/// A partition of the timeline.
pub(super) struct Partition {
    /// Its place in the timeline.
    pub(super) entry: usize,
    from: Duration,
    /// When it heals by itself.
    to: Option<Duration>,
    /// The links that it cuts.
    pub(super) links: Vec<usize>,
}

/// All partitions of the timeline; what is wrong with them is noted, and that one cuts nothing is warned of.
pub(super) fn partitions(entries: &[EntrySpec], places: &Places<'_>, found: &mut Findings) -> Vec<Partition> {
    let mut all = Vec::new();
    for (entry, EntrySpec { at, action, .. }) in entries.iter().enumerate() {
        let ActionSpec::Partition { groups, duration } = action else { continue };
        let from = at.unwrap_or_default();
        let links = cut(groups, places, found);
        all.push(Partition { entry, from, to: duration.map(|duration| from + duration), links });
    }
    all
}

/// The links that `heal` restores: those of all partitions that began before it and are in force.
pub(super) fn healed(
    entry: usize,
    at: Duration,
    heal: &Spanned<()>,
    partitions: &[Partition],
) -> Result<BTreeSet<usize>, Diagnostic> {
    let began = |partition: &&Partition| (partition.from, partition.entry) < (at, entry);
    let lasts = |partition: &&Partition| partition.to.is_none_or(|to| at < to);
    let mut in_force = partitions.iter().filter(began).filter(lasts).peekable();
    if in_force.peek().is_none() {
        return Err(heal.error(format!("there is nothing to heal: no partition is in force at {at}")));
    }
    Ok(in_force.flat_map(|partition| partition.links.iter().copied()).collect())
}

/// The links between nodes of different groups.
fn cut(groups: &Groups, places: &Places<'_>, found: &mut Findings) -> Vec<usize> {
    let before = found.errors.len();
    let sides = sides(groups, places, found);
    let is_all = sides.len() == places.spec.nodes.len();
    if groups.value.len() + usize::from(!is_all) < 2 && found.errors.len() == before {
        found
            .errors
            .push(groups.error("a partition needs two groups or more: write for example `[[client, r1], [server]]`"));
    }
    // The nodes that are not named are one more group.
    let side = |name: &Spanned<String>| {
        let node = index_of(places.nodes, name).ok().flatten()?;
        Some(sides.get(&node).map_or(groups.value.len(), |(group, _)| *group))
    };
    let is_cut = |link: &LinkSpec| {
        let mut met = link.ends.iter().filter_map(|end| side(&end.node));
        met.next().is_some_and(|first| met.any(|other| other != first))
    };
    let links = places.spec.links.iter().enumerate();
    let links: Vec<usize> = links.filter(|(_, link)| is_cut(link)).map(|(place, _)| place).collect();
    if links.is_empty() && found.errors.len() == before {
        found.warnings.push(groups.error("this partition cuts nothing: no link joins two of its groups"));
    }
    links
}

/// The group of every node that is named.
fn sides(groups: &Groups, places: &Places<'_>, found: &mut Findings) -> BTreeMap<usize, (usize, Span)> {
    let mut sides: BTreeMap<usize, (usize, Span)> = BTreeMap::new();
    for (number, group) in groups.value.iter().enumerate() {
        if group.is_empty() {
            found.errors.push(groups.error("a group has one node at least: leave the empty one out"));
        }
        for name in group {
            let Some(node) = place(places.nodes, name, &mut found.errors) else { continue };
            if let Some((_, first)) = sides.insert(node, (number, name.span)) {
                let message = format!("`{}` is named twice: a node is in one group", name.value);
                found.errors.push(name.error(message).and(first, "first here"));
            }
        }
    }
    sides
}
