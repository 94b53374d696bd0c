//! Numbers for the automatic subnets of large labs: subnets that most nodes reach by the same neighbour have numbers
//! that share a long prefix, so that one route leads to many of them.
//!
//! A route table is smallest if the tree of its prefixes joins, at each branch, subnets that have a way in common
//! (`routing::aggregate`). So the tree is grown from its leaves: of any two groups of subnets that meet at a node,
//! those are joined first for which the fewest of some sample nodes would need a route more, and so on with the groups
//! that come out, as a maximum matching of a graph is coarsened when it is partitioned (Karypis and Kumar, "A fast and
//! high quality multilevel scheme for partitioning irregular graphs", SIAM J. Sci. Comput. 20(1), 1998, section 3.1).

use crate::segments::Segment;
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// In a lab with at most this many segments, they are numbered in the order of the file: users can predict the addresses,
/// and they stay when a link is added at the end.
pub(super) const MOST_IN_ORDER: usize = 500;

/// How many sample nodes there are: enough to tell groups apart, few enough to take no time.
const SAMPLES: usize = 128;

/// A link is compared to this many of those that follow it around a node, since a node with thousands of links would
/// have millions of pairs.
const BESIDE: usize = 8;

/// There are 2^22 automatic IPv4 subnets; the upper half is for what explicit addresses push aside.
const MOST_LEVELS: u32 = 21;

/// A link by its number, and that of its subnet within its group.
type Place = (usize, u32);

/// Subnets that share a prefix.
struct Group {
    links: Vec<Place>,
    /// The numbers of its subnets are below 2 to this power.
    level: u32,
    /// For each sample node the neighbours by which it may reach it, as `routing::aggregate` has them.
    ways: Vec<u8>,
}

impl Group {
    /// How many of the sample nodes need a route more if both share a prefix.
    fn price(&self, other: &Self) -> u32 {
        self.ways.iter().zip(&other.ways).map(|(own, others)| u32::from(own & others == 0)).sum()
    }

    fn join(mut self, other: Self) -> Self {
        let level = self.level.max(other.level);
        let half = 1_u32.checked_shl(level).unwrap_or(0);
        self.links.extend(other.links.into_iter().map(|(link, number)| (link, number | half)));
        for (own, others) in self.ways.iter_mut().zip(other.ways) {
            *own = if *own & others == 0 { *own | others } else { *own & others };
        }
        self.level = level + 1;
        self
    }
}

