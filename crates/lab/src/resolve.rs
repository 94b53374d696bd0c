//! From the lab as it is written to the plan: every name becomes a place, every address and route is decided.

mod bypass;
mod capture;
mod cell;
mod churn;
mod clock;
mod daemons;
mod dhcp;
mod expect;
mod external;
mod faults;
mod given;
mod hunt;
mod hunt_faults;
mod hunt_ground;
mod interfaces;
mod internet;
mod link_outages;
mod machines;
mod names;
mod nat;
mod node_commands;
mod node_moves;
mod nodes;
mod openflow;
mod order;
mod packets;
mod partitions;
mod paths;
mod patterns;
mod radio;
mod repeats;
mod roaming;
mod routing;
mod rules;
mod stations;
mod stops;
mod switches;
mod timeline;
mod traffic;
mod tunnel;

pub use faults::{RequestedFault, parse_fault, refusals as fault_refusals};
pub use hunt::matches_name;
pub use partitions::{RequestedPartition, parse_partition};
pub(crate) use partitions::{WrittenPartition, written_by_hand, written_partition};
pub(crate) use traffic::resolve_for;

use crate::addressing::{assign, neighbors};
use crate::diagnostics::{Diagnostic, Span, Spanned};
use crate::errors::{Errors, Findings, LeftOut};
use crate::limits::MOST_LINKS;
use crate::names::check_name;
use crate::plan::{
    Bypass, EndPlan, Event, HuntPlan, InterfacePlan, LinkPlan, NodeKind, Plan, Stack, SwitchPlan, Unreached,
};
use crate::segments::{self, Segment, segments};
use crate::spec::{EntrySpec, LinkSpec, Spec};
use interfaces::Interface;
use ipnet::IpNet;
use names::{Index, Places, index_of};
use netloom_units::Seed;
use std::net::IpAddr;
use std::path::PathBuf;

/// The seed of a lab that says none.
const SEED: Seed = Seed::new(1);

/// The ends with addresses of a segment, at most: what is known of their neighbours grows with the square of their number.
const MOST_ENDS: usize = 1_024;

/// What a hunt searches, if the file describes one.
fn hunt_of(
    spec: &Spec,
    (nodes, links): (&Index<'_>, &Index<'_>),
    stacks: &[Stack],
    timeline: &[Event],
    left_out: &LeftOut,
    errors: &mut Errors,
) -> Option<HuntPlan> {
    let ground = hunt_ground::Ground { spec, nodes, links, stacks, timeline, left_out };
    spec.hunt.as_ref().map(|hunt| hunt::resolve(hunt, &ground, errors))
}

