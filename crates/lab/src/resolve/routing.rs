//! Routes: shortest paths by cost, then by number of links, then by the place of the first link in the file.
//!
//! Only routers forward. A subnet is reached through the nearer of its link's ends that is a router, since a host
//! there would not pass a packet on to the other end; where neither is, each end's addresses are reached by a way to that
//! end. Every node has a route to every subnet that is not its own; if all of a host's routes (or those of a node with one
//! link) share a gateway, one default route says the same, and large tables are made smaller by prefixes that several
//! subnets share: there, which of several equally short paths is taken is what makes the table smaller.

mod aggregate;
mod names;
mod paths;
mod reach;

use super::ends::Ends;
use crate::addressing::{Family, LinkAddresses, first, net};
use crate::diagnostics::Diagnostic;
use crate::plan::{NamePlan, NodeKind, RoutePlan, Unreached};
use crate::spec::Spec;
use aggregate::{ANYWHERE, Hops};
use ipnet::IpNet;
use paths::{Label, Paths, Ways};
use std::cmp::Ordering;
use std::net::IpAddr;
use std::sync::Arc;

/// A link as far as one family is concerned.
pub(super) struct Edge {
    nodes: [usize; 2],
    interfaces: [usize; 2],
    /// The addresses that the ends use as each other's gateway.
    gateways: [IpAddr; 2],
    cost: u32,
    subnets: Vec<IpNet>,
    /// The addresses of each end, for those who can reach this end alone.
    addresses: [Vec<IpNet>; 2],
}

/// The network of one family.
pub(super) struct Network<'a> {
    family: Family,
    kinds: &'a [NodeKind],
    edges: Vec<Edge>,
    /// For each node its edges, in the order of the file, and its end of each.
    around: Vec<Vec<(usize, usize)>>,
    /// Whether all links cost the same.
    is_uniform: bool,
    /// The prefixes above the subnets of all edges, in their order; none if they cannot be made into a tree.
    tree: Option<aggregate::Tree>,
}

/// How the addresses of an edge are reached.
enum Reached {
    /// All of them by the same ways.
    Together(Ways),
    /// Those of each end by ways of their own, if any.
    Apart([Option<Ways>; 2]),
}

/// What follows from the paths of a lab.
pub(super) struct Routing {
    /// The routes of every node.
    pub(super) routes: Vec<Vec<RoutePlan>>,
    /// The names that lead elsewhere than to the first interface, as seen from every node.
    pub(super) names: Vec<Arc<[NamePlan]>>,
    /// The nodes that have no way to one another.
    pub(super) unreached: Unreached,
}

/// The routes and names of every node, and warnings about what cannot be reached.
pub(super) fn settle(
    spec: &Spec,
    kinds: &[NodeKind],
    ends: &[Ends],
    addresses: &[LinkAddresses],
    warnings: &mut Vec<Diagnostic>,
) -> Routing {
    let mut routes: Vec<Vec<RoutePlan>> = vec![Vec::new(); kinds.len()];
    let mut is_complete = true;
    let networks = [Family::V4, Family::V6].map(|family| Network::new(spec, kinds, ends, addresses, family));
    // Mostly, all links have both IPv4 and IPv6: then the paths are the same.
    let are_alike = networks[0].is_along(&networks[1]);
    let mut names = names::Names::new(&networks[0]);
    let mut paths = Paths::default();
    let routed: Vec<bool> = spec.nodes.iter().map(|node| node.routes.unwrap_or(spec.routes)).collect();
    for (node, own) in routes.iter_mut().enumerate() {
        if !routed[node] {
            // It knows its own subnets alone, until a program in it makes routes.
            names.look_from(node, &[]);
            continue;
        }
        for (place, network) in networks.iter().enumerate() {
            // A node with one link sends everything there: no paths need to be found.
            if (place == 0 || !are_alike) && network.around[node].len() > 1 {
                paths.find(network, node);
            }
            is_complete &= network.routes_of(node, &paths.labels, own);
            if place == 0 {
                names.look_from(node, &paths.labels);
            }
        }
        own.shrink_to_fit();
    }
    // Where others make routes, they may make ways, too.
    let is_ours = routed.iter().all(|routed| *routed);
    reach::warn(spec, kinds, ends, is_complete || !is_ours, warnings);
    let unreached = if is_ours { reach::unreached(kinds, ends) } else { Unreached::default() };
    Routing { routes, names: names.finish(), unreached }
}

impl<'a> Network<'a> {
    fn new(spec: &Spec, kinds: &'a [NodeKind], ends: &[Ends], addresses: &[LinkAddresses], family: Family) -> Self {
        let mut edges: Vec<Edge> = Vec::new();
        let mut around = vec![Vec::new(); kinds.len()];
        for ((link, joined), assigned) in spec.links.iter().zip(ends).zip(addresses) {
            let Some(pair) = assigned.pair(family) else { continue };
            let of_family = |nets: &[IpNet]| -> Vec<IpNet> {
                nets.iter().copied().filter(|net| Family::of(net) == family).collect()
            };
            let own = assigned.ends.each_ref().map(|nets| of_family(nets));
            let mut subnets: Vec<IpNet> = Vec::new();
            for net in own.iter().flatten().map(IpNet::trunc) {
                if !subnets.contains(&net) {
                    subnets.push(net);
                }
            }
            for (end, plan) in joined.plans.iter().enumerate() {
                around[plan.node].push((edges.len(), end));
            }
            edges.push(Edge {
                nodes: joined.plans.map(|end| end.node),
                interfaces: joined.plans.map(|end| end.interface),
                gateways: pair.map(|net| net.addr()),
                cost: link.cost,
                subnets,
                addresses: own,
            });
        }
        let is_uniform = edges.windows(2).all(|pair| pair[0].cost == pair[1].cost);
        let tree = aggregate::Tree::of(family, edges.iter().flat_map(|edge| &edge.subnets).copied());
        Self { family, kinds, edges, around, is_uniform, tree }
    }

