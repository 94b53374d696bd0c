//! Nodes.

use super::capabilities::capabilities;
use super::container::container;
use super::cpu::cost;
use super::dhcp::{dhcp, dns};
use super::expose::expose;
use super::external::external;
use super::firewall::firewall;
use super::image::image;
use super::nat::nat;
use super::pin::pin;
use super::rules::Rule;
use super::switch::{misplaced, switch};
use super::tunnel::tunnel;
use super::variables::{settings, variables};
use super::vm::vm;
use super::{daemons, files, internet, openflow};
use crate::diagnostics::{Diagnostic, Span, Spanned};
use crate::errors::{Errors, keep};
use crate::fields::{Fields, list};
use crate::forms::{List, Placed, Said, Word};
use crate::keys::{NODE, Routes};
use crate::names::{variable_name, wrong_node_name};
use crate::plan::{MeasurePlan, NodeKind, Stack};
use crate::scalar::{command, cpus, filled, flag, quantity, text, word};
use crate::spec::NodeSpec;
use crate::yaml::{Content, Node};
use netloom_units::Bytes;
use std::collections::BTreeMap;

/// A kernel with less does not come up, or cannot start programs.
const LEAST_MEMORY: Bytes = Bytes::new(32_000_000);
/// More than any machine has: the user mistyped the unit.
const MOST_MEMORY: Bytes = Bytes::new(1_000_000_000_000);

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
    let Some(fields) = Fields::open(node, &NODE, errors) else { return spec };
    spec.kind = fields.form::<Word<NodeKind>>("kind", errors).unwrap_or_default();
    spec.stack = fields.form::<Placed<Word<Stack>>>("stack", errors);
    spec.vm = vm(spec.kind, &fields, errors);
    spec.memory = fields.read("memory", memory, errors);
    spec.cpus = fields.read("cpus", |value| cpus(value).map(|cpus| value.spanned(cpus)), errors);
    spec.cpu = fields.get("cpu").and_then(|value| cost(value, errors));
    spec.pin = fields.read("pin", pin, errors);
    spec.sysctls = fields.get("sysctl").map_or_else(Vec::new, |value| settings(value, sysctl_name, errors));
    spec.routes = fields.form::<Routes>("routes", errors);
    spec.rules = fields.form::<List<Rule>>("rules", errors).unwrap_or_default();
    spec.multihomed = fields.form::<Said>("multihomed", errors).flatten();
    spec.congestion = fields.read("congestion", congestion, errors);
    if let Some(said) = &spec.congestion {
        errors.extend(said_twice(&fields, &spec.sysctls));
        spec.sysctls.push((CONGESTION.to_owned(), said.value.clone()));
    }
    spec.capabilities = fields.get("capabilities").map_or_else(Vec::new, |value| capabilities(value, errors));
    spec.env = fields.get("env").map_or_else(Vec::new, |value| settings(value, variable_name, errors));
    let setup = fields.get("setup").map_or(&[][..], |value| list(value, errors)).iter();
    let line = |item: &Node| command(item).map(|command| (item.span.line, command));
    spec.setup = setup.filter_map(|item| keep(line(item), errors)).collect();
    spec.inherit = fields.get("inherit").map_or_else(Vec::new, |value| variables(value, errors));
    spec.overlay = fields.form::<Placed<files::Overlay>>("root", errors);
    spec.image = image(&fields, errors);
    spec.container = container(spec.kind, &fields, errors);
    spec.files = fields.get("files").map_or_else(Vec::new, |value| files::files(value, errors));
    spec.collect = fields.get("collect").map_or_else(Vec::new, |value| files::collect(value, errors));
    spec.expose = fields.get("expose").map_or_else(Vec::new, |value| expose(value, errors));
    spec.measure = fields.form::<Placed<MeasurePlan>>("measure", errors);
    spec.routing = daemons::routing(&fields, spec.kind, errors);
    errors.extend(daemons::hidden(&spec.routing, &spec.files, fields.get("files")));
    spec.firewall = fields.get("firewall").map_or_else(Vec::new, |value| firewall(value, spec.kind, errors));
    let has_daemons = !spec.routing.daemons.is_empty();
    spec.nat = fields.get("nat").and_then(|value| nat(value, spec.kind, has_daemons, errors));
    spec.dhcp = fields.get("dhcp").and_then(|value| dhcp(value, errors));
    spec.dns = fields.get("dns").and_then(|value| dns(value, errors));
    spec.asks = fields.read("addresses", |value| word(value, &[("dhcp", value.spanned(()))]), errors);
    spec.switch = switch(&fields, errors);
    spec.openflow = openflow::openflow(spec.kind, &fields, &spec.files, errors);
    // A controller gets frames as they are, and may send them back.
    let has_controller = spec.openflow.controller.is_some();
    spec.whole_frames = fields.read("offload", flag, errors).map_or(has_controller, |offload| !offload);
    spec.external = external(spec.kind, node, &fields, errors);
    spec.tunnel = tunnel(spec.kind, node, &fields, errors);
    spec.exit = internet::internet(spec.kind, &fields, errors);
    if spec.exit.is_some() {
        // What follows from what was refused is not said twice.
        (spec.asks, spec.multihomed, spec.dhcp, spec.dns) = (None, None, None, None);
        spec.rules.clear();
    }
    errors.extend(misplaced(spec.kind, &fields));
    spec
}

fn memory(node: &Node) -> Result<Spanned<Bytes>, Diagnostic> {
    let size = quantity(node)?;
    if size < LEAST_MEMORY {
        let text = node.text().unwrap_or_default();
        return Err(node.error(format!("with {text} no kernel starts programs: write {LEAST_MEMORY} or more")));
    }
    if size > MOST_MEMORY {
        let text = node.text().unwrap_or_default();
        return Err(node.error(format!("no machine has {text} for one node: write at most {MOST_MEMORY}")));
    }
    Ok(node.spanned(size))
}

fn congestion(node: &Node) -> Result<Spanned<String>, Diagnostic> {
    let name = text(node)?;
    let plain = name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
    if plain && (1..=15).contains(&name.len()) {
        return Ok(node.spanned(name));
    }
    Err(node
        .error(format!("\"{name}\" is not the name of a congestion control: write for example cubic, bbr or dctcp")))
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

fn sysctl_name(name: &str) -> Option<&'static str> {
    let belongs = name.strip_prefix("net.").or_else(|| name.strip_prefix("net/")).is_some_and(|rest| !rest.is_empty());
    let plain = name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_./-".contains(&b)) && !name.contains("..");
    match (belongs, plain) {
        (true, true) => None,
        (false, _) => Some("does not belong to a node: only settings below `net.` do, for example net.ipv4.tcp_sack"),
        _ => Some("is not the name of a setting: write it as sysctl does, for example net.ipv4.tcp_sack"),
    }
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