/// The plan of `spec`. It means something only if no errors were found.
pub(crate) fn resolve(mut spec: Spec, left_out: &LeftOut, default_name: &str, found: &mut Findings) -> Plan {
    let name = lab_name(&spec, default_name, &mut found.errors);
    check_ends(&spec, &mut found.errors);
    let stacks = clock::stacks(&mut spec, found);
    tunnel::choose_addresses(&mut spec, &name);
    found.errors.extend(external::check_exposed(&spec));
    let chosen = machines::choices(&spec, &mut found.errors);
    let exit = internet::check(&spec, &mut found.errors);
    let timeline = entries(&mut spec, left_out, &mut found.errors);
    let policies = rules::take(&mut spec.nodes);
    let node_index = Index::new("node", spec.nodes.iter().map(|node| &node.name), left_out.nodes);
    let positions = positions(&spec, &node_index, &mut found.errors);
    let link_index = Index::new("link", spec.links.iter().map(|link| &link.name), left_out.links);
    let interfaces = interfaces::resolve(&spec.links, &node_index, &mut found.errors);
    let switches = switches::settle(&spec, &link_index, interfaces.as_deref(), &mut found.errors);
    openflow::check(&spec, &node_index, &mut found.errors);
    let kinds: Vec<_> = spec.nodes.iter().map(|node| node.kind).collect();
    let traffic = traffic::resolve(std::mem::take(&mut spec.traffic), &node_index, &kinds, &mut found.errors);
    let wanted = std::mem::take(&mut spec.capture);
    let capture = capture::captures(wanted, (&link_index, &node_index), &spec.links, &mut found.errors);
    let journal = capture::journal(spec.journal.take(), &link_index, &spec.links, &mut found.errors);
    let (nodes, links, is_complete) = (&node_index, &link_index, !left_out.commands);
    let places = Places { nodes, links, spec: &spec, stacks: &stacks, is_complete };
    let timeline = timeline::resolve(timeline, &places, found);
    let expected = expect::resolve((&name, &spec), &timeline, left_out, &mut found.errors);
    let expect::Expected { expect, over_runs, figures, exercise } = expected;
    let hunt = hunt_of(&spec, (&node_index, &link_index), &stacks, &timeline, left_out, &mut found.errors);
    let paths = paths::settle(&spec, &mut found.errors);
    let plan = outline(name, &spec, found.errors.files().to_vec());
    let mut plan = Plan { timeline, traffic, capture, journal, expect, over_runs, figures, exercise, hunt, ..plan };
    let segments = segments(&spec.links, &spec.nodes);
    interfaces::check_macs(&segments, &mut found.errors);
    found.errors.extend(external::check(&spec, &segments));
    found.errors.extend(tunnel::check(&spec));
    let addresses = assign(&segments, segments::ends(&spec.links).count(), &spec.addressing, found);
    let crowded = crowded(&segments);
    // With an end that leads nowhere there is no network to route in, and the ways across a segment are the square of its ends; the
    // errors are noted.
    let interfaces = interfaces.filter(|_| crowded.is_empty());
    found.errors.extend(crowded);
    if let Some(interfaces) = interfaces {
        let mut routing = routing::settle(&spec, &kinds, &segments, &interfaces, &addresses, &mut found.warnings);
        let groups = routing::trees(&spec, &node_index, &segments, &interfaces, &addresses, &mut found.errors);
        add_links(&mut plan, &spec, &interfaces, (&stacks, &switches), &mut found.errors);
        radio::settle(&mut plan, &spec, (&interfaces, &paths), &mut found.errors);
        found.errors.extend(roaming::check(&spec));
        partitions::settle(&mut plan);
        packets::settle(&mut plan);
        plan.unreached = routing.unreached;
        let known = neighbors_of(&segments, &interfaces, &addresses, &kinds, spec.arp);
        let around = daemons::neighborhoods(&segments, &interfaces);
        let (speaking, nats) = (daemons::take(&mut spec), nat::take(&mut spec));
        let (flowing, lent) = (openflow::take(&mut spec), dhcp::take(&mut spec));
        let given = given::take(&mut spec);
        let ways = routing.routes.into_iter().zip(routing.names);
        let devices = switches.into_iter().zip(external::settle(&spec, &interfaces));
        plan.nodes = nodes::plans(spec.nodes, (&spec.inherit, spec.measure), &stacks, devices, ways).collect();
        machines::settle(&mut plan.nodes, chosen);
        nodes::complete(&mut plan.nodes, positions.into_iter().zip(routing.ecmp).zip(groups));
        add_interfaces(&mut plan, interfaces, addresses, known);
        given::settle(&mut plan, given, &mut found.errors);
        partitions::complete(&mut plan);
        plan.internet = internet::settle(&plan, exit, &mut found.errors);
        rules::settle(&mut plan, &policies, &around, &mut found.errors);
        let lent = dhcp::settle(&mut plan, lent, (&around, &spec.links), left_out, &mut found.errors);
        nat::configure(&mut plan, &nats, (&around, &spec.links), &mut routing.learned, (left_out, &mut found.errors));
        daemons::configure(&mut plan, &speaking, &around, &spec.links, &routing.learned);
        dhcp::configure(&mut plan, &lent, &mut found.errors);
        openflow::configure(&mut plan, &flowing, &around, &mut found.errors);
    }
    plan
}

/// A plan with the settings of the whole lab, and nothing in it.
fn outline(name: String, spec: &Spec, files: Vec<PathBuf>) -> Plan {
    Plan {
        name,
        seed: spec.seed.unwrap_or(SEED),
        clock: spec.clock,
        start: spec.start.as_ref().map(|start| start.value),
        shards: spec.shards.as_ref().map(|shards| shards.value).unwrap_or_default(),
        machines: spec.machines.iter().map(|machine| machine.value.clone()).collect(),
        elsewhere: spec.elsewhere.iter().map(|far| far.value.clone()).collect(),
        on_spin: spec.on_spin,
        precision: spec.precision.as_ref().map(|precision| precision.value).unwrap_or_default(),
        duration: spec.duration,
        stop: spec.stop.unwrap_or(Plan::STOP),
        nodes: Vec::new(),
        links: Vec::new(),
        unreached: Unreached::default(),
        timeline: Vec::new(),
        traffic: Vec::new(),
        sampling: spec.sampling,
        capture: Vec::new(),
        journal: None,
        expect: Vec::new(),
        over_runs: Vec::new(),
        figures: Vec::new(),
        exercise: None,
        hunt: None,
        bounds: spec.bounds,
        internet: None,
        diversion: None,
        files,
    }
}

/// The timeline as the file has it, and what follows from nodes.
fn entries(spec: &mut Spec, left_out: &LeftOut, errors: &mut Errors) -> Vec<EntrySpec> {
    let written = std::mem::take(&mut spec.timeline);
    let mut timeline = repeats::all(written, spec, left_out.nodes, spec.seed.unwrap_or(SEED), errors);
    timeline.extend(order::setups(spec));
    timeline.extend(daemons::entries(spec, errors));
    timeline.extend(openflow::entries(spec));
    timeline.extend(node_commands::image_programs(spec));
    timeline.extend(dhcp::entries(spec));
    timeline
}

/// Where each node is in a picture, if the file says it.
fn positions(spec: &Spec, nodes: &Index<'_>, errors: &mut Errors) -> Vec<Option<[f64; 2]>> {
    let mut positions = vec![None; spec.nodes.len()];
    for (name, at) in &spec.layout {
        if let Some(node) = place(nodes, name, errors) {
            positions[node] = Some(*at);
        }
    }
    positions
}

