//! From the plan: the transit routers of the fabric.

use super::port_id;
use crate::{InterfacePlan, NodeKind, NodePlan, Plan};
use ipnet::IpNet;
use netloom_fabric::{DeviceSpec, Neighbor, NextHop, RouterInterface, RouterSpec};
use netloom_link::Prefix;
use netloom_units::Bytes;

/// The transit routers of `plan`, in the order of its nodes.
pub fn router_specs(plan: &Plan) -> Vec<DeviceSpec> {
    let routers = plan.nodes.iter().filter(|node| node.kind == NodeKind::Transit);
    routers.map(|node| DeviceSpec::Router(router_spec(plan, node))).collect()
}

fn router_spec(plan: &Plan, node: &NodePlan) -> RouterSpec {
    RouterSpec {
        interfaces: node.interfaces.iter().map(|interface| router_interface(plan, interface)).collect(),
        routes: node.routes.iter().map(|route| (prefix(&route.destination), NextHop::by(route.interface))).collect(),
    }
}

fn router_interface(plan: &Plan, interface: &InterfacePlan) -> RouterInterface {
    let there = plan.links[interface.end.link()].beyond(interface.end);
    let beyond = &plan.nodes[there.node].interfaces[there.interface];
    let nets = || interface.addresses.iter().chain(&beyond.addresses);
    RouterInterface {
        port: port_id(interface.end),
        mac: interface.mac,
        mtu: Bytes::new(u64::from(interface.mtu)),
        addresses: interface.addresses.iter().map(IpNet::addr).collect(),
        is_shared: false,
        neighbors: vec![Neighbor {
            mac: beyond.mac,
            addresses: interface.neighbors.iter().map(|(address, _)| *address).collect(),
        }],
        subnets: nets().map(prefix).collect(),
    }
}

fn prefix(net: &IpNet) -> Prefix {
    Prefix::new(net.network(), net.prefix_len()).expect("a network has no bits behind its prefix")
}
