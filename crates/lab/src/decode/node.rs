//! Nodes, and where they are in a picture.

use super::attachments::{external, internet, tunnel};
use super::container::container;
use super::firewall::firewall;
use super::image::image;
use super::measures::OriginForm;
use super::nat::nat;
use super::switch::{SwitchSpec, misplaced};
use super::vm::vm;
use super::{daemons, openflow, paths};
use crate::diagnostics::{Diagnostic, Span, Spanned};
use crate::errors::{Errors, keep};
use crate::fields::Fields;
use crate::keyed::Keyed;
use crate::keys::NodeKeys;
use crate::names::wrong_node_name;
use crate::scalar::filled;
use crate::spec::{GivenSpec, NodeSpec, Spec};
use crate::yaml::{Content, Node};
use std::collections::BTreeMap;

/// The setting behind `congestion`.
const CONGESTION: &str = "net.ipv4.tcp_congestion_control";

/// All nodes that can be read; `left_out` says whether others could not.
pub(super) fn nodes(node: &Node, errors: &mut Errors, left_out: &mut bool) -> Vec<NodeSpec> {
    let mut nodes: Vec<NodeSpec> = Vec::new();
    match &node.content {
        Content::Map(entries) => {
            for entry in entries {
                let name = entry.named();
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
    let mut spec = NodeSpec { name, ..NodeSpec::default() };
    // A node about which nothing is said may be written `client: {}` or `client:`.
    let Some(node) = node.filter(|node| node.content != Content::Empty) else { return spec };
    let Some(fields) = Fields::open(node, &NodeKeys::SECTION, errors) else { return spec };
    let Some(keys) = NodeKeys::read_keys(&fields, errors) else { return spec };
    let kind = keys.kind.unwrap_or_default();
    let mut sysctls = keys.sysctl.unwrap_or_default();
    if let Some(said) = &keys.congestion {
        errors.extend(said_twice(&fields, &sysctls));
        sysctls.push((CONGESTION.to_owned(), said.value.clone()));
    }
    let files = keys.files.unwrap_or_default();
    let routing = daemons::routing(&fields, kind, errors);
    errors.extend(daemons::hidden(&routing, &files, fields.get("files")));
    let openflow = openflow::openflow(kind, &fields, &files, errors);
    spec = NodeSpec {
        kind,
        stack: keys.stack,
        vm: vm(kind, &fields, errors),
        memory: keys.memory,
        cpus: keys.cpus,
        cpu: keys.cpu,
        pin: keys.pin,
        machine: keys.machine,
        clock: keys.clock,
        disk: keys.disk,
        cores: keys.cores,
        congestion: keys.congestion,
        capabilities: keys.capabilities.unwrap_or_default(),
        routes: keys.routes.as_ref().map(|(word, _)| *word),
        given: GivenSpec { routes: keys.routes.and_then(|(_, list)| list), names: keys.names },
        rules: keys.rules.unwrap_or_default(),
        multihomed: keys.multihomed.flatten(),
        // A controller gets frames as they are, and may send them back.
        whole_frames: keys.offload.map_or(openflow.controller.is_some(), |offload| !offload),
        sysctls,
        env: keys.env.unwrap_or_default(),
        setup: keys.setup.unwrap_or_default().into_iter().map(|line| (line.span.line, line.value)).collect(),
        inherit: keys.inherit.unwrap_or_default(),
        overlay: keys.root,
        image: image(&fields, errors),
        container: container(kind, &fields, errors),
        files,
        collect: keys.collect.unwrap_or_default(),
        measure: keys.measure,
        expose: keys.expose.unwrap_or_default(),
        firewall: fields.get("firewall").map_or_else(Vec::new, |value| firewall(value, kind, errors)),
        nat: fields.get("nat").and_then(|value| nat(value, kind, !routing.daemons.is_empty(), errors)),
        routing,
        dhcp: keys.dhcp,
        dns: keys.dns,
        asks: keys.addresses,
        switch: SwitchSpec::read_keys(&fields, errors).unwrap_or_default(),
        openflow,
        external: external(kind, node, &fields, errors),
        tunnel: tunnel(kind, node, &fields, errors),
        exit: internet(kind, &fields, errors),
        position: keys.position,
        path: paths::path(keys.path, &fields, errors),
        ..spec
    };
    if spec.exit.is_some() {
        // What follows from what was refused is not said twice.
        (spec.asks, spec.multihomed, spec.dhcp, spec.dns) = (None, None, None, None);
        spec.rules.clear();
    }
    errors.extend(misplaced(kind, &fields));
    spec
}

/// The error if the congestion control is among the settings, too, however their name is written.
fn said_twice(fields: &Fields<'_>, sysctls: &[(String, String)]) -> Option<Diagnostic> {
    let (name, _) = sysctls.iter().find(|(name, _)| name.replace('/', ".") == CONGESTION)?;
    let message = format!("`sysctl` sets {name}, too: leave one of them out");
    let error = fields.get("congestion")?.error(message);
    let Content::Map(entries) = &fields.get("sysctl")?.content else { return Some(error) };
    let first = entries.iter().find(|entry| entry.name == *name);
    Some(match first {
        Some(entry) => error.and(entry.span, "here"),
        None => error,
    })
}

/// Node names are host names, and those do not tell upper from lower case.
fn check_names(nodes: &[NodeSpec], errors: &mut Errors) {
    let mut seen: BTreeMap<String, Span> = BTreeMap::new();
    for NodeSpec { name, .. } in nodes {
        if let Some(wrong) = wrong_node_name(&name.value) {
            errors.push(name.error(wrong));
        }
        if let Some(first) = seen.insert(name.value.to_lowercase(), name.span) {
            errors.push(
                name.error(format!(
                    "there are two nodes `{}`: upper and lower case mean the same in node names",
                    name.value
                ))
                .and(first, "first here"),
            );
        }
    }
}

/// Farther apart, positions would lose digits.
const FARTHEST: f64 = 1e6;

/// Reads the places of nodes in a picture, and where on Earth the map has its origin.
pub(super) fn places(spec: &mut Spec, fields: &Fields<'_>, errors: &mut Errors) {
    spec.layout = fields.get("layout").map_or_else(Vec::new, |own| layout(own, errors));
    spec.origin = fields.form::<OriginForm>("origin", errors);
}

/// The nodes that have a place, by name.
fn layout(node: &Node, errors: &mut Errors) -> Vec<(Spanned<String>, [f64; 2])> {
    let Content::Map(entries) = &node.content else {
        if node.content != Content::Empty {
            errors.push(node.expected("a map of nodes and places, for example {client: [0, 0], r1: [1, 0.5]}"));
        }
        return Vec::new();
    };
    let mut places = Vec::new();
    for entry in entries {
        let name = entry.named();
        places.extend(keep(place(&entry.value), errors).map(|at| (name, at)));
    }
    places
}

fn place(node: &Node) -> Result<[f64; 2], Diagnostic> {
    let wanted = "a place: how far to the right, and how far down, for example [1, 0.5]";
    let Content::List(items) = &node.content else { return Err(node.expected(wanted)) };
    let [x, y] = &items[..] else { return Err(node.expected(wanted)) };
    Ok([coordinate(x)?, coordinate(y)?])
}

fn coordinate(node: &Node) -> Result<f64, Diagnostic> {
    let number: Option<f64> = node.plain().and_then(|text| text.parse().ok());
    number.filter(|number| number.abs() <= FARTHEST).ok_or_else(|| {
        let found = node.text().map_or_else(|| "this".to_owned(), |text| format!("\"{text}\""));
        node.error(format!("{found} is not a number from -{FARTHEST} to {FARTHEST}"))
    })
}
