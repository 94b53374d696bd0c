//! What of a scenario is not read: each element and attribute that this table does not have.

use crate::source::Lines;
use crate::topology::Topology;
use crate::xml;
use roxmltree::Node;

/// Elements of a scenario with what is read of them, and what means nothing to a network.
const READ: [(&str, &[&str]); 28] = [
    ("scenario", &["name", "time"]),
    ("networks", &[]),
    ("network", &["id", "name", "type", "icon", "canvas", "model"]),
    ("devices", &[]),
    ("device", &["id", "name", "type", "class", "image", "icon", "canvas"]),
    ("position", &["x", "y", "lat", "lon", "alt"]),
    ("services", &[]),
    ("configservices", &[]),
    ("service", &["name"]),
    ("links", &[]),
    ("link", &["node1", "node2", "node_one", "node_two"]),
    ("iface1", &["id", "name", "mac", "ip4", "ip4_mask", "ip6", "ip6_mask"]),
    ("iface2", &["id", "name", "mac", "ip4", "ip4_mask", "ip6", "ip6_mask"]),
    ("interface_one", &["id", "name", "mac", "ip4", "ip4_mask", "ip6", "ip6_mask"]),
    ("interface_two", &["id", "name", "mac", "ip4", "ip4_mask", "ip6", "ip6_mask"]),
    ("options", &["delay", "bandwidth", "loss", "per", "dup", "jitter", "buffer", "unidirectional"]),
    ("mobility_configurations", &[]),
    ("mobility_configuration", &["node", "model"]),
    // What only draws, and what CORE itself is.
    ("session_origin", &["lat", "lon", "alt", "scale", "x", "y", "z"]),
    ("session_options", &[]),
    ("session_metadata", &[]),
    ("session_servers", &[]),
    ("servers", &[]),
    ("default_services", &[]),
    ("node", &["type", "name"]),
    ("metadata", &[]),
    ("configuration", &["name", "value"]),
    ("canvas", &[]),
];
/// Elements below which nothing is for a network.
const PASSED: [&str; 4] = ["session_options", "session_metadata", "session_origin", "default_services"];

/// Notes all the rest.
pub(super) fn note(root: &Node<'_, '_>, lines: &Lines, topology: &mut Topology) {
    xml::rest(root, lines, &READ, &PASSED, &mut topology.notes);
}
