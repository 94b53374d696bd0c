//! Fewer routes that lead to the same places: ORTC (Draves, King, Venkatachary and Zill, "Constructing optimal IP routing
//! tables", INFOCOM 1999).
//!
//! A thousand routers with two thousand links need four million routes, one for every router and subnet; prefixes that
//! several subnets share need a twentieth of that. Addresses that no link of the lab has are of no concern: they may
//! follow any route. Subnets of a node's own interfaces are more specific than any prefix here, and of no concern either.

use super::Family;
use super::paths::{Equal, Ways};
use crate::addressing::{first, net};
use ipnet::IpNet;
use std::collections::BTreeMap;

/// A smaller table is left as it is, so that it can be read: one line says where one subnet is.
pub(super) const SMALLEST: usize = 128;

/// Where something may lead, as one bit per neighbour. All bits: anywhere.
pub(super) type Hops = u64;
pub(super) const ANYWHERE: Hops = Hops::MAX;

/// The smaller table of these subnets, if there is one, which leads each of them one of the ways that it may go, or all of them.
/// `whole`: the tree of all subnets of the lab, and where each may lead.
pub(super) fn smaller(
    family: Family,
    neighbours: usize,
    subnets: &[(IpNet, Ways)],
    whole: Option<(&Tree, &dyn Fn(usize) -> Hops)>,
    equal: Equal,
) -> Option<Vec<(IpNet, Ways)>> {
    if !is_worth_it(subnets.len(), neighbours) {
        return None;
    }
    if equal == Equal::All {
        let table = match whole {
            Some((tree, hops)) => tree.table(hops),
            None => aggregate(family, neighbours, subnets)?,
        };
        return Some(table.into_iter().map(|(net, place)| (net, Ways::by(place))).collect());
    }
    let numbered = NumberedWays::of(neighbours, subnets)?;
    let table = match whole {
        Some((tree, hops)) => tree.table(|place| numbered.as_one(hops(place))),
        None => {
            let as_one = |(net, ways): &(IpNet, Ways)| (*net, Ways { all: numbered.as_one(ways.all), ..*ways });
            aggregate(family, neighbours, &subnets.iter().map(as_one).collect::<Vec<_>>())?
        }
    };
    Some(table.into_iter().map(|(net, number)| (net, numbered.ways(number))).collect())
}

/// Several ways as if they were one: subnets share a prefix only if all their ways are the same.
struct NumberedWays {
    numbers: BTreeMap<Hops, u32>,
    /// By their numbers.
    ways: Vec<Ways>,
}

impl NumberedWays {
    /// None if there are more than a table can tell apart.
    fn of(neighbours: usize, subnets: &[(IpNet, Ways)]) -> Option<Self> {
        let mut numbered = Self { numbers: BTreeMap::new(), ways: Vec::new() };
        for (_, ways) in subnets {
            numbered.numbers.entry(ways.all).or_insert_with(|| {
                numbered.ways.push(*ways);
                u32::try_from(numbered.ways.len() - 1).unwrap_or(u32::MAX)
            });
        }
        // With a bit for every neighbour, all of them would look like none in particular.
        let bits = Hops::BITS as usize;
        (neighbours < bits && numbered.ways.len() <= bits).then_some(numbered)
    }

    fn as_one(&self, ways: Hops) -> Hops {
        self.numbers.get(&ways).map_or(ANYWHERE, |number| 1 << number)
    }

    fn ways(&self, number: u32) -> Ways {
        self.ways[number as usize]
    }
}

/// Prefixes and the neighbours that they are reached by: a longest-prefix match leads each of these subnets one of the
/// ways that it may go. None where the table is small already, a node has too many neighbours, or subnets lie within one
/// another.
fn aggregate(family: Family, neighbours: usize, subnets: &[(IpNet, Ways)]) -> Option<Vec<(IpNet, u32)>> {
    if !is_worth_it(subnets.len(), neighbours) {
        return None;
    }
    Some(Tree::of(family, subnets.iter().map(|(net, _)| *net))?.table(|place| subnets[place].1.all))
}

/// Whether a table of so many subnets is to be made smaller, and can be.
pub(super) fn is_worth_it(subnets: usize, neighbours: usize) -> bool {
    subnets >= SMALLEST && neighbours <= Hops::BITS as usize
}

