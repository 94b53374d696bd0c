//! Where the nodes of a lab are on a map, and what joins them.

use netloom_lab::Plan;
use netloom_results::graph;
use serde_json::{Value, json};

/// The map of a lab.
pub(crate) fn scene(plan: &Plan) -> Value {
    let nodes = plan.nodes.iter().zip(graph::places(plan)).map(|(node, [x, y])| {
        let addresses = node.interfaces.iter().flat_map(|interface| &interface.addresses);
        let addresses: Vec<String> = addresses.map(|address| address.addr().to_string()).collect();
        let placed = node.position.is_some();
        json!({ "name": node.name, "kind": graph::kind(node), "x": x, "y": y, "placed": placed, "addresses": addresses })
    });
    let links = plan.links.iter().map(|link| {
        let ends: Vec<&str> = link.ends.iter().map(|end| plan.nodes[end.node].name.as_str()).collect();
        json!({ "name": link.name, "ends": ends, "words": graph::words(link) })
    });
    json!({ "nodes": nodes.collect::<Vec<_>>(), "links": links.collect::<Vec<_>>() })
}
