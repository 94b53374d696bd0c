//! Whether the parts are the lab: what nodes and links of a part differ in from those of the whole lab.

use super::{Ground, Part, at_entry};
use crate::diagnostics::Diagnostic;
use crate::plan::{Action, Direction, FileContents, FilePlan, LinkPlan, NamePlan, NodePlan, Plan, Treatment};
use ipnet::IpNet;
use netloom_link::PipeConfig;
use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

/// An interface: name, addresses, hardware address, MTU, and neighbours in order.
type Facts<'a> = (&'a str, &'a [IpNet], [u8; 6], u32, BTreeSet<(IpAddr, [u8; 6])>);

/// Which files a node has.
type Files<'a> = Vec<(&'a std::path::Path, &'a FileContents, bool, Option<u32>, Option<&'a str>)>;

/// The differences of a part from the whole lab, each at the entry of the node or link.
pub(super) fn differences(ground: &Ground<'_>, machine: usize, part: &Plan) -> Vec<Diagnostic> {
    let mut wrong = Vec::new();
    let own: BTreeMap<&str, usize> =
        part.nodes.iter().zip(0..).map(|(node, place)| (node.name.as_str(), place)).collect();
    let mut hosts = Hosts { whole: ground.plan, part, known: BTreeMap::new() };
    for (place, node) in ground.plan.nodes.iter().enumerate().filter(|(place, _)| ground.home(*place) == machine) {
        let what = match own.get(node.name.as_str()) {
            None => Some("is missing"),
            Some(there) => different(ground.plan, node, part, &part.nodes[*there]).or_else(|| {
                let is_named = node.kind.runs_programs() && !hosts.are_same(node, &part.nodes[*there]);
                is_named.then_some("has other names in /etc/hosts")
            }),
        };
        let refused = |how| {
            let name = &ground.plan.nodes[place].name;
            let message = format!("`{name}` cannot be divided from the others: in a part of the lab, it {how}");
            at_entry(ground.root, "nodes", name, message)
        };
        wrong.extend(what.map(refused));
    }
    for (place, link) in
        ground.plan.links.iter().enumerate().filter(|(place, _)| ground.homes(*place).contains(&machine))
    {
        let there = part.links.iter().find(|other| other.name == link.name);
        let enters = |direction: Direction| ground.home(link.entry(direction).node) == machine;
        if !there.is_some_and(|there| is_same(link, there, enters)) {
            let name = &ground.plan.links[place].name;
            let message = format!("link `{name}` cannot be divided: in a part of the lab, it has other settings");
            wrong.push(at_entry(ground.root, "links", name, message));
        }
    }
    wrong
}

/// The commands that the parts do not have together as the whole lab has them.
pub(super) fn lost(ground: &Ground<'_>, parts: &[Part]) -> Vec<Diagnostic> {
    let all: BTreeSet<(&str, &str)> = commands(ground.plan).collect();
    let divided: BTreeSet<(&str, &str)> = parts.iter().flat_map(|part| commands(&part.lab.plan)).collect();
    let refused = |(node, command): &(&str, &str)| {
        let message = format!(
            "command `{command}` on `{node}` cannot be divided: it would have another name in a part; write `as`"
        );
        at_entry(ground.root, "nodes", node, message)
    };
    all.symmetric_difference(&divided).map(refused).collect()
}

fn commands(plan: &Plan) -> impl Iterator<Item = (&str, &str)> {
    plan.timeline.iter().filter_map(|event| match &event.action {
        Action::Run(run) => Some((plan.nodes[run.node].name.as_str(), run.name.as_str())),
        _ => None,
    })
}

