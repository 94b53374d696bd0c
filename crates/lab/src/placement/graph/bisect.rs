//! First divisions: halves of halves, each cut on its own. With many parts, these are better than parts that grow one after another.

use super::{Graph, Load, Parts, add, grow, refine};

/// A division by halves of halves, improved.
pub(super) fn halves(graph: &Graph, limits: &[Load]) -> Vec<usize> {
    let mut parts = vec![0; graph.count()];
    split(graph, limits, &mut parts, &(0..graph.count()).collect::<Vec<_>>(), 0..limits.len());
    refine(graph, &mut parts, limits);
    parts
}

/// Distributes vertices among a range of parts.
fn split(graph: &Graph, limits: &[Load], parts: &mut [usize], vertices: &[usize], range: std::ops::Range<usize>) {
    if range.len() < 2 || vertices.is_empty() {
        vertices.iter().for_each(|vertex| parts[*vertex] = range.start);
        return;
    }
    let middle = range.start + range.len() / 2;
    let sides = [range.start..middle, middle..range.end];
    let of = |side: &std::ops::Range<usize>| side.clone().fold(0, |set: Parts, part| set | 1 << part);
    let [low, high] = [of(&sides[0]), of(&sides[1])];
    let allowed = |vertex: &usize| {
        let set = graph.allowed[*vertex];
        Parts::from(set & low != 0) | Parts::from(set & high != 0) << 1
    };
    let own = graph.part_of(vertices, vertices.iter().map(allowed).collect());
    let found = grow::best(&own, &shares(&own, limits, &sides));
    for (side, half) in sides.into_iter().enumerate() {
        let inside = vertices.iter().zip(&found).filter(|(_, part)| **part == side);
        split(graph, limits, parts, &inside.map(|(vertex, _)| *vertex).collect::<Vec<_>>(), half);
    }
}

/// The limits of both sides. What room there is beyond what is needed is not given away at once: further cuts need some of it.
fn shares(own: &Graph, limits: &[Load], sides: &[std::ops::Range<usize>; 2]) -> Vec<Load> {
    let mut total = [0; 2];
    own.weights.iter().for_each(|weight| add(&mut total, weight));
    let room = |side: &std::ops::Range<usize>, place: usize| {
        limits[side.clone()].iter().map(|limit| u128::from(limit[place])).sum::<u128>()
    };
    let cuts = u128::from((sides[0].len() + sides[1].len()).next_power_of_two().ilog2()).max(1);
    let share = |side: &std::ops::Range<usize>, place: usize| {
        let (most, all) = (room(side, place), room(&sides[0], place) + room(&sides[1], place));
        let fair = (u128::from(total[place]) * most).div_ceil(all.max(1));
        u64::try_from(fair + most.saturating_sub(fair) / cuts).unwrap_or(u64::MAX)
    };
    sides.iter().map(|side| [share(side, 0), share(side, 1)]).collect()
}
