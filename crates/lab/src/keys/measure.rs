//! The table of what is measured inside nodes, and of links.

use super::kinds::DURATION;
use super::{Key, Kind, Section};

/// `measure`, of the lab.
pub(super) const MEASURE_KIND: Kind = Kind::Section(&MEASURE);
/// `measure`, of a node.
pub(super) const NODE_MEASURE_KIND: Kind = Kind::Section(&NODE_MEASURE);

/// What is measured.
pub(crate) const MEASURE: Section = Section {
    name: "measure",
    doc: "What is measured inside nodes, and of links, while a run goes on.",
    groups: &[OF_LINKS, OF_NODES],
};

/// What is measured in a node.
pub(crate) const NODE_MEASURE: Section =
    Section { name: "node_measure", doc: "What is measured inside a node while a run goes on.", groups: &[OF_NODES] };

const OF_LINKS: &[Key] = &[Key::new(
    "pipes",
    DURATION,
    "10 ms",
    "How often all directions of links are sampled, 100 us to 10 s; it goes to samples.csv, which then has quantiles of delays, \
     too. Default: ten times a second, without delays.",
)];

const OF_NODES: &[Key] = &[
    Key::new(
        "tcp",
        DURATION,
        "10 ms",
        "How often the state of all TCP connections is sampled, 1 ms and above; it goes to tcp.csv. Default: never.",
    ),
    Key::new(
        "node",
        DURATION,
        "100 ms",
        "How often processor time, memory and packets that the node itself dropped are sampled, 1 ms and above; it goes to \
         nodes.csv. Default: never.",
    ),
    Key::new(
        "tls_keys",
        Kind::Flag,
        "true",
        "Whether programs are told by SSLKEYLOGFILE to write down the keys of their TLS connections, which are \
         collected. Default: false.",
    ),
    Key::new(
        "qlog",
        Kind::Flag,
        "true",
        "Whether programs are told by QLOGDIR to write qlog files of their QUIC connections, which are collected. \
         Default: false.",
    ),
];
