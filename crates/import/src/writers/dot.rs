//! Graphviz: shapes by kind, and what links do beside them.

use netloom_lab::{NodeKind, Plan};
use std::fmt::Write;

/// The length of a link in a picture.
const INCHES: f64 = 2.0;

/// The text of `plan`.
pub(super) fn write(plan: &Plan) -> String {
    let mut text = format!("graph {} {{\n", quoted(&plan.name));
    for node in &plan.nodes {
        let shape = match node.kind {
            NodeKind::Host | NodeKind::External | NodeKind::Tunnel | NodeKind::Outside => "box",
            NodeKind::Router | NodeKind::Transit | NodeKind::Internet => "ellipse",
            _ => "diamond",
        };
        // In inches, and up; `neato` keeps it.
        let place = node.position.map(|[x, y]| format!(", pos=\"{:.3},{:.3}!\"", x * INCHES, 0.0 - y * INCHES));
        // Writing into a text cannot fail.
        let _ = writeln!(text, "  {} [shape={shape}{}];", quoted(&node.name), place.unwrap_or_default());
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
