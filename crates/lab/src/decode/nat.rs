//! Address translation in routers.

use crate::diagnostics::{Diagnostic, Spanned};
use crate::errors::Errors;
use crate::fields::{Fields, list};
use crate::forms::{LinkName, OneOrMore, Placed, Whole, Word, forms, word_form};
use crate::keyed::{Keyed, sections};
use crate::plan::NodeKind;
use crate::scalar::filled;
use crate::section::{Form, Kind};
use crate::spec::{Dependence, ForwardSpec, NatSpec};
use crate::words::words;
use crate::yaml::Node;
use Dependence::{Address, AddressAndPort, Nothing};

words!(Dependence { "endpoint-independent" = Nothing, "address-dependent" = Address, "address-and-port-dependent" = AddressAndPort });

words!([Dependence; 2] {
    "full-cone" = [Nothing, Nothing],
    "restricted-cone" = [Nothing, Address],
    "port-restricted-cone" = [Nothing, AddressAndPort],
    "symmetric" = [AddressAndPort, AddressAndPort],
});

word_form! {
    /// Whether a forwarded port is of UDP.
    pub(crate) struct IsUdp = bool { "tcp" = false, "udp" = true }
}

type Port = Whole<u16, 1, 65_535>;

forms! {
    /// A node, and its port if that is said.
    pub(crate) struct Target = (Spanned<String>, Option<u16>), Kind::Text("^[^:]+(:[1-9][0-9]*)?$"), target;
}

sections! {
    /// How a router translates addresses of IPv4.
    pub(crate) struct Nat = "nat" {
        /// The link, or those, that lead outside: there the router's address takes the place of those behind it.
        outside = OneOrMore::<LinkName>::KIND, required "access";
        /// When a sender keeps its port outside (RFC 4787): to all destinations, or to one address and port only. Default:
        /// endpoint-independent.
        mapping : Word<Dependence>, "endpoint-independent";
        /// Who may send to that port: anybody, an address that it has sent to, or an address and port. Default: address-and-port-dependent.
        filtering : Word<Dependence>, "address-dependent";
        /// Mapping and filtering together, by their older names.
        kind: Word<[Dependence; 2]>, "full-cone";
        /// Ports of the router's addresses outside that lead to nodes behind it.
        forward = Kind::list(&Forward::KIND, 0), "[{port: 8080, to: 'server:80'}]";
    }

    /// A port of a router that leads to a node behind it.
    pub(crate) struct Forward = "forward" {
        /// The port of the router.
        port: Placed<Port>, required "8080";
        /// The node, and its port if that is another.
        to: Target, required "server:80";
        /// The protocol. Default: tcp.
        protocol: IsUdp, "udp";
    }
}

/// The translation of a node among its keys; none after an error was noted.
pub(super) fn nat(node: &Node, kind: NodeKind, has_daemons: bool, errors: &mut Errors) -> Option<NatSpec> {
    if kind == NodeKind::Internet {
        // It was noted with all else that it cannot have.
        return None;
    }
    if kind != NodeKind::Router {
        let what = kind.title();
        return errors
            .reject(node.error(format!("only routers have `nat`, and this is a {what}: write `kind: router`")));
    }
    if has_daemons {
        return errors.reject(node.error(
            "the daemons would announce outside what is behind the translation: let a router of its own translate",
        ));
    }
    let fields = Fields::open(node, &Nat::SECTION, errors)?;
    let outside = fields.get("outside")?;
    let links = outside.items();
    if links.is_empty() {
        errors.push(outside.error("no link is listed: name the one, or those, that lead outside"));
    }
    let [mapping, filtering] = behaviour(&fields, errors);
    Some(NatSpec {
        place: node.spanned(()),
        outside: links.iter().filter_map(|link| LinkName::read(link, errors)).collect(),
        mapping,
        filtering,
        forward: fields.get("forward").map_or_else(Vec::new, |value| forwards(value, errors)),
    })
}

/// Mapping and filtering. What Linux cannot do is an error.
fn behaviour(fields: &Fields<'_>, errors: &mut Errors) -> [Dependence; 2] {
    const USUAL: [Dependence; 2] = [Nothing, AddressAndPort];
    let said = ["mapping", "filtering"].map(|key| fields.get(key));
    let keys = Nat::read_keys(fields, errors);
    if let Some(kind) = keys.as_ref().and_then(|keys| keys.kind) {
        let twice = said.into_iter().flatten();
        errors.extend(twice.map(|value| value.error("`kind` says this, too: leave one of them out")));
        return kind;
    }
    let (mapping, filtering) = keys.map_or((None, None), |keys| (keys.mapping, keys.filtering));
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
    let Forward { port, to: (to, to_port), protocol } = Forward::open(node, errors)?;
    Some(ForwardSpec { to_port: to_port.unwrap_or(port.value), port, to, is_udp: protocol.unwrap_or(false) })
}

/// A node, and its port if that is said.
fn target(node: &Node) -> Result<(Spanned<String>, Option<u16>), Diagnostic> {
    let text = filled(node)?;
    let Some((name, port)) = text.split_once(':') else { return Ok((node.spanned(text), None)) };
    let port = port.parse().ok().filter(|port| *port > 0);
    let wrong = || node.error(format!("\"{text}\" is not a node and its port: write for example server:80"));
    port.map(|port| (node.spanned(name.to_owned()), Some(port))).ok_or_else(wrong)
}
