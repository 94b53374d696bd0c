//! What CORE does to links: one netem for each direction (`CoreInterface.tc_cmd`, `core/nodes/interface.py`).

use crate::source::Place;
use crate::topology::Topology;
use crate::value::{Map, Origin, Value, put};

/// Packets that netem keeps where nobody says how many.
const LIMIT: u64 = 1_000;
/// The bytes of a packet that CORE reckons with.
const MTU: f64 = 1_500.0;
/// More packets than any queue has.
const MOST_PACKETS: f64 = 1e9;

/// The settings of a link or of a direction. Delay and jitter are in microseconds, the bandwidth in bits per second, loss and
/// duplicates in percent, the buffer in packets.
pub(in crate::formats) fn settings<'a>(
    said: impl Fn(&str) -> Option<&'a str>,
    place: Place,
    topology: &mut Topology,
) -> Map {
    let mut number = |name: &str| {
        let said = said(name).filter(|said| !said.trim().is_empty())?;
        let value = said.trim().parse::<f64>().ok().filter(|value| value.is_finite() && *value >= 0.0);
        if value.is_none() {
            topology.notes.add(place, format!("`{name}` of a link is no number that is known here"));
        }
        value.filter(|value| *value > 0.0)
    };
    let [delay, jitter, bandwidth] = ["delay", "jitter", "bandwidth"].map(&mut number);
    let [loss, per, dup, buffer] = ["loss", "per", "dup", "buffer"].map(&mut number);
    let loss = loss.or(per);
    let mut settings = Map::new();
    if [delay, jitter, bandwidth, loss, dup, buffer].iter().all(Option::is_none) {
        return settings;
    }
    let mut words = Vec::new();
    if let Some(bits) = bandwidth {
        words.push(format!("rate {bits:.0}bit"));
    }
    words.push(format!("limit {}", limit(bandwidth, delay, buffer)));
    match (delay, jitter) {
        (delay, Some(jitter)) => words.push(format!("delay {}us {jitter}us 25%", delay.unwrap_or(0.0))),
        (Some(delay), None) => words.push(format!("delay {delay}us")),
        (None, None) => {}
    }
    for (word, share) in [("loss", loss), ("duplicate", dup)] {
        words.extend(share.map(|share| format!("{word} {}%", share.min(100.0))));
    }
    let words = words.join(" ");
    // A queue alone is nothing to a link without a rate, which has none.
    match netloom_lab::translate(netloom_lab::Dialect::Netem, &words) {
        Ok(_) => put(&mut settings, "netem", Value::text(words).because(Origin::at(place))),
        Err(error) => topology.notes.add(place, format!("the options of a link are not read: {error}")),
    }
    settings
}

/// The packets that netem keeps: the buffer where there is a bandwidth, else twice what is on its way, but at least two.
fn limit(bandwidth: Option<f64>, delay: Option<f64>, buffer: Option<f64>) -> u64 {
    match (bandwidth, delay, buffer) {
        (Some(_), _, Some(buffer)) => buffer.min(MOST_PACKETS) as u64,
        (Some(bits), Some(us), None) => {
            let packets = libm::ceil(2.0 * (bits / 1e3) * (us / 1e3) / (8.0 * MTU));
            packets.clamp(2.0, MOST_PACKETS) as u64
        }
        _ => LIMIT,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_those_that_core_reckons() {
        assert_eq!(limit(Some(1e6), Some(1_000.0), None), 2);
        assert_eq!(limit(Some(3e6), Some(3_000.0), None), 2);
        assert_eq!(limit(Some(54e6), Some(20_000.0), None), 180);
        assert_eq!(limit(Some(54e6), Some(20_000.0), Some(100.0)), 100);
        assert_eq!(limit(None, Some(20_000.0), Some(100.0)), 1_000);
        assert_eq!(limit(Some(1e6), None, None), 1_000);
    }
}
