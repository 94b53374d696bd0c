//! `kind: red`: random early detection.

use super::fifo::LIMIT;
use crate::errors::Errors;
use crate::fields::Fields;
use crate::keys::{Key, Kind, Quantity, Section};
use crate::scalar::{flag, probability, quantity};
use netloom_link::{QueueConfig, RedConfig};

pub(crate) const SECTION: Section = Section {
    name: "queue_red",
    doc: "Random early detection (Floyd and Jacobson 1993).",
    groups: &[&[
        Key::new("kind", Kind::Word(&["red"]), "red", "Random early detection.").required(),
        LIMIT,
        Key::new(
            "min",
            Kind::Quantity(Quantity::Limit),
            "5 packets",
            "From this average length on some packets are dropped: packets or bytes. Default: 5 packets.",
        ),
        Key::new(
            "max",
            Kind::Quantity(Quantity::Limit),
            "15 packets",
            "From this average length on all packets are dropped: above min, in its unit. Default: 15 packets.",
        ),
        Key::new(
            "probability",
            Kind::Quantity(Quantity::Probability),
            "2 %",
            "With which probability packets are dropped just below max, above 0. Default: 2 %.",
        ),
        Key::new(
            "weight",
            Kind::Quantity(Quantity::Probability),
            "0.2 %",
            "The weight of each new sample in the average, above 0. Default: 0.2 %.",
        ),
        Key::new(
            "gentle",
            Kind::Flag,
            "true",
            "Whether the probability rises on from max to twice max, up to 100 %. Default: false.",
        ),
        Key::new(
            "ecn",
            Kind::Flag,
            "true",
            "Whether packets below max are marked rather than dropped, if their sender understands. Default: false.",
        ),
        Key::new(
            "hard_drop",
            Kind::Flag,
            "false",
            "Whether packets at or above max are dropped even with ecn (RFC 3168); false marks them, as Linux does. Default: true.",
        ),
        Key::new(
            "byte_mode",
            Kind::Flag,
            "true",
            "Whether a packet's probability is in proportion to its size. Default: false.",
        ),
        Key::new(
            "wait",
            Kind::Flag,
            "true",
            "Whether at least 1/p packets pass between two early drops, p being the probability, as in ns-2. Default: false.",
        ),
        MEAN_PACKET,
    ]],
};

/// The typical packet, for two disciplines.
pub(super) const MEAN_PACKET: Key = Key::new(
    "mean_packet",
    Kind::Quantity(Quantity::Size),
    "1000 B",
    "Length of a typical packet, above 0. Default: 1000 B.",
);

/// Every form that it can take.
pub(crate) const EXAMPLES: &[&str] = &[
    "{kind: red}",
    "{kind: red, limit: 100 packets, min: 20 packets, max: 60 packets, probability: 10 %, weight: 0.1 %, gentle: true}",
    "{kind: red, limit: 1 MB, min: 30 kB, max: 90 kB, ecn: true, hard_drop: false, byte_mode: true, wait: true, mean_packet: 500 B}",
];

pub(crate) fn decode(fields: &Fields<'_>, errors: &mut Errors) -> Option<QueueConfig> {
    let plain = RedConfig::default();
    Some(QueueConfig::Red(RedConfig {
        limit: fields.read("limit", quantity, errors).unwrap_or(plain.limit),
        min: fields.read("min", quantity, errors).unwrap_or(plain.min),
        max: fields.read("max", quantity, errors).unwrap_or(plain.max),
        probability: fields.read("probability", probability, errors).unwrap_or(plain.probability),
        weight: fields.read("weight", probability, errors).unwrap_or(plain.weight),
        gentle: fields.read("gentle", flag, errors).unwrap_or(plain.gentle),
        ecn: fields.read("ecn", flag, errors).unwrap_or(plain.ecn),
        hard_drop: fields.read("hard_drop", flag, errors).unwrap_or(plain.hard_drop),
        byte_mode: fields.read("byte_mode", flag, errors).unwrap_or(plain.byte_mode),
        wait: fields.read("wait", flag, errors).unwrap_or(plain.wait),
        mean_packet: fields.read("mean_packet", quantity, errors).unwrap_or(plain.mean_packet),
    }))
}

pub(crate) fn write(config: &RedConfig) -> String {
    let RedConfig { limit, min, max, probability, weight, gentle, ecn, hard_drop, byte_mode, wait, mean_packet } =
        config;
    format!(
        "{{kind: red, limit: {limit}, min: {min}, max: {max}, probability: {probability}, weight: {weight}, \
         gentle: {gentle}, ecn: {ecn}, hard_drop: {hard_drop}, byte_mode: {byte_mode}, wait: {wait}, mean_packet: {mean_packet}}}"
    )
}
