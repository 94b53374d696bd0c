//! What goes over links between switches: frames without a tag, and those of VLANs, each as if it had a link of its own.
//!
//! A switch that is at a link with `vlans` looks at tags, and keeps VLANs apart. Everything else takes frames as they are.
//!
//! A link with more than two ends in a lab file is read as a switch and links with two ends, unless it is a shared
//! medium. An OpenFlow node joins its links as a switch does and has a stack as a host does; which of its interfaces
//! lead to the controller is decided here.

use crate::disjoint_sets::DisjointSets;
use crate::plan::NodeKind;
use crate::spec::{LinkSpec, NodeSpec};
use std::collections::{BTreeMap, BTreeSet};

/// The VLAN of links about which nothing is said, at a switch that looks at tags (IEEE 802.1Q-2022, table 9-2).
pub(crate) const DEFAULT: u16 = 1;
/// What stands for no tag.
pub(crate) const UNTAGGED: u16 = 0;

/// See the module.
pub(crate) struct VlanMap<'a> {
    /// The nodes without addresses, and whether they look at tags.
    devices: BTreeMap<&'a str, (&'a NodeSpec, bool)>,
    /// The links by which OpenFlow switches reach their controllers, each with the switch: they end at its own stack.
    controls: BTreeSet<(&'a str, &'a str)>,
    /// All VLANs that the lab file names.
    named: BTreeSet<u16>,
    /// The first link by which there are too many VLANs on links; none is looked at then.
    crowded: Option<&'a LinkSpec>,
}

/// VLANs of all links together, at most: more than any network has, and no more than there is memory for.
pub(crate) const MOST: usize = 1_000_000;

impl<'a> VlanMap<'a> {
    pub(crate) fn new(links: &'a [LinkSpec], nodes: &'a [NodeSpec]) -> Self {
        let devices = nodes.iter().filter(|node| !node.kind.has_addresses());
        let mut devices: BTreeMap<&str, (&NodeSpec, bool)> =
            devices.map(|node| (node.name.value.as_str(), (node, false))).collect();
        let mut named = BTreeSet::new();
        for link in links {
            let Some(vlans) = &link.vlans else { continue };
            named.extend(vlans.value.untagged.into_iter().chain(vlans.value.tagged.iter().flatten().copied()));
            for end in &link.ends {
                if let Some((device, looks)) = devices.get_mut(end.node.value.as_str()) {
                    *looks = device.kind == NodeKind::Switch;
                }
            }
        }
        if !named.is_empty() {
            named.insert(DEFAULT);
        }
        let mut this = Self { devices, controls: controls(links, nodes), named, crowded: None };
        let mut count = 0;
        this.crowded = links.iter().find(|link| {
            count += this.class_count(link);
            count > MOST
        });
        this
    }

    /// The first link by which there are too many VLANs on links.
    pub(crate) fn crowded(&self) -> Option<&'a LinkSpec> {
        self.crowded
    }

    /// The device at the end of this link at this node, if that end has no addresses.
    pub(crate) fn device(&self, link: &LinkSpec, name: &str) -> Option<&'a NodeSpec> {
        let is_control = || self.controls.contains(&(name, link.name.value.as_str()));
        self.devices.get(name).filter(|_| !is_control()).map(|(device, _)| *device)
    }

    /// Whether it is a switch that looks at tags.
    pub(crate) fn looks_at_tags(&self, name: &str) -> bool {
        self.devices.get(name).is_some_and(|(_, looks)| *looks)
    }

    /// The VLANs whose frames bear a tag on this link.
    pub(crate) fn tagged(&self, link: &LinkSpec) -> Vec<u16> {
        let Some(vlans) = &link.vlans else { return Vec::new() };
        let all = vlans.value.tagged.clone().unwrap_or_else(|| self.named.iter().copied().collect());
        all.into_iter().filter(|vlan| Some(*vlan) != vlans.value.untagged).collect()
    }

    /// The VLAN of frames without a tag on this link, at switches that look at tags.
    pub(crate) fn untagged(&self, link: &LinkSpec) -> Option<u16> {
        link.vlans.as_ref().map_or(Some(DEFAULT), |vlans| vlans.value.untagged)
    }

    /// What goes over a link, each by its tag.
    pub(crate) fn classes(&self, link: &LinkSpec) -> Vec<u16> {
        if self.crowded.is_some() {
            return vec![UNTAGGED];
        }
        let is_open = link.vlans.is_none() && !link.ends.iter().any(|end| self.looks_at_tags(&end.node.value));
        let tagged = if is_open { self.named.iter().copied().collect() } else { self.tagged(link) };
        [UNTAGGED].into_iter().chain(tagged).collect()
    }

    /// How many that are, without making them.
    fn class_count(&self, link: &LinkSpec) -> usize {
        let listed = link.vlans.as_ref().and_then(|vlans| vlans.value.tagged.as_ref()).map(Vec::len);
        let is_closed = link.vlans.is_none() && link.ends.iter().any(|end| self.looks_at_tags(&end.node.value));
        1 + if is_closed { 0 } else { listed.unwrap_or(self.named.len()) }
    }

    /// The VLAN to which frames with this tag belong at a device; none if it drops them.
    pub(crate) fn vlan(&self, device: &str, link: &LinkSpec, class: u16) -> Option<u16> {
        if class == UNTAGGED && self.looks_at_tags(device) { self.untagged(link) } else { Some(class) }
    }
}

/// The links by which OpenFlow switches reach the nodes of their controllers, directly or over ordinary switches and hubs.
fn controls<'a>(links: &'a [LinkSpec], nodes: &'a [NodeSpec]) -> BTreeSet<(&'a str, &'a str)> {
    let with_controller =
        nodes.iter().filter_map(|node| Some((node.name.value.as_str(), node.openflow.controller.as_ref()?)));
    let controllers: BTreeMap<&str, &str> =
        with_controller.map(|(name, controller)| (name, controller.node.value.as_str())).collect();
    if controllers.is_empty() {
        return BTreeSet::new();
    }
    let is_joint = |node: &&NodeSpec| matches!(node.kind, NodeKind::Switch | NodeKind::Hub);
    let joints: BTreeSet<&str> = nodes.iter().filter(is_joint).map(|node| node.name.value.as_str()).collect();
    let ends = || links.iter().enumerate().flat_map(|(place, link)| link.ends.iter().map(move |end| (place, end)));
    let mut sets = DisjointSets::of(links.len());
    let mut first_at: BTreeMap<&str, usize> = BTreeMap::new();
    for (place, end) in ends().filter(|(_, end)| joints.contains(end.node.value.as_str())) {
        sets.join(*first_at.entry(&end.node.value).or_insert(place), place);
    }
    let at: BTreeSet<(usize, &str)> = ends().map(|(place, end)| (sets.root(place), end.node.value.as_str())).collect();
    let mut found = BTreeSet::new();
    for (place, end) in ends() {
        let name = end.node.value.as_str();
        if controllers.get(name).is_some_and(|node| *node != name && at.contains(&(sets.root(place), *node))) {
            found.insert((name, links[place].name.value.as_str()));
        }
    }
    found
}
