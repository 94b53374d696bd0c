//! What the part of a lab has to know of the nodes that other machines play: their addresses and names, and what is behind tunnels.

use super::end::{Interface, Mac};
use super::rules::{Gateway, Net};
use crate::diagnostics::{Diagnostic, Span, Spanned};
use crate::errors::{Errors, keep};
use crate::fields::{Fields, map};
use crate::forms::{NodeName, OneOrMore, Placed, Word, forms};
use crate::keyed::{Keyed, sections};
use crate::kinds::{ADDRESS, NODE_NAME};
use crate::names::wrong_node_name;
use crate::plan::{FarInterface, FarNode};
use crate::scalar::{address, text};
use crate::section::{Form, Kind};
use crate::spec::{FarEndSpec, NameSpec, NodeSpec, RouteSpec, RoutesSpec, Spec};
use crate::yaml::{Content, Entry, Node};
use ipnet::IpNet;
use std::collections::{BTreeMap, BTreeSet};

/// The words that say which routes a node gets.
type Routes = Word<RoutesSpec>;

const INTERFACE_NAME: &str = "^[a-zA-Z0-9_.-]{1,15}$";

sections! {
    /// An interface of a node that another machine plays.
    pub(crate) struct FarKeys = "far_interface" {
        /// Its address with the prefix length, or several. Default: none.
        address: OneOrMore<FarAddress>, "[10.0.0.2/30, \"fd00::2/64\"]";
        /// Its hardware address, which nodes have to know that reach it without a router. Default: it is not known.
        mac: Placed<Mac>, "\"02:00:00:00:00:02\"";
    }

    /// An interface behind a tunnel.
    read FarEndSpec = "far_end" {
        /// The node, one of `elsewhere`.
        node: NodeName, required "db";
        /// Its interface.
        interface: Placed<Interface>, required "eth0";
    }

    /// A route of a node.
    read RouteSpec = "route" {
        /// The destination: a prefix, or an address.
        to: Net, required "10.9.0.0/16";
        /// The address of the neighbour to which packets go. Routes to one destination by several neighbours share the flows.
        via: Gateway, required "10.0.0.2";
    }
}

forms! {
    pub(crate) struct FarAddress = IpNet, Kind::Text(ADDRESS), address;
    /// Nodes of the lab by name, each with the interface that its name means.
    pub(crate) struct Names = Vec<NameSpec>,
        Kind::Map { names: NODE_NAME, values: &Kind::Text(INTERFACE_NAME) }, noting names;
    /// Which routes a node gets, or these.
    pub(crate) struct NodeRoutes = (RoutesSpec, Option<Vec<RouteSpec>>),
        Kind::OneOf(&[Routes::KIND, Kind::list(&RouteSpec::KIND, 0)]), noting routes;
}

/// Nodes that other machines play.
pub(crate) const ELSEWHERE: Kind = Kind::Map {
    names: NODE_NAME,
    values: &Kind::Map { names: INTERFACE_NAME, values: &Kind::Optional(&FarKeys::SECTION) },
};

fn routes(node: &Node, errors: &mut Errors) -> Option<(RoutesSpec, Option<Vec<RouteSpec>>)> {
    let Content::List(items) = &node.content else { return Routes::read(node, errors).map(|word| (word, None)) };
    let list = items.iter().filter_map(|item| RouteSpec::read(item, errors)).collect();
    Some((RoutesSpec::None, Some(list)))
}

fn names(node: &Node, errors: &mut Errors) -> Option<Vec<NameSpec>> {
    let entries = map(node, "a map of nodes and interfaces, for example {db: eth1}", errors)?;
    let pair = |entry: &Entry| {
        let interface = entry.value.spanned(text(&entry.value)?);
        Ok::<_, Diagnostic>(NameSpec { node: entry.named(), interface })
    };
    Some(entries.iter().filter_map(|entry| keep(pair(entry), errors)).collect())
}

