//! GraphML, with settings of links by their keys in a lab file, as the reader understands them.

use netloom_lab::Plan;
use netloom_lab::markup::escaped;
use std::collections::BTreeSet;
use std::fmt::Write;

/// The text of `plan`.
pub(super) fn write(plan: &Plan) -> String {
    let settings: Vec<_> = plan.links.iter().map(super::settings).collect();
    let keys: BTreeSet<&str> = settings.iter().flatten().map(|(key, _)| key.as_str()).collect();
    let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    text.push_str("<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n");
    let mut line = |written: std::fmt::Arguments<'_>| {
        // Writing into a text cannot fail.
        let _ = writeln!(text, "  {written}");
    };
    for (name, kind) in [("label", "string"), ("kind", "string"), ("x", "double"), ("y", "double")] {
        line(format_args!("<key id=\"node-{name}\" for=\"node\" attr.name=\"{name}\" attr.type=\"{kind}\"/>"));
    }
    for name in ["name", "mtu"].into_iter().chain(keys) {
        line(format_args!("<key id=\"edge-{name}\" for=\"edge\" attr.name=\"{name}\" attr.type=\"string\"/>"));
    }
    line(format_args!("<graph id=\"{}\" edgedefault=\"undirected\">", plan.name));
    for (number, node) in plan.nodes.iter().enumerate() {
        let mut inner = data("node-label", &node.name) + &data("node-kind", node.kind.name());
        for (axis, value) in ["x", "y"].into_iter().zip(node.position.into_iter().flatten()) {
            inner.push_str(&data(&format!("node-{axis}"), &value.to_string()));
        }
        line(format_args!("  <node id=\"n{number}\">{inner}</node>"));
    }
    for (link, own) in plan.links.iter().zip(&settings) {
        let (source, target) = (link.ends[0].node, link.ends[1].node);
        let mut inner = data("edge-name", &link.name);
        if link.mtu != 1_500 {
            inner.push_str(&data("edge-mtu", &link.mtu.to_string()));
        }
        for (key, value) in own {
            inner.push_str(&data(&format!("edge-{key}"), value));
        }
        line(format_args!("  <edge source=\"n{source}\" target=\"n{target}\">{inner}</edge>"));
    }
    line(format_args!("</graph>"));
    text.push_str("</graphml>\n");
    text
}

fn data(key: &str, value: &str) -> String {
    format!("<data key=\"{key}\">{}</data>", escaped(value))
}
