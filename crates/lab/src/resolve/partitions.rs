//! Partitions: who is parted from whom from when to when, and at which links packets are judged for that.
//!
//! A partition is about pairs of nodes, whatever joins them ([`NodePartition`]). A switch or hub has nothing to say itself: what names one
//! cuts its links to other groups.

mod layout;
mod leader;
mod reach;
mod request;
mod written;

use super::names::{Index, Places};
use super::patterns::{Candidates, is_pattern};
use crate::diagnostics::{Diagnostic, Span, Spanned};
use crate::errors::{Errors, Findings};
use crate::plan::{Action, Event, FarNode, Plan};
use crate::spec::{ActionSpec, EntrySpec, LayoutSpec, PartitionSpec, Side};
use layout::Layout;
pub(super) use leader::leads;
use netloom_link::{NodeIndex, NodePartition, PartitionKind, PartitionSet, Spans};
use netloom_units::{Duration, Seed};
use reach::{Ground, Networks};
pub use request::{RequestedPartition, parse_partition};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
pub(crate) use written::{WrittenPartition, written_by_hand, written_partition};

/// A partition of the timeline.
pub(super) struct Partition {
    /// Its place in the timeline.
    pub(super) entry: usize,
    line: usize,
    from: Duration,
    /// When it heals by itself.
    to: Option<Duration>,
    cut: Cut,
}

/// What a partition does to a network, whenever that is.
#[derive(Clone)]
struct Cut {
    /// The links that are cut, at switches and hubs that it names.
    links: Vec<usize>,
    /// Whom it parts.
    nodes: Arc<NodePartition>,
    /// The links at which packets are judged.
    judged: BTreeSet<usize>,
}

impl Partition {
    /// The links that it cuts.
    pub(super) fn links(&self) -> &[usize] {
        &self.cut.links
    }
}

/// All partitions of the timeline; what is wrong with them is noted, and that one cuts nothing is warned of.
pub(super) fn partitions(entries: &[EntrySpec], places: &Places<'_>, found: &mut Findings) -> Vec<Partition> {
    let mut all = Vec::new();
    let mut ground = None;
    // What entries do that are repeated, if nothing is wrong with them; those that draw do something else each time.
    let mut known: BTreeMap<Span, Option<Cut>> = BTreeMap::new();
    let mut drawn: BTreeMap<String, usize> = BTreeMap::new();
    let names: Vec<&Spanned<String>> = places.spec.nodes.iter().map(|node| &node.name).collect();
    let far: Vec<Spanned<String>> = places.spec.elsewhere.iter().map(FarNode::spanned_name).collect();
    let index = Index::new("node", names.into_iter().chain(&far), places.nodes.has_gaps());
    for (entry, EntrySpec { line, at: when, action }) in entries.iter().enumerate() {
        let ActionSpec::Partition(spec) = action else { continue };
        let (from, place) = (when.unwrap_or_default(), spec.layout.span);
        let before = known.get(&place).filter(|done| done.is_none() || !spec.layout.value.is_drawn());
        let cut = match before {
            Some(done) => done.clone(),
            None => {
                let number = drawn.entry(spec.layout.value.text()).or_default();
                *number += 1;
                let seed = seed_of(places.spec.seed.unwrap_or(super::SEED), spec, *number);
                let warned = found.warnings.len();
                let network = ground.get_or_insert_with(|| Ground::of_spec(places.spec));
                let new = resolve(spec, &index, network, seed, found);
                if known.insert(place, new.clone()).is_some() {
                    // It was warned of the first time.
                    found.warnings.truncate(warned);
                }
                new
            }
        };
        let to = spec.duration.map(|duration| from + duration);
        all.extend(cut.map(|cut| Partition { entry, line: *line, from, to, cut }));
    }
    all
}

/// Returns the seed from which the shape of this number is drawn.
fn seed_of(seed: Seed, spec: &PartitionSpec, number: usize) -> Seed {
    seed.derive("timeline").derive("partition").derive(&spec.layout.value.text()).derive(&number.to_string())
}

