//! Partitions: what leads from one part of the network to another, and what of it is to be restored.
//!
//! A link between nodes of different groups is cut. Where several nodes meet at one medium or behind switches and hubs that belong to
//! no group, nothing is cut, but what a node sends does not reach those of other groups ([`PartitionSet`]). What routers pass on is told
//! apart by nobody: partitions that would need that are refused ([`reach`]).

mod reach;

use super::names::{Places, index_of};
use super::place;
use crate::diagnostics::{Diagnostic, Span, Spanned};
use crate::errors::Findings;
use crate::plan::{Action, Direction, Event, Plan};
use crate::segments::ends;
use crate::spec::{ActionSpec, EntrySpec};
use netloom_link::{PartitionSet, PipeChange, Sides};
use netloom_units::Duration;
use reach::Ground;
use std::collections::{BTreeMap, BTreeSet};

/// The groups of nodes as they are written.
type Groups = Spanned<Vec<Vec<Spanned<String>>>>;

/// A partition of the timeline.
pub(super) struct Partition {
    /// Its place in the timeline.
    pub(super) entry: usize,
    line: usize,
    from: Duration,
    /// When it heals by itself.
    to: Option<Duration>,
    /// The links that it cuts.
    pub(super) links: Vec<usize>,
    /// Whom it parts though no link is cut, if anybody.
    sides: Option<Sides>,
    /// Where these are: links, and the ends there.
    at: Vec<(usize, usize)>,
}

/// What a partition does to a network, whenever that is.
#[derive(Clone, Default)]
struct Cut {
    links: Vec<usize>,
    sides: Option<Sides>,
    at: Vec<(usize, usize)>,
}

