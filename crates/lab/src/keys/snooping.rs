//! The tables of multicast at switches.

use super::kinds::{DURATION, LINK_REFERENCE};
use super::{Key, Kind, Section};

/// Links, by their names.
const LINKS: Kind = Kind::List { items: &LINK_REFERENCE, least: 0, most: None };

/// `snooping` of a switch.
pub(crate) const SNOOPING: Section = Section {
    name: "snooping",
    doc: "How a switch looks at groups of multicast (RFC 4541).",
    groups: &[&[
        Key::new(
            "querier",
            Kind::OneOf(&[Kind::Flag, Kind::Section(&QUERIER)]),
            "{address: 10.0.0.254}",
            "Whether the switch asks hosts which groups they want, where nobody with a lower address does; or how. Where nobody asks, \
             multicast goes everywhere. Default: true.",
        ),
        Key::new(
            "interval",
            DURATION,
            "30 s",
            "How often hosts are asked: whole seconds, 1 s to 3600 s. Default: 125 s.",
        ),
        Key::new(
            "response",
            DURATION,
            "5 s",
            "How long hosts may take to answer: whole tenths of a second, 100 ms to 12.7 s, and less than `interval`. Default: 10 s.",
        ),
        Key::new(
            "robustness",
            Kind::Integer { least: 1, most: 7 },
            "3",
            "How often what may be lost is said, 1 to 7. A membership counts for `robustness` times `interval`, and `response`. Default: 2.",
        ),
        Key::new(
            "last_member",
            DURATION,
            "500 ms",
            "How long hosts may take to say that they stay when another has left: whole tenths of a second, 100 ms to 12.7 s. It is asked \
             `robustness` times. Default: 1 s.",
        ),
        Key::new(
            "fast_leave",
            Kind::OneOf(&[Kind::Flag, LINKS]),
            "[uplink]",
            "Whether a host that leaves a group is taken to be the last behind its port, at all ports or at those of these links. \
             Default: false.",
        ),
        Key::new(
            "routers",
            LINKS,
            "[uplink]",
            "The links that are taken to lead to a multicast router, and so carry all multicast. Routers that are heard and transit routers \
             need no entry.",
        ),
        Key::new(
            "groups",
            Kind::Integer { least: 1, most: 65_536 },
            "256",
            "How many groups the switch knows at most, 1 to 65536; what is for others goes everywhere. Default: 4096.",
        ),
    ]],
};

/// `querier` of it.
pub(crate) const QUERIER: Section = Section {
    name: "querier",
    doc: "How a switch asks hosts which groups they want.",
    groups: &[&[
        Key::new(
            "address",
            Kind::Text("^[0-9.]+$"),
            "10.0.0.254",
            "The address of IPv4 that its queries come from. The lowest one on a LAN is elected, and 0.0.0.0 by nobody. Default: one of \
             169.254.0.0/16 that is made of its hardware address, as that of IPv6 is of fe80::/10.",
        ),
        Key::new(
            "igmp",
            Kind::Integer { least: 2, most: 3 },
            "2",
            "The version of IGMP in which it asks, 2 or 3. Default: 3.",
        ),
        Key::new(
            "mld",
            Kind::Integer { least: 1, most: 2 },
            "1",
            "The version of MLD in which it asks, 1 or 2. Default: 2.",
        ),
    ]],
};
