//! The tables of the services of networks.

use super::kinds::LINK_REFERENCE;
use super::{Key, Kind, Section};

/// Rules of a firewall: a file, or the rules themselves.
const RULES: Kind = Kind::Text("\\S");

/// The firewall of a node.
pub(crate) const FIREWALL: Kind = Kind::OneOf(&[RULES, Kind::Section(&IPTABLES)]);

/// A firewall as iptables has it.
pub(crate) const IPTABLES: Section = Section {
    name: "iptables",
    doc: "The rules of a node's firewall in the format of iptables-restore.",
    groups: &[&[
        Key::new("iptables", RULES, "\"*filter\\nCOMMIT\\n\"", "Those of IPv4: a path, or several lines."),
        Key::new("ip6tables", RULES, "\"*filter\\nCOMMIT\\n\"", "Those of IPv6: a path, or several lines."),
    ]],
};

const BEHAVIOUR: Kind = Kind::Word(&["endpoint-independent", "address-dependent", "address-and-port-dependent"]);

/// The address translation of a router.
pub(crate) const NAT: Section = Section {
    name: "nat",
    doc: "How a router translates addresses of IPv4.",
    groups: &[&[
        Key::new(
            "outside",
            Kind::OneOf(&[LINK_REFERENCE, Kind::List { items: &LINK_REFERENCE, least: 1, most: None }]),
            "access",
            "The link, or those, that lead outside: there the router's address takes the place of those behind it.",
        )
        .required(),
        Key::new(
            "mapping",
            BEHAVIOUR,
            "endpoint-independent",
            "When a sender keeps its port outside (RFC 4787): to all destinations, or to one address and port only. Default: \
             endpoint-independent.",
        ),
        Key::new(
            "filtering",
            BEHAVIOUR,
            "address-dependent",
            "Who may send to that port: anybody, an address that it has sent to, or an address and port. Default: \
             address-and-port-dependent.",
        ),
        Key::new(
            "kind",
            Kind::Word(&["full-cone", "restricted-cone", "port-restricted-cone", "symmetric"]),
            "full-cone",
            "Mapping and filtering together, by their older names.",
        ),
        Key::new(
            "forward",
            Kind::List { items: &Kind::Section(&FORWARD), least: 0, most: None },
            "[{port: 8080, to: 'server:80'}]",
            "Ports of the router's addresses outside that lead to nodes behind it.",
        ),
    ]],
};

/// A forwarded port.
pub(crate) const FORWARD: Section = Section {
    name: "forward",
    doc: "A port of a router that leads to a node behind it.",
    groups: &[&[
        Key::new("port", Kind::Integer { least: 1, most: 65535 }, "8080", "The port of the router.").required(),
        Key::new("to", Kind::Text("^[^:]+(:[1-9][0-9]*)?$"), "server:80", "The node, and its port if that is another.")
            .required(),
        Key::new("protocol", Kind::Word(&["tcp", "udp"]), "udp", "The protocol. Default: tcp."),
    ]],
};
