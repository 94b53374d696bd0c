//! `kind: pie`: proportional integral controller, enhanced.

use super::fifo::LIMIT;
use super::red::MEAN_PACKET;
use crate::errors::Errors;
use crate::fields::Fields;
use crate::keys::{DURATION_OR_ZERO, Key, Kind, Quantity, Section};
use crate::scalar::{duration, duration_or_zero, flag, quantity};
use netloom_link::{PieConfig, QueueConfig};

pub(crate) const SECTION: Section = Section {
    name: "queue_pie",
    doc: "Proportional integral controller, enhanced (RFC 8033).",
    groups: &[&[
        Key::new("kind", Kind::Word(&["pie"]), "pie", "Proportional integral controller, enhanced.").required(),
        LIMIT,
        TARGET,
        Key::new(
            "update",
            Kind::Quantity(Quantity::Duration),
            "15 ms",
            "The period at which the probability is updated, above 0. Default: 15 ms.",
        ),
        Key::new(
            "burst",
            DURATION_OR_ZERO,
            "150 ms",
            "For how long a burst passes without early drops after the queue was short. Default: 150 ms.",
        ),
        Key::new(
            "ecn",
            Kind::Flag,
            "true",
            "Whether packets are marked rather than dropped while the probability is below 10 %. Default: false.",
        ),
        Key::new(
            "byte_mode",
            Kind::Flag,
            "true",
            "Whether a packet's probability is in proportion to its size. Default: false.",
        ),
        MEAN_PACKET,
        Key::new(
            "derandomize",
            Kind::Flag,
            "true",
            "Whether drops are kept apart, as Linux does: none before the probabilities since the last one add up to 0.85. Default: false.",
        ),
    ]],
};

/// The delay to steer for, for two disciplines.
pub(super) const TARGET: Key = Key::new(
    "target",
    Kind::Quantity(Quantity::Duration),
    "15 ms",
    "The target of the queuing delay, above 0. Default: 15 ms.",
);

/// Every form that it can take.
pub(crate) const EXAMPLES: &[&str] = &[
    "{kind: pie}",
    "{kind: pie, limit: 200 packets, target: 20 ms, update: 30 ms, burst: 0, ecn: true}",
    "{kind: pie, burst: 100 ms, byte_mode: true, mean_packet: 1 kB, derandomize: true}",
];

pub(crate) fn decode(fields: &Fields<'_>, errors: &mut Errors) -> Option<QueueConfig> {
    let plain = PieConfig::default();
    Some(QueueConfig::Pie(PieConfig {
        limit: fields.read("limit", quantity, errors).unwrap_or(plain.limit),
        target: fields.read("target", duration, errors).unwrap_or(plain.target),
        update: fields.read("update", duration, errors).unwrap_or(plain.update),
        burst: fields.read("burst", duration_or_zero, errors).unwrap_or(plain.burst),
        ecn: fields.read("ecn", flag, errors).unwrap_or(plain.ecn),
        byte_mode: fields.read("byte_mode", flag, errors).unwrap_or(plain.byte_mode),
        mean_packet: fields.read("mean_packet", quantity, errors).unwrap_or(plain.mean_packet),
        derandomize: fields.read("derandomize", flag, errors).unwrap_or(plain.derandomize),
    }))
}

pub(crate) fn write(config: &PieConfig) -> String {
    let PieConfig { limit, target, update, burst, ecn, byte_mode, mean_packet, derandomize } = config;
    format!(
        "{{kind: pie, limit: {limit}, target: {target}, update: {update}, burst: {burst}, ecn: {ecn}, \
         byte_mode: {byte_mode}, mean_packet: {mean_packet}, derandomize: {derandomize}}}"
    )
}
