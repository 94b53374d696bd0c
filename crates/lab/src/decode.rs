//! From the YAML tree to the lab as it is written. All errors are collected; what cannot be read is left out.

mod addressing;
pub(crate) mod attachments;
mod by_hand;
pub(crate) mod capabilities;
pub(crate) mod cell;
mod churn;
pub(crate) mod clock;
pub(crate) mod container;
pub(crate) mod cpu;
pub(crate) mod daemons;
pub(crate) mod dhcp;
pub(crate) mod disk;
mod disk_faults;
pub(crate) mod elsewhere;
pub(crate) mod end;
pub(crate) mod exercise;
mod faults;
pub(crate) mod files;
pub(crate) mod firewall;
pub(crate) mod hunt;
mod hunt_faults;
pub(crate) mod image;
mod lans;
mod link;
pub(crate) mod machine;
pub(crate) mod machines;
pub(crate) mod measure;
pub(crate) mod measures;
pub(crate) mod multicast;
pub(crate) mod nat;
mod node;
pub(crate) mod openflow;
mod partitions;
pub(crate) mod paths;
mod program_faults;
mod ramp;
mod repeats;
mod roaming;
pub(crate) mod rules;
pub(crate) mod signals;
mod sites;
pub(crate) mod snooping;
pub(crate) mod surroundings;
pub(crate) mod switch;
mod timeline;
mod treatments;
pub(crate) mod variables;
pub(crate) mod vlans;
pub(crate) mod vm;
pub(crate) mod wifi;

pub(crate) use by_hand::{ByHand, by_hand};
pub(crate) use partitions::partition_entry;
pub use timeline::{Cut, parse_cut};

use crate::diagnostics::{Diagnostic, Spanned};
use crate::errors::{Errors, LeftOut, Nodes, keep};
use crate::fields::{Fields, list, map};
use crate::forms::{AboveZero, Placed, Word};
use crate::generate;
use crate::keyed::Keyed;
use crate::keys::{BypassOfAll, Loops, Routes, TOP};
use crate::names::check_name;
use crate::plan::{Bounds, OnSpin, Precision, Shards};
use crate::scalar::{self, seed, text};
use crate::segments::{Station, segments};
use crate::spec::{AddressingSpec, LinkSpec, NodeSpec, Spec};
use crate::yaml::{Content, Node};
use exercise::ExerciseSpec;
use hunt::HuntSpec;
use netloom_units::Duration;
use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use variables::Variables;