/// A subnet by its first address and length, and its place among those that were given.
struct Leaf {
    first: u128,
    length: u8,
    place: u32,
}

/// How many leading bits two addresses of `bits` bits share.
fn common(one: u128, other: u128, bits: u8) -> u8 {
    let differ = (one ^ other) << (u128::BITS - u32::from(bits));
    u8::try_from(differ.leading_zeros()).unwrap_or(u8::MAX).min(bits)
}

/// The prefixes above all leaves: the same for all nodes, whatever the ways.
pub(super) struct Tree {
    family: Family,
    bits: u8,
    /// What lies below each branch: halves before their wholes, and the root last. Every node looks at all of them, so that they are
    /// small, and stand by themselves.
    below: Vec<Below>,
    /// The first address in each branch, and how long its prefix is.
    prefixes: Vec<(u128, u8)>,
}

/// A subnet by its place, or the places of the halves; `NOTHING`: no leaf lies there.
#[derive(Clone, Copy)]
enum Below {
    Leaf(u32),
    Halves([u32; 2]),
}

const NOTHING: u32 = u32::MAX;

/// Where a branch may lead.
#[derive(Clone, Copy)]
struct Lead {
    /// So that fewest routes are needed below.
    best: Hops,
    /// All that is below at once.
    all: Hops,
}

impl Tree {
    /// The tree of these subnets; none if there are none, or some lie within one another.
    pub(super) fn of(family: Family, subnets: impl Iterator<Item = IpNet>) -> Option<Self> {
        let as_leaf = |(net, place): (IpNet, u32)| Leaf { first: first(&net.trunc()), length: net.prefix_len(), place };
        let mut leaves: Vec<Leaf> = subnets.zip(0..).map(as_leaf).collect();
        leaves.sort_unstable_by_key(|leaf| (leaf.first, leaf.length));
        let bits = family.bits();
        let overlap = |pair: &[Leaf]| common(pair[0].first, pair[1].first, bits) >= pair[0].length.min(pair[1].length);
        if leaves.windows(2).any(overlap) {
            return None;
        }
        let (one, other) = (leaves.first()?.first, leaves.last()?.first);
        let mut tree = Self { family, bits, below: Vec::new(), prefixes: Vec::new() };
        let root = tree.grow(&leaves, common(one, other, bits));
        (root != NOTHING).then_some(tree)
    }

    /// The branch with the prefix of `length` bits that holds just these leaves; `NOTHING` if there are none.
    fn grow(&mut self, leaves: &[Leaf], length: u8) -> u32 {
        let below = match leaves {
            [] => return NOTHING,
            [leaf] => Below::Leaf(leaf.place),
            _ => {
                let bit = 1_u128 << (self.bits - length - 1);
                let (low, high) = leaves.split_at(leaves.partition_point(|leaf| leaf.first & bit == 0));
                Below::Halves([low, high].map(|half| self.grow(half, length + 1)))
            }
        };
        self.below.push(below);
        self.prefixes.push((leaves[0].first, length));
        u32::try_from(self.below.len() - 1).unwrap_or(NOTHING)
    }

    /// The smallest table that leads each subnet one of the ways that it may go by its place.
    pub(super) fn table(&self, ways: impl Fn(usize) -> Hops) -> Vec<(IpNet, u32)> {
        let mut leads: Vec<Lead> = Vec::with_capacity(self.below.len());
        let at = |known: &[Lead], half: u32| {
            known.get(half as usize).map_or((ANYWHERE, ANYWHERE), |lead| (lead.best, lead.all))
        };
        for below in &self.below {
            leads.push(match *below {
                Below::Leaf(place) => {
                    let best = ways(place as usize);
                    Lead { best, all: best }
                }
                Below::Halves([low, high]) => {
                    let ((one, own), (other, others)) = (at(&leads, low), at(&leads, high));
                    Lead { best: if one & other == 0 { one | other } else { one & other }, all: own & others }
                }
            });
        }
        let mut routes = Vec::new();
        self.collect(self.below.len() - 1, None, &leads, &mut routes);
        routes
    }