    /// Whether both have the same links.
    fn is_along(&self, other: &Self) -> bool {
        let ends = |edge: &Edge| (edge.nodes, edge.interfaces);
        self.edges.iter().map(ends).eq(other.edges.iter().map(ends))
    }

    /// Adds the routes of `source`, whose paths are `labels`; false if an address cannot be reached.
    fn routes_of(&self, source: usize, labels: &[Label], routes: &mut Vec<RoutePlan>) -> bool {
        let around = &self.around[source];
        if let [(edge, end)] = around[..] {
            let gateway = self.edges[edge].nodes[1 - end];
            let forwards = self.kinds[gateway].forwards();
            if forwards && self.around[gateway].len() > 1 {
                routes.push(self.route(source, 0, self.family.everything()));
            }
            return forwards || self.around[gateway].len() == 1;
        }
        if around.is_empty() {
            return self.edges.is_empty();
        }
        let mut is_complete = true;
        let mut found: Vec<(IpNet, Ways)> = Vec::with_capacity(self.edges.len());
        // By the places of subnets: those of its own, or out of its reach, may lead anywhere.
        let mut hops: Vec<Hops> = Vec::with_capacity(self.edges.len());
        let mut are_whole = true;
        for edge in &self.edges {
            let ways = if edge.nodes.contains(&source) { None } else { Some(self.reach(edge, labels)) };
            let all = if let Some(Reached::Together(ways)) = ways { ways.all } else { ANYWHERE };
            hops.extend(edge.subnets.iter().map(|_| all));
            match ways {
                None => {}
                Some(Reached::Together(ways)) => found.extend(edge.subnets.iter().map(|subnet| (*subnet, ways))),
                Some(Reached::Apart(ends)) => {
                    is_complete &= ends.iter().all(Option::is_some);
                    are_whole = false;
                    self.add_apart(edge, ends, &mut found);
                }
            }
        }
        let shared = found.first().map(|(_, ways)| ways.first);
        let is_shared =
            self.kinds[source] == NodeKind::Host && found.iter().all(|(_, ways)| Some(ways.first) == shared);
        let fewer = || match &self.tree {
            Some(tree) if are_whole && aggregate::is_worth_it(found.len(), around.len()) => Some(tree.table(&hops)),
            _ => aggregate::aggregate(self.family, around.len(), &found),
        };
        if let Some(first) = shared.filter(|_| is_shared) {
            routes.push(self.route(source, first, self.family.everything()));
        } else if let Some(fewer) = fewer() {
            routes.extend(fewer.into_iter().map(|(net, place)| self.route(source, place, net)));
        } else {
            routes.extend(found.iter().map(|(net, ways)| self.route(source, ways.first, *net)));
        }
        is_complete
    }

    fn reach(&self, edge: &Edge, labels: &[Label]) -> Reached {
        let forwarding = |node: usize| labels[node].as_ref().filter(|_| self.kinds[node].forwards());
        let nearer = match (forwarding(edge.nodes[0]), forwarding(edge.nodes[1])) {
            (Some((near, ways)), Some((far, others))) => Some(match near.cmp(far) {
                Ordering::Less => *ways,
                Ordering::Greater => *others,
                Ordering::Equal => ways.or(*others),
            }),
            (one, other) => one.or(other).map(|(_, ways)| *ways),
        };
        if let Some(ways) = nearer {
            return Reached::Together(ways);
        }
        let ends = edge.nodes.map(|node| labels[node].map(|(_, ways)| ways));
        // Two hosts that are reached by one way are reached as one.
        let common = ends[0].and_then(|ways| ways.and(ends[1]?));
        common.map_or(Reached::Apart(ends), Reached::Together)
    }

    /// Adds how the addresses of each end are reached.
    fn add_apart(&self, edge: &Edge, ends: [Option<Ways>; 2], found: &mut Vec<(IpNet, Ways)>) {
        for (ways, addresses) in ends.iter().zip(&edge.addresses) {
            let alone = |address: &IpNet| net(self.family, first(address), self.family.bits());
            found.extend(ways.iter().flat_map(|ways| addresses.iter().map(|address| (alone(address), *ways))));
        }
    }

    /// A route that leaves `source` by the edge at place `first` around it.
    fn route(&self, source: usize, first: u32, destination: IpNet) -> RoutePlan {
        let (edge, end) = self.around[source][first as usize];
        let edge = &self.edges[edge];
        RoutePlan { destination, via: edge.gateways[1 - end], interface: edge.interfaces[end] }
    }
}
