//! Improves a division by moving single vertices (C. M. Fiduccia, R. M. Mattheyses: A linear-time heuristic for improving network
//! partitions, 1982): the best move first, each vertex once, even if it makes things worse; then back to the best that was found.

use super::{Cost, Graph, Load, above, add, take};
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// More passes hardly ever find anything.
const PASSES: usize = 12;
/// A pass ends after so many moves that led to nothing better, or so large a share of all vertices.
const PATIENCE: usize = 60;
const PATIENCE_SHARE: usize = 20;
/// In graphs of so many vertices, parts may be above their limits on the way to something better, and vertices are exchanged: each step
/// looks at all vertices.
const SMALL: usize = 64;

/// See the module.
pub(super) fn refine(graph: &Graph, parts: &mut [usize], limits: &[Load]) {
    let is_small = graph.count() <= SMALL;
    for _ in 0..PASSES {
        let before = graph.cost(parts, limits);
        Pass::new(graph, parts, limits, before).balance();
        let balanced = graph.cost(parts, limits);
        Pass::new(graph, parts, limits, balanced).play(is_small);
        if is_small {
            let played = graph.cost(parts, limits);
            Pass::new(graph, parts, limits, played).exchange();
        }
        if graph.cost(parts, limits) >= before {
            break;
        }
    }
}

struct Pass<'a> {
    graph: &'a Graph,
    parts: &'a mut [usize],
    limits: &'a [Load],
    loads: Vec<Load>,
    /// By how much a part may be above its limit on the way to something better.
    slack: Load,
    cost: Cost,
    is_locked: Vec<bool>,
    /// The vertices that may move, with what that takes off the cut; the last is the best.
    queue: BTreeSet<(i128, usize)>,
    gains: Vec<Option<i128>>,
}

impl<'a> Pass<'a> {
    fn new(graph: &'a Graph, parts: &'a mut [usize], limits: &'a [Load], cost: Cost) -> Self {
        let mut loads = vec![[0; 2]; limits.len()];
        parts.iter().zip(&graph.weights).for_each(|(part, weight)| add(&mut loads[*part], weight));
        let count = graph.count();
        let (is_locked, gains) = (vec![false; count], vec![None; count]);
        Self { graph, parts, limits, loads, slack: [0; 2], cost, is_locked, queue: BTreeSet::new(), gains }
    }

    /// Moves vertices out of parts that are above their limits, as long as that takes anything off the excess.
    fn balance(mut self) {
        while self.cost.excess > 0 {
            let Some((excess, loss, vertex, part)) = self.relief() else { break };
            if excess >= self.cost.excess {
                break;
            }
            self.shift(vertex, part, -loss);
        }
    }

    /// The move out of a part above its limit that leaves the least excess, and of these what adds least to the cut.
    fn relief(&self) -> Option<(u64, i128, usize, usize)> {
        let over = |part: usize| above(&self.loads[part], &self.limits[part]) > 0;
        let is_over: Vec<bool> = (0..self.limits.len()).map(over).collect();
        let heavy = (0..self.graph.count()).filter(|vertex| is_over[self.parts[*vertex]] && !self.is_locked[*vertex]);
        let moves = heavy.flat_map(|vertex| {
            let bonds = self.bonds(vertex);
            let own = bond(&bonds, self.parts[vertex]);
            self.targets(vertex)
                .map(|part| (self.excess_after(vertex, part), own - bond(&bonds, part), vertex, part))
                .collect::<Vec<_>>()
        });
        moves.min()
    }

    /// The excess of all parts after a move.
    fn excess_after(&self, vertex: usize, part: usize) -> u64 {
        let (own, weight) = (self.parts[vertex], &self.graph.weights[vertex]);
        let (mut left, mut grown) = (self.loads[own], self.loads[part]);
        take(&mut left, weight);
        add(&mut grown, weight);
        let of = |load: &Load, place: usize| above(load, &self.limits[place]);
        let before = of(&self.loads[own], own).saturating_add(of(&self.loads[part], part));
        let after = of(&left, own).saturating_add(of(&grown, part));
        self.cost.excess.saturating_sub(before).saturating_add(after)
    }

    fn play(mut self, has_slack: bool) {
        let heaviest = |place: usize| self.graph.weights.iter().map(|weight| weight[place]).max().unwrap_or(0);
        self.slack = if has_slack { [heaviest(0), heaviest(1)] } else { [0; 2] };
        (0..self.graph.count()).for_each(|vertex| self.enqueue(vertex));
        let patience = PATIENCE.max(self.graph.count() / PATIENCE_SHARE);
        let (mut best, mut idle) = (self.cost, 0);
        let mut since: Vec<(usize, usize)> = Vec::new();
        while idle <= patience
            && let Some((vertex, part, gain)) = self.next_move(has_slack)
        {
            since.push((vertex, self.parts[vertex]));
            self.carry_out(vertex, part, gain);
            idle += 1;
            if self.cost < best {
                (best, idle) = (self.cost, 0);
                since.clear();
            }
        }
        for (vertex, part) in since.into_iter().rev() {
            self.parts[vertex] = part;
        }
    }

