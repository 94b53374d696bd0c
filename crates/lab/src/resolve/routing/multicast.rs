//! Trees of multicast: the shortest paths from a source, each segment entered by the nearest node alone.

use super::paths::Distance;
use super::{Hop, Network, Segment};
use crate::addressing::Family;
use crate::diagnostics::Diagnostic;
use crate::errors::Errors;
use crate::plan::{GroupPlan, NodeKind};
use crate::resolve::interfaces::Interface;
use crate::resolve::names::Index;
use crate::resolve::place;
use crate::spec::{MulticastSpec, Spec};
use ipnet::IpNet;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// How a node is entered: from which node, by which of its hops.
type Entry = Option<(usize, Hop)>;

/// The part of every node in the trees of a lab. What is wrong is noted.
pub(in crate::resolve) fn trees(
    spec: &Spec,
    index: &Index<'_>,
    segments: &[Segment<'_>],
    interfaces: &[Interface],
    addresses: &[Vec<IpNet>],
    errors: &mut Errors,
) -> Vec<Vec<GroupPlan>> {
    let mut parts = vec![Vec::new(); spec.nodes.len()];
    if spec.multicast.is_empty() {
        return parts;
    }
    let kinds: Vec<NodeKind> = spec.nodes.iter().map(|node| node.kind).collect();
    let networks = [Family::V4, Family::V6].map(|family| Network::new(&kinds, segments, interfaces, addresses, family));
    let mut seen: BTreeMap<(std::net::IpAddr, usize), &MulticastSpec> = BTreeMap::new();
    for tree in &spec.multicast {
        let Some(source) = place(index, &tree.from, errors) else { continue };
        if let Some(first) = seen.insert((tree.group.value, source), tree) {
            let message = format!(
                "`{}` sends to {} in another tree already: write one, with all receivers",
                tree.from.value, tree.group.value
            );
            errors.push(tree.group.error(message).and(first.group.span, "first here"));
            continue;
        }
        let network = &networks[usize::from(tree.group.value.is_ipv6())];
        let members: Vec<Option<usize>> = tree.to.iter().map(|member| place(index, member, errors)).collect();
        errors.extend(Grown { spec, network, tree, source }.grow(&members, &mut parts));
    }
    errors.extend(divided(spec, &parts));
    parts
}

/// A tree that is grown.
struct Grown<'a> {
    spec: &'a Spec,
    network: &'a Network<'a>,
    tree: &'a MulticastSpec,
    source: usize,
}

