//! `queue`: where packets wait. One module per discipline, and the choice between them.

pub(crate) mod codel;
mod divided;
pub(crate) mod drr;
pub(crate) mod dual_pi2;
pub(crate) mod fifo;
pub(crate) mod fq_codel;
pub(crate) mod pie;
pub(crate) mod priority;
pub(crate) mod red;
pub(crate) mod wf2q;

use crate::diagnostics::Diagnostic;
use crate::errors::{Errors, keep};
use crate::fields::Fields;
use crate::keys::{Key, Kind, Quantity, Section};
use crate::scalar::quantity;
use crate::yaml::{Content, Entry, Node};
use netloom_link::{ConfigError, QueueConfig};

pub(crate) const KEY: Key = Key::new(
    "queue",
    Kind::OneOf(&[
        Kind::Quantity(Quantity::Limit),
        Kind::Section(&fifo::SECTION),
        Kind::Section(&red::SECTION),
        Kind::Section(&pie::SECTION),
        Kind::Section(&dual_pi2::SECTION),
        Kind::Section(&codel::SECTION),
        Kind::Section(&fq_codel::SECTION),
        Kind::Section(&drr::SECTION),
        Kind::Section(&wf2q::SECTION),
        Kind::Section(&priority::SECTION),
    ]),
    "100 packets",
    "How much may wait for the transmitter: packets, bytes or a time; or a map with the discipline as its `kind`. \
     Default: 1000 packets.",
);

/// What `kind` can be.
const KINDS: &[(&str, &Section)] = &[
    ("fifo", &fifo::SECTION),
    ("red", &red::SECTION),
    ("pie", &pie::SECTION),
    ("dualpi2", &dual_pi2::SECTION),
    ("codel", &codel::SECTION),
    ("fq_codel", &fq_codel::SECTION),
    ("drr", &drr::SECTION),
    ("wf2q", &wf2q::SECTION),
    ("priority", &priority::SECTION),
];

pub(crate) fn decode(node: &Node, errors: &mut Errors) -> Option<QueueConfig> {
    let Content::Map(entries) = &node.content else {
        return keep(quantity(node), errors).map(QueueConfig::DropTail);
    };
    let before = errors.len();
    let config = decode_kind(node, entries, errors)?;
    // What could not be read was left out, and what is left may make no sense without it.
    if errors.len() == before {
        keep(config.check().map_err(|wrong| place(node, entries, &wrong)), errors)?;
    }
    Some(config)
}

fn decode_kind(node: &Node, entries: &[Entry], errors: &mut Errors) -> Option<QueueConfig> {
    if !entries.iter().any(|entry| entry.name == "kind") {
        let fields = Fields::open(node, &fifo::SECTION, errors)?;
        return fifo::decode(&fields, errors);
    }
    let (kind, fields) = Fields::open_kind(node, KINDS, errors)?;
    match kind {
        "fifo" => fifo::decode(&fields, errors),
        "red" => red::decode(&fields, errors),
        "pie" => pie::decode(&fields, errors),
        "dualpi2" => dual_pi2::decode(&fields, errors),
        "codel" => codel::decode(&fields, errors),
        "fq_codel" => fq_codel::decode(&fields, errors),
        "drr" => drr::decode(&fields, errors),
        "wf2q" => wf2q::decode(&fields, errors),
        "priority" => priority::decode(&fields, errors),
        other => unreachable!("{other} is one of the kinds"),
    }
}

/// The error at the key that it is about, or at the whole map if that is not written.
fn place(node: &Node, entries: &[Entry], wrong: &ConfigError) -> Diagnostic {
    let entry = entries.iter().find(|entry| entry.name == wrong.key);
    entry.map_or_else(|| node.error(wrong.to_string()), |entry| entry.value.error(wrong.message.clone()))
}

pub(crate) fn write(config: &QueueConfig) -> String {
    match config {
        QueueConfig::DropTail(limit) => fifo::write(limit),
        QueueConfig::DropHead(limit) => fifo::write_drop_head(limit),
        QueueConfig::Red(config) => red::write(config),
        QueueConfig::Pie(config) => pie::write(config),
        QueueConfig::DualPi2(config) => dual_pi2::write(config),
        QueueConfig::Codel(config) => codel::write(config),
        QueueConfig::FqCodel(config) => fq_codel::write(config),
        QueueConfig::Drr(config) => drr::write(config),
        QueueConfig::Wf2q(division) => wf2q::write(division),
        QueueConfig::Priority(classes) => priority::write(classes),
    }
}
