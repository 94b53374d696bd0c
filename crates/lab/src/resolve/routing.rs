//! Routes: shortest paths by cost, then by number of links, then by the place of the first link in the file.
//!
//! Only routers forward. A subnet is reached through the nearer of its link's ends that is a router, since a host
//! there would not pass a packet on to the other end. Every node has a route to every subnet that is not its own; if
//! all of a host's routes (or those of a node with one link) share a gateway, one default route says the same, and large
//! tables are made smaller by prefixes that several subnets share.

mod aggregate;
mod reach;

use super::addressing::{Family, LinkAddresses};
use super::ends::Ends;
use crate::diagnostics::Diagnostic;
use crate::plan::{NodeKind, RoutePlan};
use crate::spec::Spec;
use ipnet::IpNet;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::net::IpAddr;

/// A link as far as one family is concerned.
pub(super) struct Edge {
    nodes: [usize; 2],
    interfaces: [usize; 2],
    /// The addresses that the ends use as each other's gateway.
    gateways: [IpAddr; 2],
    cost: u32,
    subnets: Vec<IpNet>,
}

/// The network of one family.
pub(super) struct Network<'a> {
    family: Family,
    kinds: &'a [NodeKind],
    edges: Vec<Edge>,
    /// For each node its edges, in the order of the file, and its end of each.
    around: Vec<Vec<(usize, usize)>>,
}

/// How a node is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Label {
    cost: u64,
    links: u32,
    /// The place of the first edge in the source's own list.
    first: u32,
}

/// The routes of every node, and warnings about what cannot be reached.
pub(super) fn routes(
    spec: &Spec,
    kinds: &[NodeKind],
    ends: &[Ends],
    addresses: &[LinkAddresses],
    warnings: &mut Vec<Diagnostic>,
) -> Vec<Vec<RoutePlan>> {
    let mut routes: Vec<Vec<RoutePlan>> = vec![Vec::new(); kinds.len()];
    let mut is_complete = true;
    let networks = [Family::V4, Family::V6].map(|family| Network::new(spec, kinds, ends, addresses, family));
    // All links have IPv4, and most have IPv6: then the paths are the same.
    let are_alike = networks[0].edges.len() == networks[1].edges.len();
    let mut labels = Vec::new();
    for (node, own) in routes.iter_mut().enumerate() {
        for (place, network) in networks.iter().enumerate() {
            if place == 0 || !are_alike {
                network.shortest_paths(node, &mut labels);
            }
            is_complete &= network.routes_of(node, &labels, own);
        }
        own.shrink_to_fit();
    }
    reach::warn(spec, kinds, ends, is_complete, warnings);
    routes
}

impl<'a> Network<'a> {
    fn new(spec: &Spec, kinds: &'a [NodeKind], ends: &[Ends], addresses: &[LinkAddresses], family: Family) -> Self {
        let mut network = Self { family, kinds, edges: Vec::new(), around: vec![Vec::new(); kinds.len()] };
        for ((link, joined), assigned) in spec.links.iter().zip(ends).zip(addresses) {
            let Some(pair) = assigned.pair(family) else { continue };
            let mut subnets: Vec<IpNet> = Vec::new();
            for net in assigned.ends.iter().flatten().filter(|net| Family::of(net) == family).map(IpNet::trunc) {
                if !subnets.contains(&net) {
                    subnets.push(net);
                }
            }
            for (end, plan) in joined.plans.iter().enumerate() {
                network.around[plan.node].push((network.edges.len(), end));
            }
            network.edges.push(Edge {
                nodes: joined.plans.map(|end| end.node),
                interfaces: joined.plans.map(|end| end.interface),
                gateways: pair.map(|net| net.addr()),
                cost: link.cost,
                subnets,
            });
        }
        network
    }

    /// Adds the routes of `source`, whose paths are `labels`; false if a subnet cannot be reached.
    fn routes_of(&self, source: usize, labels: &[Option<Label>], routes: &mut Vec<RoutePlan>) -> bool {
        let around = &self.around[source];
        if let [(edge, end)] = around[..] {
            // A node with one link sends everything there: no paths need to be computed.
            let gateway = self.edges[edge].nodes[1 - end];
            let forwards = self.kinds[gateway].forwards();
            if forwards && self.around[gateway].len() > 1 {
                routes.push(self.route(source, 0, self.family.everything()));
            }
            return forwards || self.around[gateway].len() == 1;
        }
        let mut is_complete = true;
        let mut subnets = Vec::with_capacity(self.edges.len());
        let (mut first_hop, mut is_shared) = (None, self.kinds[source] == NodeKind::Host);
        for edge in self.edges.iter().filter(|edge| !edge.nodes.contains(&source)) {
            let Some(label) = self.label_of(edge, labels) else {
                is_complete = false;
                continue;
            };
            is_shared &= *first_hop.get_or_insert(label.first) == label.first;
            subnets.extend(edge.subnets.iter().map(|subnet| (*subnet, label.first)));
        }
        if let Some(first) = first_hop.filter(|_| is_shared) {
            routes.push(self.route(source, first, self.family.everything()));
        } else {
            let subnets = aggregate::aggregate(self.family, &subnets).unwrap_or(subnets);
            routes.extend(subnets.into_iter().map(|(subnet, first)| self.route(source, first, subnet)));
        }
        is_complete
    }

    /// The nearer end of an edge that forwards; a host's only if neither does.
    fn label_of(&self, edge: &Edge, labels: &[Option<Label>]) -> Option<Label> {
        let nearest = |forwards: bool| {
            let meant = edge.nodes.iter().filter(|node| self.kinds[**node].forwards() == forwards);
            meant.filter_map(|node| labels[*node]).min()
        };
        nearest(true).or_else(|| nearest(false))
    }

    /// A route that leaves `source` by the edge at place `first` around it.
    fn route(&self, source: usize, first: u32, destination: IpNet) -> RoutePlan {
        let (edge, end) = self.around[source][first as usize];
        let edge = &self.edges[edge];
        RoutePlan { destination, via: edge.gateways[1 - end], interface: edge.interfaces[end] }
    }

    /// Dijkstra's algorithm: `labels` says how each node is reached from `source`. Not for nodes with one link, whose
    /// routes need no paths.
    fn shortest_paths(&self, source: usize, labels: &mut Vec<Option<Label>>) {
        labels.clear();
        labels.resize(self.kinds.len(), None);
        if self.around[source].len() <= 1 {
            return;
        }
        let mut queue: BinaryHeap<Reverse<(Label, usize)>> = BinaryHeap::new();
        for (&(edge, end), first) in self.around[source].iter().zip(0..) {
            let edge = &self.edges[edge];
            queue.push(Reverse((Label { cost: u64::from(edge.cost), links: 1, first }, edge.nodes[1 - end])));
        }
        while let Some(Reverse((label, node))) = queue.pop() {
            if node == source || labels[node].is_some() {
                continue;
            }
            labels[node] = Some(label);
            if !self.kinds[node].forwards() {
                continue;
            }
            for &(edge, end) in &self.around[node] {
                let edge = &self.edges[edge];
                let next = edge.nodes[1 - end];
                if labels[next].is_none() {
                    let longer = Label { cost: label.cost + u64::from(edge.cost), links: label.links + 1, ..label };
                    queue.push(Reverse((longer, next)));
                }
            }
        }
    }
}
