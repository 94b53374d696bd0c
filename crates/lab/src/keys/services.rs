//! The tables of the services of networks.

use super::kinds::{DURATION, LINK_REFERENCE};
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

/// An IPv4 address.
const V4: Kind = Kind::Text("^[0-9]{1,3}(\\.[0-9]{1,3}){3}$");
/// A node, an address, or nobody.
const TARGET: Kind = Kind::Text("^[a-zA-Z0-9.-]{1,31}$");

/// In which names are looked for.
const DOMAIN: Key = Key::new(
    "domain",
    Kind::Text("^[a-zA-Z0-9][a-zA-Z0-9.-]{0,62}$"),
    "home",
    "The domain of the lab's names, in which those who ask look for names without a dot. Default: none.",
);

/// The name server of a node.
pub(crate) const DNS: Section =
    Section { name: "dns", doc: "A node's name server, which knows the names of the lab.", groups: &[&[DOMAIN]] };

/// The DHCP server of a node.
pub(crate) const DHCP: Section = Section {
    name: "dhcp",
    doc: "A node's DHCP server, which answers questions for names, too.",
    groups: &[&[
        Key::new(
            "links",
            Kind::OneOf(&[LINK_REFERENCE, Kind::List { items: &LINK_REFERENCE, least: 1, most: None }]),
            "lan",
            "The link, or those, that it serves. Default: those of its links where somebody asks.",
        ),
        Key::new(
            "reserve",
            Kind::Flag,
            "false",
            "Whether each node of the lab that asks gets the address that the plan has for it. Default: true; else it gets any \
             of the range, and has no name in /etc/hosts.",
        ),
        Key::new(
            "range",
            Kind::List { items: &V4, least: 2, most: Some(2) },
            "[10.0.0.4, 10.0.0.6]",
            "The first and the last address for those who have none reserved. Default: none; without `reserve` all addresses \
             of the subnet that no other node has.",
        ),
        Key::new("lease", DURATION, "10 min", "For how long an address is lent: 2 min or more. Default: 1 h."),
        Key::new(
            "advertise",
            Kind::Flag,
            "true",
            "Whether a router advertises itself and its prefix of IPv6, too, so that its clients get their addresses and their default \
             route of IPv6 from that (SLAAC, RFC 4862). Default: false.",
        ),
        Key::new(
            "router",
            TARGET,
            "r1",
            "The router that clients are told of: a node, an address, or none. Default: the routes that the plan has for each.",
        ),
        Key::new(
            "dns",
            TARGET,
            "none",
            "The name server that clients are told of: a node, an address, or none. Default: this node.",
        ),
        DOMAIN,
    ]],
};
