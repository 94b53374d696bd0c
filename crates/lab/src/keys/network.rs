//! The tables of links.

use crate::decode::daemons::Area;
use crate::decode::end::Ends;
use crate::decode::vlans::CarriedVlans;
use crate::decode::wifi::Medium;
use crate::diagnostics::Diagnostic;
use crate::forms::{OrZero, Placed, Whole, forms, word_form};
use crate::keyed::{Keyed, sections};
use crate::kinds::LINK_NAME;
use crate::models::{self, filter::Sharing};
use crate::profiles::PROFILE_NAMES;
use crate::scalar::word;
use crate::section::{Kind, Section, keys};
use crate::spec::BypassSpec;
use crate::yaml::Node;
use netloom_units::Duration;

sections! {
    /// A link between nodes. Its direction forward is from the first end to the second.
    pub(crate) struct LinkKeys = "link" {
        /// The two nodes that it joins. With more than two it is a switch of its name, with a link of these settings to each node, called
        /// for example lan-client; forward is then from the node to the switch. Or it is one `medium` for all.
        ends: Ends, required "[client, {node: r1, address: 10.0.0.1/24}]";
        ..models::KEYS;
        ..PIPES;
        ..LinkSettings::SECTION;
    }

    /// Settings of links.
    pub(crate) const SETTINGS = "settings" {
        ..models::KEYS;
        ..PIPES;
        ..LinkSettings::SECTION;
    }

    /// What a link has beside its ends and what its directions have.
    pub(crate) struct LinkSettings = "" {
        /// A typical link by name, whose keys hold where no other key says something else. The first end is the user's: forward is the
        /// uplink. Default: none.
        profile = Kind::Word(&PROFILE_NAMES), "starlink";
        /// What differs in the direction from the first end to the second.
        forward = Kind::Section(&DIRECTION), "{rate: 16 Mbit/s}";
        /// What differs in the direction from the second end to the first.
        backward = Kind::Section(&DIRECTION), "{rate: 1 Mbit/s}";
        /// One medium for all ends, two or more: what one sends waits for it, takes time on it, and is heard by all others. Its settings are
        /// those of the medium; there are no directions. Or a radio medium, for which its ends contend. Default: a pipe for each direction.
        medium: Placed<Medium>, "shared";
        /// The largest IP packet in bytes, 68 to 65535; IPv6 needs 1280. Default: 1500.
        mtu: Whole<u32, 68, 65_535>, "1500";
        /// Packets due within this time of one another may be delivered together, as a network card's interrupt moderation does it; 0 turns it
        /// off. Default: 20 us.
        coalesce: OrZero<Duration>, "20 us";
        /// The cost of the link for shortest-path routes, 1 to 65535. Default: 1.
        cost: Whole<u32, 1, 65_535>, "10";
        /// The OSPF area of the link at routers with `ospf` or `ospf6`: a number, or written like 0.0.0.1. Default: 0.
        area: Area, "1";
        /// Whether its ends get addresses that the file does not give: automatic or none. Default: as the lab's `addresses`.
        addresses: Addressed, "none";
        /// The VLANs that it carries between switches, or between a switch and a node: a number, whose frames have no tag here, or a trunk.
        /// Default: what is not tagged belongs to VLAN 1 at switches that have VLANs.
        vlans: CarriedVlans, "10";
        /// Whether it is joined in the kernel, past the engine, which then measures nothing of it: true, false, or auto, if nothing about it
        /// needs the engine. Default: as the lab's `bypass`.
        bypass: Placed<JoinedInKernel>, "auto";
    }

    /// Where automatic addresses come from.
    pub(crate) const ADDRESSING = "addresses" {
        /// The prefix of IPv4 subnets, or none: no IPv4. Default: 10.0.0.0/8.
        ipv4 = Kind::OneOf(&[Kind::Word(&["none"]), Kind::Text("^[0-9.]+/[0-9]{1,2}$")]), "172.16.0.0/12";
        /// The prefix of IPv6 subnets, or none: no IPv6. Default: fd00:6e6c::/32.
        ipv6 = Kind::OneOf(&[Kind::Word(&["none"]), Kind::Text("^[0-9a-fA-F:.]+/[0-9]{1,3}$")]), "fd00::/48";
        /// Whether links between two nodes have a /31 and a /127 instead of a /30 and a /64. Default: false.
        point_to_point: bool, "true";
    }
}

forms! {
    /// Whether a link is joined in the kernel.
    pub(crate) struct JoinedInKernel = BypassSpec, Kind::OneOf(&[Kind::Flag, Kind::Word(&["auto"])]), bypass;
}

fn bypass(node: &Node) -> Result<BypassSpec, Diagnostic> {
    word(node, &[("true", BypassSpec::Always), ("false", BypassSpec::Never), ("auto", BypassSpec::Possible)])
}

word_form! {
    /// Whether ends get addresses that they are not given.
    pub(crate) struct Addressed = bool { "automatic" = true, "none" = false }
}

sections! {
    /// The settings of one direction of a link.
    pub(crate) const DIRECTION = "direction" {
        ..models::KEYS;
        ..PIPES;
    }
}

const PIPES: Section = keys! {
    /// Further pipes for some of the traffic, by name: the first whose `match` holds takes a packet.
    pipes = Kind::Map { names: LINK_NAME, values: &Kind::Section(&TREATMENT) }, "{far: {match: {to: 10.0.9.0/24}, delay: 100 ms}}";
};

sections! {
    /// A pipe for some of the traffic of a direction. Keys that it does not have are as in that direction.
    pub(crate) const TREATMENT = "pipe" {
        /// Which packets enter it.
        match: Sharing, required "{to: 10.0.9.0/24}";
        ..models::KEYS;
    }
}
