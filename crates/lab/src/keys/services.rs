//! The tables of the services of networks.

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
