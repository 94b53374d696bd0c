//! The table of what is measured inside nodes.

use super::kinds::DURATION;
use super::{Key, Kind, Section};

/// `measure`, of the lab and of a node.
pub(super) const MEASURE_KIND: Kind = Kind::Section(&MEASURE);

/// What is measured.
pub(crate) const MEASURE: Section = Section {
    name: "measure",
    doc: "What is measured inside nodes while a run goes on.",
    groups: &[&[
        Key::new(
            "tcp",
            DURATION,
            "10 ms",
            "How often the state of all TCP connections is sampled, 1 ms and above; it goes to tcp.csv. Default: never.",
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
    ]],
};
