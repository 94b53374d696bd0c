//! Where nodes without a place of their own go: so that distances in the picture are those in the network, counted in links.
//!
//! Source: J. Zheng, S. Pawar, D. Goodman, "Graph drawing by stochastic gradient descent", IEEE TVCG 25(9), 2019: the stress of
//! E. Gansner, Y. Koren, S. North, "Graph drawing by stress majorization", 2004, one pair of nodes after the other in random
//! order. In large networks the pairs are those of a link, and those with one of a few *pivots*, which are far from one another
//! (U. Brandes, C. Pich, "Eigensolver methods for progressive multidimensional scaling of large data", 2006).
//!
//! Of the libraries, `layout-rs` and `rust-sugiyama` draw hierarchies only, and `forceatlas2` has no permissive licence.

use netloom_units::Seed;
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::collections::VecDeque;

/// To the right, and down; a link has a length of about 1.
pub(super) type Point = [f64; 2];

/// Networks with more nodes have pivots.
const MOST_PAIRED: usize = 300;
const PIVOTS: usize = 48;
/// How often each pair is looked at.
const ROUNDS: usize = 60;
/// From a node to what hangs on it.
const HANGING: f64 = 0.8;
/// Between two parts of a network that no link joins.
const GAP: f64 = 1.5;
/// How much a pair still moves in the last round: of the way to its distance.
const LAST: f64 = 0.05;

/// A network to be laid out.
pub(super) struct Network<'a> {
    /// By node: what its first place follows from. So a new node does not move all others about.
    pub(super) names: &'a [&'a str],
    /// Pairs of nodes.
    pub(super) links: &'a [(usize, usize)],
    /// Places that are given.
    pub(super) fixed: &'a [Option<Point>],
}