/// Finds out what a partition does to the network; none after errors were noted.
fn resolve(
    spec: &PartitionSpec,
    index: &Index<'_>,
    ground: &Ground<'_>,
    seed: Seed,
    found: &mut Findings,
) -> Option<Cut> {
    let before = found.errors.len();
    let (layout, named) = lay_out(spec, index, ground, &mut Spans::new(seed), &mut found.errors)?;
    let name = describe(&layout, spec, ground);
    let layout = match &spec.direction {
        Some(side) => layout.one_way(side.value == Side::To),
        None => layout,
    };
    let is_whole = spec.kind == PartitionKind::Drop && spec.direction.is_none();
    if let Some(joint) = named.iter().find(|node| ground.is_joint(**node) && !is_whole) {
        found.errors.push(spec.layout.error(format!(
            "`{}` is a switch or hub, whose links a partition only cuts as a whole: leave it out, and name the nodes behind it",
            ground.name(*joint)
        )));
    }
    let links: BTreeSet<usize> =
        ground.links().filter(|(_, ends)| is_whole && is_cut(&layout, ground, ends)).map(|(link, _)| link).collect();
    let parted = ground.networks(&links);
    if !links.is_empty() {
        let whole = ground.networks(&BTreeSet::new());
        let lost = named.iter().find_map(|node| loss(&layout, ground, [&whole, &parted], *node));
        found.errors.extend(lost.map(|why| spec.layout.error(why)));
    }
    let speaking: Vec<usize> = layout.classes.keys().copied().filter(|node| !ground.is_joint(*node)).collect();
    // What joins nodes of other machines is not known here.
    let is_idle =
        links.is_empty() && !ground.is_part() && !ground.joins_any(|one, other| layout.parts(one, other), &speaking);
    if found.errors.len() > before {
        return None;
    }
    if is_idle {
        found.warnings.push(spec.layout.error("this partition cuts nothing: nothing joins two of its groups"));
    }
    let judged = judged(&layout, ground, &named, spec.isolates_others.is_some());
    let number = |value: usize| u32::try_from(value).expect("a lab has fewer than 2^32 nodes");
    let classes = layout.classes.iter().map(|(node, class)| (number(*node), number(*class)));
    let parts = |from: u32, to: u32| layout.parts_classes(from as usize, to as usize);
    let open = match &spec.neighbors {
        Some(pairs) => given_neighbors(pairs, index, &mut found.errors)?,
        None => ground.needed_neighbors(&parted, |from, to| !layout.parts(from, to)),
    };
    let nodes = NodePartition::new(name, spec.kind, classes, number(layout.count), parts)
        .with_neighbors(open.into_iter().map(|(one, other)| (number(one), number(other))));
    Some(Cut { links: links.into_iter().collect(), nodes: Arc::new(nodes), judged })
}

/// The pairs of neighbours that an entry names; none after errors were noted.
fn given_neighbors(
    pairs: &[[Spanned<String>; 2]],
    index: &Index<'_>,
    errors: &mut Errors,
) -> Option<Vec<(usize, usize)>> {
    let mut meant = |name| super::place(index, name, errors);
    pairs.iter().map(|[one, other]| Some((meant(one)?, meant(other)?))).collect()
}

