//! Partitions, and their end.

use super::repeats::{length, places, when};
use crate::diagnostics::{Diagnostic, Spanned};
use crate::errors::{Errors, keep};
use crate::fields::{Fields, list};
use crate::forms::{Command, NodeName};
use crate::keyed::Keyed;
use crate::keys::{HEAL, PARTITION_SHAPE, PartitionKeys};
use crate::names::name_of;
use crate::scalar::flag;
use crate::spec::{ActionSpec, LayoutSpec, LeaderSpec, PartitionSpec, RunSpec, Shape, SpanSpec, When};
use crate::words::Words;
use crate::yaml::{Content, Node};
use netloom_link::PartitionKind;

/// `runs_on` is where the command runs that names a leader.
pub(super) fn partition(
    node: &Node,
    runs_on: &mut Vec<Spanned<String>>,
    errors: &mut Errors,
) -> Option<(When, ActionSpec)> {
    let fields = Fields::open(node, &PartitionKeys::SECTION, errors)?;
    let mut when = when(&fields, errors);
    let spec = settings(&fields, &mut when.lasts, errors)?;
    let LayoutSpec::Leader(leader) = &spec.layout.value else {
        return Some((when, ActionSpec::Partition(Box::new(spec))));
    };
    if let (Some(_), Some(place)) = (&when.lasts, fields.get("for")) {
        errors.push(
            place.error("this counts from when the command has named the leader, and cannot be drawn: write how long"),
        );
    }
    let LeaderSpec { command, on, .. } = leader.as_ref().clone();
    *runs_on = vec![on.clone()];
    let run = RunSpec { command, on, leads: Some(Box::new(spec)), ..RunSpec::default() };
    Some((when, ActionSpec::Run(Box::new(run))))
}

/// A partition that begins when it is read.
pub(crate) fn partition_entry(node: &Node, errors: &mut Errors) -> Option<PartitionSpec> {
    let fields = Fields::open(node, &PartitionKeys::SECTION, errors)?;
    let now = "it begins at once: leave this out";
    fields.refuse(["at", "every", "times", "until"].map(|key| (key, now)), errors);
    let mut drawn = None;
    let spec = settings(&fields, &mut drawn, errors);
    if let (Some(_), Some(place)) = (drawn, fields.get("for")) {
        errors.push(place.error("nothing is drawn by hand: write how long"));
    }
    if let Some(LayoutSpec::Leader(leader)) = spec.as_ref().map(|spec| &spec.layout.value) {
        errors.push(
            leader.on.error("by hand, run the command yourself, and write `isolate` with the node that it names"),
        );
    }
    spec
}

/// All of a partition but when it begins.
fn settings(fields: &Fields<'_>, lasts: &mut Option<SpanSpec>, errors: &mut Errors) -> Option<PartitionSpec> {
    let duration = length(fields, "for", lasts, errors);
    let PartitionKeys { others: isolates, direction, slow, jam: is_jam } = PartitionKeys::read_keys(fields, errors)?;
    let isolates_others = fields.get("others").filter(|_| isolates).map(|place| place.spanned(()));
    if let (Some(_), Some(place)) = (fields.get("slow"), fields.get("jam").filter(|_| is_jam)) {
        errors.push(place.error("packets are either held until the end or slowed: leave out `slow`, or this"));
    }
    let kind = match (slow, is_jam) {
        (_, true) => PartitionKind::Jam,
        (Some(delay), false) => PartitionKind::Slow(delay),
        (None, false) => PartitionKind::Drop,
    };
    let neighbors = fields.get("neighbors").map(|pairs| neighbors(pairs, errors));
    let place = fields.get("partition")?;
    let layout = if matches!(place.content, Content::Map(_)) { shape(place, errors) } else { groups(place, errors) };
    Some(PartitionSpec { layout: place.spanned(layout?), isolates_others, direction, kind, neighbors, duration })
}

fn neighbors(place: &Node, errors: &mut Errors) -> Vec<[Spanned<String>; 2]> {
    let pair = |pair: &Node| match pair.items() {
        [one, other] => Ok([name_of("a node")(one)?, name_of("a node")(other)?]),
        _ => Err(pair.expected("a pair of nodes like `[client, r1]`")),
    };
    list(place, errors).iter().filter_map(|own| keep(pair(own), errors)).collect()
}

