//! Routes: shortest paths by cost, then by number of links, then by the place of the first link in the file.
//!
//! Only routers forward. A subnet is reached through the nearest of its segment's ends that is a router, since a host
//! there would not pass a packet on to another end; where none is, each end's addresses are reached by a way to that
//! end. Every node has a route to every subnet that is not its own; if all of a host's routes (or those of a node with one
//! link) share a gateway, one default route says the same, and large tables are made smaller by prefixes that several
//! subnets share: there, which of several equally short paths is taken is what makes the table smaller.
//!
//! With `ecmp`, a node has a route by each neighbour that begins a path of the least cost, however many links that has. Every such
//! neighbour is nearer by cost, so that packets go round in no circle, whichever of the nodes on their way have `ecmp`.

mod aggregate;
mod dynamic;
mod graph;
mod multicast;
mod names;
mod paths;
mod reach;
mod together;

pub(super) use multicast::trees;

use super::daemons::{Learned, Speakers};
use super::interfaces::Interface;
use crate::addressing::{Family, first, net};
use crate::diagnostics::Diagnostic;
use crate::plan::{NamePlan, NodeKind, RoutePlan, Unreached};
use crate::segments::{Segment, Station};
use crate::spec::{NodeSpec, RoutesSpec, Spec};
use aggregate::{ANYWHERE, Hops};
use graph::Graph;
use ipnet::IpNet;
use paths::{Distance, Equal, Label, Paths, Ways};
use std::cmp::Ordering;
use std::net::IpAddr;
use std::sync::Arc;

/// A segment as far as one family is concerned.
pub(super) struct Edge {
    nodes: Vec<usize>,
    ends: Vec<End>,
    cost: u32,
    subnets: Vec<IpNet>,
}

/// An end of a segment.
struct End {
    /// The interface's place in the node's list.
    interface: usize,
    /// The address that the others use as a gateway.
    gateway: IpAddr,
    /// Its addresses, for those who can reach this end alone.
    addresses: Vec<IpNet>,
}

/// A way from a node to a neighbour.
#[derive(Clone, Copy, PartialEq)]
struct Hop {
    edge: usize,
    /// The places of the node and of the neighbour among the edge's ends.
    own: usize,
    other: usize,
    /// The neighbour.
    node: usize,
    cost: u32,
}

/// The network of one family.
pub(super) struct Network<'a> {
    family: Family,
    kinds: &'a [NodeKind],
    edges: Vec<Edge>,
    /// For each node the ways to its neighbours, in the order of the file.
    around: Vec<Vec<Hop>>,
    graph: Graph,
    /// For each of the subnets of all edges, in their order, the edge that it belongs to.
    edge_of: Vec<usize>,
    /// The prefixes above these subnets; none if they cannot be made into a tree.
    tree: Option<aggregate::Tree>,
    /// The node by which all addresses are reached that no subnet has.
    exit: Option<usize>,
}

/// How the addresses of an edge are reached.
#[derive(Clone, Copy)]
enum Reached {
    /// Over the node's own interface.
    Near,
    /// All of them by the same ways.
    Together(Ways),
    /// Those of each end by ways of their own, if any.
    Apart,
}

/// How a node reaches all edges: the same for both families where these are alike. Used for one node after the other.
#[derive(Default)]
struct Reach {
    edges: Vec<Reached>,
    /// Whether no edge is reached apart.
    is_whole: bool,
    /// Whether the first ways to the edges differ.
    is_spread: bool,
}

/// What follows from the paths of a lab.
pub(super) struct Routing {
    /// The routes of every node.
    pub(super) routes: Vec<Vec<RoutePlan>>,
    /// The names that lead elsewhere than to the first interface, as seen from every node.
    pub(super) names: Vec<Arc<[NamePlan]>>,
    /// The nodes that have no way to one another.
    pub(super) unreached: Unreached,
    /// Whether each node has several ways to one destination.
    pub(super) ecmp: Vec<bool>,
    /// What the routing daemons of every node bring.
    pub(super) learned: Vec<Learned>,
}

/// What all nodes' routes follow from.
struct Settling<'a> {
    spec: &'a Spec,
    kinds: &'a [NodeKind],
    networks: [Network<'a>; 2],
    /// Whether the paths of both families are the same. Mostly, all segments have both IPv4 and IPv6.
    are_alike: bool,
    /// Devices without addresses have no routes, and lack none.
    routed: Vec<bool>,
    speakers: Speakers,
}

