//! `rate`: how fast a pipe sends.

use crate::errors::{Errors, keep};
use crate::fields::Fields;
use crate::keys::{Key, Kind, Quantity, Section};
use crate::scalar;
use crate::yaml::{Content, Node};
use netloom_link::{DeliveryTimes, DeliveryTraceConfig, PeakConfig, RateConfig, TokenBucketConfig};

pub(crate) const KEY: Key = Key::new(
    "rate",
    Kind::OneOf(&[
        Kind::Quantity(Quantity::Rate),
        Kind::Word(&["unlimited"]),
        Kind::Section(&TOKEN_BUCKET),
        Kind::Section(&DELIVERY_TRACE),
    ]),
    "100 Mbit/s",
    "How fast it sends, counting bytes from the IP header on: a rate, a token bucket, a trace, or unlimited. \
     Default: unlimited.",
);

/// A token bucket.
const TOKEN_BUCKET: Section = Section {
    name: "rate-token-bucket",
    doc: "Bursts at once, and a rate over longer times.",
    groups: &[&[
        Key::new("kind", Kind::Word(&["token-bucket"]), "token-bucket", "A token bucket.").required(),
        Key::new("rate", Kind::Quantity(Quantity::Rate), "50 Mbit/s", "How fast tokens flow into the bucket.")
            .required(),
        Key::new(
            "burst",
            Kind::Quantity(Quantity::Size),
            "4542 B",
            "The size of the bucket, at least the largest packet.",
        )
        .required(),
        Key::new(
            "peak",
            Kind::Quantity(Quantity::Rate),
            "100 Mbit/s",
            "The rate of a burst, above the rate of tokens. Default: unlimited.",
        ),
        Key::new(
            "peak_burst",
            Kind::Quantity(Quantity::Size),
            "1500 B",
            "The size of the peak rate's bucket, at least the largest packet. Default: 1500 B.",
        ),
    ]],
};

/// A trace of delivery opportunities.
const DELIVERY_TRACE: Section = Section {
    name: "rate-delivery-trace",
    doc: "A number of bytes at each instant of a trace in the format of mahimahi.",
    groups: &[&[
        Key::new("kind", Kind::Word(&["delivery-trace"]), "delivery-trace", "A trace of delivery opportunities.")
            .required(),
        Key::new("file", Kind::Text("."), "traces/cellular.up", "The trace: one time in milliseconds per line.")
            .required(),
        Key::new(
            "bytes",
            Kind::Quantity(Quantity::Size),
            "1504 B",
            "How many bytes are sent at each opportunity. Default: 1504 B.",
        ),
        Key::new(
            "header",
            Kind::Quantity(Quantity::Size),
            "4 B",
            "What each packet is charged beside its bytes from the IP header on. Default: 4 B.",
        ),
    ]],
};

/// Every form that it can take.
pub(crate) const EXAMPLES: &[&str] = &[
    "100 Mbit/s",
    "unlimited",
    "{kind: token-bucket, rate: 50 Mbit/s, burst: 4542 B}",
    "{kind: token-bucket, rate: 50 Mbit/s, burst: 64 KiB, peak: 1 Gbit/s}",
    "{kind: token-bucket, rate: 50 Mbit/s, burst: 64 KiB, peak: 1 Gbit/s, peak_burst: 3 kB}",
    "{kind: delivery-trace, file: tests/files/three.trace}",
    "{kind: delivery-trace, file: tests/files/three.trace, bytes: 1500 B, header: 0 B}",
];

pub(crate) fn decode(node: &Node, errors: &mut Errors) -> Option<RateConfig> {
    if !matches!(node.content, Content::Map(_)) {
        return keep(scalar::rate(node), errors).map(RateConfig::from);
    }
    let kinds = [("token-bucket", &TOKEN_BUCKET), ("delivery-trace", &DELIVERY_TRACE)];
    let (kind, fields) = Fields::open_kind(node, &kinds, errors)?;
    let config = match kind {
        "token-bucket" => RateConfig::TokenBucket(token_bucket(&fields, errors)?),
        _ => RateConfig::DeliveryTrace(delivery_trace(&fields, errors)?),
    };
    fields.checked(config.check(), errors)?;
    Some(config)
}

fn token_bucket(fields: &Fields<'_>, errors: &mut Errors) -> Option<TokenBucketConfig> {
    let rate = fields.read("rate", scalar::quantity, errors);
    let burst = fields.read("burst", scalar::quantity, errors);
    let peak_rate = fields.read("peak", scalar::quantity, errors);
    let peak_burst = fields.read("peak_burst", scalar::quantity, errors);
    if let (Some(node), None) = (fields.get("peak_burst"), fields.get("peak")) {
        errors.push(node.error("without a peak rate a burst is sent at once: write a `peak`, too"));
    }
    let peak = peak_rate.map(|peak| PeakConfig { rate: peak, burst: peak_burst.unwrap_or(PeakConfig::BURST) });
    Some(TokenBucketConfig { rate: rate?, burst: burst?, peak })
}

fn delivery_trace(fields: &Fields<'_>, errors: &mut Errors) -> Option<DeliveryTraceConfig> {
    let bytes = fields.read("bytes", scalar::quantity, errors).unwrap_or(DeliveryTraceConfig::BYTES);
    let header = fields.read("header", scalar::quantity, errors).unwrap_or(DeliveryTraceConfig::HEADER);
    let node = fields.get("file")?;
    let text = keep(errors.read_text(node), errors)?;
    let file = node.text()?;
    let times: DeliveryTimes = keep(text.parse().map_err(|wrong| node.error(format!("{file}: {wrong}"))), errors)?;
    Some(DeliveryTraceConfig { times, file: file.into(), bytes, header })
}

pub(crate) fn write(config: &RateConfig) -> String {
    match config {
        RateConfig::Unlimited => "unlimited".into(),
        RateConfig::Constant(rate) => rate.to_string(),
        RateConfig::TokenBucket(TokenBucketConfig { rate, burst, peak }) => {
            let peak = peak.map_or_else(String::new, |peak| match peak.burst {
                PeakConfig::BURST => format!(", peak: {}", peak.rate),
                other => format!(", peak: {}, peak_burst: {other}", peak.rate),
            });
            format!("{{kind: token-bucket, rate: {rate}, burst: {burst}{peak}}}")
        }
        RateConfig::DeliveryTrace(DeliveryTraceConfig { file, bytes, header, .. }) => {
            let mut text = format!("{{kind: delivery-trace, file: {}", quoted(file));
            if *bytes != DeliveryTraceConfig::BYTES {
                text += &format!(", bytes: {bytes}");
            }
            if *header != DeliveryTraceConfig::HEADER {
                text += &format!(", header: {header}");
            }
            text + "}"
        }
    }
}

/// A text as YAML has it in double quotes.
pub(super) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
