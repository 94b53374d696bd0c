//! Ends of pairs of interfaces that are in nodes.

use crate::node::LabNode;
use netloom_host::netlink::VethEnd;
use netloom_lab::{EndPlan, Plan};

/// The interface at this end of a link between namespace nodes.
pub(crate) fn in_node(plan: &Plan, nodes: &[Option<Box<dyn LabNode>>], place: &EndPlan) -> VethEnd {
    let interface = &plan.nodes[place.node].interfaces[place.interface];
    let namespace = nodes[place.node].as_ref().and_then(|node| node.namespaces());
    assert!(namespace.is_some(), "an interface pair ends at a node with namespaces");
    VethEnd { name: interface.name.clone(), mac: Some(interface.mac), namespace, up: false }
}
