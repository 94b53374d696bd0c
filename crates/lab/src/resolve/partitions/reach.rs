//! Who reaches whom, before and after a partition: it is as it is described if members of one group, and whoever is in none, reach
//! each other as before, and members of different groups do not.

use super::super::names::{Places, index_of};
use crate::plan::NodeKind;
use crate::sets::Sets;
use crate::spec::{LinkSpec, NodeSpec};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Whether it joins its links whoever speaks, and lets a partition see who that is.
pub(super) fn is_joint(kind: NodeKind) -> bool {
    matches!(kind, NodeKind::Switch | NodeKind::Hub)
}

/// See the module.
pub(super) struct Ground<'a> {
    nodes: &'a [NodeSpec],
    links: &'a [LinkSpec],
    sides: &'a [Option<usize>],
    /// By link: the nodes at its ends.
    ends: Vec<Vec<usize>>,
    /// By link: whether the partition cuts it.
    is_cut: Vec<bool>,
}

/// The ends that hear each other: by network, who is there; and by node, which networks it is at.
struct Networks {
    members: Vec<Vec<usize>>,
    of_node: Vec<Vec<usize>>,
}

impl<'a> Ground<'a> {
    /// `sides`: by node, its group, if it is in one.
    pub(super) fn new(places: &Places<'a>, sides: &'a [Option<usize>]) -> Self {
        let (nodes, links) = (&places.spec.nodes[..], &places.spec.links[..]);
        let at = |link: &LinkSpec| {
            link.ends.iter().filter_map(|end| index_of(places.nodes, &end.node).ok().flatten()).collect::<Vec<_>>()
        };
        let ends: Vec<Vec<usize>> = links.iter().map(at).collect();
        // Where nobody is on another's side, a link is of no use to anybody.
        let is_cut = |own: &Vec<usize>| {
            let met: BTreeSet<_> = own.iter().filter_map(|node| sides[*node]).collect();
            met.len() > 1 && met.len() == own.len()
        };
        let is_cut = ends.iter().map(is_cut).collect();
        Self { nodes, links, sides, ends, is_cut }
    }

    pub(super) fn side(&self, node: usize) -> Option<usize> {
        self.sides.get(node).copied().flatten()
    }

    /// The links that are cut.
    pub(super) fn cut(&self) -> impl Iterator<Item = usize> {
        (0..self.links.len()).filter(|link| self.is_cut[*link])
    }

    /// The ends of links, each with its place there, at which nodes with a side hear nodes of another one if nobody prevents it.
    pub(super) fn meeting(&self) -> impl Iterator<Item = (usize, usize)> {
        let mut sets = self.joined(&self.is_cut);
        let stations = || {
            let all = (0..self.links.len()).filter(|link| !self.is_cut[*link]);
            let own = all.flat_map(|link| (0..self.ends[link].len()).map(move |place| (link, place)));
            own.filter(|(link, place)| {
                let node = self.ends[*link][*place];
                !is_joint(self.nodes[node].kind) && self.sides[node].is_some()
            })
        };
        let mut met: BTreeMap<usize, BTreeSet<Option<usize>>> = BTreeMap::new();
        for (link, place) in stations() {
            met.entry(sets.root(link)).or_default().insert(self.sides[self.ends[link][place]]);
        }
        let found: Vec<_> = stations().filter(|(link, _)| met[&sets.root(*link)].len() > 1).collect();
        found.into_iter()
    }

    /// Which links are one network, over switches and hubs and without those that are cut.
    fn joined(&self, is_cut: &[bool]) -> Sets {
        let mut sets = Sets::of(self.links.len());
        let mut first_at: BTreeMap<usize, usize> = BTreeMap::new();
        for link in (0..self.links.len()).filter(|link| !is_cut[*link]) {
            for node in self.ends[link].iter().filter(|node| is_joint(self.nodes[**node].kind)) {
                sets.join(*first_at.entry(*node).or_insert(link), link);
            }
        }
        sets
    }

