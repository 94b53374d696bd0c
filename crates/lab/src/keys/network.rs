//! The tables of links.

use super::daemons::AREA;
use super::kinds::{DURATION_OR_ZERO, NODE_REFERENCE};
use super::{ADDRESS, Key, Kind, LINK_NAME, MAC, Section};
use crate::models::{self, filter};

/// A link.
pub(crate) const LINK: Section = Section {
    name: "link",
    doc: "A link between nodes. Its direction forward is from the first end to the second.",
    groups: &[
        &[Key::new(
            "ends",
            Kind::List { items: &Kind::OneOf(&[NODE_REFERENCE, Kind::Section(&END)]), least: 2, most: None },
            "[client, {node: r1, address: 10.0.0.1/24}]",
            "The two nodes that it joins. With more than two it is a switch of its name, with a link of these settings to each \
             node, called for example lan-client; forward is then from the node to the switch. Or it is one `medium` for all.",
        )
        .required()],
        models::KEYS,
        PIPES,
        OF_LINKS,
    ],
};

/// The settings of links that are generated.
pub(crate) const SETTINGS: Section =
    Section { name: "settings", doc: "Settings of links.", groups: &[models::KEYS, PIPES, OF_LINKS] };

/// What a link has beside its ends and what its directions have.
const OF_LINKS: &[Key] = &[
    Key::new(
        "forward",
        Kind::Section(&DIRECTION),
        "{rate: 16 Mbit/s}",
        "What differs in the direction from the first end to the second.",
    ),
    Key::new(
        "backward",
        Kind::Section(&DIRECTION),
        "{rate: 1 Mbit/s}",
        "What differs in the direction from the second end to the first.",
    ),
    Key::new(
        "medium",
        Kind::Word(&["shared"]),
        "shared",
        "One medium for all ends, two or more: what one sends waits for it, takes time on it, and is heard by all others. \
         Its settings are those of the medium; there are no directions. Default: a pipe for each direction.",
    ),
    Key::new(
        "mtu",
        Kind::Integer { least: 68, most: 65_535 },
        "1500",
        "The largest IP packet in bytes, 68 to 65535; IPv6 needs 1280. Default: 1500.",
    ),
    Key::new(
        "coalesce",
        DURATION_OR_ZERO,
        "20 us",
        "Packets due within this time of one another may be delivered together, as a network card's interrupt \
     moderation does it; 0 turns it off. Default: 20 us.",
    ),
    Key::new(
        "cost",
        Kind::Integer { least: 1, most: 65_535 },
        "10",
        "The cost of the link for shortest-path routes, 1 to 65535. Default: 1.",
    ),
    Key::new(
        "area",
        AREA,
        "1",
        "The OSPF area of the link at routers with `ospf` or `ospf6`: a number, or written like 0.0.0.1. Default: 0.",
    ),
    Key::new(
        "addresses",
        ADDRESSES,
        "none",
        "Whether its ends get addresses that the file does not give: automatic or none. Default: as the lab's \
         `addresses`.",
    ),
    Key::new(
        "vlans",
        Kind::OneOf(&[VLAN, Kind::Section(&VLANS)]),
        "10",
        "The VLANs that it carries between switches, or between a switch and a node: a number, whose frames have no tag \
         here, or a trunk. Default: what is not tagged belongs to VLAN 1 at switches that have VLANs.",
    ),
    Key::new(
        "bypass",
        Kind::OneOf(&[Kind::Flag, Kind::Word(&["auto"])]),
        "auto",
        "Whether it is joined in the kernel, past the engine, which then measures nothing of it: true, false, or \
         auto, if nothing about it needs the engine. Default: as the lab's `bypass`.",
    ),
];

/// The number of a VLAN.
const VLAN: Kind = Kind::Integer { least: 1, most: 4_094 };

/// A link that carries several VLANs.
pub(crate) const VLANS: Section = Section {
    name: "vlans",
    doc: "A trunk: a link that carries several VLANs, whose frames bear tags.",
    groups: &[&[
        Key::new(
            "trunk",
            Kind::OneOf(&[Kind::Word(&["all"]), Kind::List { items: &VLAN, least: 0, most: None }]),
            "[10, 20]",
            "The VLANs whose frames bear a tag here, or all that the lab file names.",
        )
        .required(),
        Key::new(
            "native",
            Kind::OneOf(&[VLAN, Kind::Word(&["none"])]),
            "99",
            "The VLAN of frames without a tag, or none: they are dropped. Default: 1.",
        ),
    ]],
};

/// Where addresses come from.
pub(crate) const ADDRESSING: Section = Section {
    name: "addresses",
    doc: "Where automatic addresses come from.",
    groups: &[&[
        Key::new(
            "ipv4",
            Kind::OneOf(&[Kind::Word(&["none"]), Kind::Text("^[0-9.]+/[0-9]{1,2}$")]),
            "172.16.0.0/12",
            "The prefix of IPv4 subnets, or none: no IPv4. Default: 10.0.0.0/8.",
        ),
        Key::new(
            "ipv6",
            Kind::OneOf(&[Kind::Word(&["none"]), Kind::Text("^[0-9a-fA-F:.]+/[0-9]{1,3}$")]),
            "fd00::/48",
            "The prefix of IPv6 subnets, or none: no IPv6. Default: fd00:6e6c::/32.",
        ),
        Key::new(
            "point_to_point",
            Kind::Flag,
            "true",
            "Whether links between two nodes have a /31 and a /127 instead of a /30 and a /64. Default: false.",
        ),
    ]],
};

/// Who gives addresses.
pub(super) const ADDRESSES: Kind = Kind::Word(&["automatic", "none"]);

/// One direction of a link.
pub(crate) const DIRECTION: Section =
    Section { name: "direction", doc: "The settings of one direction of a link.", groups: &[models::KEYS, PIPES] };

const PIPES: &[Key] = &[Key::new(
    "pipes",
    Kind::Map { names: LINK_NAME, values: &Kind::Section(&TREATMENT) },
    "{far: {match: {to: 10.0.9.0/24}, delay: 100 ms}}",
    "Further pipes for some of the traffic, by name: the first whose `match` holds takes a packet.",
)];

/// A further pipe.
pub(crate) const TREATMENT: Section = Section {
    name: "pipe",
    doc: "A pipe for some of the traffic of a direction. Keys that it does not have are as in that direction.",
    groups: &[
        &[Key::new("match", Kind::Section(&filter::SECTION), "{to: 10.0.9.0/24}", "Which packets enter it.")
            .required()],
        models::KEYS,
    ],
};

const END_ADDRESS: Kind = Kind::OneOf(&[Kind::Text(ADDRESS), Kind::Word(&["dhcp"])]);

/// An end of a link.
pub(crate) const END: Section = Section {
    name: "end",
    doc: "An end of a link, with settings that are otherwise chosen automatically.",
    groups: &[&[
        Key::new("node", NODE_REFERENCE, "r1", "The node.").required(),
        Key::new(
            "interface",
            Kind::Text("^[a-zA-Z0-9_.-]{1,15}$"),
            "wan0",
            "The interface's name in the node, at most 15 characters. Default: eth0, eth1 and so on.",
        ),
        Key::new(
            "address",
            Kind::OneOf(&[END_ADDRESS, Kind::List { items: &END_ADDRESS, least: 1, most: None }]),
            "[10.0.0.1/24, \"fd00::1/64\"]",
            "Its address with the prefix length, or several; dhcp, if it comes from a server. Replaces the automatic address of that \
             family.",
        ),
        Key::new("mac", Kind::Text(MAC), "\"02:00:00:00:00:01\"", "Its hardware address."),
    ]],
};
