//! First divisions: parts that grow vertex by vertex.

use super::{Graph, Load, add, refine};
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// So many vertices are tried as the first one.
const STARTS: usize = 24;
/// In larger graphs fewer are tried: each try takes time in proportion to the graph.
const TRIED: usize = 4_000;

/// Graphs of so many vertices are also divided from so many scattered starts.
const SMALL: usize = 32;
const SCATTERED: u64 = 48;

/// The best of the divisions that grow from several starts, each improved.
pub(super) fn best(graph: &Graph, limits: &[Load]) -> Vec<usize> {
    let count = graph.count();
    let starts = STARTS.min(count).min((TRIED / count.max(1)).max(2));
    let tries = (0..starts).flat_map(|start| [true, false].map(|is_near| (start * count / starts.max(1), is_near)));
    let scattered = if count <= SMALL { SCATTERED } else { 0 };
    let begun = tries.map(|(start, is_near)| grown(graph, limits, start, is_near));
    let begun = begun.chain((0..scattered).map(|number| scatter(graph, limits, number)));
    let found = begun.map(|mut parts| {
        refine(graph, &mut parts, limits);
        parts
    });
    found.min_by_key(|parts| graph.cost(parts, limits)).unwrap_or_default()
}

/// Each vertex in one of its parts, as a fixed mixing of numbers has it (G. Steele and others: Fast splittable pseudorandom number
/// generators, 2014, figure 17).
fn scatter(graph: &Graph, limits: &[Load], number: u64) -> Vec<usize> {
    let mixed = |vertex: usize| {
        let seed = (number << 32 | vertex as u64).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let once = (seed ^ seed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let twice = (once ^ once >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        twice ^ twice >> 31
    };
    let part = |vertex: usize| {
        let possible: Vec<usize> = (0..limits.len()).filter(|part| graph.may(vertex, *part)).collect();
        usize::try_from(mixed(vertex) % (possible.len() as u64).max(1))
            .ok()
            .and_then(|place| possible.get(place).copied())
    };
    (0..graph.count()).map(|vertex| part(vertex).unwrap_or(0)).collect()
}

/// Parts that grow one after the other; the next one begins beside those that are there, or far from them.
fn grown(graph: &Graph, limits: &[Load], start: usize, is_near: bool) -> Vec<usize> {
    const NOWHERE: usize = usize::MAX;
    let mut parts = vec![NOWHERE; graph.count()];
    let mut loads = vec![[0; 2]; limits.len()];
    let goals = goals(graph, limits);
    let mut first = Some(start);
    for part in 0..limits.len() {
        let is_free = |taken: &[usize], vertex: usize| taken[vertex] == NOWHERE && graph.may(vertex, part);
        // What is tied to this part is where it begins.
        let mut border: BTreeSet<(Reverse<u64>, usize)> = BTreeSet::new();
        let mut bonds = vec![0; graph.count()];
        let tied = (0..graph.count()).filter(|vertex| graph.allowed[*vertex] == 1 << part && parts[*vertex] == NOWHERE);
        let mut queue: Vec<usize> = tied.collect();
        loop {
            let next = queue.pop().or_else(|| {
                let is_full = loads[part].iter().zip(&goals[part]).any(|(load, goal)| load >= goal);
                if is_full {
                    return None;
                }
                let beside = loop {
                    let Some((_, vertex)) = border.pop_first() else { break None };
                    if is_free(&parts, vertex) {
                        break Some(vertex);
                    }
                };
                beside
                    .or_else(|| first.filter(|vertex| is_free(&parts, *vertex)))
                    .or_else(|| seed(graph, &parts, |vertex| is_free(&parts, vertex), is_near))
            });
            let Some(vertex) = next else { break };
            if parts[vertex] != NOWHERE {
                continue;
            }
            first = None;
            parts[vertex] = part;
            add(&mut loads[part], &graph.weights[vertex]);
            for (other, weight) in &graph.near[vertex] {
                border.remove(&(Reverse(bonds[*other]), *other));
                bonds[*other] += weight;
                border.insert((Reverse(bonds[*other]), *other));
            }
        }
    }
    settle(graph, limits, &mut parts, &mut loads);
    parts
}

/// The weight that each part should have: as much of the whole as its limit is of all limits.
fn goals(graph: &Graph, limits: &[Load]) -> Vec<Load> {
    let of = |all: &mut dyn Iterator<Item = u64>| all.map(u128::from).sum::<u128>().max(1);
    let share = |one: u64, place: usize| {
        let total = of(&mut graph.weights.iter().map(|weight| weight[place]));
        let room = of(&mut limits.iter().map(|all| all[place]));
        u64::try_from((total * u128::from(one)).div_ceil(room)).unwrap_or(u64::MAX)
    };
    limits.iter().map(|own| [0, 1].map(|place| share(own[place], place))).collect()
}

/// Where a part begins: with most bonds to the parts that are there, or with least.
fn seed(graph: &Graph, parts: &[usize], is_free: impl Fn(usize) -> bool, is_near: bool) -> Option<usize> {
    let bonds = |vertex: usize| {
        let taken = graph.near[vertex].iter().filter(|(other, _)| parts[*other] != usize::MAX);
        taken.map(|(_, weight)| *weight).sum::<u64>()
    };
    let free = (0..graph.count()).filter(|vertex| is_free(*vertex));
    if is_near {
        free.max_by_key(|vertex| (bonds(*vertex), Reverse(*vertex)))
    } else {
        free.min_by_key(|vertex| (bonds(*vertex), Reverse(*vertex)))
    }
}

/// Puts what is left, heavy vertices first, where most room is.
fn settle(graph: &Graph, limits: &[Load], parts: &mut [usize], loads: &mut [Load]) {
    let mut left: Vec<usize> = (0..parts.len()).filter(|vertex| parts[*vertex] == usize::MAX).collect();
    left.sort_by_key(|vertex| (Reverse(graph.weights[*vertex]), *vertex));
    for vertex in left {
        let filled = |part: usize| {
            let shares = (0..2).map(|place| {
                let load = u128::from(loads[part][place]) + u128::from(graph.weights[vertex][place]);
                load * 1_000 / u128::from(limits[part][place].max(1))
            });
            shares.max().unwrap_or(0)
        };
        let possible = (0..limits.len()).filter(|part| graph.may(vertex, *part));
        let part = possible.min_by_key(|part| (filled(*part), *part)).unwrap_or(0);
        parts[vertex] = part;
        add(&mut loads[part], &graph.weights[vertex]);
    }
}