/// Returns the difference between a node and that of a part, if there is one.
fn different(whole: &Plan, node: &NodePlan, part: &Plan, there: &NodePlan) -> Option<&'static str> {
    let found = [
        (node.kind != there.kind || node.stack != there.stack, "is of another kind"),
        (node.interfaces.len() != there.interfaces.len(), "has other links"),
        (node.kind.has_addresses() && facts(node) != facts(there), "has other addresses or neighbours"),
        (node.kind.has_addresses() && routes(node) != routes(there), "has other routes"),
        (node.rules != there.rules || node.tables != there.tables, "has other policy routes"),
        (groups(whole, node) != groups(part, there), "has another part in trees of multicast"),
        (node.daemons != there.daemons, "has other routing daemons"),
        (files(node) != files(there), "has other files, which follow from the network"),
        (node.sysctls != there.sysctls || node.env != there.env, "has other settings"),
        (node.overlay != there.overlay || node.whole_frames != there.whole_frames, "has other settings"),
        (node.expose.len() != there.expose.len() || node.collect != there.collect, "has other settings"),
    ];
    found.into_iter().find(|(is_so, _)| *is_so).map(|(_, what)| what)
}

fn facts(node: &NodePlan) -> Vec<Facts<'_>> {
    let mut facts = Vec::new();
    for own in &node.interfaces {
        let neighbors = own.neighbors.iter().copied().collect();
        facts.push((own.name.as_str(), own.addresses.as_slice(), own.mac, own.mtu, neighbors));
    }
    facts
}

fn routes(node: &NodePlan) -> Vec<(IpNet, IpAddr, usize)> {
    let mut routes: Vec<_> = node.routes.iter().map(|route| (route.destination, route.via, route.interface)).collect();
    // Which of several to one destination comes first decides which of them a flow takes.
    routes.sort_by_key(|(destination, ..)| *destination);
    routes
}

fn groups<'a>(plan: &'a Plan, node: &'a NodePlan) -> Vec<(IpAddr, &'a str, Option<usize>, &'a [usize])> {
    let of = |own: &'a crate::plan::GroupPlan| {
        (own.group, plan.nodes[own.source].name.as_str(), own.from, own.to.as_slice())
    };
    node.groups.iter().map(of).collect()
}

fn files(node: &NodePlan) -> Files<'_> {
    let mut files = Vec::new();
    for FilePlan { target, contents, keep, mode, owner, .. } in &node.files {
        files.push((target.as_path(), contents, *keep, *mode, owner.as_deref()));
    }
    files
}

/// Whether a link is the same, as far as its directions are described in the part.
fn is_same(link: &LinkPlan, there: &LinkPlan, enters: impl Fn(Direction) -> bool) -> bool {
    let is_described = |direction: &Direction| link.is_shared || enters(*direction);
    // A part judges packets at all of its links, since it does not know those of other machines.
    let described = |pipe: &PipeConfig| PipeConfig { partition_set: None, ..pipe.clone() };
    let further = |all: &[Treatment]| {
        let config = |own: &Treatment| Treatment { config: described(&own.config), ..own.clone() };
        all.iter().map(config).collect::<Vec<_>>()
    };
    let mut ways = [Direction::Forward, Direction::Backward].into_iter().filter(is_described).map(Direction::index);
    link.mtu == there.mtu
        && link.coalesce == there.coalesce
        && link.is_shared == there.is_shared
        && link.bypass == there.bypass
        && link.ends.len() == there.ends.len()
        && ways.all(|way| {
            described(&link.pipes[way]) == described(&there.pipes[way])
                && further(&link.treatments[way]) == further(&there.treatments[way])
        })
}

/// Names inside nodes, which many nodes see alike.
struct Hosts<'a> {
    whole: &'a Plan,
    part: &'a Plan,
    known: BTreeMap<(Vec<NamePlan>, Vec<NamePlan>), bool>,
}

impl Hosts<'_> {
    fn are_same(&mut self, node: &NodePlan, there: &NodePlan) -> bool {
        let seen = (node.names.to_vec(), there.names.to_vec());
        let (whole, part) = (self.whole, self.part);
        *self.known.entry(seen).or_insert_with(|| lines(&whole.hosts_of(node)) == lines(&part.hosts_of(there)))
    }
}

/// The lines of a text in order of their words: those of different nodes may stand in any order.
fn lines(text: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    lines
}
