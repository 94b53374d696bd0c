//! The table of policy routes.

use super::kinds::LINK_REFERENCE;
use super::{Key, Kind, Section};

/// `rules` of a node.
pub(super) const RULES: Kind = Kind::List { items: &Kind::Section(&RULE), least: 0, most: None };

const PREFIX: Kind = Kind::Text("^[0-9a-fA-F.:]+(/[0-9]{1,3})?$");

/// A policy route.
pub(crate) const RULE: Section = Section {
    name: "rule",
    doc: "Which packets take which way, before the node's other routes are looked at.",
    groups: &[&[
        Key::new("from", PREFIX, "10.0.0.1", "The source of the packets: an address, or a prefix. Default: any."),
        Key::new("to", PREFIX, "10.9.0.0/16", "Their destination: an address, or a prefix. Default: any."),
        Key::new(
            "iif",
            LINK_REFERENCE,
            "lan",
            "The link by which they come to the node. Default: any, or its own programs.",
        ),
        Key::new(
            "fwmark",
            Kind::Integer { least: 1, most: u32::MAX as u64 },
            "7",
            "The mark that a firewall or a program (SO_MARK) has put on them, 1 to 4294967295. Default: any.",
        ),
        Key::new("via", Kind::Text("^[0-9a-fA-F.:]+$"), "10.0.0.2", "The address of the neighbour to which they go."),
        Key::new("link", LINK_REFERENCE, "uplink", "Instead: the link by which they go, to the router there."),
        Key::new(
            "table",
            Kind::Integer { least: 1, most: u32::MAX as u64 },
            "200",
            "Instead: the number of a table that you fill, with `ip route add ... table 200` in `setup` for example.",
        ),
    ]],
};
