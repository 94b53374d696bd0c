//! Who is parted from whom: groups, and shapes that have names.

use crate::spec::Shape;
use netloom_link::Spans;
use std::collections::{BTreeMap, BTreeSet};

impl Shape {
    /// So many nodes it needs.
    pub(super) fn least(self) -> usize {
        match self {
            Self::Halves | Self::IsolateOne | Self::Random => 2,
            Self::Minority | Self::Bridge => 3,
            // Of three, a node and its neighbours are all.
            Self::Ring => 4,
        }
    }

    /// Whether it has a first group, so that it can be of one direction.
    pub(super) fn has_first(self) -> bool {
        !matches!(self, Self::Bridge | Self::Ring)
    }

    /// The layout over these nodes, of which there are enough. `random` is drawn from.
    pub(super) fn lay(self, nodes: &[usize], random: &mut Spans) -> Layout {
        let mut nodes = nodes.to_vec();
        let half = nodes.len() / 2;
        let size = match self {
            Self::Halves => half,
            Self::Minority => (nodes.len() - 1) / 2,
            Self::IsolateOne => 1,
            Self::Random => 1 + below(random, nodes.len() - 1),
            Self::Bridge => {
                // The middle one is in both groups.
                let groups = [nodes[..=half].to_vec(), nodes[half..].to_vec()];
                return Layout::of_groups(&groups);
            }
            Self::Ring => return Layout::ring(&nodes),
        };
        if self != Self::Halves {
            choose(&mut nodes, size, random);
        }
        Layout::of_groups(&[nodes[..size].to_vec(), nodes[size..].to_vec()])
    }
}

fn below(random: &mut Spans, end: usize) -> usize {
    usize::try_from(random.below(end as u64)).expect("it is below the number of nodes")
}

/// Draws so many nodes, which come first afterwards; both parts stay in order.
fn choose(nodes: &mut [usize], size: usize, random: &mut Spans) {
    let mut places: Vec<usize> = (0..nodes.len()).collect();
    for place in 0..size {
        // The shuffle of Fisher and Yates, as far as it is needed.
        let other = place + below(random, places.len() - place);
        places.swap(place, other);
    }
    let (first, rest) = places.split_at_mut(size);
    first.sort_unstable();
    rest.sort_unstable();
    let chosen: Vec<usize> = places.iter().map(|place| nodes[*place]).collect();
    nodes.copy_from_slice(&chosen);
}

/// See the module.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    /// The groups, or the ring, in words that take names of nodes.
    pub(super) groups: Vec<Vec<usize>>,
    pub(super) is_ring: bool,
    /// Nodes and their classes.
    pub(super) classes: BTreeMap<usize, usize>,
    pub(super) count: usize,
    /// By class of the source, then of the destination.
    parted: Vec<bool>,
    /// By class, whether it is of the first group.
    first: Vec<bool>,
}

impl Layout {
    /// Nodes that are in groups, and in none that they share, are parted.
    pub(super) fn of_groups(groups: &[Vec<usize>]) -> Self {
        let mut memberships: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        for (number, group) in groups.iter().enumerate() {
            group.iter().for_each(|node| _ = memberships.entry(*node).or_default().insert(number));
        }
        let kinds: BTreeSet<&BTreeSet<usize>> = memberships.values().collect();
        let kinds: Vec<&BTreeSet<usize>> = kinds.into_iter().collect();
        let class = |own: &BTreeSet<usize>| kinds.binary_search(&own).expect("it is one of them");
        let parted = kinds.iter().flat_map(|one| kinds.iter().map(move |other| one.is_disjoint(other))).collect();
        Self {
            groups: groups.to_vec(),
            is_ring: false,
            classes: memberships.iter().map(|(node, own)| (*node, class(own))).collect(),
            count: kinds.len(),
            parted,
            first: kinds.iter().map(|own| own.contains(&0)).collect(),
        }
    }

    /// Each node reaches so many neighbours at both sides that they are a majority together with itself, and no two reach the same ones.
    fn ring(nodes: &[usize]) -> Self {
        let count = nodes.len();
        // The least number at each side with which 1 + 2 · reach is more than half.
        let reach = (count / 2).div_ceil(2);
        let distance = |one: usize, other: usize| one.abs_diff(other).min(count - one.abs_diff(other));
        let parted = (0..count).flat_map(|one| (0..count).map(move |other| distance(one, other) > reach)).collect();
        Self {
            groups: vec![nodes.to_vec()],
            is_ring: true,
            classes: nodes.iter().enumerate().map(|(class, node)| (*node, class)).collect(),
            count,
            parted,
            first: vec![false; count],
        }
    }