impl Network<'_> {
    /// A place for each node.
    pub(super) fn places(&self) -> Vec<Point> {
        let around = self.around();
        let hung = self.hung(&around);
        let fixed: Vec<Option<Point>> = self.fixed.iter().zip(&hung).map(|(at, hung)| at.or(*hung)).collect();
        Network { fixed: &fixed, ..*self }.laid_out(&around)
    }

    fn laid_out(&self, around: &[Vec<usize>]) -> Vec<Point> {
        let mut places: Vec<Point> = vec![[0.0, 0.0]; self.names.len()];
        let unit = self.unit();
        // Parts in which nothing is fixed stand below what is, side by side.
        let mut free = Vec::new();
        for part in parts(around) {
            let is_fixed = part.iter().any(|node| self.fixed[*node].is_some());
            if !part.iter().all(|node| self.fixed[*node].is_some()) {
                self.settle(&part, around, unit, &mut places);
            }
            part.iter().for_each(|node| places[*node] = self.fixed[*node].unwrap_or(places[*node]));
            if !is_fixed {
                turn(&part, &mut places);
                free.push(part);
            }
        }
        let is_free: Vec<bool> = free.iter().flatten().fold(vec![false; places.len()], |mut all, node| {
            all[*node] = true;
            all
        });
        let below = places.iter().zip(&is_free).filter(|(_, moves)| !**moves).map(|([_, y], _)| y);
        let below = below.copied().fold(f64::NEG_INFINITY, f64::max);
        pack(&free, if below.is_finite() { below + GAP } else { 0.0 }, &mut places);
        places
    }

    /// Places for nodes with one link that hang on one with a place: where most room is.
    fn hung(&self, around: &[Vec<usize>]) -> Vec<Option<Point>> {
        const DIRECTIONS: usize = 24;
        let mut taken: Vec<Point> = self.fixed.iter().flatten().copied().collect();
        // Links take room, too.
        for (one, other) in self.links {
            let (Some(a), Some(b)) = (self.fixed[*one], self.fixed[*other]) else { continue };
            taken
                .extend([0.25, 0.5, 0.75].map(|share| [0, 1].map(|axis: usize| a[axis] + share * (b[axis] - a[axis]))));
        }
        let mut hung = vec![None; around.len()];
        for (node, next) in around.iter().enumerate().filter(|(node, _)| self.fixed[*node].is_none()) {
            let [next] = next[..] else { continue };
            let Some([x, y]) = self.fixed[next] else { continue };
            let directions = (0..DIRECTIONS).map(|number| {
                let (sine, cosine) = (std::f64::consts::TAU * number as f64 / DIRECTIONS as f64).sin_cos();
                [x + HANGING * sine, y + HANGING * cosine]
            });
            let room = |at: &Point| taken.iter().map(|other| distance(*at, *other)).fold(f64::INFINITY, f64::min);
            let rooms: Vec<(f64, Point)> = directions.map(|at| (room(&at), at)).collect();
            let best = rooms.into_iter().reduce(|best, other| if other.0 > best.0 + 1e-9 { other } else { best });
            hung[node] = best.map(|(_, at)| at);
            taken.extend(hung[node]);
        }
        hung
    }

    fn around(&self) -> Vec<Vec<usize>> {
        let mut around = vec![Vec::new(); self.names.len()];
        for (one, other) in self.links {
            around[*one].push(*other);
            around[*other].push(*one);
        }
        around
    }

    /// How long a link is among the places that are given.
    fn unit(&self) -> f64 {
        let given = |(one, other): &(usize, usize)| Some(distance(self.fixed[*one]?, self.fixed[*other]?));
        let mut lengths: Vec<f64> = self.links.iter().filter_map(given).filter(|length| *length > 0.0).collect();
        lengths.sort_by(f64::total_cmp);
        lengths.get(lengths.len() / 2).copied().unwrap_or(1.0)
    }

    /// Moves the nodes of a part to where distances are right; what is fixed stays.
    fn settle(&self, part: &[usize], around: &[Vec<usize>], unit: f64, places: &mut [Point]) {
        let side = unit * (part.len() as f64).sqrt();
        let anchors: Vec<Point> = part.iter().filter_map(|node| self.fixed[*node]).collect();
        let count = (anchors.len() as f64).max(1.0);
        let middle = anchors.iter().fold([0.0, 0.0], |sum, at| [sum[0] + at[0] / count, sum[1] + at[1] / count]);
        for node in part {
            let mut random = Xoshiro256PlusPlus::seed_from_u64(Seed::new(0).derive(self.names[*node]).get());
            let start = [0, 1].map(|axis| middle[axis] + side * (share(&mut random) - 0.5));
            let beside = around[*node].iter().find_map(|other| self.fixed[*other]);
            let near = beside.map(|[x, y]| [x + 0.1 * (start[0] - middle[0]), y + 0.1 * (start[1] - middle[1])]);
            places[*node] = self.fixed[*node].or(near).unwrap_or(start);
        }
        let mut pairs = pairs(part, around);
        // What is fixed on both ends cannot move. Between what is fixed, only what is near counts.
        let nearest = if anchors.is_empty() { usize::MAX } else { 2 };
        let is_free = |pair: &Pair| self.fixed[pair.one].is_none() || self.fixed[pair.other].is_none();
        pairs.retain(|pair| is_free(pair) && pair.links <= nearest);
        let farthest = pairs.iter().map(|pair| pair.links).max().unwrap_or(1) as f64;
        let decay = (LAST / (farthest * farthest)).ln() / (ROUNDS as f64 - 1.0);
        let mut random = Xoshiro256PlusPlus::seed_from_u64(part.len() as u64);
        for round in 0..ROUNDS {
            let step = farthest * farthest * (decay * round as f64).exp();
            shuffle(&mut pairs, &mut random);
            for pair in &pairs {
                let wanted = pair.links as f64;
                self.pull(pair, (step / (wanted * wanted)).min(1.0), wanted * unit, places);
            }
        }
    }

    /// Moves both nodes of a pair this share of the way to their distance.
    fn pull(&self, pair: &Pair, share: f64, wanted: f64, places: &mut [Point]) {
        let [a, b] = [places[pair.one], places[pair.other]];
        let now = distance(a, b).max(1e-6);
        let way = share * (now - wanted) / now;
        let (mut first, mut second) = (0.5, 0.5);
        if self.fixed[pair.one].is_some() {
            (first, second) = (0.0, 1.0);
        } else if self.fixed[pair.other].is_some() {
            (first, second) = (1.0, 0.0);
        }
        for axis in [0, 1] {
            let by = way * (b[axis] - a[axis]);
            places[pair.one][axis] += first * by;
            places[pair.other][axis] -= second * by;
        }
    }
}

/// Two nodes, and how many links are between them.
struct Pair {
    one: usize,
    other: usize,
    links: usize,
}

