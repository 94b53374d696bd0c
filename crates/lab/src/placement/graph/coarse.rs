//! Makes a graph smaller by joining pairs of vertices.

use super::{Graph, Load, Parts, add};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// A graph of so many vertices is divided directly.
const SMALL: usize = 24;
/// And with more parts, one of so many vertices for each.
const SMALL_PER_PART: usize = 6;

/// A graph in which pairs of neighbours are one vertex, and the vertex there of each one here. None if it is small enough, or cannot
/// become much smaller.
pub(super) fn coarsen(graph: &Graph, parts: usize, order: usize) -> Option<(Graph, Vec<usize>)> {
    let count = graph.count();
    let enough = SMALL.max(SMALL_PER_PART * parts);
    if count <= enough {
        return None;
    }
    let mates = matched(graph, enough, order);
    let (mut merged, mut next) = (vec![usize::MAX; count], 0);
    for vertex in 0..count {
        if merged[vertex] == usize::MAX {
            (merged[vertex], merged[mates[vertex]]) = (next, next);
            next += 1;
        }
    }
    // With less than a twentieth gone, further levels are as large as this one.
    if next * 20 > count * 19 {
        return None;
    }
    let (mut weights, mut allowed): (Vec<Load>, Vec<Parts>) = (vec![[0; 2]; next], vec![Parts::MAX; next]);
    for (vertex, to) in merged.iter().enumerate() {
        add(&mut weights[*to], &graph.weights[vertex]);
        allowed[*to] &= graph.allowed[vertex];
    }
    let edges = graph.near.iter().enumerate().flat_map(|(here, near)| {
        near.iter().filter(move |(there, _)| here < *there).map(move |(there, weight)| (here, *there, *weight))
    });
    let edges = edges.map(|(one, other, weight)| (merged[one], merged[other], weight));
    Some((Graph::new(weights, allowed, edges.collect::<Vec<_>>()), merged))
}

/// The vertex with which each becomes one, or itself.
fn matched(graph: &Graph, enough: usize, order: usize) -> Vec<usize> {
    let count = graph.count();
    let most = heaviest_pair(graph, enough);
    let fits = |one: usize, other: usize| {
        let mut both = graph.weights[one];
        add(&mut both, &graph.weights[other]);
        graph.allowed[one] & graph.allowed[other] != 0 && both.iter().zip(&most).all(|(sum, most)| sum <= most)
    };
    let mut mates: Vec<usize> = (0..count).collect();
    let mut visited: Vec<usize> = (0..count).map(|place| (place + order * count / 4) % count).collect();
    if order.is_multiple_of(2) {
        // Vertices with few neighbours have the least choice.
        visited.sort_by_key(|vertex| graph.near[*vertex].len());
    }
    let mut left: BTreeMap<usize, usize> = BTreeMap::new();
    for vertex in visited {
        if mates[vertex] != vertex {
            continue;
        }
        let free = graph.near[vertex].iter().filter(|(other, _)| mates[*other] == *other && fits(vertex, *other));
        let lightest = |other: usize| Reverse(graph.weights[other]);
        if let Some((other, _)) = free.max_by_key(|(other, weight)| (*weight, lightest(*other), Reverse(*other))) {
            (mates[vertex], mates[*other]) = (*other, vertex);
        } else if let Some((hub, _)) =
            graph.near[vertex].iter().max_by_key(|(other, weight)| (*weight, Reverse(*other)))
        {
            // Leaves of one vertex become one, or a star would never become smaller.
            match left.remove(hub) {
                Some(other) if mates[other] == other && fits(vertex, other) => {
                    (mates[vertex], mates[other]) = (other, vertex);
                }
                _ => drop(left.insert(*hub, vertex)),
            }
        }
    }
    mates
}

/// The most that a pair may weigh: else one vertex of the coarsest graph would be a part of its own.
fn heaviest_pair(graph: &Graph, enough: usize) -> Load {
    let mut total = [0; 2];
    graph.weights.iter().for_each(|weight| add(&mut total, weight));
    let heaviest = |place: usize| graph.weights.iter().map(|weight| weight[place]).max().unwrap_or(0);
    [0, 1].map(|place| (total[place].saturating_mul(3) / (2 * enough as u64)).max(heaviest(place)))
}
