//! The table of multicast trees.

use super::kinds::NODE_REFERENCE;
use super::{Key, Kind, Section};

/// `multicast` of the lab.
pub(super) const MULTICAST_LIST: Kind = Kind::List { items: &Kind::Section(&MULTICAST), least: 0, most: None };

/// A tree.
pub(crate) const MULTICAST: Section = Section {
    name: "multicast",
    doc: "A group, who sends to it, and who receives.",
    groups: &[&[
        Key::new(
            "group",
            Kind::Text("^[0-9a-fA-F.:]+$"),
            "239.1.2.3",
            "The address of the group: of IPv4 from 224.0.1.0 to 239.255.255.255, of IPv6 with a scope beyond the link, as ff3e::1.",
        )
        .required(),
        Key::new("from", NODE_REFERENCE, "server", "The host or router that sends to the group.").required(),
        Key::new(
            "to",
            Kind::List { items: &NODE_REFERENCE, least: 1, most: None },
            "[a, b]",
            "The hosts and routers that receive: a shortest path leads to each, along which transit routers pass packets on.",
        )
        .required(),
    ]],
};