fn lab_name(spec: &Spec, default_name: &str, errors: &mut Errors) -> String {
    if let Some(name) = &spec.name {
        return name.value.clone();
    }
    if check_name(default_name).is_err() {
        let message = format!("the file's name `{default_name}` cannot name the lab: write for example `name: my-lab`");
        errors.push(Diagnostic::new(Span { line: 1, ..Span::default() }, "name", message));
    }
    default_name.to_owned()
}

fn check_ends(spec: &Spec, errors: &mut Errors) {
    let mut ends = 0;
    let too_many = spec.links.iter().find(|link| {
        ends += link.ends.len();
        ends > 2 * MOST_LINKS
    });
    if let Some(link) = too_many {
        errors.push(link.name.error(format!("the links of a lab have at most {} ends together", 2 * MOST_LINKS)));
    }
}

/// The links, and whether they are joined in the kernel.
fn add_links(
    plan: &mut Plan,
    spec: &Spec,
    interfaces: &[Interface],
    (stacks, switches): (&[Stack], &[Option<SwitchPlan>]),
    errors: &mut Errors,
) {
    plan.links = link_plans(spec, interfaces);
    let bypass = bypass::settle(spec, stacks, switches, plan, errors);
    plan.links.iter_mut().zip(bypass).for_each(|(link, bypass)| link.bypass = bypass);
}

fn link_plans(spec: &Spec, interfaces: &[Interface]) -> Vec<LinkPlan> {
    let mut ends = interfaces.iter().map(|interface| interface.at);
    let plan = |link: &LinkSpec| LinkPlan {
        name: link.name.value.clone(),
        ends: ends.by_ref().take(link.ends.len()).collect(),
        is_shared: link.shared.is_some(),
        pipes: link.pipes.clone(),
        treatments: link.treatments.clone(),
        mtu: link.mtu,
        coalesce: link.coalesce,
        bypass: Bypass::Off,
        limits_loop: switches::may_limit_loop(spec, link),
    };
    spec.links.iter().map(plan).collect()
}

/// What is wrong with segments that have too many ends, of which each may have all others as neighbours.
fn crowded(segments: &[Segment<'_>]) -> Vec<Diagnostic> {
    let error = |segment: &Segment<'_>| {
        let count = segment.ends.len();
        let message = format!(
            "{segment} has {count} ends with addresses, and at most {MOST_ENDS} are possible: divide it by a router"
        );
        (count > MOST_ENDS).then(|| segment.name.error(message))
    };
    segments.iter().filter_map(error).collect()
}

/// In a segment with more ends than these, neighbours are learned unless the lab file says otherwise: that all know all
/// others takes memory and time with the square of their number.
const MOST_KNOWN: usize = 128;

/// The neighbours that each end knows without having to ask. A transit router never asks.
fn neighbors_of(
    segments: &[Segment<'_>],
    interfaces: &[Interface],
    addresses: &[Vec<IpNet>],
    kinds: &[NodeKind],
    arp: Option<bool>,
) -> Vec<Vec<(IpAddr, [u8; 6])>> {
    let mut known: Vec<Vec<_>> = vec![Vec::new(); interfaces.len()];
    for segment in segments {
        let ends = || segment.ends.iter().map(|own| own.end.index());
        let are_learned = arp.unwrap_or(segment.is_open || segment.ends.len() + segment.far.len() > MOST_KNOWN);
        for own in ends().filter(|own| !are_learned || kinds[interfaces[*own].at.node] == NodeKind::Transit) {
            let others = ends().filter(|other| *other != own);
            let near = others.flat_map(|other| neighbors(&addresses[other], interfaces[other].mac));
            let far = segment.far.iter().filter_map(|far| Some(neighbors(&far.addresses, far.mac?)));
            known[own] = near.chain(far.flatten()).collect();
        }
    }
    known
}

/// Gives the nodes their interfaces: in the order of their ends, as their places were settled.
fn add_interfaces(
    plan: &mut Plan,
    interfaces: Vec<Interface>,
    addresses: Vec<Vec<IpNet>>,
    known: Vec<Vec<(IpAddr, [u8; 6])>>,
) {
    for ((Interface { at, name, mac }, own), neighbors) in interfaces.into_iter().zip(addresses).zip(known) {
        let EndPlan { end, node, .. } = at;
        let mtu = plan.links[end.link()].mtu;
        plan.nodes[node].interfaces.push(InterfacePlan {
            name,
            mac,
            mtu,
            addresses: own,
            leased: Vec::new(),
            lender: None,
            neighbors,
            end,
        });
    }
}

/// The place of a name that another part of the file refers to; an unknown one is noted.
fn place(index: &Index<'_>, name: &Spanned<String>, errors: &mut Errors) -> Option<usize> {
    match index_of(index, name) {
        Ok(place) => place,
        Err(error) => errors.reject(error),
    }
}
