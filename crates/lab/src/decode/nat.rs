//! Address translation in routers.

use super::list;
use crate::diagnostics::{Diagnostic, Spanned};
use crate::errors::{Errors, keep};
use crate::fields::Fields;
use crate::keys::{FORWARD, NAT};
use crate::names::link_name;
use crate::plan::NodeKind;
use crate::scalar::{filled, integer, word};
use crate::spec::{Dependence, ForwardSpec, NatSpec};
use crate::yaml::{Content, Node};
use Dependence::{Address, AddressAndPort, Nothing};

/// The words of RFC 4787.
const WORDS: [(&str, Dependence); 3] =
    [("endpoint-independent", Nothing), ("address-dependent", Address), ("address-and-port-dependent", AddressAndPort)];

/// Mapping and filtering under their names of RFC 3489.
const KINDS: [(&str, [Dependence; 2]); 4] = [
    ("full-cone", [Nothing, Nothing]),
    ("restricted-cone", [Nothing, Address]),
    ("port-restricted-cone", [Nothing, AddressAndPort]),
    ("symmetric", [AddressAndPort, AddressAndPort]),
];

/// The translation of a node among its keys; none after an error was noted.
pub(super) fn nat(node: &Node, kind: NodeKind, has_daemons: bool, errors: &mut Errors) -> Option<NatSpec> {
    if kind == NodeKind::Internet {
        // It was noted with all else that it cannot have.
        return None;
    }
    if kind != NodeKind::Router {
        let what = kind.title();
        errors.push(node.error(format!("only routers have `nat`, and this is a {what}: write `kind: router`")));
        return None;
    }
    if has_daemons {
        errors.push(node.error(
            "the daemons would announce outside what is behind the translation: let a router of its own translate",
        ));
        return None;
    }
    let fields = Fields::open(node, &NAT, errors)?;
    let outside = fields.get("outside")?;
    let links = if let Content::List(items) = &outside.content { &items[..] } else { std::slice::from_ref(outside) };
    if links.is_empty() {
        errors.push(outside.error("no link is listed: name the one, or those, that lead outside"));
    }
    let [mapping, filtering] = behaviour(&fields, errors);
    Some(NatSpec {
        place: node.spanned(()),
        outside: links.iter().filter_map(|link| keep(link_name(link), errors)).collect(),
        mapping,
        filtering,
        forward: fields.get("forward").map_or_else(Vec::new, |value| forwards(value, errors)),
    })
}

/// Mapping and filtering. What Linux cannot do is an error.
fn behaviour(fields: &Fields<'_>, errors: &mut Errors) -> [Dependence; 2] {
    const USUAL: [Dependence; 2] = [Nothing, AddressAndPort];
    let said = ["mapping", "filtering"].map(|key| fields.get(key));
    if let Some(kind) = fields.read("kind", |value| word(value, &KINDS), errors) {
        let twice = said.into_iter().flatten();
        errors.extend(twice.map(|value| value.error("`kind` says this, too: leave one of them out")));
        return kind;
    }
    let mapping = fields.read("mapping", |value| word(value, &WORDS), errors);
    let filtering = fields.read("filtering", |value| word(value, &WORDS), errors);
    if let (Some(Address), Some(place)) = (mapping, said[0]) {
        errors.push(place.error(
            "Linux chooses a port for each source or for each connection, not for each address of a destination: write \
             endpoint-independent or address-and-port-dependent",
        ));
    }
    let usual = mapping.unwrap_or(USUAL[0]);
    if let (AddressAndPort, Some(Nothing | Address), Some(place)) = (usual, filtering, said[1]) {
        errors.push(place.error(
            "with a port for each connection, Linux lets in what belongs to that connection and nothing else: write \
             address-and-port-dependent, or `mapping: endpoint-independent`",
        ));
    }
    [usual, filtering.unwrap_or(USUAL[1])]
}

fn forwards(node: &Node, errors: &mut Errors) -> Vec<ForwardSpec> {
    let mut found: Vec<ForwardSpec> = Vec::new();
    for item in list(node, errors) {
        let Some(one) = forward(item, errors) else { continue };
        let same = found.iter().find(|other| (other.port.value, other.is_udp) == (one.port.value, one.is_udp));
        match same {
            Some(first) => errors.push(
                one.port
                    .error(format!("port {} is forwarded twice: leave one out", one.port.value))
                    .and(first.port.span, "first here"),
            ),
            None => found.push(one),
        }
    }
    found
}

fn forward(node: &Node, errors: &mut Errors) -> Option<ForwardSpec> {
    let fields = Fields::open(node, &FORWARD, errors)?;
    let port = fields.read("port", |value| port(value).map(|port| value.spanned(port)), errors);
    let to = fields.read("to", target, errors);
    let is_udp = fields.read("protocol", |value| word(value, &[("tcp", false), ("udp", true)]), errors);
    let (port, (to, to_port)) = (port?, to?);
    Some(ForwardSpec { to_port: to_port.unwrap_or(port.value), port, to, is_udp: is_udp.unwrap_or(false) })
}

fn port(node: &Node) -> Result<u16, Diagnostic> {
    integer(node, 1, u64::from(u16::MAX)).map(|port| u16::try_from(port).unwrap_or(u16::MAX))
}

/// A node, and its port if that is said.
fn target(node: &Node) -> Result<(Spanned<String>, Option<u16>), Diagnostic> {
    let text = filled(node)?;
    let Some((name, port)) = text.split_once(':') else { return Ok((node.spanned(text), None)) };
    let port = port.parse().ok().filter(|port| *port > 0);
    let wrong = || node.error(format!("\"{text}\" is not a node and its port: write for example server:80"));
    port.map(|port| (node.spanned(name.to_owned()), Some(port))).ok_or_else(wrong)
}
