//! A partition in groups of names alone, as the parts of a lab have it: each of them draws and derives nothing itself.

use super::super::names::Index;
use super::layout::Layout;
use super::reach::Ground;
use super::request::{by_hand, spanned};
use super::{lay_out, resolve, seed_of};
use crate::decode::partition_entry;
use crate::diagnostics::{Diagnostic, Spanned};
use crate::errors::{Errors, Findings};
use crate::plan::Plan;
use crate::spec::{LayoutSpec, PartitionSpec};
use crate::yaml::{Content, Node};
use netloom_link::Spans;
use netloom_units::Seed;
use std::collections::BTreeSet;

/// A partition whose members are named one by one.
#[derive(Debug)]
pub(crate) struct WrittenPartition {
    /// Its groups of nodes, which may share nodes.
    pub(crate) groups: Vec<Vec<usize>>,
    /// The pairs of parted nodes whose address resolution gets through.
    pub(crate) neighbors: Vec<(usize, usize)>,
}

/// Keys that say when a partition begins.
const WHEN: [&str; 5] = ["at", "every", "times", "until", "name"];

/// Reads a partition of the timeline of a plan. `earlier` are the entries before it.
///
/// # Errors
/// The reason why its members cannot be named one by one.
pub(crate) fn written_partition(item: &Node, earlier: &[Node], plan: &Plan) -> Result<WrittenPartition, Diagnostic> {
    let spec = read(item)?;
    if spec.layout.value.is_drawn() && item.value("every").is_some() {
        return Err(spec.layout.error("this is drawn anew each time: write groups, or an entry for each time"));
    }
    let text = spec.layout.value.text();
    let is_like = |own: &&Node| read(own).is_ok_and(|other| other.layout.value.text() == text);
    let number = 1 + earlier.iter().filter(|own| own.value("partition").is_some()).filter(is_like).count();
    let mut found = Findings { errors: Errors::default(), warnings: Vec::new() };
    write(&spec, seed_of(plan.seed, &spec, number), plan, &mut found)
}

/// Reads a partition that a user makes by hand, as `parse_partition` does.
///
/// # Errors
/// The reason why its members cannot be named one by one.
pub(crate) fn written_by_hand(item: &Node, number: usize, plan: &Plan) -> Result<WrittenPartition, Diagnostic> {
    let mut errors = Errors::default();
    let spec = partition_entry(item, &mut errors);
    if let Some(wrong) = errors.into_entries().into_iter().next() {
        return Err(wrong);
    }
    let spec = spec.ok_or_else(|| item.error("this is no partition"))?;
    let mut found = Findings { errors: Errors::default(), warnings: Vec::new() };
    let written = write(&spec, by_hand(plan.seed, &spec, number), plan, &mut found)?;
    found.warnings.into_iter().next().map_or(Ok(written), Err)
}

fn write(spec: &PartitionSpec, seed: Seed, plan: &Plan, found: &mut Findings) -> Result<WrittenPartition, Diagnostic> {
    let names: Vec<Spanned<String>> = plan.all_names().map(|name| spanned(name.to_owned())).collect();
    let (index, ground) = (Index::new("node", names.iter(), false), Ground::of_plan(plan));
    let laid = lay_out(spec, &index, &ground, &mut Spans::new(seed), &mut found.errors);
    let cut = resolve(spec, &index, &ground, seed, found);
    let wrong = std::mem::take(&mut found.errors).into_entries().into_iter().next();
    let (Some((layout, named)), Some(cut)) = (laid, cut) else {
        return Err(wrong.unwrap_or_else(|| spec.layout.error("this partition cannot be divided")));
    };
    if let Some(joint) = named.iter().find(|node| ground.is_joint(**node)) {
        let name = ground.name(*joint);
        return Err(spec.layout.error(format!(
            "`{name}` is a switch or hub, whose links are on several machines: leave it out, and name the nodes behind it"
        )));
    }
    let neighbors = cut.nodes.neighbors().map(|(one, other)| (one as usize, other as usize)).collect();
    Ok(WrittenPartition { groups: groups(&layout), neighbors })
}

fn read(item: &Node) -> Result<PartitionSpec, Diagnostic> {
    let keys = item.entries().iter().filter(|own| !WHEN.contains(&own.name.as_str())).cloned().collect();
    let mut errors = Errors::default();
    let spec = partition_entry(&Node { content: Content::Map(keys), ..item.clone() }, &mut errors);
    match (spec, errors.into_entries().into_iter().next()) {
        (Some(spec), _) if matches!(spec.layout.value, LayoutSpec::Leader(_)) => {
            Err(spec.layout.error("a command names the leader on its machine alone: name the node"))
        }
        (Some(spec), None) => Ok(spec),
        (_, wrong) => Err(wrong.unwrap_or_else(|| item.error("this is no partition"))),
    }
}

/// The groups of a layout: those that it has, and each node alone that is in none. Of a ring, all pairs that reach each other.
fn groups(layout: &Layout) -> Vec<Vec<usize>> {
    let mut groups = if layout.is_ring { Vec::new() } else { layout.groups.clone() };
    if layout.is_ring {
        let nodes: Vec<usize> = layout.classes.keys().copied().collect();
        for (place, one) in nodes.iter().enumerate() {
            let reached = nodes[place + 1..].iter().filter(|other| !layout.parts(*one, **other));
            groups.extend(reached.map(|other| vec![*one, *other]));
        }
    }
    let named: BTreeSet<usize> = groups.iter().flatten().copied().collect();
    groups.extend(layout.classes.keys().filter(|node| !named.contains(node)).map(|node| vec![*node]));
    groups
}
