//! Stations with different rates: the performance anomaly, and how queues with airtime fairness mend it.

use crate::common::{frame, medium, phy, saturate, seconds, within};
use netloom_radio::{Aggregation, Discipline, LinkConfig, MediumConfig, Mode, Standard, StationId};
use netloom_units::Instant;

/// Heusse and others (2003): a station with 1 Mbit/s pulls down one with 11 Mbit/s to its own throughput.
#[test]
fn a_slow_station_takes_most_of_the_time() {
    let modes = [11_000, 1_000, 11_000].map(Mode::kilobits);
    let mut medium = medium(&MediumConfig::new(phy(Standard::B, 6)), &modes, 11);
    let end = seconds(120.0);
    saturate(&mut medium, 2, 1_500, 2, end, |_| {});
    let delivered: Vec<f64> =
        medium.counters().take(2).map(|counters| counters.delivered_bytes as f64 * 8.0 / 120e6).collect();
    within(0.05, delivered[0], delivered[1], "both have the same throughput");
    assert!((0.7..0.9).contains(&delivered[0]), "{delivered:?}");
    // A frame and its answer take 192 + 1,118 + 10 + 248 us, or 192 + 12,288 + 10 + 304 us.
    let airtime = medium.airtime(end);
    let (fast, slow) = (airtime.stations[0].as_secs_f64(), airtime.stations[1].as_secs_f64());
    within(0.05, slow / fast, 12_794.0 / 1_568.0, "ratio of times on the air");
    assert!(slow / 120.0 > 0.8);
}

/// An access point with a fast and a slow station behind it, both of which it always has frames for.
fn downlink(discipline: Discipline, has_aggregates: bool) -> (f64, f64) {
    let usual = MediumConfig { discipline, ..MediumConfig::new(phy(Standard::N, 36)) };
    let config = if has_aggregates { usual } else { MediumConfig { aggregation: Aggregation::NONE, ..usual } };
    let mut medium = medium(&config, &[Mode::mcs(7); 3], 11);
    medium.set_link(Instant::ZERO, StationId(0), StationId(2), LinkConfig::from(Mode::mcs(0))).expect("there is MCS 0");
    for number in 0..400 {
        medium.enqueue(Instant::ZERO, StationId(0), frame(1 + number % 2, 1_500, 0));
    }
    let (mut found, mut delivered) = (Vec::new(), [0.0; 3]);
    while let Some(wake) = medium.next_wake().filter(|wake| *wake <= seconds(10.0)) {
        medium.advance(wake, |outcome| found.push(outcome));
        for outcome in found.drain(..) {
            let netloom_radio::Destination::Station(to) = outcome.frame.to else { continue };
            delivered[to.0 as usize] += 1_500.0 * 8.0 / 10e6;
            medium.enqueue(wake, StationId(0), frame(to.0, 1_500, 0));
        }
    }
    (delivered[1], delivered[2])
}

#[test]
fn fairness_in_time_gives_the_fast_station_its_half() {
    let (fast, slow) = downlink(Discipline::Fifo, false);
    within(0.05, fast, slow, "in the order of arrival both get the same");
    let (fair_fast, fair_slow) = downlink(Discipline::AirtimeFq, true);
    // Half of what each would get alone, in bits of 1,500 bytes.
    within(0.02, fair_fast, 59.75 / 2.0 * 1_500.0 / 1_472.0, "fast");
    within(0.02, fair_slow, 5.83 / 2.0 * 1_500.0 / 1_472.0, "slow");
}