fn pairs(part: &[usize], around: &[Vec<usize>]) -> Vec<Pair> {
    let mut pairs = Vec::new();
    if part.len() <= MOST_PAIRED {
        for one in part {
            let far = hops(*one, around);
            let others = part.iter().filter(|other| **other > *one);
            pairs.extend(others.map(|other| Pair { one: *one, other: *other, links: far[*other] }));
        }
        return pairs;
    }
    let mut nearest = vec![usize::MAX; around.len()];
    let mut pivot = part[0];
    for _ in 0..PIVOTS {
        let far = hops(pivot, around);
        for node in part {
            nearest[*node] = nearest[*node].min(far[*node]);
            if *node != pivot {
                pairs.push(Pair { one: pivot, other: *node, links: far[*node] });
            }
        }
        pivot = part.iter().copied().max_by_key(|node| (nearest[*node], std::cmp::Reverse(*node))).unwrap_or(pivot);
    }
    for one in part {
        // Neighbours, and neighbours of these, so that leaves of a node keep apart.
        for next in &around[*one] {
            if next > one {
                pairs.push(Pair { one: *one, other: *next, links: 1 });
            }
            let second = around[*next].iter().filter(|other| *other > one).take(8);
            pairs.extend(second.map(|other| Pair { one: *one, other: *other, links: 2 }));
        }
    }
    pairs
}

/// How many links lead to each node.
fn hops(from: usize, around: &[Vec<usize>]) -> Vec<usize> {
    let mut far = vec![usize::MAX; around.len()];
    far[from] = 0;
    let mut next = VecDeque::from([from]);
    while let Some(here) = next.pop_front() {
        for there in &around[here] {
            if far[*there] == usize::MAX {
                far[*there] = far[here] + 1;
                next.push_back(*there);
            }
        }
    }
    far
}

/// The nodes that have paths to one another, each part in order.
fn parts(around: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut seen = vec![false; around.len()];
    let mut parts = Vec::new();
    for first in 0..around.len() {
        if seen[first] {
            continue;
        }
        let far = hops(first, around);
        let part: Vec<usize> = (first..around.len()).filter(|node| far[*node] != usize::MAX).collect();
        part.iter().for_each(|node| seen[*node] = true);
        parts.push(part);
    }
    parts
}

/// Turns a part so that it is wider than high, and its first node is on the left.
fn turn(part: &[usize], places: &mut [Point]) {
    let count = part.len() as f64;
    let middle = [0, 1].map(|axis: usize| part.iter().map(|node| places[*node][axis]).sum::<f64>() / count);
    let off = |at: Point| [at[0] - middle[0], at[1] - middle[1]];
    let [mut xx, mut xy, mut yy] = [0.0; 3];
    for node in part {
        let [x, y] = off(places[*node]);
        (xx, xy, yy) = (xx + x * x, xy + x * y, yy + y * y);
    }
    // The direction in which it is longest.
    let (sine, cosine) = (0.5 * f64::atan2(2.0 * xy, xx - yy)).sin_cos();
    let turned = |[x, y]: Point| [x * cosine + y * sine, y * cosine - x * sine];
    let side = if part.first().is_some_and(|node| turned(off(places[*node]))[0] > 0.0) { -1.0 } else { 1.0 };
    for node in part {
        let [x, y] = turned(off(places[*node]));
        places[*node] = [side * x, side * y];
    }
}

/// Puts parts in rows below `top`, the largest first, about as wide as all is high.
fn pack(parts: &[Vec<usize>], top: f64, places: &mut [Point]) {
    let mut order: Vec<&Vec<usize>> = parts.iter().collect();
    order.sort_by_key(|part| (std::cmp::Reverse(part.len()), part[0]));
    let room = |part: &&Vec<usize>| {
        let [x, y] = [0, 1].map(|axis| extent(part, axis, places));
        (x.1 - x.0 + GAP) * (y.1 - y.0 + GAP)
    };
    let widest = (1.6 * order.iter().map(room).sum::<f64>()).sqrt();
    let (mut left, mut above, mut height) = (0.0, top, 0.0_f64);
    for part in order {
        let [(x, right), (y, bottom)] = [0, 1].map(|axis| extent(part, axis, places));
        if left > 0.0 && left + right - x > widest {
            (left, above, height) = (0.0, above + height + GAP, 0.0);
        }
        for node in part {
            places[*node] = [places[*node][0] - x + left, places[*node][1] - y + above];
        }
        left += right - x + GAP;
        height = height.max(bottom - y);
    }
}

/// The least and the greatest place of a part, to the right or down.
fn extent(part: &[usize], axis: usize, places: &[Point]) -> (f64, f64) {
    let values = || part.iter().map(|node| places[*node][axis]);
    (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max))
}

pub(super) fn distance(a: Point, b: Point) -> f64 {
    (a[0] - b[0]).hypot(a[1] - b[1])
}

fn share(random: &mut Xoshiro256PlusPlus) -> f64 {
    (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}

fn shuffle(pairs: &mut [Pair], random: &mut Xoshiro256PlusPlus) {
    for end in (1..pairs.len()).rev() {
        let with = (u128::from(random.next_u64()) * (end as u128 + 1)) >> 64;
        pairs.swap(end, usize::try_from(with).unwrap_or(end));
    }
}