impl Grown<'_> {
    /// Adds the parts of all nodes; what is wrong.
    fn grow(&self, members: &[Option<usize>], parts: &mut [Vec<GroupPlan>]) -> Vec<Diagnostic> {
        let Self { spec, network, tree, source } = self;
        let runs = |node: usize| spec.nodes[node].kind.runs_programs();
        let named = std::iter::once((&tree.from, Some(*source))).chain(tree.to.iter().zip(members.iter().copied()));
        let idle = named.filter_map(|(name, node)| node.filter(|node| !runs(*node)).map(|node| (name, node)));
        let mut wrong: Vec<Diagnostic> = idle
            .map(|(name, node)| {
                let what = spec.nodes[node].kind.title();
                name.error(format!("`{}` is a {what}, which runs no programs: name hosts and routers", name.value))
            })
            .collect();
        if !wrong.is_empty() {
            return wrong;
        }
        let entries = self.entries();
        let mut own: BTreeMap<usize, GroupPlan> = BTreeMap::new();
        for (name, member) in tree.to.iter().zip(members).filter_map(|(name, node)| Some((name, (*node)?))) {
            let mut here = member;
            while here != *source {
                let Some((before, hop)) = entries[here] else {
                    let message = format!("no path leads from `{}` to `{}`", tree.from.value, name.value);
                    wrong.push(name.error(message));
                    break;
                };
                let end = |place: usize| network.edges[hop.edge].ends[place].interface;
                self.part(&mut own, here).from = Some(end(hop.other));
                let leaves = self.part(&mut own, before);
                if leaves.to.contains(&end(hop.own)) {
                    break;
                }
                leaves.to.push(end(hop.own));
                leaves.to.sort_unstable();
                here = before;
            }
        }
        wrong.extend(own.iter().filter_map(|(node, part)| self.refused(*node, part)));
        own.into_iter().for_each(|(node, part)| parts[node].push(part));
        wrong
    }

    fn part<'b>(&self, own: &'b mut BTreeMap<usize, GroupPlan>, node: usize) -> &'b mut GroupPlan {
        let (group, source) = (self.tree.group.value, self.source);
        own.entry(node).or_insert_with(|| GroupPlan { group, source, from: None, to: Vec::new() })
    }

    /// What is wrong with the part of a node, if it cannot take it.
    fn refused(&self, node: usize, part: &GroupPlan) -> Option<Diagnostic> {
        let (name, group) = (&self.spec.nodes[node].name.value, self.tree.group.value);
        if node == self.source && part.to.len() > 1 {
            let message = format!(
                "the tree leaves `{name}` by {} links, and a program sends a packet by one: put a transit router before it",
                part.to.len()
            );
            return Some(self.tree.from.error(message));
        }
        if node != self.source && self.spec.nodes[node].kind == NodeKind::Router && !part.to.is_empty() {
            let message = format!(
                "the tree leads through `{name}`, whose kernel passes multicast on for a routing daemon only: make it \
                 `kind: transit`, or leave this out and write `daemons: [pim]` for all routers"
            );
            return Some(
                self.tree
                    .group
                    .error(message)
                    .and(self.spec.nodes[node].name.span, format!("is on the way of {group}")),
            );
        }
        None
    }

    /// How each node is entered on its shortest path. Only those that forward are passed.
    fn entries(&self) -> Vec<Entry> {
        let network = self.network;
        let mut known: Vec<Option<Distance>> = vec![None; network.kinds.len()];
        let mut entries: Vec<Entry> = vec![None; network.kinds.len()];
        let mut is_fed = vec![false; network.edges.len()];
        let mut queue = BinaryHeap::from([Reverse((Distance::HERE, self.source))]);
        known[self.source] = Some(Distance::HERE);
        while let Some(Reverse((distance, node))) = queue.pop() {
            let passes = node == self.source || network.kinds[node].forwards();
            if known[node].is_some_and(|best| best < distance) || !passes {
                continue;
            }
            // All others there are reached from the nearest node, so that nothing comes twice.
            for hop in network.around[node].iter().filter(|hop| !is_fed[hop.edge]) {
                let beyond = distance.beyond(hop.cost);
                if known[hop.node].is_none_or(|best| beyond < best) {
                    known[hop.node] = Some(beyond);
                    entries[hop.node] = Some((node, *hop));
                    queue.push(Reverse((beyond, hop.node)));
                }
            }
            network.around[node].iter().for_each(|hop| is_fed[hop.edge] = true);
        }
        entries
    }
}

/// Nodes whose programs would need several interfaces for one group.
fn divided(spec: &Spec, parts: &[Vec<GroupPlan>]) -> Vec<Diagnostic> {
    let mut wrong = Vec::new();
    for (node, own) in parts.iter().enumerate().filter(|(node, _)| spec.nodes[*node].kind.runs_programs()) {
        let mut used: BTreeMap<std::net::IpAddr, usize> = BTreeMap::new();
        for part in own {
            let Some(interface) = part.interface() else { continue };
            if *used.entry(part.group).or_insert(interface) != interface {
                let (name, group) = (&spec.nodes[node].name.value, part.group);
                let tree = spec.multicast.iter().rev().find(|tree| tree.group.value == group);
                let message = format!(
                    "the trees of {group} reach `{name}` by several links, and its kernel has one for a group: use another group"
                );
                wrong.extend(tree.map(|tree| tree.group.error(message)));
                break;
            }
        }
    }
    wrong
}
