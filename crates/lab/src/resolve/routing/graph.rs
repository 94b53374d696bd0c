//! Which nodes are joined at what cost, as small as can be: the paths of every node lead through all of it.

use super::{Edge, Hop};
use crate::plan::NodeKind;

/// See the module. Places are counted in 32 bits; there are far fewer nodes and links.
pub(super) struct Graph {
    /// For each node its neighbours, in the order of the file.
    neighbours: Lists<Neighbour>,
    /// For each edge the nodes at its ends.
    ends: Lists<u32>,
    /// For each node whether it forwards.
    forwards: Vec<bool>,
    /// Whether all edges cost the same.
    pub(super) is_uniform: bool,
}

/// A node to which an edge leads.
#[derive(Clone, Copy)]
struct Neighbour {
    node: u32,
    cost: u32,
}

impl Graph {
    pub(super) fn new(kinds: &[NodeKind], edges: &[Edge], around: &[Vec<Hop>]) -> Self {
        let neighbour = |hop: &Hop| Neighbour { node: short(hop.node), cost: hop.cost };
        Self {
            neighbours: Lists::of(around.iter().map(|own| own.iter().map(neighbour))),
            ends: Lists::of(edges.iter().map(|edge| edge.nodes.iter().copied().map(short))),
            forwards: kinds.iter().map(|kind| kind.forwards()).collect(),
            is_uniform: edges.windows(2).all(|pair| pair[0].cost == pair[1].cost),
        }
    }

    /// The neighbours of a node, and what it costs to get there.
    pub(super) fn around(&self, node: usize) -> impl Iterator<Item = (usize, u32)> {
        self.neighbours.of_place(node).iter().map(|neighbour| (neighbour.node as usize, neighbour.cost))
    }

    /// The nodes at the ends of an edge.
    pub(super) fn at(&self, edge: usize) -> impl Iterator<Item = usize> {
        self.ends.of_place(edge).iter().map(|node| *node as usize)
    }

    pub(super) fn forwards(&self, node: usize) -> bool {
        self.forwards[node]
    }
}

/// Many short lists, one behind the other.
struct Lists<T> {
    /// Where each begins, and where the last one ends.
    starts: Vec<u32>,
    items: Vec<T>,
}

impl<T> Lists<T> {
    fn of(lists: impl Iterator<Item = impl Iterator<Item = T>>) -> Self {
        let mut all = Self { starts: vec![0], items: Vec::new() };
        for list in lists {
            all.items.extend(list);
            all.starts.push(short(all.items.len()));
        }
        all
    }

    fn of_place(&self, place: usize) -> &[T] {
        &self.items[self.starts[place] as usize..self.starts[place + 1] as usize]
    }
}

fn short(place: usize) -> u32 {
    u32::try_from(place).expect("a lab has at most some thousand nodes and links")
}
