//! Labs that are larger than they may be.

use crate::diagnostics::Diagnostic;
use crate::limits::Limits;
use crate::spec::Spec;
use crate::yaml::{Content, Node};

/// Why what stands in the file is too large; none if it is not.
pub(crate) fn of_file(limits: &Limits, root: &Node) -> Option<Diagnostic> {
    let Content::Map(entries) = &root.content else { return None };
    let named = |name: &str| entries.iter().find(|entry| entry.name == name).map(|entry| &entry.value);
    let count = |node: &Node| match &node.content {
        Content::Map(all) => all.len(),
        Content::List(items) => items.len(),
        Content::Text { .. } | Content::Empty => 0,
    };
    let too_many = |name: &str, most: usize| {
        let node = named(name).filter(|node| count(node) > most)?;
        Some(node.error(format!("these are {} {name}: {}", count(node), most_of(name, most))))
    };
    too_many("nodes", limits.nodes).or_else(|| too_many("links", limits.links))
}

/// Why the lab is too large with what is generated; none if it is not.
pub(crate) fn of_lab(limits: &Limits, spec: &Spec) -> Option<Diagnostic> {
    let node = spec.nodes.get(limits.nodes).map(|node| node.name.error(most_of("nodes", limits.nodes)));
    node.or_else(|| spec.links.get(limits.links).map(|link| link.name.error(most_of("links", limits.links))))
}

fn most_of(what: &str, most: usize) -> String {
    let whose = if most == Limits::SERVED.nodes { "a lab on a page" } else { "a lab" };
    format!("{whose} has at most {most} {what}")
}
