//! Random graphs.

use super::builder::{Point, Random, TopologyBuilder};
use netloom_units::Duration;

/// The pairs of so many nodes can be looked at in a second.
const MOST_ON_A_PLANE: u64 = 10_000;

/// How many neighbours a router has on the average, unless the file says otherwise or the reach of links is too short.
const DEGREE: f64 = 3.0;

/// `waxman`: routers on a square, of which two are joined with the probability `beta * exp(-d / (alpha * L))`, where d is
/// their distance and L the square's diagonal. Links are added until there is a path between all: again and again the smallest
/// part gets the shortest link that leads out of it. Instead of `beta`, `degree` says how many neighbours a router has on the
/// average, before that.
///
/// Source: B. Waxman, "Routing of multipoint connections", IEEE JSAC 6(9), 1988, section II; other papers exchange the two
/// letters. Waxman draws points of a lattice; L there is the greatest distance of two nodes.
pub(super) fn waxman(builder: &mut TopologyBuilder<'_, '_>) -> Option<()> {
    let n = builder.count("n");
    let alpha = builder.number("alpha", 0.15, 1.0);
    let beta = builder.number("beta", 1.0, 1.0);
    let degree = builder.number("degree", DEGREE, MOST_ON_A_PLANE as f64);
    let span = builder.time("span", Duration::from_millis(20));
    let (n, alpha, beta, degree, span) = (n?, alpha?, beta?, degree?, span?);
    let points: Vec<Point> = (0..n).map(|_| [builder.random.share(), builder.random.share()]).collect();
    let plane = Plane { points, reach: alpha * std::f64::consts::SQRT_2 };
    let beta = match (builder.has("beta"), builder.has("degree")) {
        (true, true) => {
            return builder.wrong("degree", "`beta` says how many links there are, too: leave one of them out");
        }
        (true, false) => beta,
        (false, is_asked) => {
            let most = 2.0 * plane.expected() / n as f64;
            if is_asked && degree > most {
                let message = format!(
                    "at most {most:.1} neighbours on the average are possible for {n} nodes with an alpha of {alpha}: write a \
                     smaller degree, or a greater alpha"
                );
                return builder.wrong("degree", message);
            }
            (degree / most).min(1.0)
        }
    };
    let mut links = plane.drawn(beta, &mut builder.random);
    plane.connect(&mut links);
    // About one link's length between neighbours.
    let side = libm::sqrt(n as f64) * 1.1;
    let mut nodes = Vec::new();
    for (number, [x, y]) in plane.points.iter().enumerate() {
        nodes.push(builder.inner(number + 1, Some([x * side, y * side]))?);
    }
    for (one, other) in links {
        let share = plane.distance(one, other) / std::f64::consts::SQRT_2;
        let micros = (share * span.as_nanos() as f64 / 1e3).round().max(1.0);
        builder.link_of(nodes[one], nodes[other], "core", Some(Duration::from_micros(micros as u64)))?;
    }
    spread(builder, &nodes)
}

/// Hosts, by default one at each node.
fn spread(builder: &mut TopologyBuilder<'_, '_>, nodes: &[usize]) -> Option<()> {
    let hosts = builder.hosts_of(nodes.len(), 1)?;
    for (node, count) in nodes.iter().zip(hosts) {
        builder.add_hosts(*node, count, |_| None)?;
    }
    Some(())
}

/// Points on a square with sides of length 1.
struct Plane {
    points: Vec<Point>,
    /// Where the probability of a link is 1/e of what it is between neighbours.
    reach: f64,
}