/// All nodes of other machines that can be read.
pub(super) fn elsewhere(node: &Node, errors: &mut Errors) -> Vec<Spanned<FarNode>> {
    const WANTED: &str = "a map of nodes with their interfaces, for example {db: {eth0: {address: 10.0.0.2/30}}}";
    let Some(entries) = map(node, WANTED, errors) else { return Vec::new() };
    let mut nodes = Vec::new();
    for entry in entries {
        let name = entry.named();
        errors.extend(wrong_node_name(&name.value).map(|wrong| name.error(wrong)));
        let interfaces = if entry.value.content == Content::Empty { &[] } else { interfaces(&entry.value, errors) };
        let interfaces = interfaces.iter().filter_map(|own| interface(own, errors)).collect();
        let value = FarNode { name: name.value, interfaces };
        nodes.push(Spanned { value, span: name.span, key: name.key });
    }
    nodes
}

fn interfaces<'a>(node: &'a Node, errors: &mut Errors) -> &'a [Entry] {
    const WANTED: &str = "a map of interfaces, for example {eth0: {address: 10.0.0.2/30}}";
    map(node, WANTED, errors).unwrap_or_default()
}

fn interface(entry: &Entry, errors: &mut Errors) -> Option<FarInterface> {
    let name = entry.name.clone();
    if entry.value.content == Content::Empty {
        return Some(FarInterface { name, mac: None, addresses: Vec::new() });
    }
    let FarKeys { address, mac } = FarKeys::read_keys(&Fields::open(&entry.value, &FarKeys::SECTION, errors)?, errors)?;
    Some(FarInterface { name, mac: mac.map(|mac| mac.value), addresses: address.unwrap_or_default() })
}

/// Notes nodes that are here and elsewhere, and tells tunnels what is behind them.
pub(super) fn settle(spec: &mut Spec, errors: &mut Errors) {
    let mut here: BTreeMap<String, Span> = BTreeMap::new();
    for NodeSpec { name, .. } in &spec.nodes {
        here.insert(name.value.to_lowercase(), name.span);
    }
    for far in &spec.elsewhere {
        if let Some(first) = here.insert(far.value.name.to_lowercase(), far.span) {
            let message = format!("there is another node `{}`: it is played here or elsewhere", far.value.name);
            errors.push(far.error(message).and(first, "here"));
        }
    }
    let known: BTreeMap<&str, &FarNode> =
        spec.elsewhere.iter().map(|far| (far.value.name.as_str(), &far.value)).collect();
    for tunnel in spec.nodes.iter_mut().filter_map(|node| node.tunnel.as_mut()) {
        let Some(ends) = tunnel.far_ends.take() else { continue };
        let mut seen = BTreeSet::new();
        let mut beyond = Vec::new();
        for FarEndSpec { node, interface } in ends {
            if !seen.insert((node.value.clone(), interface.value.clone())) {
                errors.push(interface.error("this interface is behind the tunnel already: leave it out"));
                continue;
            }
            beyond.extend(keep(far_end(&known, &node, &interface), errors));
        }
        tunnel.beyond = Some(beyond);
    }
}

/// An interface with its hardware address, by which it is reached.
fn far_end(
    known: &BTreeMap<&str, &FarNode>,
    node: &Spanned<String>,
    interface: &Spanned<String>,
) -> Result<FarInterface, Diagnostic> {
    let Some(far) = known.get(node.value.as_str()) else {
        return Err(node.error(format!("there is no node `{}` in `elsewhere`: write its interfaces there", node.value)));
    };
    let Some(own) = far.interfaces.iter().find(|own| own.name == interface.value) else {
        let message = format!("`{}` has no interface `{}` in `elsewhere`", node.value, interface.value);
        return Err(interface.error(message));
    };
    if own.mac.is_none() {
        let message = format!("what is behind a tunnel needs a `mac`: write it at `{}` of `{}`", own.name, far.name);
        return Err(interface.error(message));
    }
    Ok(own.clone())
}
