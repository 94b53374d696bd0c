//! Graphviz: shapes by kind, and what links do beside them.

use netloom_lab::{NodeKind, Plan};
use std::fmt::Write;

/// The text of `plan`.
pub(super) fn write(plan: &Plan) -> String {
    let mut text = format!("graph {} {{\n", quoted(&plan.name));
    for node in &plan.nodes {
        let shape = match node.kind {
            NodeKind::Host => "box",
            NodeKind::Router | NodeKind::Transit => "ellipse",
            _ => "diamond",
        };
        // Writing into a text cannot fail.
        let _ = writeln!(text, "  {} [shape={shape}];", quoted(&node.name));
    }
    for link in &plan.links {
        let [one, other] = [0, 1].map(|end| quoted(&plan.nodes[link.ends[end].node].name));
        let settings = super::settings(link);
        let settings = settings.iter().map(|(key, value)| format!("{key}: {value}"));
        let label = [link.name.clone()].into_iter().chain(settings).collect::<Vec<_>>().join("\n");
        let _ = writeln!(text, "  {one} -- {other} [label={}];", quoted(&label));
    }
    text.push_str("}\n");
    text
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}