/// Room for the work for one node, used for one after the other.
#[derive(Default)]
struct Room {
    paths: Paths,
    reach: Reach,
    /// Each node's routes take just the room that they need.
    found: Vec<RoutePlan>,
    names: names::Shared,
}

/// What is settled for one node.
struct Settled {
    routes: Vec<RoutePlan>,
    learned: Learned,
    /// What it sees; none: what its only neighbour sees.
    names: Option<Arc<[NamePlan]>>,
    /// Whether all addresses are reached.
    is_complete: bool,
}

/// The routes and names of every node, and warnings about what cannot be reached.
pub(super) fn settle(
    spec: &Spec,
    kinds: &[NodeKind],
    segments: &[Segment<'_>],
    interfaces: &[Interface],
    addresses: &[Vec<IpNet>],
    warnings: &mut Vec<Diagnostic>,
) -> Routing {
    let networks = [Family::V4, Family::V6].map(|family| Network::new(kinds, segments, interfaces, addresses, family));
    let are_alike = networks[0].is_along(&networks[1]);
    let has_routes = |node: &NodeSpec| routes_spec(spec, node) != RoutesSpec::None || !node.kind.has_addresses();
    let routed = spec.nodes.iter().map(has_routes).collect();
    let all = Settling { spec, kinds, networks, are_alike, routed, speakers: Speakers::of(spec) };
    let has_ecmp = (0..kinds.len()).any(|node| all.equal(node) == Equal::Cost);
    let names = names::Names::new(&all.networks[0], if has_ecmp { Equal::Cost } else { Equal::All });
    let nothing = || Settled { routes: Vec::new(), learned: Learned::default(), names: None, is_complete: true };
    let mut settled: Vec<Settled> = std::iter::repeat_with(nothing).take(kinds.len()).collect();
    together::each(&mut settled, |node, own, room| all.settle(node, own, &names, room));

    // Where others make routes, they may make ways, too.
    let is_ours = !all.routed.contains(&false);
    let is_complete = settled.iter().all(|own| own.is_complete);
    let joined = |segment: &Segment<'_>| segment.ends.iter().map(|own| interfaces[own.end.index()].at.node).collect();
    let joined: Vec<Vec<usize>> = segments.iter().map(joined).collect();
    reach::warn(spec, kinds, interfaces, &joined, is_complete || !is_ours, warnings);
    let unreached = if is_ours { reach::unreached(kinds, &joined) } else { Unreached::default() };
    let ecmp = spec.nodes.iter().map(|node| is_ecmp(spec, node)).collect();
    let (mut routes, mut learned, mut seen) = (Vec::new(), Vec::new(), Vec::new());
    for own in settled {
        routes.push(own.routes);
        learned.push(own.learned);
        seen.push(own.names);
    }
    Routing { routes, names: names.finish(seen), unreached, ecmp, learned }
}

impl Settling<'_> {
    fn equal(&self, node: usize) -> Equal {
        if is_ecmp(self.spec, &self.spec.nodes[node]) { Equal::Cost } else { Equal::All }
    }

    /// Settles one node.
    fn settle(&self, node: usize, own: &mut Settled, names: &names::Names<'_>, room: &mut Room) {
        if self.speakers.is_dynamic(node) {
            return self.settle_dynamic(node, own, names, room);
        }
        let Room { paths, reach, found, names: shared } = room;
        if !self.routed[node] || !self.kinds[node].has_addresses() {
            // It knows its own subnets alone, until a program in it makes routes.
            own.names = names.look_from(node, &[], shared);
            return;
        }
        for (place, network) in self.networks.iter().enumerate() {
            // A node with one link sends everything there: no paths need to be found.
            let is_led = network.around[node].len() > 1 || network.exit == Some(node);
            if (place == 0 || !self.are_alike) && is_led {
                paths.find(network, node, self.equal(node));
                network.look(node, paths, reach);
            }
            own.is_complete &= network.routes_of(node, paths, reach, found);
            if place == 0 {
                own.names = names.look_from(node, &paths.labels, shared);
            }
        }
        own.routes.append(found);
    }

    /// Settles a node with routing daemons.
    fn settle_dynamic(&self, node: usize, own: &mut Settled, names: &names::Names<'_>, room: &mut Room) {
        let Room { paths, names: shared, .. } = room;
        for (place, network) in self.networks.iter().enumerate() {
            paths.find(network, node, self.equal(node));
            own.is_complete &= network.learn(node, paths, &self.speakers, &mut own.routes, &mut own.learned);
            if place == 0 && self.routed[node] {
                own.names = names.look_from(node, &paths.labels, shared);
            }
        }
        if !self.routed[node] {
            (own.routes, own.learned.keeps) = (Vec::new(), [false; 2]);
            own.names = names.look_from(node, &[], shared);
        }
    }
}