/// The number of each segment's subnet; none where they are numbered in the order of the file.
pub(super) fn numbers(segments: &[Segment<'_>]) -> Option<Vec<u32>> {
    if segments.len() <= MOST_IN_ORDER {
        return None;
    }
    let mut nodes: BTreeMap<&str, usize> = BTreeMap::new();
    let mut number = |name| {
        let next = nodes.len();
        *nodes.entry(name).or_insert(next)
    };
    let joined: Vec<Vec<usize>> = segments
        .iter()
        .map(|segment| segment.ends.iter().map(|own| number(own.spec.node.value.as_str())).collect())
        .collect();
    Some(numbers_of(nodes.len(), &joined))
}

/// The same of the nodes that each link joins.
fn numbers_of<L: AsRef<[usize]>>(nodes: usize, links: &[L]) -> Vec<u32> {
    let mut around: Vec<Vec<(usize, usize)>> = vec![Vec::new(); nodes];
    for (link, ends) in links.iter().enumerate() {
        for node in ends.as_ref() {
            around[*node].extend(ends.as_ref().iter().filter(|other| *other != node).map(|other| (link, *other)));
        }
    }
    let leaf = |(link, ways)| Group { links: vec![(link, 0)], level: 0, ways };
    let mut groups: Vec<Group> = ways(links, &around).into_iter().enumerate().map(leaf).collect();
    let mut meeting: Vec<(usize, usize)> = around.iter().flat_map(|own| beside(own)).collect();
    while groups.len() > 1 {
        meeting.sort_unstable();
        meeting.dedup();
        groups = coarser(groups, &mut meeting);
    }
    in_order(groups.pop(), links.len())
}

/// The numbers that the tree gives, or where it is too deep for them, the order of its leaves.
fn in_order(root: Option<Group>, links: usize) -> Vec<u32> {
    let mut numbers = vec![0; links];
    let Some(root) = root else { return numbers };
    let fits = root.level <= MOST_LEVELS;
    for ((link, number), rank) in root.links.into_iter().zip(0..) {
        numbers[link] = if fits { number } else { rank };
    }
    numbers
}

/// How many links away something is, and by which of the source's neighbours: one bit for each eighth of them.
type Reached = (u32, u8);

/// For each link, by which neighbours each sample node reaches it, counted in links; its own may lead anywhere.
fn ways<L: AsRef<[usize]>>(links: &[L], around: &[Vec<(usize, usize)>]) -> Vec<Vec<u8>> {
    let choosing: Vec<usize> = (0..around.len()).filter(|node| around[*node].len() > 1).collect();
    let count = SAMPLES.min(choosing.len());
    let mut ways = vec![Vec::with_capacity(count); links.len()];
    let (mut queue, mut reached) = (Vec::new(), Vec::new());
    for sample in (0..count).map(|number| choosing[number * choosing.len() / count]) {
        reach(sample, around, &mut queue, &mut reached);
        for (link, ends) in ways.iter_mut().zip(links) {
            let ends = ends.as_ref();
            let nearest = ends.iter().map(|node| reached[*node]).reduce(|one, other| match one.0.cmp(&other.0) {
                Ordering::Less => one,
                Ordering::Greater => other,
                Ordering::Equal => (one.0, one.1 | other.1),
            });
            link.push(nearest.filter(|_| !ends.contains(&sample)).map_or(u8::MAX, |(_, by)| by));
        }
    }
    ways
}

/// Finds how all nodes are reached from `source`; what cannot be reached may lead anywhere.
fn reach(source: usize, around: &[Vec<(usize, usize)>], queue: &mut Vec<usize>, reached: &mut Vec<Reached>) {
    reached.clear();
    reached.resize(around.len(), (u32::MAX, 0));
    reached[source] = (0, 0);
    queue.clear();
    queue.push(source);
    let mut next = 0;
    while let Some(node) = queue.get(next).copied() {
        next += 1;
        let (distance, by) = reached[node];
        for (place, (_, beyond)) in around[node].iter().enumerate() {
            let by = if node == source { 1 << (place % 8) } else { by };
            match &mut reached[*beyond] {
                (known, others) if *known == distance + 1 => *others |= by,
                label @ (u32::MAX, _) => {
                    *label = (distance + 1, by);
                    queue.push(*beyond);
                }
                _ => {}
            }
        }
    }
    for (_, by) in reached.iter_mut().filter(|(distance, _)| *distance == u32::MAX) {
        *by = u8::MAX;
    }
}

/// The pairs of links that meet at a node.
fn beside(own: &[(usize, usize)]) -> impl Iterator<Item = (usize, usize)> {
    let count = own.len();
    let pairs = (0..count).flat_map(move |one| (1..=BESIDE.min(count.saturating_sub(1))).map(move |by| (one, by)));
    pairs.map(move |(one, by)| ordered(own[one].0, own[(one + by) % count].0)).filter(|(one, other)| one != other)
}

fn ordered(one: usize, other: usize) -> (usize, usize) {
    (one.min(other), one.max(other))
}

/// Joins groups that meet, the cheapest pairs first, and each group once. `meeting` then says which of the new ones
/// meet.
fn coarser(groups: Vec<Group>, meeting: &mut Vec<(usize, usize)>) -> Vec<Group> {
    let mut pairs: Vec<(u32, u32, usize, usize)> = meeting
        .iter()
        .map(|&(one, other)| (&groups[one], &groups[other], one, other))
        .map(|(a, b, one, other)| (a.price(b), a.level.max(b.level), one, other))
        .collect();
    pairs.sort_unstable();
    let mut joining = Joining::of(groups.len());
    for (_, _, one, other) in pairs {
        joining.join(one, other);
    }
    if joining.joined * 4 < groups.len() {
        // Around a group that many others meet, those are joined that meet by it alone, so that the tree stays low.
        let mut waiting: BTreeMap<usize, usize> = BTreeMap::new();
        for (one, other) in meeting.iter().flat_map(|&(one, other)| [(one, other), (other, one)]) {
            if !joining.is_free(other) {
                continue;
            }
            match waiting.remove(&one).filter(|first| *first != other && joining.is_free(*first)) {
                Some(first) => joining.join(first, other),
                None => drop(waiting.insert(one, other)),
            }
        }
    }
    if joining.joined == 0 {
        // Parts that no link joins.
        (1..groups.len()).step_by(2).for_each(|other| joining.join(other - 1, other));
    }
    let (groups, places) = joining.finish(groups);
    for pair in meeting.iter_mut() {
        *pair = ordered(places[pair.0], places[pair.1]);
    }
    meeting.retain(|(one, other)| one != other);
    groups
}

/// Which groups are joined.
struct Joining {
    with: Vec<Option<usize>>,
    joined: usize,
}

impl Joining {
    fn of(groups: usize) -> Self {
        Self { with: vec![None; groups], joined: 0 }
    }

    fn is_free(&self, group: usize) -> bool {
        self.with[group].is_none()
    }

    /// Joins two groups, if both are free.
    fn join(&mut self, one: usize, other: usize) {
        if self.is_free(one) && self.is_free(other) {
            (self.with[one], self.with[other]) = (Some(other), Some(one));
            self.joined += 1;
        }
    }

    /// The groups that come out, and in which of them each of the old ones is.
    fn finish(self, groups: Vec<Group>) -> (Vec<Group>, Vec<usize>) {
        let mut places = vec![0; groups.len()];
        let mut old: Vec<Option<Group>> = groups.into_iter().map(Some).collect();
        let mut new: Vec<Group> = Vec::new();
        for group in 0..old.len() {
            let Some(own) = old[group].take() else { continue };
            places[group] = new.len();
            let other = self.with[group].and_then(|other| {
                places[other] = new.len();
                old[other].take()
            });
            new.push(match other {
                Some(other) => own.join(other),
                None => own,
            });
        }
        (new, places)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_each_once(numbers: &[u32], most: u32) -> bool {
        let mut sorted = numbers.to_vec();
        sorted.sort_unstable();
        sorted.windows(2).all(|pair| pair[0] < pair[1]) && sorted.last().is_some_and(|last| *last < most)
    }

    #[test]
    fn every_link_has_a_number_of_its_own() {
        let ring: Vec<[usize; 2]> = (0..600).map(|node| [node, (node + 1) % 600]).collect();
        let star: Vec<[usize; 2]> = (1..3_000).map(|leaf| [0, leaf]).collect();
        let apart: Vec<[usize; 2]> = (0..700).map(|pair| [2 * pair, 2 * pair + 1]).collect();
        let parallel: Vec<[usize; 2]> = (0..600).map(|_| [0, 1]).collect();
        let tree: Vec<[usize; 2]> = (1..2_000).map(|node| [(node - 1) / 3, node]).collect();
        let broom: Vec<[usize; 2]> = (1..600).map(|node| [if node < 300 { node - 1 } else { 299 }, node]).collect();
        for (links, nodes) in [(ring, 600), (star, 3_000), (apart, 1_400), (parallel, 2), (tree, 2_000), (broom, 600)] {
            let numbers = numbers_of(nodes, &links);
            assert!(is_each_once(&numbers, 1 << MOST_LEVELS), "{nodes} nodes");
            assert_eq!(numbers, numbers_of(nodes, &links));
        }
        assert_eq!(numbers_of(2, &[[0, 1]]), [0]);
    }

    #[test]
    fn what_lies_together_shares_a_prefix() {
        // Two stars of 512 leaves, joined by one link.
        let leaves = (0..1_024).map(|leaf| [leaf % 2, leaf + 2]);
        let links: Vec<[usize; 2]> = leaves.chain([[0, 1]]).collect();
        let numbers = numbers_of(1_026, &links);
        let of_star = |star: usize| (0..1_024).filter(move |leaf| leaf % 2 == star);
        for star in [0, 1] {
            let own: Vec<u32> = of_star(star).map(|leaf| numbers[leaf]).collect();
            let (least, most) = (*own.iter().min().unwrap(), *own.iter().max().unwrap());
            let others = of_star(1 - star).filter(|leaf| (least..=most).contains(&numbers[*leaf])).count();
            assert!(others < 16, "{others} of the other star's links are among those of star {star}");
        }
    }
}