    /// Adds the routes of a branch whose surroundings lead to `outer`.
    fn collect(&self, branch: usize, outer: Option<u32>, leads: &[Lead], routes: &mut Vec<(IpNet, u32)>) {
        let Lead { best, all } = leads[branch];
        if outer.is_some_and(|hop| all & (1 << hop) != 0) {
            return;
        }
        let inner = outer.filter(|hop| best & (1 << hop) != 0).unwrap_or_else(|| best.trailing_zeros());
        if outer != Some(inner) {
            let (first, length) = self.prefixes[branch];
            routes.push((net(self.family, first, length).trunc(), inner));
        }
        if let Below::Halves(halves) = self.below[branch] {
            for half in halves.into_iter().filter(|half| *half != NOTHING) {
                self.collect(half as usize, Some(inner), leads, routes);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::IpAddr;

    fn lookup(table: &[(IpNet, u32)], address: IpAddr) -> Option<u32> {
        let matching = table.iter().filter(|(net, _)| net.contains(&address));
        matching.max_by_key(|(net, _)| net.prefix_len()).map(|(_, hop)| *hop)
    }

    /// Subnets one after the other, whose neighbours follow from `hop`.
    fn subnets(count: u32, hop: impl Fn(u32) -> u32) -> Vec<(IpNet, Ways)> {
        let subnet =
            |number: u32| (format!("10.{}.{}.{}/30", number >> 14, number >> 6 & 255, number << 2 & 255), number);
        (0..count).map(subnet).map(|(text, number)| (text.parse().unwrap(), Ways::by(hop(number)))).collect()
    }

    #[test]
    fn every_subnet_leads_to_where_it_did() {
        // Runs of 1 to 9 subnets, neighbours that vary without a pattern, and gaps.
        let scattered = |number: u32| (number / (1 + number % 9)).wrapping_mul(2_654_435_761) >> 29;
        let all: Vec<(IpNet, Ways)> =
            subnets(3_000, scattered).into_iter().filter(|(_, ways)| ways.first != 7).collect();
        let table = aggregate(Family::V4, 8, &all).unwrap();
        assert!(table.len() < all.len());
        for (net, ways) in &all {
            assert_eq!(lookup(&table, net.addr()), Some(ways.first), "{net}");
            assert_eq!(lookup(&table, net.broadcast()), Some(ways.first), "{net}");
        }
    }

    #[test]
    fn what_leads_one_way_is_one_route() {
        let table = aggregate(Family::V4, 4, &subnets(512, |_| 3)).unwrap();
        assert_eq!(table, [("10.0.0.0/21".parse().unwrap(), 3)]);
        let two = aggregate(Family::V4, 2, &subnets(512, |number| number / 256)).unwrap();
        assert_eq!(two.len(), 2, "{two:?}");
    }

    #[test]
    fn both_families_are_alike() {
        let numbered = |number: u32| (format!("fd00:6e6c:0:{number:x}::/64").parse().unwrap(), Ways::by(number / 100));
        let all: Vec<(IpNet, Ways)> = (0..1_000).map(numbered).collect();
        let table = aggregate(Family::V6, 10, &all).unwrap();
        assert!(table.len() < 60, "{}", table.len());
        assert!(all.iter().all(|(net, ways)| lookup(&table, net.addr()) == Some(ways.first)));
    }

    #[test]
    fn small_tables_and_nested_subnets_stay_as_they_are() {
        assert_eq!(aggregate(Family::V4, 1, &subnets(20, |_| 0)), None);
        let mut nested = subnets(300, |_| 0);
        nested.push(("10.0.0.0/29".parse().unwrap(), Ways::by(1)));
        assert_eq!(aggregate(Family::V4, 2, &nested), None);
        assert_eq!(aggregate(Family::V4, 300, &subnets(300, |number| number)), None, "more neighbours than bits");
    }

    #[test]
    fn of_equal_ways_that_is_taken_which_needs_no_route_of_its_own() {
        let mut all = subnets(512, |_| 2);
        for (number, (_, ways)) in all.iter_mut().enumerate().filter(|(number, _)| number % 2 == 0) {
            *ways = ways.or(Ways::by(if number % 4 == 0 { 0 } else { 3 }));
        }
        let table = aggregate(Family::V4, 4, &all).unwrap();
        assert_eq!(table, [("10.0.0.0/21".parse().unwrap(), 2)]);
    }
}