/// Who is parted from whom, and which nodes the entry names; none after errors were noted.
fn lay_out(
    spec: &PartitionSpec,
    index: &Index<'_>,
    ground: &Ground<'_>,
    random: &mut Spans,
    errors: &mut Errors,
) -> Option<(Layout, BTreeSet<usize>)> {
    let before = errors.len();
    let (layout, named) = match &spec.layout.value {
        LayoutSpec::Groups(groups) => of_groups(spec, groups, index, ground, errors),
        LayoutSpec::Isolate(node, of) => {
            let mut others = meant(of, index, ground, errors);
            let alone = meant(std::slice::from_ref(node), index, ground, errors);
            others.retain(|other| !alone.contains(other));
            if others.is_empty() && errors.len() == before {
                errors.push(node.error(format!("`{}` is alone in `of`: name others there, too", node.value)));
            }
            let named = others.iter().chain(&alone).copied().collect();
            (Layout::of_groups(&[alone, others]), named)
        }
        LayoutSpec::Leader(_) => unreachable!("whom a command names is known when it has ended"),
        LayoutSpec::Shape(shape, of) => {
            let nodes = meant(of, index, ground, errors);
            let joint = nodes.iter().find(|node| ground.is_joint(**node));
            errors.extend(joint.map(|joint| {
                spec.layout
                    .error(format!("`{}` is a switch or hub: name nodes that speak themselves", ground.name(*joint)))
            }));
            if errors.len() == before && nodes.len() < shape.least() {
                let (name, least, count) = (shape.name(), shape.least(), nodes.len());
                errors.push(spec.layout.error(format!("`{name}` needs {least} nodes or more, and these are {count}")));
            }
            if let Some(side) = spec.direction.as_ref().filter(|_| !shape.has_first()) {
                errors.push(side.error(format!("`{}` has no first group, and so no direction", shape.name())));
            }
            if errors.len() > before {
                return None;
            }
            (shape.lay(&nodes, random), nodes.into_iter().collect())
        }
    };
    if let (Some(place), Some(_)) = (&spec.isolates_others, &spec.direction) {
        errors.push(place.error("who is isolated is so in both directions: leave out `direction`, or this"));
    }
    if errors.len() > before {
        return None;
    }
    let others = ground.nodes().filter(|node| !named.contains(node) && !ground.is_joint(*node));
    let layout = if spec.isolates_others.is_some() { layout.isolating(others) } else { layout };
    Some((layout, named))
}

fn of_groups(
    spec: &PartitionSpec,
    groups: &[Vec<Spanned<String>>],
    index: &Index<'_>,
    ground: &Ground<'_>,
    errors: &mut Errors,
) -> (Layout, BTreeSet<usize>) {
    let before = errors.len();
    let mut resolved: Vec<Vec<usize>> = Vec::new();
    for group in groups {
        if group.is_empty() {
            errors.push(spec.layout.error("a group has one node at least: leave the empty one out"));
        }
        resolved.push(meant(group, index, ground, errors));
    }
    let named: BTreeSet<usize> = resolved.iter().flatten().copied().collect();
    let others: Vec<usize> = ground.nodes().filter(|node| !named.contains(node)).collect();
    let is_alone = groups.len() + usize::from(!others.is_empty()) < 2;
    if is_alone && errors.len() == before {
        errors.push(
            spec.layout.error("a partition needs two groups or more: write for example `[[client, r1], [server]]`"),
        );
    }
    if groups.len() == 1 && spec.isolates_others.is_none() {
        // A group alone is parted from everybody else. Switches and hubs are nobody.
        resolved.push(others.into_iter().filter(|node| !ground.is_joint(*node)).collect());
    }
    (Layout::of_groups(&resolved), named)
}

/// The nodes that these names and patterns mean, each once, in their order.
fn meant(names: &[Spanned<String>], index: &Index<'_>, ground: &Ground<'_>, errors: &mut Errors) -> Vec<usize> {
    let mut nodes = Vec::new();
    for name in names {
        if !is_pattern(&name.value) {
            let Some(node) = super::place(index, name, errors) else { continue };
            if nodes.contains(&node) {
                errors.push(name.error(format!("`{}` is named twice here: leave one out", name.value)));
            }
            nodes.push(node);
            continue;
        }
        let speaking = ground.nodes().filter(|node| !ground.is_joint(*node)).map(|node| (node, ground.name(node)));
        match Candidates::new("node but switches and hubs", speaking).like(&name.value) {
            Ok(like) => nodes.extend(like),
            Err(why) => errors.extend((!index.has_gaps()).then(|| name.error(why))),
        }
    }
    let mut known = BTreeSet::new();
    nodes.retain(|node| known.insert(*node));
    nodes
}

/// Returns the name by which events call a partition.
fn describe(layout: &Layout, spec: &PartitionSpec, ground: &Ground<'_>) -> String {
    let names = |group: &Vec<usize>| group.iter().map(|node| ground.name(*node)).collect::<Vec<_>>().join(" ");
    let is_alone = matches!(&spec.layout.value, LayoutSpec::Groups(groups) if groups.len() == 1);
    let shown = if is_alone { &layout.groups[..1] } else { &layout.groups[..] };
    let mut text = if layout.is_ring { "ring ".to_owned() } else { String::new() };
    text.push_str(&shown.iter().map(names).collect::<Vec<_>>().join(" | "));
    match (&spec.isolates_others, is_alone) {
        (Some(_), _) => text.push_str(" | each other node"),
        (None, true) => text.push_str(" | all others"),
        (None, false) => {}
    }
    if let Some(side) = &spec.direction {
        let way = if side.value == Side::To { "to" } else { "from" };
        text.push_str(&format!(", only {way} {}", names(&layout.groups[0])));
    }
    match spec.kind {
        PartitionKind::Slow(delay) => text.push_str(&format!(", slower by {delay}")),
        PartitionKind::Jam => text.push_str(", held"),
        PartitionKind::Drop => {}
    }
    text
}

