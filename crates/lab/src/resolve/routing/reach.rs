//! Warnings about nodes that cannot reach one another.

use super::Interface;
use crate::diagnostics::Diagnostic;
use crate::plan::{NodeKind, Unreached};
use crate::spec::Spec;
use std::collections::{BTreeMap, BTreeSet};

/// Warns about a lab in several parts, and about hosts that look as if they were to forward. `joined`: the nodes of each
/// segment.
pub(super) fn warn(
    spec: &Spec,
    kinds: &[NodeKind],
    interfaces: &[Interface],
    joined: &[Vec<usize>],
    is_complete: bool,
    warnings: &mut Vec<Diagnostic>,
) {
    // Where other machines play nodes, the ways may lead over these.
    if interfaces.is_empty() || !spec.elsewhere.is_empty() {
        return;
    }
    let mut at = interfaces.iter().map(|interface| interface.at.node);
    let wired: Vec<Vec<usize>> = spec.links.iter().map(|link| at.by_ref().take(link.ends.len()).collect()).collect();
    let parts = parts(kinds.len(), &wired);
    let apart = (0..kinds.len()).find(|node| parts[*node] != parts[0]);
    if let Some(node) = apart {
        let message = format!(
            "no links lead from `{}` to `{}`: they cannot reach one another",
            spec.nodes[0].name.value, spec.nodes[node].name.value
        );
        warnings.push(spec.nodes[node].name.error(message));
    }
    if is_complete || apart.is_some() {
        return;
    }
    // How many segments lead each node on, and the last that did. OpenFlow switches do not mind that their controller forwards
    // nothing.
    let mut links = vec![(0_usize, None); kinds.len()];
    for (place, nodes) in joined.iter().enumerate() {
        let addressed = || nodes.iter().filter(|node| kinds[**node].has_addresses());
        let Some(first) = addressed().next() else { continue };
        let is_alone = addressed().all(|node| node == first);
        for node in nodes.iter().filter(|node| !is_alone || *node != first) {
            if links[*node].1.replace(place) != Some(place) {
                links[*node].0 += 1;
            }
        }
    }
    let hosts: Vec<usize> =
        (0..kinds.len()).filter(|node| kinds[*node] == NodeKind::Host && links[*node].0 > 1).collect();
    if let [first, others @ ..] = &hosts[..] {
        warnings.push(spec.nodes[*first].name.error(forward_nothing(spec, *first, others)));
    }
}

/// That a host, and others beside it, may be meant as routers.
fn forward_nothing(spec: &Spec, first: usize, others: &[usize]) -> String {
    const SHOWN: usize = 5;
    let name = |node: &usize| format!("`{}`", spec.nodes[*node].name.value);
    let names: Vec<String> = others.iter().take(SHOWN).map(name).collect();
    let who = match others.len() {
        0 => "this host has several links and forwards nothing".to_owned(),
        1 => format!("{} and {} have several links and forward nothing", name(&first), names[0]),
        count => {
            let more = if count > SHOWN { ", ..." } else { "" };
            let (one, listed) = (name(&first), names.join(", "));
            format!("{one} and {count} others ({listed}{more}) have several links and forward nothing")
        }
    };
    format!("{who}, so that some nodes cannot reach one another: is `kind: router` meant?")
}

/// The pairs of nodes that no path joins, of those that have addresses.
pub(super) fn unreached(kinds: &[NodeKind], joined: &[Vec<usize>]) -> Unreached {
    // What has addresses only where it is controlled is nobody's partner.
    let partners = |nodes: &Vec<usize>| nodes.iter().copied().filter(|node| kinds[*node].has_addresses()).collect();
    let joined: &[Vec<usize>] = &joined.iter().map(partners).collect::<Vec<_>>();
    let touching = Touching::new(kinds, joined);
    let joined: BTreeSet<(usize, usize)> = joined.iter().flat_map(|nodes| neighbors(nodes)).collect();
    let apart = |(one, other): &(usize, usize)| touching.of_node(*one).is_disjoint(touching.of_node(*other));
    let stations: Vec<usize> = (0..kinds.len()).filter(|node| kinds[*node].has_addresses()).collect();
    let all = pairs(stations.len());
    let by_link_alone = joined.iter().filter(|pair| apart(pair)).count() as u64;
    let count = all - touching.meeting() - by_link_alone;
    let mut first = Vec::new();
    for (place, one) in stations.iter().enumerate() {
        if first.len() as u64 == count.min(Unreached::MOST_SHOWN as u64) {
            break;
        }
        let others = stations[place + 1..].iter().map(|other| (*one, *other));
        let apart = others.filter(|pair| apart(pair) && !joined.contains(pair));
        first.extend(apart.take(Unreached::MOST_SHOWN - first.len()));
    }
    Unreached { pairs: count, first }
}

