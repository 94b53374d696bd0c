//! `rate`: how fast a pipe sends.

use crate::errors::{Errors, keep};
use crate::fields::Fields;
use crate::forms::{OrZero, Whole};
use crate::keyed::{Keyed, sections};
use crate::models::{delay, quoted};
use crate::scalar;
use crate::section::{Form, Key, Kind, Section, key};
use crate::yaml::{Content, Node};
use netloom_link::{CellTraceConfig, DeliveryTraceConfig, PeakConfig, RateConfig, SlotsConfig, TokenBucketConfig};
use netloom_units::{Bytes, Duration, Rate};
use std::fmt::Display;
use std::str::FromStr;
use std::sync::Arc;

pub(crate) const KEY: Key = key!(
    /// How fast it sends, counting bytes from the IP header on: a rate, a token bucket, a trace or two, slots, or unlimited. Default: unlimited.
    rate = Kind::OneOf(&[Rate::KIND, Kind::Word(&["unlimited"]), Kind::Sections(KINDS)]), "100 Mbit/s"
);

const KINDS: &[&Section] = &[&TokenBucket::SECTION, &DeliveryTrace::SECTION, &CellTrace::SECTION, &Slotted::SECTION];

sections! {
    /// Bursts at once, and a rate over longer times.
    struct TokenBucket = "rate_token_bucket" {
        /// A token bucket.
        kind is "token-bucket";
        /// How fast tokens flow into the bucket.
        rate: Rate, required "50 Mbit/s";
        /// The size of the bucket, at least the largest packet.
        burst: Bytes, required "4542 B";
        /// The rate of a burst, above the rate of tokens. Default: unlimited.
        peak: Rate, "100 Mbit/s";
        /// The size of the peak rate's bucket, at least the largest packet. Default: 1500 B.
        peak_burst: Bytes, "1500 B";
    }

    /// A number of bytes at each instant of a trace in the format of mahimahi.
    struct DeliveryTrace = "rate_delivery_trace" {
        /// A trace of delivery opportunities.
        kind is "delivery-trace";
        /// The trace: one time in milliseconds per line.
        file = Kind::Text("."), required "traces/cellular.up";
        /// How many bytes are sent at each opportunity. Default: 1504 B.
        bytes: Bytes, "1504 B";
        /// What each packet is charged beside its bytes from the IP header on. Default: 4 B.
        header: Bytes, "4 B";
    }
}

sections! {
    /// A cellular network by two traces in the formats of CellReplay, which tell its delay, too.
    struct CellTrace = "rate_cell_trace" {
        /// Two traces of a cellular network.
        kind is "cell-trace";
        /// The trace that was recorded under light load: per line the time of a train of packets, the delay of the first, and how long after it
        /// each of them arrived, in milliseconds.
        light = Kind::Text("."), required "traces/cell.light";
        /// The trace that was recorded under heavy load: one time in milliseconds per line.
        heavy = Kind::Text("."), required "traces/cell.heavy";
        /// How many bytes are sent at each opportunity. Default: 1400 B.
        bytes: Bytes, "1400 B";
        /// What each packet is charged beside its bytes from the IP header on. Default: 4 B.
        header: Bytes, "4 B";
        /// For how long a burst goes on behind its last packet. Default: 0 ms.
        timer: OrZero<Duration>, "10 ms";
    }
}

sections! {
    /// Several packets at once, when the sender gets a turn.
    struct Slotted = "rate_slots" {
        /// Slots, each of which takes some of the packets that wait.
        kind is "slots";
        /// The time from one slot to the next, or how it is drawn.
        every = delay::KIND, required "{kind: uniform, from: 1 ms, to: 2 ms}";
        /// How many packets leave in a slot. Default: no limit.
        packets: Whole<u64, 1, MOST_PACKETS>, "16";
        /// A slot is used up by the packet with which this many bytes are reached. Default: no limit.
        bytes: Bytes, "64 kB";
        /// The rate at which packets are sent in a slot. Default: unlimited.
        rate: Rate, "300 Mbit/s";
    }
}

/// The most packets of a slot that a file can say.
const MOST_PACKETS: u64 = 1 << 32;

/// Every form that it can take.
pub(crate) const EXAMPLES: &[&str] = &[
    "100 Mbit/s",
    "unlimited",
    "{kind: token-bucket, rate: 50 Mbit/s, burst: 4542 B}",
    "{kind: token-bucket, rate: 50 Mbit/s, burst: 64 KiB, peak: 1 Gbit/s}",
    "{kind: token-bucket, rate: 50 Mbit/s, burst: 64 KiB, peak: 1 Gbit/s, peak_burst: 3 kB}",
    "{kind: delivery-trace, file: tests/files/three.trace}",
    "{kind: delivery-trace, file: tests/files/three.trace, bytes: 1500 B, header: 0 B}",
    "{kind: cell-trace, light: tests/files/cell.light, heavy: tests/files/three.trace}",
    "{kind: cell-trace, light: tests/files/cell.light, heavy: tests/files/three.trace, bytes: 1500 B, header: 0 B, timer: 10 ms}",
    "{kind: slots, every: 1 ms}",
    "{kind: slots, every: {kind: uniform, from: 1 ms, to: 2 ms}, packets: 16, bytes: 64 kB, rate: 300 Mbit/s}",
];