/// The lab that `root` describes, as far as it can be read.
pub(crate) fn decode(root: &Node, errors: &mut Errors) -> (Spec, LeftOut) {
    let expanded = generate::expand(root, errors);
    let has_gaps = expanded.as_ref().is_some_and(|expanded| expanded.has_gaps);
    let root = expanded.as_ref().map_or(root, |expanded| &expanded.root);
    let (mut spec, mut left_out) = (Spec::default(), LeftOut { nodes: true, links: true, commands: true });
    let Some(fields) = Fields::open(root, &TOP, errors) else {
        return (spec, left_out);
    };
    left_out = LeftOut { nodes: has_gaps, links: has_gaps, commands: false };
    spec.name = fields.read("name", lab_name, errors);
    spec.seed = fields.read("seed", seed, errors);
    spec.clock = fields.get("clock").and_then(|node| clock::decode(node, errors)).unwrap_or_default();
    spec.inherit = fields.form::<Variables>("inherit", errors).unwrap_or_default();
    spec.on_spin = fields.form::<Word<OnSpin>>("on_spin", errors).unwrap_or_default();
    spec.start = fields.read("start", |node| scalar::quantity(node).map(|day| node.spanned(day)), errors);
    spec.precision = fields.form::<Placed<Word<Precision>>>("precision", errors);
    spec.shards = fields.read("shards", shards, errors);
    spec.machines = fields.get("machines").map_or_else(Vec::new, |node| machines::machines(node, errors));
    spec.duration = fields.form::<AboveZero<Duration>>("duration", errors);
    spec.elsewhere = fields.get("elsewhere").map_or_else(Vec::new, |node| elsewhere::elsewhere(node, errors));
    if let Some(nodes) = fields.get("nodes") {
        spec.nodes = node::nodes(nodes, errors, &mut left_out.nodes);
    } else if !has_gaps {
        errors.push(root.lacks("nodes", "{client: {}, r1: {kind: router}}"));
    }
    elsewhere::settle(&mut spec, errors);
    node::places(&mut spec, &fields, errors);
    spec.converged = fields.get("ready").and_then(|value| daemons::converged(value, errors));
    spec.arp = fields.form::<bool>("arp", errors);
    spec.loops = fields.form::<Loops>("loops", errors).unwrap_or(false);
    spec.routes = fields.form::<Routes>("routes", errors).unwrap_or_default();
    if let Some(trees) = fields.get("multicast") {
        spec.multicast = list(trees, errors).iter().filter_map(|item| multicast::decode(item, errors)).collect();
    }
    spec.addressing = fields.get("addresses").map_or_else(Default::default, |node| addressing::decode(node, errors));
    if uses_filters(root) {
        let mut known = addresses(&spec.nodes, fields.get("links"), &spec.addressing, left_out.nodes);
        known.addresses.extend(spec.elsewhere.iter().map(|far| (far.value.name.clone(), far.value.addresses())));
        errors.set_nodes(known);
    }
    if let Some(links) = fields.get("links") {
        let links = link::links(links, errors, &mut left_out.links);
        spec.links = lans::expand(&mut spec.nodes, links, errors);
    }
    spec.links.iter_mut().for_each(|link| link.addresses = link.addresses.or(spec.addressing.automatic));
    spec.setup = fields.get("setup").map_or_else(Vec::new, |setup| timeline::setup(setup, errors));
    spec.stop = fields.form::<AboveZero<Duration>>("stop", errors);
    if let Some(timeline) = fields.get("timeline") {
        spec.timeline = timeline::entries(timeline, errors, &mut left_out.commands);
    }
    if let Some(traffic) = fields.get("traffic") {
        spec.traffic = list(traffic, errors).iter().filter_map(|item| crate::traffic::decode(item, errors)).collect();
    }
    if let Some(capture) = fields.get("capture") {
        spec.capture = list(capture, errors).iter().filter_map(|item| crate::capture::decode(item, errors)).collect();
    }
    spec.journal = fields.get("journal").and_then(|node| crate::journal::decode(node, errors));
    (spec.measure, spec.sampling) =
        fields.get("measure").and_then(|node| measure::measure(node, errors)).unwrap_or_default();
    if let Some(expect) = fields.get("expect") {
        let items = list(expect, errors).iter();
        spec.expect = items.filter_map(|item| keep(expectation(item).map(|text| item.spanned(text)), errors)).collect();
    }
    spec.figures = fields.get("figures").map_or_else(Vec::new, |node| figures(node, errors));
    spec.exercise = fields.form::<ExerciseSpec>("exercise", errors);
    spec.hunt = fields.form::<HuntSpec>("hunt", errors);
    spec.bypass = fields.form::<BypassOfAll>("bypass", errors).unwrap_or_default();
    spec.judged = fields.get("bounds").map_or_else(Vec::new, judged);
    spec.bounds = fields.get("bounds").map_or_else(Bounds::default, |node| bounds(node, errors));
    (spec, left_out)
}

/// Figures by name.
fn figures(node: &Node, errors: &mut Errors) -> Vec<(String, Spanned<String>)> {
    const WANTED: &str = "a map of names and figures, for example {goodput: backbone.forward.throughput}";
    let Some(entries) = map(node, WANTED, errors) else { return Vec::new() };
    let mut figures = Vec::new();
    for entry in entries {
        let is_name = entry.name.starts_with(|c: char| c.is_ascii_alphabetic())
            && entry.name.len() <= 63
            && entry.name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-".contains(&b));
        if !is_name {
            let message = format!(
                "`{}` cannot name a figure: begin with a letter, go on with letters, digits, _ and -",
                entry.name
            );
            errors.push(entry.value.error(message));
        }
        let text = keep(text(&entry.value), errors);
        figures.extend(text.map(|text| (entry.name.clone(), entry.value.spanned(text))));
    }
    figures
}

/// Whether anything in the lab file has a filter: only filters name nodes where addresses are meant.
fn uses_filters(node: &Node) -> bool {
    match &node.content {
        Content::Map(entries) => entries.iter().any(|entry| entry.name == "match" || uses_filters(&entry.value)),
        Content::List(items) => items.iter().any(uses_filters),
        // Words behind a metric of an expectation or a figure.
        Content::Text { text, .. } => text.contains("match"),
        Content::Empty => false,
    }
}

