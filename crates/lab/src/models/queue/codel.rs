//! `kind: codel`: controlled delay.

use crate::errors::Errors;
use crate::fields::Fields;
use crate::keys::{Key, Kind, Quantity, Section};
use crate::scalar::{duration, flag, quantity};
use netloom_link::{CodelConfig, CodelControl, DEFAULT_LIMIT, QueueConfig};

/// How CoDel controls a queue, alone or as one of many.
pub(super) const CONTROL: &[Key] = &[
    Key::new(
        "target",
        Kind::Quantity(Quantity::Duration),
        "5 ms",
        "The standing delay that is acceptable, above zero. Default: 5 ms.",
    ),
    Key::new(
        "interval",
        Kind::Quantity(Quantity::Duration),
        "100 ms",
        "How long the delay must exceed the target before a drop: about the longest RTT, at least the target. Default: 100 ms.",
    ),
    Key::new(
        "mtu",
        Kind::Quantity(Quantity::Size),
        "1500 B",
        "A queue of at most this size never drops: the largest packet, from the IP header on. Default: 1500 B.",
    ),
];

pub(crate) const SECTION: Section = Section {
    name: "queue_codel",
    doc: "Controlled delay (RFC 8289): drops at the head while packets have waited too long for too long.",
    groups: &[
        &[
            Key::new("kind", Kind::Word(&["codel"]), "codel", "Controlled delay.").required(),
            Key::new(
                "limit",
                Kind::Quantity(Quantity::Limit),
                "1000 packets",
                "How much may wait: packets, bytes or a time. Default: 1000 packets.",
            ),
            Key::new(
                "ecn",
                Kind::Flag,
                "true",
                "Whether packets are marked, rather than dropped, if their sender understands it. Default: false.",
            ),
        ],
        CONTROL,
    ],
};

/// Every form that it can take.
pub(crate) const EXAMPLES: &[&str] =
    &["{kind: codel}", "{kind: codel, limit: 64 kB, target: 2500 us, interval: 50 ms, mtu: 9 kB, ecn: true}"];

pub(crate) fn decode(fields: &Fields<'_>, errors: &mut Errors) -> Option<QueueConfig> {
    let limit = fields.read("limit", quantity, errors).unwrap_or(DEFAULT_LIMIT);
    let control = decode_control(fields, CodelControl::default(), errors);
    Some(QueueConfig::Codel(CodelConfig { limit, control }))
}

/// What the keys of [`CONTROL`] and `ecn` say.
pub(super) fn decode_control(fields: &Fields<'_>, default: CodelControl, errors: &mut Errors) -> CodelControl {
    CodelControl {
        target: fields.read("target", duration, errors).unwrap_or(default.target),
        interval: fields.read("interval", duration, errors).unwrap_or(default.interval),
        mtu: fields.read("mtu", quantity, errors).unwrap_or(default.mtu),
        ecn: fields.read("ecn", flag, errors).unwrap_or(default.ecn),
    }
}

pub(crate) fn write(config: &CodelConfig) -> String {
    format!("{{kind: codel, limit: {}, {}}}", config.limit, write_control(&config.control))
}

/// The keys and values of a control.
pub(super) fn write_control(CodelControl { target, interval, mtu, ecn }: &CodelControl) -> String {
    format!("target: {target}, interval: {interval}, mtu: {mtu}, ecn: {ecn}")
}