/// All partitions of the timeline; what is wrong with them is noted, and that one cuts nothing is warned of.
pub(super) fn partitions(entries: &[EntrySpec], places: &Places<'_>, found: &mut Findings) -> Vec<Partition> {
    let mut all = Vec::new();
    // Entries that are repeated have the same groups.
    let mut known: BTreeMap<Span, Cut> = BTreeMap::new();
    for (entry, EntrySpec { line, at: when, action }) in entries.iter().enumerate() {
        let ActionSpec::Partition { groups, duration } = action else { continue };
        let from = when.unwrap_or_default();
        let Cut { links, sides, at } = match known.get(&groups.span) {
            Some(cut) => cut.clone(),
            None => {
                let new = cut(groups, places, found);
                known.insert(groups.span, new.clone());
                new
            }
        };
        all.push(Partition {
            entry,
            line: *line,
            from,
            to: duration.map(|duration| from + duration),
            links,
            sides,
            at,
        });
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

/// What happens where partitions part nodes without cutting links: at each instant at which one begins or ends, everybody whom it
/// concerns hears of all that are in force from then on. `heals`: when all are ended, by which entries in which lines.
pub(super) fn partition_set(
    partitions: &[Partition],
    heals: &[(Duration, usize, usize)],
    places: &Places<'_>,
) -> Vec<Event> {
    let mut changes: BTreeMap<Duration, (usize, BTreeSet<(usize, usize)>)> = BTreeMap::new();
    let mut spans: Vec<(Duration, Option<Duration>, &Sides)> = Vec::new();
    for partition in partitions {
        let Some(sides) = &partition.sides else { continue };
        let later = heals.iter().filter(|(at, entry, _)| (*at, *entry) > (partition.from, partition.entry));
        let healed = later.min().map(|(at, _, line)| (*at, *line));
        let over = partition.to.map(|to| (to, partition.line));
        let end = [over, healed].into_iter().flatten().min();
        spans.push((partition.from, end.map(|(at, _)| at), sides));
        for (at, line) in [Some((partition.from, partition.line)), end].into_iter().flatten() {
            changes.entry(at).or_insert((line, BTreeSet::new())).1.extend(&partition.at);
        }
    }
    let mut events = Vec::new();
    for (at, (line, ends)) in changes {
        let in_force = spans.iter().filter(|(from, to, _)| *from <= at && to.is_none_or(|to| at < to));
        let partition_set = PartitionSet::new(in_force.map(|(_, _, sides)| (*sides).clone()));
        for (link, place) in ends {
            events.extend(told(link, place, &partition_set, places).map(|action| Event { line, at: Some(at), action }));
        }
    }
    events
}

/// The changes by which the pipes that lead to this end of a link hear of partitions.
fn told(link: usize, place: usize, partition_set: &PartitionSet, places: &Places<'_>) -> impl Iterator<Item = Action> {
    let spec = &places.spec.links[link];
    let direction = if place == 1 { Direction::Forward } else { Direction::Backward };
    let direction = Some(direction).filter(|_| spec.shared.is_none());
    let further = &spec.treatments[direction.unwrap_or(Direction::Forward).index()];
    let pipes: Vec<Option<String>> =
        [None].into_iter().chain(further.iter().map(|further| Some(further.name.clone()))).collect();
    let partition_set = partition_set.clone();
    pipes.into_iter().map(move |pipe| {
        let change = Box::new(PipeChange { partition_set: Some(partition_set.clone()), ..PipeChange::default() });
        Action::Set { link, direction, pipe, change }
    })
}

/// Lets all pipes of links that partitions touch note where packets come from, from the beginning.
pub(super) fn settle(plan: &mut Plan) {
    let touched: BTreeSet<usize> = plan
        .timeline
        .iter()
        .filter_map(|event| match &event.action {
            Action::Set { link, change, .. } if change.partition_set.is_some() => Some(*link),
            _ => None,
        })
        .collect();
    for link in touched {
        let link = &mut plan.links[link];
        let further = link.treatments.iter_mut().flatten().map(|further| &mut further.config);
        link.pipes.iter_mut().chain(further).for_each(|config| config.partition_set = Some(PartitionSet::default()));
    }
}

/// What is between nodes of different groups.
fn cut(groups: &Groups, places: &Places<'_>, found: &mut Findings) -> Cut {
    let before = found.errors.len();
    let named = sides(groups, places, found);
    let is_all = named.len() == places.spec.nodes.len();
    if groups.value.len() + usize::from(!is_all) < 2 && found.errors.len() == before {
        found
            .errors
            .push(groups.error("a partition needs two groups or more: write for example `[[client, r1], [server]]`"));
    }
    let mut sides: Vec<Option<usize>> = vec![None; places.spec.nodes.len()];
    named.iter().for_each(|(node, (group, _))| sides[*node] = Some(*group));
    if groups.value.len() == 1 {
        // A group alone is parted from everybody else. Switches and hubs are nobody.
        let others = sides.iter_mut().zip(&places.spec.nodes).filter(|(_, node)| !reach::is_joint(node.kind));
        others.for_each(|(side, _)| *side = side.or(Some(1)));
    }
    let ground = Ground::new(places, &sides);
    let cut = Cut { links: ground.cut().collect(), ..parted(groups, &ground, places) };
    if found.errors.len() > before {
        return cut;
    }
    if cut.links.is_empty() && cut.sides.is_none() {
        found.warnings.push(groups.error("this partition cuts nothing: nothing joins two of its groups"));
    }
    found.errors.extend(ground.misfit(named.keys().copied()).map(|why| groups.error(why)));
    cut
}

/// Whom no cut parts: the ends of links where nodes of different groups meet, and who is on which side.
fn parted(groups: &Groups, ground: &Ground<'_>, places: &Places<'_>) -> Cut {
    let at: Vec<(usize, usize)> = ground.meeting().collect();
    if at.is_empty() {
        return Cut::default();
    }
    let node = |name: &Spanned<String>| index_of(places.nodes, name).ok().flatten();
    let own = ends(&places.spec.links).filter_map(|(end, spec)| {
        let side = ground.side(node(&spec.node)?)?;
        Some((end.number(), u32::try_from(side).ok()?))
    });
    let names =
        |group: &Vec<Spanned<String>>| group.iter().map(|name| name.value.as_str()).collect::<Vec<_>>().join(" ");
    let mut name = groups.value.iter().map(names).collect::<Vec<_>>().join(" | ");
    if groups.value.len() == 1 {
        name.push_str(" | all others");
    }
    Cut { links: Vec::new(), sides: Some(Sides::new(name, own)), at }
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
