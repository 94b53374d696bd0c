//! Links with more than two ends: each is a switch of its own, with a link to each end, unless it is a shared medium.

use crate::diagnostics::Spanned;
use crate::errors::Errors;
use crate::names::wrong_node_name;
use crate::plan::NodeKind;
use crate::spec::{EndSpec, LinkSpec, NodeSpec};
use std::collections::BTreeSet;

/// Puts switches and links with two ends in the place of links with more. A link `lan` to a node `a` becomes the switch `lan`
/// and the link `lan-a`, whose direction forward leads into the LAN.
pub(super) fn expand(nodes: &mut Vec<NodeSpec>, links: Vec<LinkSpec>, errors: &mut Errors) -> Vec<LinkSpec> {
    let is_switch = |link: &LinkSpec| link.ends.len() > 2 && link.shared.is_none();
    if !links.iter().any(is_switch) {
        return links;
    }
    let mut names = Names {
        nodes: nodes.iter().map(|node| node.name.value.to_lowercase()).collect(),
        links: links.iter().map(|link| link.name.value.clone()).collect(),
    };
    let mut expanded = Vec::new();
    for link in links {
        if !is_switch(&link) {
            expanded.push(link);
            continue;
        }
        names.check(&link, errors);
        nodes.push(NodeSpec { name: link.name.clone(), kind: NodeKind::Switch, is_lan: true, ..NodeSpec::default() });
        expanded.extend(names.ports(&link, errors));
    }
    expanded
}

/// The names that are taken: of nodes, which do not tell upper from lower case, and of links.
struct Names {
    nodes: BTreeSet<String>,
    links: BTreeSet<String>,
}

impl Names {
    /// Notes what keeps the name of a link from being that of a switch.
    fn check(&mut self, link: &LinkSpec, errors: &mut Errors) {
        let name = &link.name.value;
        if let Some(wrong) = wrong_node_name(name) {
            errors.push(link.name.error(format!("a link with more than two ends is a switch of this name: {wrong}")));
        }
        if !self.nodes.insert(name.to_lowercase()) {
            let message = format!(
                "a link with more than two ends is a switch of this name, and there is a node `{name}`: rename one of them"
            );
            errors.push(link.name.error(message));
        }
    }

    /// The links between the ends and the switch.
    fn ports(&mut self, link: &LinkSpec, errors: &mut Errors) -> Vec<LinkSpec> {
        let mut ports = Vec::new();
        let mut seen = BTreeSet::new();
        for end in &link.ends {
            let node = &end.node;
            if !seen.insert(node.value.as_str()) {
                let message = format!("`{}` is at two ends of this link: join it by another link as well", node.value);
                errors.push(node.error(message));
                continue;
            }
            let name = format!("{}-{}", link.name.value, node.value);
            if !self.links.insert(name.clone()) {
                let message =
                    format!("`{}` gets a link `{name}` to this LAN, and there is another one: rename it", node.value);
                errors.push(link.name.error(message));
            }
            ports.push(port(link, end, name));
        }
        ports
    }
}

fn port(link: &LinkSpec, end: &EndSpec, name: String) -> LinkSpec {
    let there = EndSpec { node: link.name.clone(), interface: None, addresses: Vec::new(), asks: None, mac: None };
    LinkSpec { name: Spanned { value: name, ..link.name.clone() }, ends: vec![end.clone(), there], ..link.clone() }
}
