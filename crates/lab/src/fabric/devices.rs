//! From the plan: the transit devices of the fabric.

use super::port_id;
use crate::addressing::link_local;
use crate::{
    GroupPlan, InterfacePlan, NodeKind, NodePlan, Plan, QuerierSettings, SnoopingPlan, SnoopingSettings, SwitchPlan,
    TreePlan, TreePortPlan, TreeSettings, VlansPlan,
};
use ipnet::IpNet;
use netloom_fabric::{
    DeviceSpec, GroupRoute, HubSpec, Neighbor, NextHop, PortVlans, QuerierSpec, RouterInterface, RouterSpec,
    SnoopingSpec, SwitchPort, SwitchSpec, Timing, TreePort, TreeSpec,
};
use netloom_link::Prefix;
use netloom_units::Bytes;
use std::net::{IpAddr, Ipv4Addr};

/// The transit devices of `plan`, in the order of its nodes.
pub fn device_specs(plan: &Plan) -> Vec<DeviceSpec> {
    let device = |node: &NodePlan| match (node.kind, &node.switch) {
        (NodeKind::Transit, _) => Some(DeviceSpec::Router(router_spec(plan, node))),
        (_, Some(switch)) => Some(DeviceSpec::Switch(switch_spec(node, switch))),
        (NodeKind::Hub, None) => Some(DeviceSpec::Hub(hub_spec(node))),
        // What is there is behind a port, or behind none.
        (_, None) => None,
    };
    plan.nodes.iter().filter_map(device).collect()
}

fn switch_spec(node: &NodePlan, switch: &SwitchPlan) -> SwitchSpec {
    let port = |own: &InterfacePlan| SwitchPort { port: port_id(own.end), mtu: Bytes::new(u64::from(own.mtu)) };
    SwitchSpec {
        ports: node.interfaces.iter().map(port).collect(),
        ageing: switch.ageing,
        capacity: switch.table,
        fixed: switch.fixed.clone(),
        vlans: switch.vlans.iter().map(vlans).collect(),
        tree: switch.tree.as_ref().map(|tree| tree_spec(node, tree)),
        snooping: switch.snooping.as_ref().map(|snooping| snooping_spec(node, snooping)),
    }
}

fn snooping_spec(node: &NodePlan, snooping: &SnoopingPlan) -> SnoopingSpec {
    let SnoopingSettings { groups, interval, response, last_member, robustness, querier } = snooping.settings;
    SnoopingSpec {
        capacity: groups,
        timing: Timing { robustness, interval, response },
        last_member,
        routers: snooping.routers.clone(),
        fast_leave: snooping.fast_leave.clone(),
        querier: querier.map(|querier| querier_spec(least_mac(node), querier)),
    }
}

fn querier_spec(mac: [u8; 6], QuerierSettings { address, igmp, mld }: QuerierSettings) -> QuerierSpec {
    // RFC 3927, section 2.1: the first and the last 256 addresses are nobody's.
    let of_mac = Ipv4Addr::new(169, 254, 1 + mac[4] % 254, mac[5]);
    QuerierSpec { mac, v4: address.unwrap_or(of_mac), v6: link_local(mac), is_igmpv2: igmp == 2, is_mldv1: mld == 1 }
}

/// What stands for a switch as a whole: IEEE 802.1D-2004, section 7.12.5, recommends the least address of a port.
fn least_mac(node: &NodePlan) -> [u8; 6] {
    node.interfaces.iter().map(|own| own.mac).min().unwrap_or_default()
}

fn tree_spec(node: &NodePlan, tree: &TreePlan) -> TreeSpec {
    let TreeSettings { priority, hello, max_age, forward_delay } = tree.settings;
    let port = |(own, port): (&InterfacePlan, &TreePortPlan)| TreePort {
        mac: own.mac,
        cost: port.cost,
        is_edge: port.is_edge,
        is_point_to_point: port.is_point_to_point,
    };
    TreeSpec {
        priority,
        address: least_mac(node),
        hello,
        max_age,
        forward_delay,
        ports: node.interfaces.iter().zip(&tree.ports).map(port).collect(),
    }
}

fn vlans(port: &VlansPlan) -> PortVlans {
    PortVlans { untagged: port.untagged, tagged: port.tagged.clone() }
}

fn hub_spec(node: &NodePlan) -> HubSpec {
    HubSpec { ports: node.interfaces.iter().map(|own| port_id(own.end)).collect() }
}

fn router_spec(plan: &Plan, node: &NodePlan) -> RouterSpec {
    let interfaces: Vec<RouterInterface> =
        node.interfaces.iter().map(|interface| router_interface(plan, interface)).collect();
    // Whom a route leads to, by its place among the neighbours there.
    let next = |interface: usize, via: IpAddr| {
        let neighbor = interfaces[interface].neighbors.iter().position(|other| other.addresses.contains(&via));
        NextHop { interface, neighbor: neighbor.expect("a route leads to a neighbour") }
    };
    let routes = node.routes.iter().map(|route| (prefix(&route.destination), next(route.interface, route.via)));
    let groups = node.groups.iter().filter_map(|part| group_route(plan, part)).collect();
    RouterSpec { routes: routes.collect(), interfaces, seed: plan.ecmp_seed(node), groups }
}

/// What a router on the way of a group does; none at the source.
fn group_route(plan: &Plan, part: &GroupPlan) -> Option<GroupRoute> {
    let addresses = plan.nodes[part.source].interfaces.iter().flat_map(|interface| &interface.addresses);
    let sources = addresses.map(IpNet::addr).filter(|address| address.is_ipv6() == part.group.is_ipv6()).collect();
    Some(GroupRoute { group: part.group, sources, from: part.from?, to: part.to.clone() })
}

fn router_interface(plan: &Plan, interface: &InterfacePlan) -> RouterInterface {
    let link = &plan.links[interface.end.link()];
    let there = || link.beyond(interface.end);
    let is_shared = link.is_shared || there().any(|end| !plan.nodes[end.node].kind.has_addresses());
    let beyond = || there().flat_map(|end| &plan.nodes[end.node].interfaces[end.interface].addresses);
    let nets = || interface.addresses.iter().chain(beyond());
    RouterInterface {
        port: port_id(interface.end),
        mac: interface.mac,
        mtu: Bytes::new(u64::from(interface.mtu)),
        addresses: interface.addresses.iter().map(IpNet::addr).collect(),
        is_shared,
        neighbors: neighbors(interface),
        subnets: nets().map(prefix).collect(),
    }
}

/// Those whom it reaches, in order: the addresses of each stand together.
fn neighbors(interface: &InterfacePlan) -> Vec<Neighbor> {
    let mut neighbors: Vec<Neighbor> = Vec::new();
    for (address, mac) in &interface.neighbors {
        match neighbors.last_mut().filter(|last| last.mac == *mac) {
            Some(last) => last.addresses.push(*address),
            None => neighbors.push(Neighbor { mac: *mac, addresses: vec![*address] }),
        }
    }
    neighbors
}

fn prefix(net: &IpNet) -> Prefix {
    Prefix::new(net.network(), net.prefix_len()).expect("a network has no bits behind its prefix")
}
