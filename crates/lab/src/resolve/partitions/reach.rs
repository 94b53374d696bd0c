//! Who reaches whom in a network: what partitions have to know of it.

use crate::disjoint_sets::DisjointSets;
use crate::plan::{NodeKind, NodePlan, Plan};
use crate::spec::{NodeSpec, Spec};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// A network as partitions see it.
pub(super) struct Ground<'a> {
    names: Vec<&'a str>,
    /// By node: whether it joins its links whoever speaks, and has nothing to say itself.
    joints: Vec<bool>,
    /// By node: whether it may pass on what is for others.
    forwarders: Vec<bool>,
    /// By link: the nodes at its ends.
    ends: Vec<Vec<usize>>,
    /// How many of the nodes, at the end, are played by other machines.
    far: usize,
}

/// The nodes that hear each other: by network, who is there; and by node, which networks it is at.
pub(super) struct Networks {
    members: BTreeMap<usize, Vec<usize>>,
    of_node: Vec<Vec<usize>>,
}

fn is_joint(kind: NodeKind) -> bool {
    matches!(kind, NodeKind::Switch | NodeKind::Hub)
}

fn may_forward(kind: NodeKind, sysctls: &[(String, String)]) -> bool {
    let says = |(key, value): &(String, String)| key.contains("forward") && value.trim() != "0";
    kind.forwards() || kind == NodeKind::OpenFlow || sysctls.iter().any(says)
}

impl<'a> Ground<'a> {
    /// The network as it is written.
    pub(super) fn of_spec(spec: &'a Spec) -> Self {
        let places: BTreeMap<&str, usize> =
            spec.nodes.iter().enumerate().map(|(place, node)| (node.name.value.as_str(), place)).collect();
        let forwards = |node: &NodeSpec| may_forward(node.kind, &node.sysctls);
        let far = || spec.elsewhere.iter().map(|far| far.value.name.as_str());
        Self {
            names: spec.nodes.iter().map(|node| node.name.value.as_str()).chain(far()).collect(),
            joints: spec.nodes.iter().map(|node| is_joint(node.kind)).chain(far().map(|_| false)).collect(),
            forwarders: spec.nodes.iter().map(forwards).chain(far().map(|_| false)).collect(),
            ends: spec
                .links
                .iter()
                .map(|link| link.ends.iter().filter_map(|end| places.get(end.node.value.as_str()).copied()).collect())
                .collect(),
            far: spec.elsewhere.len(),
        }
    }

    /// The network of a plan.
    pub(super) fn of_plan(plan: &'a Plan) -> Self {
        let far = || plan.elsewhere.iter().map(|far| far.name.as_str());
        let forwards = |node: &NodePlan| may_forward(node.kind, &node.sysctls);
        Self {
            names: plan.nodes.iter().map(|node| node.name.as_str()).chain(far()).collect(),
            joints: plan.nodes.iter().map(|node| is_joint(node.kind)).chain(far().map(|_| false)).collect(),
            forwarders: plan.nodes.iter().map(forwards).chain(far().map(|_| false)).collect(),
            ends: plan.links.iter().map(|link| link.ends.iter().map(|end| end.node).collect()).collect(),
            far: plan.elsewhere.len(),
        }
    }

    /// Whether other machines play some of the nodes, so that not all links are known.
    pub(super) fn is_part(&self) -> bool {
        self.far > 0
    }

    pub(super) fn name(&self, node: usize) -> &'a str {
        self.names[node]
    }

    pub(super) fn nodes(&self) -> std::ops::Range<usize> {
        0..self.names.len()
    }

    /// Whether a node is a switch or a hub.
    pub(super) fn is_joint(&self, node: usize) -> bool {
        self.joints[node]
    }

    /// The links with the nodes at their ends.
    pub(super) fn links(&self) -> impl Iterator<Item = (usize, &[usize])> {
        self.ends.iter().map(Vec::as_slice).enumerate()
    }

    /// Whether any of these pairs of nodes is joined somehow, whoever may be between them.
    pub(super) fn joins_any(&self, are_meant: impl Fn(usize, usize) -> bool, among: &[usize]) -> bool {
        let mut sets = DisjointSets::of(self.names.len());
        for ends in &self.ends {
            ends.windows(2).for_each(|pair| _ = sets.join(pair[0], pair[1]));
        }
        let mut by_set: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for node in among {
            by_set.entry(sets.root(*node)).or_default().push(*node);
        }
        let is_meant_within = |own: &Vec<usize>| own.iter().any(|one| own.iter().any(|other| are_meant(*one, *other)));
        by_set.values().any(is_meant_within)
    }

    /// Which links are one network, over switches and hubs and without those that are cut.
    pub(super) fn joined(&self, cut: &BTreeSet<usize>) -> DisjointSets {
        let mut sets = DisjointSets::of(self.ends.len());
        let mut first_at: BTreeMap<usize, usize> = BTreeMap::new();
        for (link, ends) in self.links().filter(|(link, _)| !cut.contains(link)) {
            for node in ends.iter().filter(|node| self.joints[**node]) {
                sets.join(*first_at.entry(*node).or_insert(link), link);
            }
        }
        sets
    }

    /// All networks, without the links that are cut.
    pub(super) fn networks(&self, cut: &BTreeSet<usize>) -> Networks {
        let mut sets = self.joined(cut);
        let mut members: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        let mut of_node = vec![Vec::new(); self.names.len()];
        for (link, ends) in self.links().filter(|(link, _)| !cut.contains(link)) {
            let network = sets.root(link);
            for node in ends.iter().filter(|node| !self.joints[**node]) {
                members.entry(network).or_default().push(*node);
                of_node[*node].push(network);
            }
        }
        Networks { members, of_node }
    }

    /// All that `from` reaches, itself among them, without this network.
    pub(super) fn reach(&self, from: usize, networks: &Networks, without: Option<usize>) -> BTreeSet<usize> {
        let (mut reached, mut heard) = (BTreeSet::from([from]), BTreeSet::from_iter(without));
        let mut queue = VecDeque::from([from]);
        while let Some(node) = queue.pop_front() {
            if node != from && !self.forwarders[node] {
                continue;
            }
            for network in networks.of_node[node].iter().filter(|network| heard.insert(**network)) {
                queue.extend(networks.members[network].iter().filter(|other| reached.insert(**other)));
            }
        }
        reached
    }

    /// The pairs of neighbours of which one passes on what `is_open` lets through between others, though the pair itself is parted.
    pub(super) fn needed_neighbors(
        &self,
        networks: &Networks,
        is_open: impl Fn(usize, usize) -> bool,
    ) -> Vec<(usize, usize)> {
        let mut found = Vec::new();
        let is_open_any = |one: usize, other: usize| one != other && (is_open(one, other) || is_open(other, one));
        for (network, members) in &networks.members {
            // Who is behind a node, seen from this network.
            let behind = |node: usize| match self.forwarders[node] {
                true => self.reach(node, networks, Some(*network)),
                false => BTreeSet::from([node]),
            };
            for one in members.iter().filter(|node| self.forwarders[**node]) {
                let own = behind(*one);
                let parted =
                    members.iter().filter(|other| *other != one && !(is_open(*one, **other) && is_open(**other, *one)));
                for other in parted {
                    let theirs = behind(*other);
                    if own.iter().any(|from| theirs.iter().any(|to| is_open_any(*from, *to))) {
                        found.push((*one, *other));
                    }
                }
            }
        }
        found
    }
}
