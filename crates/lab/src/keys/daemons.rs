//! The tables of routing daemons.

use super::kinds::DURATION;
use super::{Key, Kind, Section};

/// What a router speaks.
pub(crate) const DAEMONS: Kind = Kind::List {
    items: &Kind::Word(&["ospf", "ospf6", "rip", "ripng", "bgp", "isis", "pim", "ldp", "bfd", "static"]),
    least: 1,
    most: None,
};

/// The configuration of a routing daemon.
pub(crate) const CONFIGURATION: Kind = Kind::OneOf(&[Kind::Text("\\S"), Kind::Section(&DAEMON_FILE)]);

/// The area of a link.
pub(crate) const AREA: Kind =
    Kind::OneOf(&[Kind::Integer { least: 0, most: u32::MAX as u64 }, Kind::Text("^[0-9]+([.][0-9]+){3}$")]);

/// A configuration that is no file of this machine.
pub(crate) const DAEMON_FILE: Section = Section {
    name: "configuration",
    doc: "The configuration of a router's daemons.",
    groups: &[&[Key::new("text", Kind::Scalar, "router ospf", "The configuration itself.").required()]],
};

/// What time zero waits for.
pub(crate) const CONVERGED: Section = Section {
    name: "convergence",
    doc: "What time zero waits for, and how long.",
    groups: &[&[Key::new(
        "converged",
        DURATION,
        "30 s",
        "Time zero waits until every router has the routes that its daemons bring; after this time the run fails.",
    )
    .required()]],
};
