//! Divides a graph into parts of limited weight so that little is cut: several levels of matching along the heaviest edges, parts
//! that grow from many starts at the coarsest, and Fiduccia-Mattheyses moves at each level (G. Karypis, V. Kumar: Multilevel k-way
//! partitioning scheme for irregular graphs, 1998, sections 3 and 4). Nothing is drawn: the same graph is divided the same way
//! everywhere.

mod bisect;
mod coarse;
mod grow;
mod refine;

use refine::refine;
use std::collections::BTreeMap;

/// The weight of a vertex or a part: processor time and memory.
pub(super) type Load = [u64; 2];

/// A set of parts, a bit for each.
pub(super) type Parts = u64;

/// See the module.
#[derive(Clone, Debug, Default)]
pub(super) struct Graph {
    /// The weight of each vertex.
    pub(super) weights: Vec<Load>,
    /// The parts in which each vertex may be, at least one.
    pub(super) allowed: Vec<Parts>,
    /// The neighbours of each vertex, each once, with the weight of the edge.
    near: Vec<Vec<(usize, u64)>>,
}

/// How good a division is: the least is the best.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Cost {
    /// The weight of the parts above their limits, in thousandths of these.
    pub(super) excess: u64,
    /// The weight of the edges between parts.
    pub(super) cut: u64,
    /// The sum of the squares of the parts' loads, in thousandths of their limits.
    unevenness: u64,
}

impl Graph {
    /// A graph of these vertices and edges; edges between the same vertices are one, and those from a vertex to itself are none.
    pub(super) fn new(
        weights: Vec<Load>,
        allowed: Vec<Parts>,
        edges: impl IntoIterator<Item = (usize, usize, u64)>,
    ) -> Self {
        let mut near: Vec<BTreeMap<usize, u64>> = vec![BTreeMap::new(); weights.len()];
        for (one, other, weight) in edges {
            for (here, there) in [(one, other), (other, one)] {
                if one != other {
                    let sum = near[here].entry(there).or_default();
                    *sum = sum.saturating_add(weight);
                }
            }
        }
        let near = near.into_iter().map(|all| all.into_iter().collect()).collect();
        Self { weights, allowed, near }
    }

    fn count(&self) -> usize {
        self.weights.len()
    }

    fn may(&self, vertex: usize, part: usize) -> bool {
        self.allowed[vertex] >> part & 1 == 1
    }

    /// The graph of some of the vertices, and of the edges between them.
    fn part_of(&self, vertices: &[usize], allowed: Vec<Parts>) -> Self {
        let places: BTreeMap<usize, usize> =
            vertices.iter().enumerate().map(|(place, vertex)| (*vertex, place)).collect();
        let inside = |vertex: &usize| {
            let near = self.near[*vertex].iter();
            near.filter_map(|(other, weight)| Some((*places.get(other)?, *weight))).collect()
        };
        let weights = vertices.iter().map(|vertex| self.weights[*vertex]).collect();
        Self { weights, allowed, near: vertices.iter().map(inside).collect() }
    }

    /// The cost of a division.
    pub(super) fn cost(&self, parts: &[usize], limits: &[Load]) -> Cost {
        let mut loads = vec![[0; 2]; limits.len()];
        parts.iter().zip(&self.weights).for_each(|(part, weight)| add(&mut loads[*part], weight));
        let edges = self.near.iter().enumerate().flat_map(|(here, near)| near.iter().map(move |edge| (here, edge)));
        let cut = edges.filter(|(here, (there, _))| parts[*here] < parts[*there]).map(|(_, (_, weight))| *weight);
        Cost { cut: cut.fold(0, u64::saturating_add), ..Cost::of(&loads, limits) }
    }

    /// Divides the graph into as many parts as there are limits, at most 64: the part of each vertex.
    pub(super) fn divide(&self, limits: &[Load]) -> Vec<usize> {
        /// Each begins the matching at another vertex.
        const ORDERS: usize = 4;
        /// So small graphs are also divided without levels.
        const DIRECT: usize = 512;
        let direct = (self.count() <= DIRECT).then(|| first(self, limits));
        let found = direct.into_iter().chain((0..ORDERS).map(|order| self.in_levels(limits, order)));
        found.min_by_key(|parts| self.cost(parts, limits)).unwrap_or_default()
    }

    fn in_levels(&self, limits: &[Load], order: usize) -> Vec<usize> {
        let mut levels = Vec::new();
        let mut graph = self.clone();
        while let Some((coarser, merged)) = coarse::coarsen(&graph, limits.len(), order) {
            levels.push((std::mem::replace(&mut graph, coarser), merged));
        }
        let mut parts = first(&graph, limits);
        for (finer, merged) in levels.into_iter().rev() {
            parts = merged.into_iter().map(|vertex| parts[vertex]).collect();
            refine(&finer, &mut parts, limits);
        }
        parts
    }
}

/// The better one of two first divisions of a small graph: parts that grow, and halves of halves.
fn first(graph: &Graph, limits: &[Load]) -> Vec<usize> {
    /// With so many parts, halves of halves are always better.
    const MANY: usize = 9;
    let grown = (limits.len() < MANY).then(|| grow::best(graph, limits));
    let halved = (limits.len() > 2).then(|| bisect::halves(graph, limits));
    grown.into_iter().chain(halved).min_by_key(|parts| graph.cost(parts, limits)).unwrap_or_default()
}

impl Cost {
    /// The cost of parts with these loads, without what is cut.
    fn of(loads: &[Load], limits: &[Load]) -> Self {
        let mut cost = Self { excess: 0, cut: 0, unevenness: 0 };
        for (load, limit) in loads.iter().zip(limits) {
            cost.excess = cost.excess.saturating_add(above(load, limit));
            for place in 0..2 {
                let filled = filled(load[place], limit[place]);
                cost.unevenness = cost.unevenness.saturating_add(filled.saturating_mul(filled));
            }
        }
        cost
    }
}

/// How full a part is, in thousandths of its limit.
fn filled(load: u64, limit: u64) -> u64 {
    u64::try_from(u128::from(load) * 1_000 / u128::from(limit.max(1))).unwrap_or(u64::MAX)
}

/// How far a part is above its limits, in thousandths of these.
fn above(load: &Load, limit: &Load) -> u64 {
    let of = |place: usize| {
        let more = filled(load[place], limit[place]).saturating_sub(1_000).max(1);
        if load[place] > limit[place] { more } else { 0 }
    };
    of(0).saturating_add(of(1))
}

fn add(load: &mut Load, weight: &Load) {
    load.iter_mut().zip(weight).for_each(|(sum, more)| *sum = sum.saturating_add(*more));
}

fn take(load: &mut Load, weight: &Load) {
    load.iter_mut().zip(weight).for_each(|(sum, less)| *sum = sum.saturating_sub(*less));
}

#[cfg(test)]
mod tests;
