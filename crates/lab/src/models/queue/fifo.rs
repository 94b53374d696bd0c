//! `kind: fifo`: first in, first out.

use crate::decode::scalar::quantity;
use crate::decode::{Errors, Fields};
use crate::keys::{Key, Kind, Quantity, Section};
use netloom_link::{DEFAULT_LIMIT, QueueConfig};
use netloom_units::Limit;

pub(crate) const SECTION: Section = Section {
    name: "queue_fifo",
    doc: "First in, first out; what finds it full is dropped.",
    groups: &[&[
        Key::new("kind", Kind::Word(&["fifo"]), "fifo", "First in, first out. Default: fifo."),
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

pub(crate) fn decode(fields: &Fields<'_>, errors: &mut Errors) -> Option<QueueConfig> {
    let limit = fields.read("limit", quantity, errors).unwrap_or(DEFAULT_LIMIT);
    Some(QueueConfig::DropTail(limit))
}

pub(crate) fn write(limit: &Limit) -> String {
    limit.to_string()
}
