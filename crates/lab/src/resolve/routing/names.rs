//! What the name of a node with several links means, as seen from each other node: the first of those of its interfaces
//! whose addresses are reached by a path as short as any to the node itself.

use super::paths::{Distance, Equal, Label};
use super::{Edge, Hop, Network};
use crate::plan::NamePlan;
use std::collections::BTreeSet;
use std::sync::Arc;

/// All that has been seen: most nodes of most labs see the same.
pub(super) type Shared = BTreeSet<Arc<[NamePlan]>>;

/// What names may mean.
pub(super) struct Names<'a> {
    network: &'a Network<'a>,
    /// Which ways packets may take.
    equal: Equal,
    /// The nodes whose name may mean another interface than the first.
    several: Vec<usize>,
    /// Which nodes ask for names: those that run programs, and those that such a node sees names as.
    asked: Vec<bool>,
}

impl<'a> Names<'a> {
    pub(super) fn new(network: &'a Network<'a>, equal: Equal) -> Self {
        let is_first = |hop: &Hop| network.interface(*hop) == 0;
        let several = (0..network.kinds.len()).filter(|node| !network.around[*node].iter().all(is_first)).collect();
        let mut asked: Vec<bool> = network.kinds.iter().map(|kind| kind.runs_programs()).collect();
        for node in (0..asked.len()).filter(|node| network.kinds[*node].runs_programs()) {
            if let [Hop { node: gateway, .. }] = network.around[node][..] {
                asked[gateway] = true;
            }
        }
        Self { network, equal, several, asked }
    }

    /// What `source` sees, which reaches the others by `labels`; none: what its only neighbour sees.
    pub(super) fn look_from(&self, source: usize, labels: &[Label], shared: &mut Shared) -> Option<Arc<[NamePlan]>> {
        let network = self.network;
        let seen = match network.around[source][..] {
            [Hop { node: gateway, .. }] => {
                if network.kinds[gateway].forwards() {
                    // The way to all others leads through it, so that it sees them as this node does.
                    return None;
                }
                let near = self.several.binary_search(&gateway).is_ok();
                near.then(|| self.name(source, gateway, &[])).flatten().into_iter().collect()
            }
            [] => Vec::new(),
            _ if !self.asked[source] => Vec::new(),
            _ => {
                let others = self.several.iter().filter(|node| **node != source);
                others.filter_map(|node| self.name(source, *node, labels)).collect::<Vec<_>>()
            }
        };
        Some(once(shared, seen.into()))
    }

    /// What the name of `node` means to `source`, if it is not the first interface.
    fn name(&self, source: usize, node: usize, labels: &[Label]) -> Option<NamePlan> {
        let around = self.network.around[node].iter();
        let edge = |hop: &Hop| &self.network.edges[hop.edge];
        let known = around.filter_map(|hop| Some((self.distance(source, node, edge(hop), labels)?, *hop)));
        // The first of those that are equally near.
        let (_, nearest) = known.min_by_key(|(distance, _)| *distance)?;
        let interface = self.network.interface(nearest);
        (interface > 0).then_some(NamePlan { node, interface })
    }

    /// How far it is from `source` to the address of `node` on this edge, by the routes that all nodes have.
    fn distance(&self, source: usize, node: usize, edge: &Edge, labels: &[Label]) -> Option<Distance> {
        let beside = || edge.nodes.iter().copied().filter(|other| *other != node);
        if beside().any(|other| other == source) {
            return Some(Distance::HERE.beyond(edge.cost));
        }
        let known = |place: usize| labels.get(place).copied().flatten().map(|(distance, _)| distance);
        let forwarding = |place: usize| known(place).filter(|_| self.network.kinds[place].forwards());
        match (forwarding(node), beside().filter_map(forwarding).min()) {
            (Some(own), Some(other)) if self.equal.order(&own, &other).is_lt() => Some(own),
            // Of ends that are equally near, the way may lead to any, here or further on.
            (_, Some(other)) => Some(other.beyond(edge.cost)),
            // A host's address on a link to another host may be reached by a third link. It is a bad choice: the host
            // answers datagrams from its address on that link.
            (own, None) => own,
        }
    }

    /// What each node sees, as they were found to.
    pub(super) fn finish(&self, seen: Vec<Option<Arc<[NamePlan]>>>) -> Vec<Arc<[NamePlan]>> {
        let mut shared = Shared::new();
        let seen: Vec<_> = seen.into_iter().map(|seen| seen.map(|seen| once(&mut shared, seen))).collect();
        let gateway = |node: usize| self.network.around[node][0].node;
        let none: Arc<[NamePlan]> = Arc::new([]);
        let of = |node: usize| seen[node].clone().or_else(|| seen[gateway(node)].clone());
        (0..seen.len()).map(|node| of(node).unwrap_or_else(|| Arc::clone(&none))).collect()
    }
}

/// The first of its like.
fn once(shared: &mut Shared, seen: Arc<[NamePlan]>) -> Arc<[NamePlan]> {
    if let Some(known) = shared.get(&seen) {
        return Arc::clone(known);
    }
    shared.insert(Arc::clone(&seen));
    seen
}