fn groups(place: &Node, errors: &mut Errors) -> Option<LayoutSpec> {
    let read = |group: &Node| match &group.content {
        Content::List(names) => names.iter().map(name_of("a node")).collect::<Result<Vec<_>, Diagnostic>>(),
        _ => Err(group.expected("a group of nodes like `[client, r1]`")),
    };
    let groups: Vec<Option<Vec<Spanned<String>>>> =
        list(place, errors).iter().map(|group| keep(read(group), errors)).collect();
    groups.into_iter().collect::<Option<Vec<_>>>().map(LayoutSpec::Groups)
}

fn shape(node: &Node, errors: &mut Errors) -> Option<LayoutSpec> {
    let fields = Fields::open(node, &PARTITION_SHAPE, errors)?;
    let before = errors.len();
    let mut named: Vec<LayoutSpec> = Vec::new();
    for (key, shape) in Shape::WORDS {
        let own = fields.get(key).map(|value| places(value, errors));
        named.extend(own.map(|nodes| LayoutSpec::Shape(*shape, nodes)));
    }
    let of = fields.get("of");
    let among = of.map(|value| places(value, errors));
    if let Some(place) = fields.get("leader") {
        named.extend(leader(place, &fields, among, errors));
    } else if let Some(value) = fields.get("isolate") {
        named.extend(isolate(value, among, errors));
    } else if let Some(place) = of {
        errors.push(place.error("`of` belongs to `isolate` and `leader`: other shapes name their nodes themselves"));
    }
    if let (Some(place), None) = (fields.get("on"), fields.get("leader")) {
        errors.push(place.error("`on` belongs to `leader`, which runs a command: leave it out"));
    }
    match (named.pop(), named.pop()) {
        (Some(only), None) => Some(only),
        (one, _) => {
            if one.is_some() || errors.len() == before {
                let keys = "halves, minority, isolate, bridge, ring, random or leader";
                errors.push(node.error(format!("a partition has one shape: write one of {keys}")));
            }
            None
        }
    }
}

/// One node, or one that is drawn, from the others of `of`; without these, from all others.
fn isolate(value: &Node, of: Option<Vec<Spanned<String>>>, errors: &mut Errors) -> Option<LayoutSpec> {
    let node = keep(name_of("a node")(value), errors)?;
    match (node.value.as_str(), of) {
        ("one", Some(of)) => Some(LayoutSpec::Shape(Shape::IsolateOne, of)),
        ("one", None) => errors.reject(value.error("one of which? Add `of`, as in `{isolate: one, of: n*}`")),
        (_, Some(of)) => Some(LayoutSpec::Isolate(node, of)),
        (_, None) => Some(LayoutSpec::Groups(vec![vec![node]])),
    }
}

/// The node that a command names, from the others of `of`.
fn leader(
    place: &Node,
    fields: &Fields<'_>,
    of: Option<Vec<Spanned<String>>>,
    errors: &mut Errors,
) -> Option<LayoutSpec> {
    let command = fields.form::<Command>("leader", errors);
    let on = fields.form::<NodeName>("on", errors);
    if fields.get("on").is_none() {
        errors.push(
            place.error("where does the command run? Add `on`, as in `{leader: etcdctl endpoint status, on: client}`"),
        );
    }
    if let Some(isolated) = fields.get("isolate") {
        errors.push(isolated.error("the command says who is parted: leave out `isolate`, or `leader`"));
    }
    Some(LayoutSpec::Leader(Box::new(LeaderSpec { command: command?, on: on?, of })))
}

pub(super) fn heal(node: &Node, errors: &mut Errors) -> Option<(When, ActionSpec)> {
    let fields = Fields::open(node, &HEAL, errors)?;
    let when = when(&fields, errors);
    let is_true =
        |value: &Node| if flag(value)? { Ok(()) } else { Err(value.error("write `partition` to cut a network")) };
    let place = fields.get("heal")?;
    keep(is_true(place), errors)?;
    Some((when, ActionSpec::Heal { place: place.spanned(()) }))
}
