//! The routes of routers with daemons: those that no neighbour tells them of.

use super::{Edge, Network, Paths, Reached};
use crate::addressing::Family;
use crate::plan::{Daemon, RoutePlan};
use crate::resolve::daemons::{Learned, Speakers};
use ipnet::IpNet;

impl Network<'_> {
    /// Adds the static routes that `source`, whose paths these are, keeps, and says what it learns; false if an address
    /// cannot be reached.
    pub(super) fn learn(
        &self,
        source: usize,
        paths: &Paths,
        speakers: &Speakers,
        routes: &mut Vec<RoutePlan>,
        learned: &mut Learned,
    ) -> bool {
        let (mut is_complete, labels) = (true, &paths.labels[..]);
        let (before, is_v4) = (routes.len(), self.family == Family::V4);
        for (place, edge) in self.edges.iter().enumerate() {
            match self.reach(source, place, paths) {
                Reached::Near => {}
                Reached::Together(ways) => {
                    let next = self.around[source][ways.first as usize].node;
                    if speakers.teaches(next, source, is_v4, &edge.nodes) {
                        learned.prefixes.extend(&edge.subnets);
                    } else {
                        edge.subnets.iter().for_each(|subnet| self.add(source, ways, paths.equal, *subnet, routes));
                    }
                }
                Reached::Apart => {
                    is_complete &= edge.nodes.iter().all(|node| labels[*node].is_some());
                    let mut found = Vec::new();
                    self.add_apart(edge, labels, &mut found);
                    found.into_iter().for_each(|(net, ways)| self.add(source, ways, paths.equal, net, routes));
                }
            }
        }
        learned.keeps[usize::from(!is_v4)] = routes.len() > before;
        // Every router of the lab has this one: nobody needs to be told.
        self.add_out(source, self.out(source, paths), paths.equal, routes);
        if speakers.speaks(source, Daemon::Bgp) {
            learned.announced.extend(self.announced(source, speakers));
        }
        self.exchange(source, is_v4, speakers, learned);
        is_complete
    }

    /// What a router announces by BGP: its own prefixes, and those of its autonomous system that no router with BGP has.
    fn announced(&self, source: usize, speakers: &Speakers) -> Vec<IpNet> {
        let is_inside = |node: usize| node == source || speakers.are_internal(source, node);
        let count = self.kinds.len();
        let first = (0..count).filter(|node| is_inside(*node)).collect();
        let within = self.reached(first, |node| self.kinds[node].forwards() && !speakers.speaks(node, Daemon::Bgp));
        let is_announced = |edge: &&Edge| {
            let nobody = !edge.nodes.iter().any(|node| is_inside(*node));
            edge.nodes.contains(&source) || nobody && edge.nodes.iter().any(|node| within[*node])
        };
        self.edges.iter().filter(is_announced).flat_map(|edge| edge.subnets.iter().copied()).collect()
    }

    /// What a router passes on from one protocol to another: where the other leads to routers that the one does not reach.
    fn exchange(&self, source: usize, is_v4: bool, speakers: &Speakers, learned: &mut Learned) {
        let domain = |daemon: Daemon| self.reached(vec![source], |node| speakers.speaks(node, daemon));
        for into in speakers.interior(source, is_v4) {
            let reached = domain(into);
            let is_new = |known: &dyn Fn(usize) -> bool| (0..reached.len()).any(|node| reached[node] && !known(node));
            for from in speakers.interior(source, is_v4).filter(|from| *from != into) {
                let known = domain(from);
                if is_new(&|node| known[node]) {
                    learned.exchanged.push((from, into, is_v4));
                }
            }
            if speakers.speaks(source, Daemon::Bgp) && is_new(&|node| speakers.speaks(node, Daemon::Bgp)) {
                learned.exchanged.push((Daemon::Bgp, into, is_v4));
            }
        }
    }

    /// The nodes that are reached from the first through others of a kind, by their places.
    fn reached(&self, first: Vec<usize>, is_passed: impl Fn(usize) -> bool) -> Vec<bool> {
        let mut reached = vec![false; self.kinds.len()];
        first.iter().for_each(|node| reached[*node] = true);
        let mut next = first;
        while let Some(node) = next.pop() {
            for hop in &self.around[node] {
                if !reached[hop.node] && is_passed(hop.node) {
                    reached[hop.node] = true;
                    next.push(hop.node);
                }
            }
        }
        reached
    }
}
