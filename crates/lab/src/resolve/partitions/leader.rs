//! Partitions of a node that a command names when it is time.

use super::layout::Layout;
use super::reach::Ground;
use super::request::{requested, spanned};
use super::{RequestedPartition, judged, meant};
use crate::errors::Errors;
use crate::models::ChangeError;
use crate::plan::{LeaderPartition, Plan};
use crate::resolve::names::Places;
use crate::spec::{LayoutSpec, PartitionSpec, Side};
use std::net::IpAddr;

/// The partition of whom a command names; none if it names nobody, or after errors were noted.
pub(in crate::resolve) fn leads(
    spec: &PartitionSpec,
    places: &Places<'_>,
    errors: &mut Errors,
) -> Option<LeaderPartition> {
    let LayoutSpec::Leader(leader) = &spec.layout.value else { return None };
    let (before, ground) = (errors.len(), Ground::of_spec(places.spec));
    let everybody: Vec<usize> = ground.nodes().filter(|node| !ground.is_joint(*node)).collect();
    let named = leader.of.as_ref().map(|names| meant(names, places.nodes, &ground, errors));
    let of = named.unwrap_or_else(|| everybody.clone());
    if let Some(joint) = of.iter().find(|node| ground.is_joint(**node)) {
        let name = ground.name(*joint);
        errors.push(spec.layout.error(format!("`{name}` is a switch or hub: name nodes that speak themselves")));
    }
    if errors.len() == before && of.len() < 2 {
        errors.push(spec.layout.error(format!("`leader` needs 2 nodes or more, and these are {}", of.len())));
    }
    if let (Some(place), Some(_)) = (&spec.isolates_others, &spec.direction) {
        errors.push(place.error("who is isolated is so in both directions: leave out `direction`, or this"));
    }
    if errors.len() > before {
        return None;
    }
    let others = everybody.into_iter().filter(|node| !of.contains(node)).collect();
    let (layout, members) = (Layout::of_groups(&[of.clone(), others]), of.iter().copied().collect());
    let links = judged(&layout, &ground, &members, spec.isolates_others.is_some());
    Some(LeaderPartition {
        of,
        links: links.into_iter().collect(),
        duration: spec.duration,
        isolates_others: spec.isolates_others.is_some(),
        only_to: spec.direction.as_ref().map(|side| side.value == Side::To),
        kind: spec.kind,
    })
}

impl Plan {
    /// Returns the partition of the node that the first line of a command's output names, by its name or by an address of it.
    ///
    /// # Errors
    /// The reason why it names nobody who can be parted from the others.
    pub fn part_leader(&self, leads: &LeaderPartition, output: &str) -> Result<RequestedPartition, ChangeError> {
        let leader = self.node_of(output.lines().next().unwrap_or_default().trim())?;
        let others: Vec<_> = leads.of.iter().filter(|node| **node != leader).collect();
        let others = others.into_iter().map(|node| spanned(self.nodes[*node].name.clone())).collect();
        let layout = LayoutSpec::Isolate(spanned(self.nodes[leader].name.clone()), others);
        let spec = PartitionSpec {
            layout: spanned(layout),
            isolates_others: leads.isolates_others.then(|| spanned(())),
            direction: leads.only_to.map(|to| spanned(if to { Side::To } else { Side::From })),
            kind: leads.kind,
            neighbors: None,
            duration: leads.duration,
        };
        requested(&spec, self, 0)
    }

    /// The node of this name, or with this address.
    fn node_of(&self, text: &str) -> Result<usize, ChangeError> {
        if let Some(node) = self.nodes.iter().position(|node| node.name == text) {
            return Ok(node);
        }
        let address: Option<IpAddr> = text.parse().ok();
        let has_it = |(_, node): &(usize, &crate::plan::NodePlan)| {
            let mut own = node.interfaces.iter().flat_map(|interface| &interface.addresses);
            own.any(|net| Some(net.addr()) == address)
        };
        let mut having = self.nodes.iter().enumerate().filter(has_it).map(|(place, _)| place);
        match (having.next(), having.next()) {
            (Some(node), None) => Ok(node),
            (Some(_), Some(_)) => Err(ChangeError::new(format!("several nodes have the address {text}"))),
            (None, _) if text.is_empty() => Err(ChangeError::new("its output names nobody".to_owned())),
            (None, _) => Err(ChangeError::new(format!("`{text}` is neither a node nor an address of one"))),
        }
    }
}