    /// The same, in which these further nodes are each parted from all others.
    pub(super) fn isolating(mut self, nodes: impl Iterator<Item = usize>) -> Self {
        let (old, count) = (self.count, self.count + 1);
        self.classes.extend(nodes.map(|node| (node, old)));
        let at = |one: usize, other: usize| one == old || other == old || self.parted[one * old + other];
        self.parted = (0..count)
            .flat_map(|one| (0..count).map(move |other| (one, other)))
            .map(|(one, other)| at(one, other))
            .collect();
        self.first.push(false);
        self.count = count;
        self
    }

    /// The same in one direction: only what is for the first group is kept from it, or only what it sends from others.
    pub(super) fn one_way(mut self, is_to_first: bool) -> Self {
        for from in 0..self.count {
            for to in 0..self.count {
                let is_meant = if is_to_first { self.first[to] } else { self.first[from] };
                self.parted[from * self.count + to] &= is_meant;
            }
        }
        self
    }

    /// Whether what nodes of one class send is kept from those of the other.
    pub(super) fn parts_classes(&self, from: usize, to: usize) -> bool {
        self.parted[from * self.count + to]
    }

    /// Whether what one node sends is kept from the other.
    pub(super) fn parts(&self, from: usize, to: usize) -> bool {
        match (self.classes.get(&from), self.classes.get(&to)) {
            (Some(one), Some(other)) => from != to && self.parts_classes(*one, *other),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netloom_units::Seed;

    const SHAPES: [Shape; 6] =
        [Shape::Halves, Shape::Minority, Shape::IsolateOne, Shape::Bridge, Shape::Ring, Shape::Random];

    fn lay(shape: Shape, count: usize, seed: u64) -> Layout {
        let nodes: Vec<usize> = (0..count).map(|node| node * 3).collect();
        shape.lay(&nodes, &mut Spans::new(Seed::new(seed)))
    }

    /// How many each node reaches, itself among them.
    fn reached(layout: &Layout, count: usize) -> Vec<usize> {
        let is_reached = |from: usize, to: usize| !layout.parts(from * 3, to * 3);
        (0..count).map(|from| (0..count).filter(|to| is_reached(from, *to)).count()).collect()
    }

    #[test]
    fn shapes_have_the_sizes_of_their_names() {
        for count in 2..20 {
            for shape in SHAPES.into_iter().filter(|shape| shape.least() <= count) {
                for seed in 0..5 {
                    let layout = lay(shape, count, seed);
                    let reached = reached(&layout, count);
                    let of_size = |size: usize| reached.iter().filter(|own| **own == size).count();
                    let rest = |size: usize| of_size(size) >= size && of_size(count - size) >= count - size;
                    match shape {
                        Shape::Halves => assert!(rest(count / 2)),
                        Shape::Minority => {
                            assert!(2 * ((count - 1) / 2) < count && rest((count - 1) / 2));
                        }
                        Shape::IsolateOne => assert!(rest(1)),
                        Shape::Bridge => {
                            // All but the bridge reach their half and the bridge.
                            let (one, other) = (count / 2, count - count / 2 - 1);
                            assert_eq!(of_size(count), 1, "{reached:?}");
                            assert!(of_size(one + 1) >= one && of_size(other + 1) >= other);
                        }
                        Shape::Ring => {
                            assert!(reached.iter().all(|own| own * 2 > count && *own < count), "{count} {reached:?}");
                        }
                        Shape::Random => assert!(reached.iter().all(|own| *own < count)),
                    }
                    assert!((0..count).all(|node| !layout.parts(node * 3, node * 3)));
                }
            }
        }
    }

    #[test]
    fn no_two_nodes_of_a_ring_reach_the_same() {
        for count in 4..12 {
            let layout = lay(Shape::Ring, count, 1);
            let seen = |from: usize| (0..count).filter(|to| !layout.parts(from * 3, to * 3)).collect::<Vec<_>>();
            let all: BTreeSet<Vec<usize>> = (0..count).map(seen).collect();
            assert_eq!(all.len(), count);
        }
    }

    #[test]
    fn what_is_drawn_depends_on_the_seed_alone() {
        let drawn = |seed| lay(Shape::Minority, 9, seed).groups;
        assert_eq!(drawn(1), drawn(1));
        assert!((2..20).any(|seed| drawn(seed) != drawn(1)));
    }

    #[test]
    fn nodes_may_be_in_several_groups_and_others_alone() {
        let layout = Layout::of_groups(&[vec![1, 2], vec![2, 3]]).isolating([7, 8].into_iter());
        let parted = |from, to| layout.parts(from, to);
        assert!(parted(1, 3) && !parted(1, 2) && !parted(3, 2) && parted(7, 8) && parted(7, 2) && parted(2, 8));
        assert!(!parted(7, 7) && !parted(9, 1));
        let to_first = Layout::of_groups(&[vec![1], vec![2]]).one_way(true);
        assert!(to_first.parts(2, 1) && !to_first.parts(1, 2));
        let from_first = Layout::of_groups(&[vec![1], vec![2]]).one_way(false);
        assert!(from_first.parts(1, 2) && !from_first.parts(2, 1));
    }
}