pub(crate) fn decode(node: &Node, errors: &mut Errors) -> Option<RateConfig> {
    if !matches!(node.content, Content::Map(_)) {
        return keep(scalar::rate(node), errors).map(RateConfig::from);
    }
    let (kind, fields) = Fields::open_kind(node, KINDS, errors)?;
    let config = match kind {
        "token-bucket" => RateConfig::TokenBucket(token_bucket(&fields, errors)?),
        "slots" => RateConfig::Slots(slots(&fields, errors)?),
        "cell-trace" => RateConfig::CellTrace(cell_trace(&fields, errors)?),
        _ => RateConfig::DeliveryTrace(delivery_trace(&fields, errors)?),
    };
    fields.checked(config.check(), errors)?;
    Some(config)
}

fn token_bucket(fields: &Fields<'_>, errors: &mut Errors) -> Option<TokenBucketConfig> {
    let keys = TokenBucket::read_keys(fields, errors);
    if let (Some(node), None) = (fields.get("peak_burst"), fields.get("peak")) {
        errors.push(node.error("without a peak rate a burst is sent at once: write a `peak`, too"));
    }
    let TokenBucket { rate, burst, peak, peak_burst } = keys?;
    let peak = peak.map(|peak| PeakConfig { rate: peak, burst: peak_burst.unwrap_or(PeakConfig::BURST) });
    Some(TokenBucketConfig { rate, burst, peak })
}

fn delivery_trace(fields: &Fields<'_>, errors: &mut Errors) -> Option<DeliveryTraceConfig> {
    let DeliveryTrace { bytes, header } = DeliveryTrace::read_keys(fields, errors)?;
    let bytes = bytes.unwrap_or(DeliveryTraceConfig::BYTES);
    let header = header.unwrap_or(DeliveryTraceConfig::HEADER);
    let (times, file) = read_file(fields, "file", errors)?;
    Some(DeliveryTraceConfig { times, file, bytes, header })
}

fn cell_trace(fields: &Fields<'_>, errors: &mut Errors) -> Option<CellTraceConfig> {
    let CellTrace { bytes, header, timer } = CellTrace::read_keys(fields, errors)?;
    let (light, heavy) = (read_file(fields, "light", errors), read_file(fields, "heavy", errors));
    let mut config = CellTraceConfig::new(light?, heavy?);
    config.heavy.bytes = bytes.unwrap_or(config.heavy.bytes);
    config.heavy.header = header.unwrap_or(config.heavy.header);
    config.timer = timer.unwrap_or(config.timer);
    Some(config)
}

/// What the file says that is the value of this key, and its name.
fn read_file<T: FromStr<Err: Display>>(fields: &Fields<'_>, key: &str, errors: &mut Errors) -> Option<(T, Arc<str>)> {
    let node = fields.get(key)?;
    let text = keep(errors.read_text(node), errors)?;
    let file = node.text()?;
    let read = keep(text.parse().map_err(|wrong| node.error(format!("{file}: {wrong}"))), errors)?;
    Some((read, file.into()))
}

fn slots(fields: &Fields<'_>, errors: &mut Errors) -> Option<SlotsConfig> {
    let Slotted { packets, bytes, rate } = Slotted::read_keys(fields, errors)?;
    let every = delay::decode(fields.get("every")?, errors)?;
    Some(SlotsConfig { every, packets, bytes, rate })
}

pub(crate) fn write(config: &RateConfig) -> String {
    match config {
        RateConfig::Slots(SlotsConfig { every, packets, bytes, rate }) => {
            let said = [
                packets.map(|packets| format!(", packets: {packets}")),
                bytes.map(|bytes| format!(", bytes: {bytes}")),
                rate.map(|rate| format!(", rate: {rate}")),
            ];
            let said: String = said.into_iter().flatten().collect();
            format!("{{kind: slots, every: {}{said}}}", delay::write(every))
        }
        RateConfig::Unlimited => "unlimited".into(),
        RateConfig::Constant(rate) => rate.to_string(),
        RateConfig::TokenBucket(TokenBucketConfig { rate, burst, peak }) => {
            let peak = peak.map_or_else(String::new, |peak| match peak.burst {
                PeakConfig::BURST => format!(", peak: {}", peak.rate),
                other => format!(", peak: {}, peak_burst: {other}", peak.rate),
            });
            format!("{{kind: token-bucket, rate: {rate}, burst: {burst}{peak}}}")
        }
        RateConfig::DeliveryTrace(trace) => {
            let worth = worth(trace, DeliveryTraceConfig::BYTES);
            format!("{{kind: delivery-trace, file: {}{worth}}}", quoted(&trace.file))
        }
        RateConfig::CellTrace(CellTraceConfig { light_file, heavy, timer, .. }) => {
            let worth = worth(heavy, CellTraceConfig::BYTES);
            let timer = if timer.is_zero() { String::new() } else { format!(", timer: {timer}") };
            format!("{{kind: cell-trace, light: {}, heavy: {}{worth}{timer}}}", quoted(light_file), quoted(&heavy.file))
        }
    }
}

/// The keys of what an opportunity of a trace is worth, where they differ from the usual.
fn worth(DeliveryTraceConfig { bytes, header, .. }: &DeliveryTraceConfig, usual: Bytes) -> String {
    let bytes = if *bytes == usual { String::new() } else { format!(", bytes: {bytes}") };
    let header = if *header == DeliveryTraceConfig::HEADER { String::new() } else { format!(", header: {header}") };
    bytes + &header
}
