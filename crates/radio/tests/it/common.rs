//! Media whose stations always have something to send.

use netloom_radio::{
    AccessCategory, Channel, Destination, Frame, GuardInterval, Medium, MediumConfig, Mode, Outcome, Phy, PhyConfig,
    Standard, StationConfig, StationId, Width,
};
use netloom_units::{Bytes, Duration, Instant, Seed};
use proptest::test_runner::Config;

pub(crate) fn phy(standard: Standard, channel: u8) -> Phy {
    layer(&PhyConfig::new(standard, Channel::new(channel).expect("there is such a channel")))
}

pub(crate) fn layer(config: &PhyConfig) -> Phy {
    Phy::new(config).expect("the layer exists")
}

pub(crate) fn wide(standard: Standard, width: Width, guard_interval: GuardInterval) -> Phy {
    let channel = Channel::new(36).expect("there is such a channel");
    layer(&PhyConfig { width, guard_interval, ..PhyConfig::new(standard, channel) })
}

/// A medium with a station for each of these modes; the last one listens.
pub(crate) fn medium(config: &MediumConfig, modes: &[Mode], seed: u64) -> Medium<u64> {
    let station =
        |(number, mode): (usize, &Mode)| StationConfig { name: format!("station{number}"), link: (*mode).into() };
    let stations: Vec<_> = modes.iter().enumerate().map(station).collect();
    Medium::new(config, &stations, Seed::new(seed)).expect("the description is right")
}

/// So many cases of a property; as many as `PROPTEST_CASES` says if that is set.
pub(crate) fn cases_of(usual: u32) -> Config {
    let is_said = std::env::var_os("PROPTEST_CASES").is_some();
    if is_said { Config::default() } else { Config::with_cases(usual) }
}

pub(crate) fn frame(to: u32, size: u64, payload: u64) -> Frame<u64> {
    let (to, size) = (Destination::Station(StationId(to)), Bytes::new(size));
    Frame { to, size, category: AccessCategory::BestEffort, payload }
}

/// Lets all stations but the last send frames of this size to it without end, until `end`; shows what becomes of them.
///
/// `backlog`: so many frames wait in each queue.
pub(crate) fn saturate(
    medium: &mut Medium<u64>,
    senders: u32,
    size: u64,
    backlog: u64,
    end: Instant,
    mut see: impl FnMut(&Outcome<u64>),
) {
    for station in 0..senders {
        (0..backlog).for_each(|number| medium.enqueue(Instant::ZERO, StationId(station), frame(senders, size, number)));
    }
    let mut found = Vec::new();
    while let Some(wake) = medium.next_wake().filter(|wake| *wake <= end) {
        medium.advance(wake, |outcome| found.push(outcome));
        for outcome in found.drain(..) {
            see(&outcome);
            medium.enqueue(wake, outcome.from, frame(senders, size, outcome.frame.payload + backlog));
        }
    }
}

/// Bits per second of payload that these stations have got across until `end`.
pub(crate) fn throughput(medium: &Medium<u64>, end: Instant) -> f64 {
    let bytes: u64 = medium.counters().map(|counters| counters.delivered_bytes).sum();
    bytes as f64 * 8.0 / end.since(Instant::ZERO).as_secs_f64()
}

pub(crate) fn seconds(seconds: f64) -> Instant {
    Instant::ZERO + Duration::from_nanos((seconds * 1e9) as u64)
}

/// Asserts that `found` is within `share` of `expected`.
pub(crate) fn within(share: f64, found: f64, expected: f64, what: &str) {
    let error = found / expected - 1.0;
    assert!(error.abs() <= share, "{what}: {found:.5} instead of {expected:.5}, {:.2} %", error * 100.0);
}
