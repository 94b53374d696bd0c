//! `queue`: where packets wait.

use crate::decode::scalar::{quantity, word};
use crate::decode::{Errors, Fields, keep};
use crate::keys::{Key, Kind, Quantity, Section};
use crate::yaml::{Content, Node};
use netloom_link::{DEFAULT_LIMIT, QueueConfig};

pub(crate) const KEY: Key = Key::new(
    "queue",
    Kind::OneOf(&[Kind::Quantity(Quantity::Limit), Kind::Section(&QUEUE)]),
    "100 packets",
    "How much may wait for the transmitter: packets, bytes or a time. Default: 1000 packets.",
);

/// A queue.
const QUEUE: Section = Section {
    name: "queue",
    doc: "A queue.",
    groups: &[&[
        Key::new(
            "kind",
            Kind::Word(&["fifo"]),
            "fifo",
            "fifo: first in, first out; what finds it full is dropped. Default: fifo.",
        ),
        Key::new(
            "limit",
            Kind::Quantity(Quantity::Limit),
            "64 kB",
            "How much may wait: packets, bytes or a time. Default: 1000 packets.",
        ),
    ]],
};

/// Every form that it can take.
#[cfg(test)]
pub(crate) const EXAMPLES: &[&str] = &["50 ms", "{kind: fifo, limit: 64 kB}", "{limit: 7 packets}"];

pub(crate) fn decode(node: &Node, errors: &mut Errors) -> Option<QueueConfig> {
    if !matches!(node.content, Content::Map(_)) {
        return keep(quantity(node), errors).map(QueueConfig::DropTail);
    }
    let fields = Fields::open(node, &QUEUE, errors)?;
    fields.read("kind", |value| word(value, &[("fifo", ())]), errors);
    let limit = fields.read("limit", quantity, errors).unwrap_or(DEFAULT_LIMIT);
    Some(QueueConfig::DropTail(limit))
}

pub(crate) fn write(config: &QueueConfig) -> String {
    match config {
        QueueConfig::DropTail(limit) => limit.to_string(),
    }
}