/// Whether a link is of no use to anybody: at a switch or hub that is named, and between nodes that are all parted from each other.
fn is_cut(layout: &Layout, ground: &Ground<'_>, ends: &[usize]) -> bool {
    let are_parted = |one: usize, other: usize| one == other || layout.parts(one, other) && layout.parts(other, one);
    ends.len() > 1
        && ends.iter().any(|node| ground.is_joint(*node))
        && ends.iter().all(|one| ends.iter().all(|other| are_parted(*one, *other)))
}

/// Why a node loses somebody from whom it is not parted when networks are parted by cuts of links.
fn loss(layout: &Layout, ground: &Ground<'_>, [whole, parted]: [&Networks; 2], node: usize) -> Option<String> {
    if ground.is_joint(node) {
        return None;
    }
    let after = ground.reach(node, parted, None);
    let before = ground.reach(node, whole, None);
    let lost = before.iter().find(|other| !after.contains(*other) && !layout.parts(node, **other))?;
    Some(format!(
        "`{}` and `{}` are not parted, but reach each other only over links of switches and hubs that the partition cuts: leave switches \
         and hubs out of the groups",
        ground.name(node),
        ground.name(*lost)
    ))
}

/// The links by which all packets between parted nodes go: those of the nodes that are named, and those of others in the same networks.
fn judged(layout: &Layout, ground: &Ground<'_>, named: &BTreeSet<usize>, is_of_all: bool) -> BTreeSet<usize> {
    if ground.is_part() {
        return ground.links().map(|(link, _)| link).collect();
    }
    let mut sets = ground.joined(&BTreeSet::new());
    let is_meant = |node: &usize| !ground.is_joint(*node) && layout.classes.contains_key(node);
    let is_own = |node: &usize| is_meant(node) && (is_of_all || named.contains(node));
    let own: BTreeSet<usize> =
        ground.links().filter(|(_, ends)| ends.iter().any(is_own)).map(|(link, _)| sets.root(link)).collect();
    let with_members = ground.links().filter(|(_, ends)| ends.iter().any(is_meant)).map(|(link, _)| link);
    with_members.filter(|link| own.contains(&sets.root(*link))).collect()
}

/// The links that `heal` restores: those of all partitions that began before it, the entry of that number, and are in force. `led`: when
/// commands may part leaders, and which entries these are.
pub(super) fn healed(
    (at, entry): (Duration, usize),
    heal: &Spanned<()>,
    partitions: &[Partition],
    led: &[(Duration, usize)],
) -> Result<BTreeSet<usize>, Diagnostic> {
    let began = |partition: &&Partition| (partition.from, partition.entry) < (at, entry);
    let lasts = |partition: &&Partition| partition.to.is_none_or(|to| at < to);
    let mut in_force = partitions.iter().filter(began).filter(lasts).peekable();
    if in_force.peek().is_none() && led.iter().all(|begin| *begin >= (at, entry)) {
        return Err(heal.error(format!("there is nothing to heal: no partition is in force at {at}")));
    }
    Ok(in_force.flat_map(|partition| partition.cut.links.iter().copied()).collect())
}