/// The pairs of nodes of a segment, each with the lower one first.
fn neighbors(nodes: &[usize]) -> impl Iterator<Item = (usize, usize)> {
    let behind = |place: usize| &nodes[place + 1..];
    let pairs = nodes.iter().enumerate().flat_map(move |(place, one)| behind(place).iter().map(|other| (*one, *other)));
    // A link from a node to itself is an error that is reported elsewhere.
    let pairs = pairs.filter(|(one, other)| one != other);
    pairs.map(|(one, other)| (one.min(other), one.max(other)))
}

fn pairs(count: usize) -> u64 {
    let count = count as u64;
    count * count.saturating_sub(1) / 2
}

/// Which *cores* each node touches: the nodes that forward and hang together are a core, by its lowest node. Two nodes reach
/// one another if they touch a common core, or are neighbours.
struct Touching {
    /// What nodes touch, each once, with how many there are.
    kinds: Vec<(BTreeSet<usize>, u64)>,
    /// The kind of each node.
    nodes: Vec<usize>,
}

impl Touching {
    fn new(kinds: &[NodeKind], joined: &[Vec<usize>]) -> Self {
        let forwards = |node: &&usize| kinds[**node].forwards();
        let mut parents: Vec<usize> = (0..kinds.len()).collect();
        for nodes in joined {
            join(&mut parents, nodes.iter().filter(forwards));
        }
        let mut cores: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); kinds.len()];
        for nodes in joined {
            // All that forward here are of one core.
            let Some(core) = nodes.iter().find(forwards).map(|node| root(&mut parents, *node)) else { continue };
            for node in nodes.iter().filter(|node| !forwards(node)) {
                cores[*node].insert(core);
            }
        }
        let mut places: BTreeMap<BTreeSet<usize>, usize> = BTreeMap::new();
        let mut found = Self { kinds: Vec::new(), nodes: Vec::new() };
        for (node, mut touched) in cores.into_iter().enumerate() {
            if kinds[node].forwards() {
                touched.insert(root(&mut parents, node));
            }
            let kind = *places.entry(touched.clone()).or_insert(found.kinds.len());
            if kind == found.kinds.len() {
                found.kinds.push((touched, 0));
            }
            found.kinds[kind].1 += 1;
            found.nodes.push(kind);
        }
        found
    }

    fn of_node(&self, node: usize) -> &BTreeSet<usize> {
        &self.kinds[self.nodes[node]].0
    }

    /// How many pairs of nodes touch a common core.
    fn meeting(&self) -> u64 {
        let (single, several): (Vec<_>, Vec<_>) =
            self.kinds.iter().filter(|(cores, _)| !cores.is_empty()).partition(|(cores, _)| cores.len() == 1);
        let mut of_core: BTreeMap<usize, u64> = BTreeMap::new();
        for (cores, count) in single {
            of_core.extend(cores.iter().map(|core| (*core, *count)));
        }
        let mut meeting: u64 = of_core.values().map(|count| count * (count - 1) / 2).sum();
        for (place, (cores, count)) in several.iter().enumerate() {
            meeting += count * (count - 1) / 2;
            meeting += count * cores.iter().filter_map(|core| of_core.get(core)).sum::<u64>();
            let others = several[place + 1..].iter().filter(|(others, _)| !cores.is_disjoint(others));
            meeting += count * others.map(|(_, as_many)| as_many).sum::<u64>();
        }
        meeting
    }
}

/// For each node the lowest node that links connect it to, whether they forward or not.
fn parts(count: usize, joined: &[Vec<usize>]) -> Vec<usize> {
    let mut parents: Vec<usize> = (0..count).collect();
    joined.iter().for_each(|nodes| join(&mut parents, nodes.iter()));
    (0..count).map(|node| root(&mut parents, node)).collect()
}

fn join<'a>(parents: &mut [usize], mut nodes: impl Iterator<Item = &'a usize>) {
    let Some(first) = nodes.next() else { return };
    for node in nodes {
        let (a, b) = (root(parents, *first), root(parents, *node));
        parents[a.max(b)] = a.min(b);
    }
}

fn root(parents: &mut [usize], mut node: usize) -> usize {
    while parents[node] != node {
        parents[node] = parents[parents[node]];
        node = parents[node];
    }
    node
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_reach_one_another_who_are_neighbours_or_touch_what_forwards() {
        let kinds = |routers: &[usize]| {
            (0..6)
                .map(|node| if routers.contains(&node) { NodeKind::Router } else { NodeKind::Host })
                .collect::<Vec<_>>()
        };
        // A segment of four, and one that leads on from node 3.
        let joined = [vec![0, 1, 2, 3], vec![3, 4, 5]];
        let pairs = |routers: &[usize]| unreached(&kinds(routers), &joined);
        assert_eq!(pairs(&[3]).pairs, 0);
        assert_eq!(pairs(&[0]).first, [(0, 4), (0, 5), (1, 4), (1, 5), (2, 4), (2, 5)]);
        assert_eq!(parts(7, &joined), [0, 0, 0, 0, 0, 0, 6]);
    }
}