    /// The next move: out of parts that are above their limits first, if they may be.
    fn next_move(&mut self, has_slack: bool) -> Option<(usize, usize, i128)> {
        if has_slack
            && self.cost.excess > 0
            && let Some((excess, loss, vertex, part)) = self.relief()
            && excess < self.cost.excess
        {
            self.forget(vertex);
            return Some((vertex, part, -loss));
        }
        while let Some((stored, vertex)) = self.queue.pop_last() {
            self.gains[vertex] = None;
            match self.best_move(vertex) {
                Some((gain, part)) if gain >= stored => return Some((vertex, part, gain)),
                // A part has filled up meanwhile.
                Some((gain, _)) => self.store(vertex, gain),
                None => {}
            }
        }
        None
    }

    /// Exchanges pairs of vertices as long as that makes things better.
    fn exchange(mut self) {
        let count = self.graph.count();
        for one in 0..count {
            for other in one + 1..count {
                let [here, there] = [self.parts[one], self.parts[other]];
                if here == there || !self.graph.may(one, there) || !self.graph.may(other, here) {
                    continue;
                }
                let before = self.cost;
                self.shift(one, there, self.gain(one, there));
                self.shift(other, here, self.gain(other, here));
                if self.cost >= before {
                    self.shift(one, here, self.gain(one, here));
                    self.shift(other, there, self.gain(other, there));
                }
            }
        }
    }

    /// Moves a vertex, which takes so much off the cut.
    fn shift(&mut self, vertex: usize, part: usize, gain: i128) {
        let from = std::mem::replace(&mut self.parts[vertex], part);
        take(&mut self.loads[from], &self.graph.weights[vertex]);
        add(&mut self.loads[part], &self.graph.weights[vertex]);
        let cut = u64::try_from(i128::from(self.cost.cut) - gain).unwrap_or(0);
        self.cost = Cost { cut, ..Cost::of(&self.loads, self.limits) };
    }

    fn carry_out(&mut self, vertex: usize, part: usize, gain: i128) {
        self.shift(vertex, part, gain);
        self.is_locked[vertex] = true;
        let graph = self.graph;
        graph.near[vertex].iter().for_each(|(other, _)| self.enqueue(*other));
    }

    fn forget(&mut self, vertex: usize) {
        if let Some(old) = self.gains[vertex].take() {
            self.queue.remove(&(old, vertex));
        }
    }

    fn enqueue(&mut self, vertex: usize) {
        self.forget(vertex);
        if !self.is_locked[vertex]
            && let Some((gain, _)) = self.best_move(vertex)
        {
            self.store(vertex, gain);
        }
    }

    fn store(&mut self, vertex: usize, gain: i128) {
        self.gains[vertex] = Some(gain);
        self.queue.insert((gain, vertex));
    }

    /// The weight of the edges from a vertex to each part where it has any.
    fn bonds(&self, vertex: usize) -> Vec<(usize, i128)> {
        let mut bonds: Vec<(usize, i128)> = Vec::new();
        for (other, weight) in &self.graph.near[vertex] {
            let part = self.parts[*other];
            match bonds.iter_mut().find(|(there, _)| *there == part) {
                Some((_, sum)) => *sum += i128::from(*weight),
                None => bonds.push((part, i128::from(*weight))),
            }
        }
        bonds
    }

    fn gain(&self, vertex: usize, part: usize) -> i128 {
        let bonds = self.bonds(vertex);
        bond(&bonds, part) - bond(&bonds, self.parts[vertex])
    }

    /// The other parts in which a vertex may be.
    fn targets(&self, vertex: usize) -> impl Iterator<Item = usize> {
        let own = self.parts[vertex];
        (0..self.limits.len()).filter(move |part| *part != own && self.graph.may(vertex, *part))
    }

    /// The part to which a vertex moves best, and what that takes off the cut.
    fn best_move(&self, vertex: usize) -> Option<(i128, usize)> {
        let bonds = self.bonds(vertex);
        let own = bond(&bonds, self.parts[vertex]);
        let moves = self.targets(vertex).map(|part| (bond(&bonds, part), part));
        let moves = moves.filter(|(there, part)| (*there > 0 || own == 0) && self.has_room(*part, vertex));
        moves.map(|(there, part)| (there - own, part)).max_by_key(|(gain, part)| (*gain, Reverse(*part)))
    }

    fn has_room(&self, part: usize, vertex: usize) -> bool {
        (0..2).all(|place| {
            let load = self.loads[part][place].saturating_add(self.graph.weights[vertex][place]);
            load <= self.limits[part][place].saturating_add(self.slack[place])
        })
    }
}

fn bond(bonds: &[(usize, i128)], part: usize) -> i128 {
    bonds.iter().find(|(there, _)| *there == part).map_or(0, |(_, sum)| *sum)
}