fn routes_spec(spec: &Spec, node: &NodeSpec) -> RoutesSpec {
    node.routes.unwrap_or(spec.routes)
}

/// Whether a node has several ways to one destination.
fn is_ecmp(spec: &Spec, node: &NodeSpec) -> bool {
    routes_spec(spec, node) == RoutesSpec::Ecmp && node.kind.has_addresses()
}

/// The nodes and ends of a segment as far as one family is concerned: those that have an address in its first subnet that several of
/// them have; none if there is no such subnet.
fn ends(
    segment: &Segment<'_>,
    interfaces: &[Interface],
    addresses: &[Vec<IpNet>],
    family: Family,
) -> Option<Vec<(usize, End)>> {
    let of_family = |nets: &[IpNet]| nets.iter().copied().filter(|net| Family::of(net) == family).collect();
    let nets: Vec<Vec<IpNet>> = segment.ends.iter().map(|own| of_family(&addresses[own.end.index()])).collect();
    let is_shared =
        |place: usize, net: &IpNet| nets[place + 1..].iter().flatten().any(|other| other.trunc() == net.trunc());
    let mut shared = nets.iter().enumerate().filter_map(|(place, own)| own.iter().find(|net| is_shared(place, net)));
    let subnet = shared.next()?.trunc();
    let end = |(station, own): (&Station<'_>, Vec<IpNet>)| {
        let gateway = own.iter().find(|net| net.trunc() == subnet)?.addr();
        let at = interfaces[station.end.index()].at;
        Some((at.node, End { interface: at.interface, gateway, addresses: own }))
    };
    Some(segment.ends.iter().zip(nets).filter_map(end).collect())
}

