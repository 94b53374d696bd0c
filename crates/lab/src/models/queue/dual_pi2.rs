//! `kind: dualpi2`: a queue with low latency and a classic one, coupled.

use super::pie::TARGET;
use crate::errors::Errors;
use crate::fields::Fields;
use crate::keys::{DURATION_OR_ZERO, Key, Kind, Quantity, SHARE_OR_ZERO, Section};
use crate::scalar::{duration, duration_or_zero, integer, probability_or_zero, quantity, word};
use netloom_link::{DualPi2Config, Overload, QueueConfig};

pub(crate) const SECTION: Section = Section {
    name: "queue_dualpi2",
    doc: "Two coupled queues for L4S and all other traffic (RFC 9332).",
    groups: &[&[
        Key::new("kind", Kind::Word(&["dualpi2"]), "dualpi2", "Two coupled queues.").required(),
        Key::new(
            "limit",
            Kind::Quantity(Quantity::Limit),
            "250 ms",
            "How much may wait in both queues together: packets, bytes or a time. Default: 250 ms.",
        ),
        TARGET,
        Key::new(
            "update",
            Kind::Quantity(Quantity::Duration),
            "16 ms",
            "The period at which the probability is updated, above 0. Default: 16 ms.",
        ),
        Key::new(
            "rtt_max",
            Kind::Quantity(Quantity::Duration),
            "100 ms",
            "The longest round trip that is expected, above 0; the gains follow from it. Default: 100 ms.",
        ),
        Key::new(
            "coupling",
            Kind::Integer { least: 1, most: 255 },
            "2",
            "How much more often the low-latency queue is marked than the square root of the classic probability. \
             Default: 2.",
        ),
        Key::new(
            "min",
            DURATION_OR_ZERO,
            "800 us",
            "From this delay on packets of the low-latency queue are marked. Default: 800 us.",
        ),
        Key::new(
            "range",
            DURATION_OR_ZERO,
            "400 us",
            "Above `min`, the span of delay over which marks rise from none to all; 0 is a step. Default: 400 us.",
        ),
        Key::new(
            "classic_share",
            SHARE_OR_ZERO,
            "10 %",
            "The share of the rate that the classic queue keeps while both have packets, below 100 %. Default: 10 %.",
        ),
        Key::new(
            "overload",
            Kind::Word(&["rfc", "linux", "overflow"]),
            "linux",
            "What happens when all of the low-latency queue is marked already: as in RFC 9332, as in Linux, or as in Linux with its option \
             `overflow`. Default: rfc.",
        ),
    ]],
};

const OVERLOADS: [(&str, Overload); 3] =
    [("rfc", Overload::Rfc), ("linux", Overload::Linux), ("overflow", Overload::Overflow)];

/// Every form that it can take.
pub(crate) const EXAMPLES: &[&str] = &[
    "{kind: dualpi2}",
    "{kind: dualpi2, limit: 100 packets, target: 10 ms, update: 10 ms, rtt_max: 50 ms, coupling: 1}",
    "{kind: dualpi2, min: 1 ms, range: 0, classic_share: 0}",
    "{kind: dualpi2, overload: linux}",
    "{kind: dualpi2, overload: overflow}",
];

pub(crate) fn decode(fields: &Fields<'_>, errors: &mut Errors) -> Option<QueueConfig> {
    let plain = DualPi2Config::default();
    let coupling = fields.read("coupling", |node| integer(node, 1, 255), errors);
    Some(QueueConfig::DualPi2(DualPi2Config {
        limit: fields.read("limit", quantity, errors).unwrap_or(plain.limit),
        target: fields.read("target", duration, errors).unwrap_or(plain.target),
        update: fields.read("update", duration, errors).unwrap_or(plain.update),
        rtt_max: fields.read("rtt_max", duration, errors).unwrap_or(plain.rtt_max),
        coupling: coupling.map_or(plain.coupling, |k| u8::try_from(k).expect("integer() keeps it at 255 or below")),
        min: fields.read("min", duration_or_zero, errors).unwrap_or(plain.min),
        range: fields.read("range", duration_or_zero, errors).unwrap_or(plain.range),
        classic_share: fields.read("classic_share", probability_or_zero, errors).unwrap_or(plain.classic_share),
        overload: fields.read("overload", |node| word(node, &OVERLOADS), errors).unwrap_or(plain.overload),
    }))
}

pub(crate) fn write(config: &DualPi2Config) -> String {
    let DualPi2Config { limit, target, update, rtt_max, coupling, min, range, classic_share, overload } = config;
    let overload = OVERLOADS.iter().find(|(_, known)| known == overload).map_or("rfc", |(name, _)| name);
    format!(
        "{{kind: dualpi2, limit: {limit}, target: {target}, update: {update}, rtt_max: {rtt_max}, \
         coupling: {coupling}, min: {min}, range: {range}, classic_share: {classic_share}, overload: {overload}}}"
    )
}
