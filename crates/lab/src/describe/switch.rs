//! Switches as JSON.

use super::hardware::mac;
use crate::plan::{NodePlan, SnoopingPlan, SwitchPlan, TreePlan};
use serde_json::{Map, Value, json};

/// What a node does as a switch.
pub(super) fn switch(node: &NodePlan, switch: &SwitchPlan, in_kernel: bool) -> Value {
    json!({
        "in_kernel": in_kernel,
        "ageing_ns": switch.ageing.as_nanos(),
        "table": switch.table,
        "vlans": switch.vlans.iter().zip(&node.interfaces).map(|(vlans, port)| json!({
            "interface": port.name,
            "untagged": vlans.untagged,
            "tagged": vlans.tagged,
        })).collect::<Vec<_>>(),
        "tree": switch.tree.as_ref().map(|tree| tree_of(node, tree)),
        "snooping": switch.snooping.as_ref().map(|snooping| snooping_of(node, snooping)),
        "static": switch.fixed.iter().map(|(address, port)| {
            (mac(*address), json!(node.interfaces[*port].name))
        }).collect::<Map<_, _>>(),
    })
}

/// Its spanning tree.
fn tree_of(node: &NodePlan, tree: &TreePlan) -> Value {
    json!({
        "priority": tree.settings.priority,
        "hello_ns": tree.settings.hello.as_nanos(),
        "max_age_ns": tree.settings.max_age.as_nanos(),
        "forward_delay_ns": tree.settings.forward_delay.as_nanos(),
        "ports": tree.ports.iter().zip(&node.interfaces).map(|(port, own)| json!({
            "interface": own.name,
            "cost": port.cost,
            "role": port.role.name(),
        })).collect::<Vec<_>>(),
    })
}

/// What it does with groups.
fn snooping_of(node: &NodePlan, snooping: &SnoopingPlan) -> Value {
    let settings = &snooping.settings;
    let ports = |places: &[usize]| places.iter().map(|place| node.interfaces[*place].name.as_str()).collect::<Vec<_>>();
    json!({
        "groups": settings.groups,
        "interval_ns": settings.interval.as_nanos(),
        "response_ns": settings.response.as_nanos(),
        "last_member_ns": settings.last_member.as_nanos(),
        "robustness": settings.robustness,
        "fast_leave": ports(&snooping.fast_leave),
        "routers": ports(&snooping.routers),
        "querier": settings.querier.map(|querier| json!({
            "address": querier.address.map(|address| address.to_string()),
            "igmp": querier.igmp,
            "mld": querier.mld,
        })),
    })
}