impl<'a> Network<'a> {
    fn new(
        kinds: &'a [NodeKind],
        segments: &[Segment<'_>],
        interfaces: &[Interface],
        addresses: &[Vec<IpNet>],
        family: Family,
    ) -> Self {
        let mut edges: Vec<Edge> = Vec::new();
        let mut around = vec![Vec::new(); kinds.len()];
        for segment in segments {
            let Some(ends) = ends(segment, interfaces, addresses, family) else { continue };
            let (nodes, ends): (Vec<usize>, Vec<End>) = ends.into_iter().unzip();
            let (edge, cost) = (edges.len(), segment.cost);
            for (own, node) in nodes.iter().enumerate() {
                let others = nodes.iter().enumerate().filter(|(other, _)| *other != own);
                around[*node].extend(others.map(|(other, beyond)| Hop { edge, own, other, node: *beyond, cost }));
            }
            let mut subnets: Vec<IpNet> = Vec::new();
            for net in ends.iter().flat_map(|end| &end.addresses).map(IpNet::trunc) {
                if !subnets.contains(&net) {
                    subnets.push(net);
                }
            }
            edges.push(Edge { nodes, ends, cost, subnets });
        }
        let graph = Graph::new(kinds, &edges, &around);
        let tree = aggregate::Tree::of(family, edges.iter().flat_map(|edge| &edge.subnets).copied());
        let edge_of =
            edges.iter().enumerate().flat_map(|(place, edge)| edge.subnets.iter().map(move |_| place)).collect();
        let exit = kinds.iter().position(|kind| *kind == NodeKind::Internet).filter(|_| family == Family::V4);
        Self { family, kinds, edges, around, graph, edge_of, tree, exit }
    }

    /// Whether both lead over the same segments.
    fn is_along(&self, other: &Self) -> bool {
        self.around == other.around
    }

    /// Finds how `source`, whose paths these are, reaches all edges.
    fn look(&self, source: usize, paths: &Paths, reach: &mut Reach) {
        (reach.is_whole, reach.is_spread) = (true, false);
        reach.edges.clear();
        let mut first = None;
        for edge in 0..self.edges.len() {
            let reached = self.reach(source, edge, paths);
            match reached {
                Reached::Near => {}
                Reached::Together(ways) => reach.is_spread |= *first.get_or_insert(ways.first) != ways.first,
                Reached::Apart => reach.is_whole = false,
            }
            reach.edges.push(reached);
        }
    }

    /// Adds the routes of `source`, whose paths these are; false if an address cannot be reached.
    fn routes_of(&self, source: usize, paths: &Paths, reach: &Reach, routes: &mut Vec<RoutePlan>) -> bool {
        let around = &self.around[source];
        if let [Hop { node: gateway, .. }] = around[..]
            && self.exit != Some(source)
        {
            let forwards = self.kinds[gateway].forwards();
            if forwards && (self.around[gateway].len() > 1 || self.exit == Some(gateway)) {
                routes.push(self.route(source, 0, self.family.everything()));
            }
            return forwards || self.around[gateway].len() == 1;
        }
        if around.is_empty() {
            return self.edges.is_empty();
        }
        // By the places of subnets: those of its own, or out of its reach, may lead anywhere.
        let hops = |place: usize| match reach.edges[self.edge_of[place]] {
            Reached::Together(ways) => ways.all,
            Reached::Near | Reached::Apart => ANYWHERE,
        };
        let out = self.out(source, paths);
        // Outside is where no route of the lab leads.
        let is_inside = |net: &IpNet| self.exit.is_none() || net.prefix_len() > 0;
        let whole = self.tree.as_ref().filter(|_| reach.is_whole);
        if let Some(tree) = whole.filter(|_| reach.is_spread && paths.equal == Equal::All)
            && aggregate::is_worth_it(self.edges.len().saturating_sub(around.len()), around.len())
            && let table = tree.table(hops)
            && table.iter().all(|(net, _)| is_inside(net))
        {
            routes.extend(table.into_iter().map(|(net, place)| self.route(source, place, net)));
            self.add_out(source, out, paths.equal, routes);
            return true;
        }
        let (is_complete, found) = self.list(paths, reach);
        let equal = paths.equal;
        let is_same = |one: &Ways, other: &Ways| one.first == other.first && (equal == Equal::All || one == other);
        let shared = found.first().map(|(_, ways)| *ways);
        let all = || found.iter().map(|(_, ways)| ways).chain(&out);
        let is_shared = |ways: &Ways| self.kinds[source] == NodeKind::Host && all().all(|other| is_same(ways, other));
        if let Some(ways) = shared.filter(is_shared) {
            self.add(source, ways, equal, self.family.everything(), routes);
            return is_complete;
        }
        let whole = whole.map(|tree| (tree, &hops as &dyn Fn(usize) -> Hops));
        let smaller = aggregate::smaller(self.family, around.len(), &found, whole, equal);
        let smaller = smaller.filter(|table| table.iter().all(|(net, _)| is_inside(net)));
        smaller.unwrap_or(found).into_iter().for_each(|(net, ways)| self.add(source, ways, equal, net, routes));
        self.add_out(source, out, equal, routes);
        is_complete
    }

    /// How `source`, whose paths these are, reaches what is outside of the lab.
    fn out(&self, source: usize, paths: &Paths) -> Option<Ways> {
        let exit = self.exit.filter(|exit| *exit != source)?;
        paths.labels[exit].map(|(_, ways)| ways)
    }

    fn add_out(&self, source: usize, out: Option<Ways>, equal: Equal, routes: &mut Vec<RoutePlan>) {
        out.into_iter().for_each(|ways| self.add(source, ways, equal, self.family.everything(), routes));
    }

    /// How each subnet, or each address where those of an edge are reached apart, is reached, and whether all are.
    fn list(&self, paths: &Paths, reach: &Reach) -> (bool, Vec<(IpNet, Ways)>) {
        let mut is_complete = true;
        let mut found: Vec<(IpNet, Ways)> = Vec::with_capacity(self.edges.len());
        for (edge, reached) in self.edges.iter().zip(&reach.edges) {
            match *reached {
                Reached::Near => {}
                Reached::Together(ways) => found.extend(edge.subnets.iter().map(|subnet| (*subnet, ways))),
                Reached::Apart => {
                    is_complete &= edge.nodes.iter().all(|node| paths.labels[*node].is_some());
                    self.add_apart(edge, &paths.labels, &mut found);
                }
            }
        }
        (is_complete, found)
    }

    /// Adds the routes by these ways: by the first alone unless all of the least cost are taken.
    fn add(&self, source: usize, ways: Ways, equal: Equal, destination: IpNet, routes: &mut Vec<RoutePlan>) {
        let places = ways.places().filter(|place| equal == Equal::Cost || *place == ways.first);
        routes.extend(places.map(|place| self.route(source, place, destination)));
    }

    /// The node's interface, by its place there, where it begins a hop.
    fn interface(&self, hop: Hop) -> usize {
        self.edges[hop.edge].ends[hop.own].interface
    }

    /// How `source`, whose paths these are, reaches the edge at this place.
    fn reach(&self, source: usize, edge: usize, Paths { labels, equal, .. }: &Paths) -> Reached {
        let nodes = || self.graph.at(edge);
        if nodes().any(|node| node == source) {
            return Reached::Near;
        }
        let mut nearest: Option<(&Distance, Ways)> = None;
        for node in nodes() {
            let Some((distance, ways)) = labels[node].as_ref().filter(|_| self.graph.forwards(node)) else {
                continue;
            };
            nearest = match nearest.map(|(least, others)| (equal.order(distance, least), least, others)) {
                Some((Ordering::Greater, least, others)) => Some((least, others)),
                Some((Ordering::Equal, least, others)) => Some((least, others.or(*ways))),
                Some((Ordering::Less, ..)) | None => Some((distance, *ways)),
            };
        }
        if let Some((_, ways)) = nearest {
            return Reached::Together(ways);
        }
        let mut ends = nodes().map(|node| labels[node].map(|(_, ways)| ways));
        // Hosts that are reached by one way are reached as one.
        let first = ends.next().flatten();
        let common = first.and_then(|first| ends.try_fold(first, |common, ways| common.and(ways?, *equal)));
        common.map_or(Reached::Apart, Reached::Together)
    }

    /// Adds how the addresses of each end are reached.
    fn add_apart(&self, edge: &Edge, labels: &[Label], found: &mut Vec<(IpNet, Ways)>) {
        let alone = |address: &IpNet| net(self.family, first(address), self.family.bits());
        for (node, end) in edge.nodes.iter().zip(&edge.ends) {
            let Some((_, ways)) = labels[*node] else { continue };
            found.extend(end.addresses.iter().map(|address| (alone(address), ways)));
        }
    }

    /// A route that leaves `source` to the neighbour at place `first` around it.
    fn route(&self, source: usize, first: u32, destination: IpNet) -> RoutePlan {
        let hop = self.around[source][first as usize];
        let via = self.edges[hop.edge].ends[hop.other].gateway;
        RoutePlan { destination, via, interface: self.interface(hop) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::addressing::assign;
    use crate::errors::Findings;
    use crate::resolve::interfaces::resolve;
    use crate::resolve::names::Index;
    use crate::segments::{
        ends, segments,
        tests::{link, nodes},
    };

    #[test]
    fn nodes_of_one_segment_reach_one_another_and_choose_among_its_routers() {
        use NodeKind::{Host, Router};
        let kinds = [("a", Host), ("r", Router), ("s", Router), ("b", Host), ("x", Host), ("y", Host)];
        let lan = link("lan", &[("a", ""), ("r", ""), ("s", ""), ("b", "")]);
        let links = vec![lan, link("to-x", &[("r", ""), ("x", "")]), link("to-y", &[("s", ""), ("y", "")])];
        let spec = Spec { nodes: nodes(&kinds), links, routes: RoutesSpec::Shortest, ..Spec::default() };
        let mut found = Findings::default();
        let index = Index::new("node", spec.nodes.iter().map(|node| &node.name), false);
        let interfaces = resolve(&spec.links, &index, &mut found.errors).unwrap();
        let (segments, kinds) = (segments(&spec.links, &spec.nodes), kinds.map(|(_, kind)| kind));
        let addresses = assign(&segments, ends(&spec.links).count(), &spec.addressing, &mut found);
        let routing = settle(&spec, &kinds, &segments, &interfaces, &addresses, &mut found.warnings);
        assert!(found.errors.is_empty() && found.warnings.is_empty(), "{:?} {:?}", found.errors, found.warnings);
        let of_node = |place: usize| {
            let v4 = routing.routes[place].iter().filter(|route| route.via.is_ipv4());
            v4.map(|route| format!("{} via {}", route.destination, route.via)).collect::<Vec<_>>()
        };
        let by_routers = ["10.0.0.8/30 via 10.0.0.2", "10.0.0.12/30 via 10.0.0.3"];
        assert_eq!(
            (of_node(0), of_node(3)),
            (by_routers.map(str::to_owned).into(), by_routers.map(str::to_owned).into())
        );
        assert_eq!((of_node(1), of_node(2)), (vec![by_routers[1].to_owned()], vec![by_routers[0].to_owned()]));
        assert_eq!(of_node(4), ["0.0.0.0/0 via 10.0.0.9"]);
        assert_eq!(routing.unreached.pairs, 0);
        assert!(routing.names.iter().all(|seen| seen.is_empty()), "the first interface is as near as the others");
    }
}