/// At each instant at which a partition begins or ends, an event that says which are in force from then on. `heals`: when all are ended,
/// by which entries in which lines. `has_leaders`: whether there may be others, of leaders.
pub(super) fn partition_set(
    partitions: &[Partition],
    heals: &[(Duration, usize, usize)],
    has_leaders: bool,
) -> Vec<Event> {
    let judged: BTreeSet<usize> = partitions.iter().flat_map(|partition| &partition.cut.judged).copied().collect();
    let judged: Arc<[usize]> = judged.into_iter().collect();
    let mut changes: BTreeMap<Duration, usize> = BTreeMap::new();
    let mut spans: Vec<(Duration, Option<Duration>, &Arc<NodePartition>)> = Vec::new();
    for partition in partitions {
        let later = heals.iter().filter(|(at, entry, _)| (*at, *entry) > (partition.from, partition.entry));
        let healed = later.min().map(|(at, _, line)| (*at, *line));
        let over = partition.to.map(|to| (to, partition.line));
        let end = [over, healed].into_iter().flatten().min();
        spans.push((partition.from, end.map(|(at, _)| at), &partition.cut.nodes));
        for (at, line) in [Some((partition.from, partition.line)), end].into_iter().flatten() {
            changes.entry(at).or_insert(line);
        }
    }
    if has_leaders {
        heals.iter().for_each(|(at, _, line)| _ = changes.entry(*at).or_insert(*line));
    }
    let event = |(at, line): (Duration, usize)| {
        let heals = heals.iter().any(|(healed, ..)| *healed == at);
        let in_force = spans.iter().filter(|(from, to, _)| *from <= at && to.is_none_or(|to| at < to));
        let in_force = PartitionSet::new(Arc::default(), in_force.map(|(_, _, nodes)| Arc::clone(nodes)));
        Event { line, at: Some(at), action: Action::Partition { in_force, links: Arc::clone(&judged), heals } }
    };
    changes.into_iter().map(event).collect()
}

/// Lets all pipes of links that partitions touch note where packets come from, from the beginning.
pub(super) fn settle(plan: &mut Plan) {
    let touched: BTreeSet<usize> = plan
        .timeline
        .iter()
        .flat_map(|event| if let Action::Partition { links, .. } = &event.action { &links[..] } else { &[] })
        .copied()
        .collect();
    for link in touched {
        let link = &mut plan.links[link];
        let further = link.treatments.iter_mut().flatten().map(|further| &mut further.config);
        link.pipes.iter_mut().chain(further).for_each(|config| config.partition_set = Some(PartitionSet::default()));
    }
}

/// Tells partitions by what packets tell their nodes, when all addresses are known.
pub(super) fn complete(plan: &mut Plan) {
    let index = Arc::new(node_index(plan));
    for event in &mut plan.timeline {
        if let Action::Partition { in_force, .. } = &mut event.action {
            *in_force = PartitionSet::new(Arc::clone(&index), in_force.partitions().iter().cloned());
        }
    }
}

/// By what packets tell their nodes.
fn node_index(plan: &Plan) -> NodeIndex {
    let number = |node: usize| u32::try_from(node).expect("a lab has fewer than 2^32 nodes");
    let interfaces = || {
        let nodes = plan.nodes.iter().enumerate();
        nodes.flat_map(|(node, own)| own.interfaces.iter().map(move |interface| (number(node), interface)))
    };
    let far_nodes = || plan.elsewhere.iter().zip(plan.nodes.len()..).map(move |(own, place)| (own, number(place)));
    let far = || far_nodes().flat_map(|(own, node)| own.interfaces.iter().map(move |interface| (node, interface)));
    let addresses = interfaces().flat_map(|(node, own)| own.addresses.iter().map(move |net| (net.addr(), node)));
    let addresses =
        addresses.chain(far().flat_map(|(node, own)| own.addresses.iter().map(move |net| (net.addr(), node))));
    let hardware = interfaces().map(|(node, own)| (own.mac, node));
    let far_hardware: Vec<([u8; 6], u32)> = far().filter_map(|(node, own)| Some((own.mac?, node))).collect();
    // A tunnel stands for what is behind it, if that is one node.
    let end = |node: usize| {
        let beyond = plan.nodes[node].tunnel.as_ref().map_or(&[][..], |tunnel| &tunnel.beyond);
        let behind = far_hardware.iter().filter(|(mac, _)| beyond.contains(mac)).map(|(_, place)| *place);
        let behind: BTreeSet<u32> = behind.collect();
        behind.first().filter(|_| behind.len() == 1).copied().unwrap_or_else(|| number(node))
    };
    let ports: Vec<u32> = plan.ends().map(|at| end(at.node)).collect();
    NodeIndex::new(ports, addresses, hardware.chain(far_hardware))
}
