//! Dependencies between transactions.

use std::collections::{BTreeMap, BTreeSet};

/// Why one transaction comes before another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// The other overwrote its write.
    Ww,
    /// The other read its write.
    Wr,
    /// The other overwrote the version that was read.
    Rw,
    /// The transaction completed before the other began.
    Rt,
}

impl Kind {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Ww => "ww",
            Self::Wr => "wr",
            Self::Rw => "rw",
            Self::Rt => "rt",
        }
    }
}

/// A dependency, with what shows it: a key, the element before and the element after.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Edge {
    pub(super) to: usize,
    pub(super) kind: Kind,
    pub(super) key: String,
    pub(super) before: Option<String>,
    pub(super) after: Option<String>,
}

/// Dependencies between operations, by the operation that comes first.
#[derive(Clone, Debug, Default)]
pub(super) struct Graph {
    edges: BTreeMap<usize, Vec<Edge>>,
    known: BTreeSet<(usize, usize, Kind)>,
}

impl Graph {
    /// Adds a dependency, unless it is of an operation on itself, or known.
    pub(super) fn add(&mut self, from: usize, edge: Edge) {
        if from != edge.to && self.known.insert((from, edge.to, edge.kind)) {
            self.edges.entry(from).or_default().push(edge);
        }
    }

    /// Returns the operations that others depend on.
    pub(super) fn starts(&self) -> impl Iterator<Item = usize> {
        self.edges.keys().copied()
    }

    /// Returns what an operation comes before.
    pub(super) fn from(&self, operation: usize) -> &[Edge] {
        self.edges.get(&operation).map_or(&[], Vec::as_slice)
    }

    /// Returns the strongly connected components with more than one operation, by these kinds of edges (Tarjan, 1972).
    pub(super) fn components(&self, kinds: &[Kind]) -> Vec<Vec<usize>> {
        let mut tarjan = Tarjan { graph: self, kinds, visits: BTreeMap::new(), stack: Vec::new(), found: Vec::new() };
        for start in self.starts() {
            if !tarjan.visits.contains_key(&start) {
                tarjan.visit(start);
            }
        }
        tarjan.found
    }
}

struct Visit {
    index: usize,
    low: usize,
    is_on_stack: bool,
}

struct Tarjan<'a> {
    graph: &'a Graph,
    kinds: &'a [Kind],
    visits: BTreeMap<usize, Visit>,
    stack: Vec<usize>,
    found: Vec<Vec<usize>>,
}

impl Tarjan<'_> {
    /// Visits all that can be reached, without recursion: histories are long.
    fn visit(&mut self, start: usize) {
        let mut path = vec![(start, 0)];
        self.enter(start);
        while let Some((node, next)) = path.last_mut() {
            let node = *node;
            let Some(edge) = self.graph.from(node).get(*next) else {
                path.pop();
                self.leave(node, path.last().map(|(parent, _)| *parent));
                continue;
            };
            *next += 1;
            if !self.kinds.contains(&edge.kind) {
                continue;
            }
            match self.visits.get(&edge.to) {
                None => {
                    self.enter(edge.to);
                    path.push((edge.to, 0));
                }
                Some(Visit { index, is_on_stack: true, .. }) => {
                    let index = *index;
                    self.lower(node, index);
                }
                Some(_) => {}
            }
        }
    }

    fn enter(&mut self, node: usize) {
        let index = self.visits.len();
        self.visits.insert(node, Visit { index, low: index, is_on_stack: true });
        self.stack.push(node);
    }

    fn lower(&mut self, node: usize, low: usize) {
        if let Some(visit) = self.visits.get_mut(&node) {
            visit.low = visit.low.min(low);
        }
    }

    fn leave(&mut self, node: usize, parent: Option<usize>) {
        let Visit { index, low, .. } = self.visits[&node];
        if let Some(parent) = parent {
            self.lower(parent, low);
        }
        if index != low {
            return;
        }
        let at = self.stack.iter().rposition(|one| *one == node).expect("it is left once");
        let mut component = self.stack.split_off(at);
        for one in &component {
            self.visits.get_mut(one).expect("it was entered").is_on_stack = false;
        }
        if component.len() > 1 {
            component.sort_unstable();
            self.found.push(component);
        }
    }
}
