//! Numbers with their units, as ns-2 and Emulab write them.

use crate::quantity;
use netloom_units::{Duration, Rate};

/// A bandwidth: bits per second, with `k`, `M` or `G`; a large B means bytes.
pub(super) fn bandwidth(text: &str) -> Option<Rate> {
    let (number, unit) = quantity::split(text);
    if unit.is_empty() {
        return quantity::rate(number, 0).map(|rate| rate.value);
    }
    let spelled = || quantity::spelled_rate(text);
    let exponent = match unit {
        "k" | "K" => 3,
        "m" | "M" => 6,
        "g" | "G" => 9,
        _ => return spelled().map(|rate| rate.value),
    };
    quantity::rate(number, exponent).map(|rate| rate.value)
}

/// A time: seconds, with `m`, `u`, `n` and perhaps `s`. As ns-2 does, a number ends before its second point: `300.0.01`.
pub(super) fn time(text: &str) -> Option<Duration> {
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let second = text.match_indices('.').nth(1).filter(|_| is_number);
    let text = second.map_or(text, |(at, _)| &text[..at]);
    let (number, unit) = quantity::split(text);
    let exponent = match unit {
        "" | "s" | "sec" => 0,
        "m" | "ms" | "msec" => -3,
        "u" | "us" | "usec" => -6,
        "n" | "ns" | "nsec" => -9,
        _ => return None,
    };
    quantity::duration(number, exponent).map(|span| span.value)
}

/// A whole number that is not negative, however it is written.
pub(super) fn whole(text: &str) -> Option<u64> {
    let value: f64 = text.trim().parse().ok()?;
    (0.0..1e15).contains(&value).then_some(value as u64)
}