    fn networks(&self, is_cut: &[bool]) -> Networks {
        let mut sets = self.joined(is_cut);
        let mut members = vec![Vec::new(); self.links.len()];
        let mut of_node = vec![Vec::new(); self.nodes.len()];
        for link in (0..self.links.len()).filter(|link| !is_cut[*link]) {
            let network = sets.root(link);
            for node in &self.ends[link] {
                if !is_joint(self.nodes[*node].kind) {
                    members[network].push(*node);
                    of_node[*node].push(network);
                }
            }
        }
        Networks { members, of_node }
    }

    /// Whether a node may pass on what is for others.
    fn passes_on(&self, node: usize) -> bool {
        let NodeSpec { kind, sysctls, .. } = &self.nodes[node];
        let says = |(key, value): &(String, String)| key.contains("forward") && value.trim() != "0";
        kind.forwards() || *kind == NodeKind::OpenFlow || sysctls.iter().any(says)
    }

    /// All that `from` reaches, and over whom each is reached; `is_parted`: as the partition lets it.
    fn reach(&self, from: usize, networks: &Networks, is_parted: bool) -> BTreeMap<usize, usize> {
        let mut over = BTreeMap::from([(from, from)]);
        // Whoever has the same side hears the same of a network.
        let mut heard: BTreeSet<(usize, Option<usize>)> = BTreeSet::new();
        let mut queue = VecDeque::from([from]);
        while let Some(node) = queue.pop_front() {
            if node != from && !self.passes_on(node) {
                continue;
            }
            let side = self.sides[node].filter(|_| is_parted);
            for network in networks.of_node[node].iter().filter(|network| heard.insert((**network, side))) {
                for other in &networks.members[*network] {
                    let is_kept = match (side, self.sides[*other]) {
                        (Some(own), Some(other)) => own != other,
                        _ => false,
                    };
                    if !is_kept && !over.contains_key(other) {
                        over.insert(*other, node);
                        queue.push_back(*other);
                    }
                }
            }
        }
        over
    }

    /// Why the partition cannot be as it is described, if so. `named`: the nodes that its groups name.
    pub(super) fn misfit(&self, named: impl Iterator<Item = usize>) -> Option<String> {
        let whole = self.networks(&vec![false; self.links.len()]);
        let parted = self.networks(&self.is_cut);
        // Nodes that are on one side and at the same networks reach the same.
        let mut asked: BTreeSet<(Option<usize>, &[usize], &[usize])> = BTreeSet::new();
        for node in named.filter(|node| !is_joint(self.nodes[*node].kind)) {
            if !asked.insert((self.sides[node], &whole.of_node[node], &parted.of_node[node])) {
                continue;
            }
            let after = self.reach(node, &parted, true);
            if let Some(why) = self.leak(node, &after) {
                return Some(why);
            }
            let before = self.reach(node, &whole, false);
            let lost = before.keys().find(|other| {
                let is_other = self.sides[**other].is_some_and(|side| Some(side) != self.sides[node]);
                !is_other && !after.contains_key(other)
            });
            if let Some(lost) = lost {
                return Some(self.loss(node, *lost));
            }
        }
        None
    }

    /// A node of another group that is still reached.
    fn leak(&self, node: usize, after: &BTreeMap<usize, usize>) -> Option<String> {
        let is_other = |other: &usize| self.sides[*other].is_some_and(|side| Some(side) != self.sides[node]);
        let (other, over) = after.iter().find(|(other, _)| is_other(other))?;
        Some(format!(
            "`{}` is in no group and passes packets on, so that `{}` still reaches `{}`: name it in a group, or cut links with \
             `down`",
            self.name(*over),
            self.name(node),
            self.name(*other)
        ))
    }

    fn loss(&self, node: usize, lost: usize) -> String {
        let (one, other) = (self.name(node), self.name(lost));
        let (are, instead) = if self.sides[lost].is_some() {
            (format!("`{one}` and `{other}` are in one group"), "make groups whose members are joined without others")
        } else {
            (format!("`{other}` is in no group"), "name it in a group")
        };
        format!(
            "{are}, but `{one}` reaches `{other}` only over nodes of other groups, which the partition parts from it: {instead}, \
             or cut links with `down`"
        )
    }

    fn name(&self, node: usize) -> &'a str {
        &self.nodes[node].name.value
    }
}
