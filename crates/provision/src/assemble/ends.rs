//! The interfaces and sockets at the ends of links.

use crate::bridges;
use crate::kernels::Kernels;
use crate::node::LabNode;
use crate::node_end::in_node;
use crate::port_name::interface_of;
use crate::setup_error::SetupError;
use crate::shards::Sharing;
use netloom_dataplane::PortConfig;
use netloom_fabric::PortId;
use netloom_host::netlink::{Netlink, Veth, VethEnd};
use netloom_host::node::prepare_far_ends;
use netloom_lab::fabric::port_id;
use netloom_lab::{Plan, Stack};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::{Duration as RealDuration, Instant};

/// A veth pair for every end of a link at a namespace node: one interface in the node, the other here, where the engine
/// finds it. A socket for every end at a kernel node. One pair for a link that is joined in the kernel; those to bridges of the
/// kernel are made with these.
///
/// The interfaces of a shard are made one after the other, so that the kernel can tell by their numbers whose they are.
pub(super) fn make_links(
    plan: &Plan,
    sharing: &Sharing,
    nodes: &[Option<Box<dyn LabNode>>],
    kernels: Option<&Kernels>,
    shares: &[Option<PathBuf>],
) -> Result<Vec<PortConfig>, SetupError> {
    let mut made = Vec::new();
    let mut ports = Vec::new();
    for link in &plan.links {
        if bridges::is_at_bridge(plan, link) {
            continue;
        }
        if link.bypass.is_joined() {
            let pair = Veth { ends: [0, 1].map(|place| in_node(plan, nodes, &link.ends[place])), mtu: link.mtu };
            made.push((0, None, pair));
            continue;
        }
        for place in &link.ends {
            let port = port_id(place.end);
            let listener = kernels.map_or(Ok(None), |kernels| kernels.listen(place.node, place.interface))?;
            if let Some(listener) = listener {
                let has_share = shares[place.node].is_some();
                ports.push(PortConfig::Guest { port, listener, has_share });
                continue;
            }
            if plan.nodes[place.node].stack == Stack::Engine {
                // A transit device is inside the engine, and needs no interface.
                continue;
            }
            let here = VethEnd { name: interface_of(port), mac: None, namespace: None, up: true };
            let pair = Veth { ends: [here, in_node(plan, nodes, place)], mtu: link.mtu };
            made.push((sharing.of_end(place.end), Some(port), pair));
        }
    }
    made.sort_by_key(|(shard, ..)| *shard);
    let (places, pairs): (Vec<Option<PortId>>, Vec<Veth>) =
        made.into_iter().map(|(_, port, pair)| (port, pair)).unzip();
    let indexes = Netlink::open().and_then(|mut netlink| netlink.create_veths(&pairs));
    let indexes = indexes.map_err(SetupError::Kernel)?;
    let whole = whole_frames(plan);
    prepare(&whole, places.iter().flatten())?;
    let interface = |(port, ifindex): (Option<PortId>, u32)| {
        let port = port?;
        Some(PortConfig::Interface { port, ifindex, whole: whole.contains(&port.0) })
    };
    ports.extend(places.into_iter().zip(indexes).filter_map(interface));
    Ok(ports)
}

/// The ports of nodes that read raw frames.
pub(super) fn whole_frames(plan: &Plan) -> BTreeSet<u32> {
    let wanting = plan.nodes.iter().filter(|node| node.whole_frames).flat_map(|node| &node.interfaces);
    wanting.map(|interface| port_id(interface.end).0).collect()
}

/// Prepares the engine's ends of their pairs.
fn prepare<'a>(whole: &BTreeSet<u32>, ports: impl Iterator<Item = &'a PortId>) -> Result<(), SetupError> {
    let ends: Vec<String> = ports.filter(|port| whole.contains(&port.0)).map(|port| interface_of(*port)).collect();
    prepare_far_ends(ends.iter().map(String::as_str)).map_err(SetupError::Kernel)
}

/// Waits until the nodes whose links are joined in the kernel can send: what they sent before would be dropped.
pub(super) fn await_joined(
    plan: &Plan,
    nodes: &mut [Option<Box<dyn LabNode>>],
    patience: RealDuration,
) -> Result<(), SetupError> {
    let joined = plan.links.iter().filter(|link| link.bypass.is_joined());
    let ends = joined.flat_map(|link| &link.ends).filter(|end| plan.nodes[end.node].stack == Stack::Namespace);
    let concerned: BTreeSet<usize> = ends.map(|end| end.node).collect();
    let until = Instant::now() + patience;
    for place in concerned {
        let Some(node) = &mut nodes[place] else { continue };
        while node.running().map_err(SetupError::Node)?.len() < plan.nodes[place].interfaces.len() {
            if Instant::now() > until {
                return Err(SetupError::Late(format!(
                    "node {}: its interfaces are not running after {} s, although they and those that they are joined \
                     to were brought up",
                    node.name(),
                    patience.as_secs()
                )));
            }
            std::thread::sleep(RealDuration::from_millis(1));
        }
    }
    Ok(())
}