/// What the names of nodes mean in filters. Addresses follow from the ends of all links.
fn addresses(nodes: &[NodeSpec], links: Option<&Node>, given: &AddressingSpec, nodes_left_out: bool) -> Nodes {
    let links = links.map_or_else(Vec::new, link::bare_links);
    let has_gaps = nodes_left_out || links.iter().any(Option::is_none);
    let bare = |node: &NodeSpec| NodeSpec {
        name: node.name.clone(),
        kind: node.kind,
        asks: node.asks.clone(),
        dhcp: node.dhcp.clone(),
        ..NodeSpec::default()
    };
    let mut bare: Vec<NodeSpec> = nodes.iter().map(bare).collect();
    // What is wrong is noted when the links are read in earnest.
    let mut links = lans::expand(&mut bare, links.into_iter().flatten().collect(), &mut Errors::default());
    links.iter_mut().for_each(|link| link.addresses = link.addresses.or(given.automatic));
    let names = nodes.iter().map(|node| (node.name.value.clone(), Vec::new()));
    let mut addresses: BTreeMap<String, Vec<IpAddr>> = names.collect();
    for (node, net) in crate::addressing::addresses(&links, &bare, given) {
        addresses.entry(node).or_default().push(net);
    }
    Nodes { addresses, lent: lent(&links, &bare), has_gaps }
}

/// The nodes whose addresses a DHCP server chooses while the lab is up.
fn lent(links: &[LinkSpec], nodes: &[NodeSpec]) -> BTreeSet<String> {
    let chooses = |own: &Station<'_>| own.server.is_some_and(|server| !server.reserve);
    let segments = segments(links, nodes);
    let chosen = segments.iter().filter(|segment| segment.ends.iter().any(chooses)).flat_map(|segment| &segment.ends);
    chosen.filter(|own| own.asks).map(|own| own.spec.node.value.clone()).collect()
}

fn lab_name(node: &Node) -> Result<Spanned<String>, Diagnostic> {
    let name = text(node)?;
    check_name(&name).map_err(|wrong| node.error(wrong))?;
    Ok(node.spanned(name))
}

fn shards(node: &Node) -> Result<Spanned<Shards>, Diagnostic> {
    if text(node).is_ok_and(|text| text == "auto") {
        return Ok(node.spanned(Shards::Auto));
    }
    let most = u64::from(Shards::MOST);
    let count = scalar::integer(node, 1, most)
        .map_err(|_| node.error(format!("write `auto`, or how many threads the packet engine has: 1 to {most}")))?;
    Ok(node.spanned(Shards::Count(u32::try_from(count).unwrap_or(Shards::MOST))))
}

/// An expectation, which is one line of text.
fn expectation(node: &Node) -> Result<String, Diagnostic> {
    let is_cut = matches!(&node.content, Content::Map(entries) if !entries.is_empty());
    text(node).map_err(|error| {
        if !is_cut {
            return error;
        }
        node.error(
            "expected a text, found a map: YAML takes what is in front of `: ` for a key. Put the whole expectation into single \
             quotes, for example 'scan.stdout contains \"ports: 2\"'",
        )
    })
}

/// The bounds among these for which every link must be measured; a link without a rate has none that could be off.
fn judged(node: &Node) -> Vec<&'static str> {
    ["lateness", "lateness_max", "delay"].into_iter().filter(|key| node.value(key).is_some()).collect()
}

/// What is said of how far the network may stray; where nothing is said, what is usual.
fn bounds(node: &Node, errors: &mut Errors) -> Bounds {
    let Some(fields) = Fields::open(node, &Bounds::SECTION, errors) else { return Bounds::default() };
    let Some(bounds) = Bounds::read_keys(&fields, errors) else { return Bounds::default() };
    let Bounds { lateness, lateness_max: latest, .. } = bounds;
    if let (true, Some(value)) = (latest < lateness, fields.get("lateness_max")) {
        errors.push(value.error(format!(
            "with {latest}, `lateness_max` is below `lateness`, {lateness}, which holds for 99 % of the packets: write {lateness} or more"
        )));
    }
    bounds
}