impl Plane {
    fn distance(&self, one: usize, other: usize) -> f64 {
        let [a, b] = [self.points[one], self.points[other]];
        libm::sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]))
    }

    fn pairs(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        let count = self.points.len();
        (0..count).flat_map(move |one| (one + 1..count).map(move |other| (one, other)))
    }

    fn nearness(&self, one: usize, other: usize) -> f64 {
        libm::exp(-self.distance(one, other) / self.reach)
    }

    /// How many links there are on the average with a `beta` of 1.
    fn expected(&self) -> f64 {
        self.pairs().map(|(one, other)| self.nearness(one, other)).sum()
    }

    fn drawn(&self, beta: f64, random: &mut Random) -> Vec<(usize, usize)> {
        let is_drawn = |(one, other): &(usize, usize)| {
            let share = random.share();
            // The exponential is never above 1.
            share < beta && share < beta * self.nearness(*one, *other)
        };
        self.pairs().filter(is_drawn).collect()
    }

    /// Adds links until there is one part.
    fn connect(&self, links: &mut Vec<(usize, usize)>) {
        let mut parts = Parts::new(self.points.len());
        links.iter().for_each(|(one, other)| parts.join(*one, *other));
        while let Some(smallest) = parts.smallest() {
            let ways = parts.members[smallest].iter().flat_map(|one| {
                let others = (0..self.points.len()).filter(|other| parts.of[*other] != smallest);
                others.map(|other| (self.distance(*one, other), *one, other))
            });
            let Some((_, one, other)) = ways.min_by(|a, b| a.0.total_cmp(&b.0).then((a.1, a.2).cmp(&(b.1, b.2))))
            else {
                return;
            };
            links.push((one.min(other), one.max(other)));
            parts.join(one, other);
        }
    }
}

/// Which nodes have paths to one another.
struct Parts {
    /// The part of each node.
    of: Vec<usize>,
    members: Vec<Vec<usize>>,
}

impl Parts {
    fn new(count: usize) -> Self {
        Self { of: (0..count).collect(), members: (0..count).map(|node| vec![node]).collect() }
    }

    fn join(&mut self, one: usize, other: usize) {
        let [mut from, mut to] = [self.of[one], self.of[other]];
        if from == to {
            return;
        }
        if self.members[from].len() > self.members[to].len() {
            (from, to) = (to, from);
        }
        let moved = std::mem::take(&mut self.members[from]);
        moved.iter().for_each(|node| self.of[*node] = to);
        self.members[to].extend(moved);
    }

    /// The smallest of several parts; none if there is only one.
    fn smallest(&self) -> Option<usize> {
        let there = || (0..self.members.len()).filter(|part| !self.members[*part].is_empty());
        there().nth(1)?;
        there().min_by_key(|part| self.members[*part].len())
    }
}

/// `barabasi-albert`: each new router is joined to `m` of those before it, and to one with many neighbours more likely, in
/// proportion to their number. The first `m + 1` form a star, since the paper leaves open how the first are joined.
///
/// Source: A.-L. Barabási, R. Albert, "Emergence of scaling in random networks", Science 286, 1999.
pub(super) fn barabasi_albert(builder: &mut TopologyBuilder<'_, '_>) -> Option<()> {
    let n = builder.count("n");
    let m = builder.count("m");
    let (n, m) = (n?, m?);
    if m >= n {
        let message = format!("a router cannot be joined to {m} others of {n}: write {} or less", n - 1);
        return builder.wrong("m", message);
    }
    let nodes: Option<Vec<usize>> = (0..n).map(|number| builder.inner(number + 1, None)).collect();
    let nodes = nodes?;
    // Each node as often as it has links: one of them drawn evenly is a node in proportion to its links.
    let mut ends = Vec::new();
    for other in 1..=m {
        builder.link(nodes[0], nodes[other], "core")?;
        ends.extend([0, other]);
    }
    for new in m + 1..n {
        for old in distinct(&ends, m, &mut builder.random) {
            builder.link(nodes[old], nodes[new], "core")?;
            ends.extend([old, new]);
        }
    }
    spread(builder, &nodes)
}

/// So many different values of a list, drawn evenly from it, in the order in which they were drawn. It has as many.
pub(super) fn distinct(list: &[usize], count: usize, random: &mut Random) -> Vec<usize> {
    let mut drawn = Vec::new();
    let mut seen = std::collections::BTreeSet::new();
    while drawn.len() < count {
        let value = list[random.below(list.len())];
        if seen.insert(value) {
            drawn.push(value);
        }
    }
    drawn
}
