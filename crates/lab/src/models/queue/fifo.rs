//! `kind: fifo`: first in, first out.

use crate::errors::Errors;
use crate::fields::Fields;
use crate::keys::{Key, Kind, Quantity, Section};
use crate::scalar::{quantity, word};
use netloom_link::{DEFAULT_LIMIT, QueueConfig};
use netloom_units::Limit;

pub(crate) const SECTION: Section = Section {
    name: "queue_fifo",
    doc: "First in, first out.",
    groups: &[&[
        Key::new("kind", Kind::Word(&["fifo"]), "fifo", "First in, first out. Default: fifo."),
        LIMIT,
        Key::new(
            "drop",
            Kind::Word(&["tail", "head"]),
            "head",
            "Which packet is dropped when it is full: tail, the one that arrives; head, the one that waits longest. \
             Default: tail.",
        ),
    ]],
};

/// The limit of a discipline that has the usual default.
pub(super) const LIMIT: Key = Key::new(
    "limit",
    Kind::Quantity(Quantity::Limit),
    "64 kB",
    "How much may wait: packets, bytes or a time. Default: 1000 packets.",
);

/// Every form that it can take.
pub(crate) const EXAMPLES: &[&str] =
    &["50 ms", "{kind: fifo, limit: 64 kB}", "{limit: 7 packets}", "{kind: fifo, limit: 20 ms, drop: head}"];

pub(crate) fn decode(fields: &Fields<'_>, errors: &mut Errors) -> Option<QueueConfig> {
    let limit = fields.read("limit", quantity, errors).unwrap_or(DEFAULT_LIMIT);
    let from_head = fields.read("drop", |node| word(node, &[("tail", false), ("head", true)]), errors) == Some(true);
    Some(if from_head { QueueConfig::DropHead(limit) } else { QueueConfig::DropTail(limit) })
}

pub(crate) fn write(limit: &Limit) -> String {
    limit.to_string()
}

pub(crate) fn write_drop_head(limit: &Limit) -> String {
    format!("{{kind: fifo, limit: {limit}, drop: head}}")
}
