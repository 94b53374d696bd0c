//! Shortest paths from one node to all others.

use super::Network;
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// How far a node is: the least cost, and of the paths that have it the fewest links.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Distance {
    pub(super) cost: u64,
    pub(super) links: u32,
}

impl Distance {
    pub(super) const HERE: Self = Self { cost: 0, links: 0 };

    /// By one link further.
    pub(super) fn beyond(self, cost: u32) -> Self {
        Self { cost: self.cost + u64::from(cost), links: self.links + 1 }
    }
}

/// Which paths to a node are equally good.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Equal {
    /// Those of the same cost with as many links.
    #[default]
    All,
    /// Those of the same cost.
    Cost,
}

impl Equal {
    pub(super) fn order(self, one: &Distance, other: &Distance) -> Ordering {
        match self {
            Self::All => one.cmp(other),
            Self::Cost => one.cost.cmp(&other.cost),
        }
    }
}

/// By which of its neighbours the source reaches something: all of these paths are equally good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ways {
    /// The first of them, by its place in the source's own list.
    pub(super) first: u32,
    /// All of them, as one bit per place; those from place 64 on are left out.
    pub(super) all: u64,
}

impl Ways {
    /// By the neighbour at this place alone.
    pub(super) fn by(place: u32) -> Self {
        Self { first: place, all: 1_u64.checked_shl(place).unwrap_or(0) }
    }

    /// The places of all of them, in order.
    pub(super) fn places(self) -> impl Iterator<Item = u32> {
        let others = (self.first + 1..u64::BITS).filter(move |place| self.all & 1 << place != 0);
        std::iter::once(self.first).chain(others)
    }

    /// By any of both.
    pub(super) fn or(self, other: Self) -> Self {
        Self { first: self.first.min(other.first), all: self.all | other.all }
    }

    /// By those of both, if the first is the same, or all are where all are taken.
    pub(super) fn and(self, other: Self, equal: Equal) -> Option<Self> {
        let is_one = equal == Equal::All || self == other;
        (is_one && self.first == other.first).then_some(Self { first: self.first, all: self.all & other.all })
    }
}

/// What is known of a node: nothing, or how it is reached.
pub(super) type Label = Option<(Distance, Ways)>;

/// Room for the paths from one source, used for one after the other.
#[derive(Default)]
pub(super) struct Paths {
    pub(super) labels: Vec<Label>,
    /// Which of them were found to be equally good.
    pub(super) equal: Equal,
    near: Vec<usize>,
    queue: BinaryHeap<Reverse<(Distance, usize)>>,
}

impl Paths {
    /// Finds how each node is reached from `source`, whose own label stays empty. Only nodes that forward are passed.
    pub(super) fn find(&mut self, network: &Network<'_>, source: usize, equal: Equal) {
        self.equal = equal;
        self.labels.clear();
        self.labels.resize(network.kinds.len(), None);
        if network.graph.is_uniform {
            self.find_by_links(network, source);
        } else {
            self.find_by_cost(network, source);
        }
    }

    /// With equal costs, nodes are met in the order of their distance.
    fn find_by_links(&mut self, network: &Network<'_>, source: usize) {
        self.near.clear();
        self.near.push(source);
        let mut place = 0;
        while let Some(node) = self.near.get(place).copied() {
            place += 1;
            let near = &mut self.near;
            relax(network, source, node, (&mut self.labels, self.equal), |_, next, is_new| {
                if is_new {
                    near.push(next);
                }
            });
        }
    }

    /// Dijkstra's algorithm.
    fn find_by_cost(&mut self, network: &Network<'_>, source: usize) {
        self.queue.push(Reverse((Distance::HERE, source)));
        while let Some(Reverse((distance, node))) = self.queue.pop() {
            if node != source && self.labels[node].is_none_or(|(known, _)| known < distance) {
                // A better path was found since it was put there.
                continue;
            }
            let queue = &mut self.queue;
            relax(network, source, node, (&mut self.labels, self.equal), |nearer, next, _| {
                queue.push(Reverse((nearer, next)));
            });
        }
    }
}

/// Looks from `node`, whose distance is final, to the nodes around it. Those that are nearer this way are told.
///
/// Every link costs something, so all that can be equally near has been met before a node's own turn comes.
fn relax(
    network: &Network<'_>,
    source: usize,
    node: usize,
    (labels, equal): (&mut [Label], Equal),
    mut tell: impl FnMut(Distance, usize, bool),
) {
    let own = labels[node];
    if node != source && !network.graph.forwards(node) {
        return;
    }
    for ((next, cost), place) in network.graph.around(node).zip(0..) {
        if next == source {
            continue;
        }
        let (distance, ways) = own.unwrap_or_else(|| (Distance::HERE, Ways::by(place)));
        let distance = distance.beyond(cost);
        match &mut labels[next] {
            Some((known, others)) if equal.order(known, &distance) == Ordering::Equal => {
                *others = others.or(ways);
                if distance < *known {
                    *known = distance;
                    tell(distance, next, false);
                }
            }
            Some((known, _)) if *known < distance => {}
            label => {
                let is_new = label.is_none();
                *label = Some((distance, ways));
                tell(distance, next, is_new);
            }
        }
    }
}
