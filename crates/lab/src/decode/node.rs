//! Nodes.

use super::scalar::{cpus, filled, text, word};
use super::{Errors, Fields, keep};
use crate::diagnostics::{Diagnostic, Span, Spanned};
use crate::keys::NODE;
use crate::plan::NodeKind;
use crate::spec::NodeSpec;
use crate::yaml::{Content, Node};
use std::collections::BTreeMap;

/// All nodes that can be read; `left_out` says whether others could not.
pub(super) fn nodes(node: &Node, errors: &mut Errors, left_out: &mut bool) -> Vec<NodeSpec> {
    let mut nodes: Vec<NodeSpec> = Vec::new();
    match &node.content {
        Content::Map(entries) => {
            for entry in entries {
                let name = Spanned { value: entry.name.clone(), span: entry.span, key: entry.value.key.clone() };
                nodes.push(one(name, Some(&entry.value), errors));
            }
        }
        Content::List(items) => {
            let names: Vec<_> =
                items.iter().filter_map(|item| keep(filled(item).map(|name| item.spanned(name)), errors)).collect();
            *left_out |= names.len() < items.len();
            nodes.extend(names.into_iter().map(|name| one(name, None, errors)));
        }
        _ => {
            errors.push(node.expected("the nodes: a map like `{client: {}, r1: {kind: router}}`, or a list of names"));
            *left_out = true;
        }
    }
    check_names(&nodes, errors);
    nodes
}

fn one(name: Spanned<String>, node: Option<&Node>, errors: &mut Errors) -> NodeSpec {
    let mut spec = NodeSpec { name, kind: NodeKind::Host, cpus: None, sysctls: vec![], env: vec![] };
    // A node about which nothing is said may be written `client: {}` or `client:`.
    let Some(node) = node.filter(|node| node.content != Content::Empty) else { return spec };
    let Some(fields) = Fields::open(node, &NODE, errors) else { return spec };
    spec.kind = fields.read("kind", kind, errors).unwrap_or_default();
    spec.cpus = fields.read("cpus", cpus, errors);
    spec.sysctls = fields.get("sysctl").map_or_else(Vec::new, |value| settings(value, sysctl_name, errors));
    spec.env = fields.get("env").map_or_else(Vec::new, |value| settings(value, variable_name, errors));
    spec
}

fn kind(node: &Node) -> Result<NodeKind, Diagnostic> {
    word(node, &[("host", NodeKind::Host), ("router", NodeKind::Router)])
}

/// Names and texts; `check` says what is wrong with a name.
pub(super) fn settings(
    node: &Node,
    check: fn(&str) -> Option<&'static str>,
    errors: &mut Errors,
) -> Vec<(String, String)> {
    let Content::Map(entries) = &node.content else {
        errors.push(node.expected("a map of names and values"));
        return Vec::new();
    };
    let mut settings = Vec::new();
    for entry in entries {
        if let Some(wrong) = check(&entry.name) {
            errors.push(Diagnostic::new(entry.span, &entry.value.key, format!("`{}` {wrong}", entry.name)));
        } else if let Some(value) = keep(text(&entry.value), errors) {
            settings.push((entry.name.clone(), value));
        }
    }
    settings
}

fn sysctl_name(name: &str) -> Option<&'static str> {
    let belongs = name.strip_prefix("net.").or_else(|| name.strip_prefix("net/")).is_some_and(|rest| !rest.is_empty());
    let plain = name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_./-".contains(&b)) && !name.contains("..");
    match (belongs, plain) {
        (true, true) => None,
        (false, _) => Some("does not belong to a node: only settings below `net.` do, for example net.ipv4.tcp_sack"),
        _ => Some("is not the name of a setting: write it as sysctl does, for example net.ipv4.tcp_sack"),
    }
}

pub(super) fn variable_name(name: &str) -> Option<&'static str> {
    let mut bytes = name.bytes();
    let begins = bytes.next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_');
    let goes_on = bytes.all(|b| b.is_ascii_alphanumeric() || b == b'_');
    if begins && goes_on { None } else { Some("is not the name of a variable: use letters, digits and _") }
}

/// Node names are host names, and those do not tell upper from lower case.
fn check_names(nodes: &[NodeSpec], errors: &mut Errors) {
    let mut seen: BTreeMap<String, Span> = BTreeMap::new();
    for NodeSpec { name, .. } in nodes {
        if let Some(wrong) = wrong_name(&name.value) {
            errors.push(name.error(wrong));
        }
        if let Some(first) = seen.insert(name.value.to_lowercase(), name.span) {
            errors.push(
                name.error(format!("there are two nodes `{}`: node names resolve without regard to case", name.value))
                    .and(first, "first here"),
            );
        }
    }
}

fn wrong_name(name: &str) -> Option<String> {
    let begins = name.starts_with(|c: char| c.is_ascii_alphabetic());
    let goes_on = name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
    if name.eq_ignore_ascii_case("localhost") {
        return Some("`localhost` is every node's name for itself: choose another".into());
    }
    (!begins || !goes_on || name.len() > 31).then(|| {
        format!("`{name}` cannot name a node: begin with a letter, go on with letters, digits and -, 31 at most")
    })
}
