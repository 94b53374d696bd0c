//! 802.11n, ac and ax with aggregates, in closed form and against figures that ns-3 documents.

use crate::common::{medium, phy, saturate, seconds, throughput, wide, within};
use netloom_radio::{
    Aggregation, GuardInterval, LinkConfig, Medium, MediumConfig, Mode, Phy, Standard, StationId, Width,
};
use netloom_units::{Bytes, Duration, Instant, Probability};

/// A station that always has 300 frames of 1,500 bytes; `mean` is an estimate of its megabits per second.
fn saturated(config: &MediumConfig, mode: Mode, mean: f64) -> (Medium<u64>, f64) {
    let end = seconds(60_000.0 * 12_000.0 / (mean * 1e6));
    let mut medium = medium(config, &[mode; 2], 5);
    saturate(&mut medium, 1, 1_500, 300, end, |_| {});
    let megabits = throughput(&medium, end) / 1e6 * 1_472.0 / 1_500.0;
    (medium, megabits)
}

/// The closed form at 5 GHz, in megabits per second of UDP: AIFS with three slots, 7.5 slots, a PPDU of `count` MPDUs, SIFS, a BlockAck.
fn closed_form(phy: &Phy, mode: Mode, count: u64, answer: Duration) -> f64 {
    let bytes = if count > 1 { count * 1_544 } else { 1_538 };
    let ppdu = phy.ppdu(mode).expect("there is such a mode").duration(Bytes::new(bytes));
    let whole = phy.aifs(3) + ppdu + phy.sifs() + answer;
    count as f64 * 1_472.0 * 8.0 / (whole.as_micros_f64() + 7.5 * 9.0)
}

#[test]
fn aggregates_of_802_11n_have_the_throughput_of_reference() {
    let layer = phy(Standard::N, 36);
    let reference = [5.814, 11.827, 17.794, 23.796, 35.733, 47.617, 53.610, 59.550];
    let counts = [2, 5, 8, 11, 17, 22, 25, 28];
    // 32 bytes at 6, 12 and 24 Mbit/s.
    let answers = [68, 44, 44, 32, 32, 32, 32, 32].map(Duration::from_micros);
    for (place, index) in (0..8).enumerate() {
        let (_, found) = saturated(&MediumConfig::new(layer), Mode::mcs(index), reference[place]);
        let expected = closed_form(&layer, Mode::mcs(index), counts[place], answers[place]);
        within(0.002, found, expected, &format!("MCS {index}, closed form"));
        within(0.01, found, reference[place], &format!("MCS {index}, ns-3"));
    }
}

#[test]
fn kinds_of_aggregates_have_their_throughputs() {
    let layer = phy(Standard::N, 36);
    let with = |amsdu, ampdu| {
        let aggregation = Aggregation { amsdu: Bytes::new(amsdu), ampdu: Bytes::new(ampdu), window: 64 };
        saturated(&MediumConfig { aggregation, ..MediumConfig::new(layer) }, Mode::mcs(7), 50.0).1
    };
    // The bounds of ns-3's example wifi-aggregation, of frames of 1,472 bytes at MCS 7.
    let (none, amsdu, both) = (with(0, 0), with(7_935, 0), with(3_839, 32_768));
    assert!((30.0..31.0).contains(&none), "without aggregates: {none}");
    assert!((51.0..52.0).contains(&amsdu), "A-MSDU: {amsdu}");
    // 58 to 59 there, to 1 %.
    assert!((57.4..59.6).contains(&both), "A-MPDU of A-MSDUs: {both}");
}

#[test]
fn wide_channels_have_the_closed_form() {
    let cases = [
        (wide(Standard::N, Width::Mhz40, GuardInterval::Ns400), Mode::mcs(15), 42, 32),
        (wide(Standard::Ac, Width::Mhz80, GuardInterval::Ns400), Mode::mcs(9), 64, 32),
        (wide(Standard::Ax, Width::Mhz80, GuardInterval::Ns800), Mode::mcs(11), 256, 40),
    ];
    for (layer, mode, count, answer) in cases {
        let (_, found) = saturated(&MediumConfig { queue: 2_000, ..MediumConfig::new(layer) }, mode, 400.0);
        let expected = closed_form(&layer, mode, count, Duration::from_micros(answer));
        within(0.005, found, expected, &format!("{:?}", layer.standard()));
    }
    // ns-3: 254.9 Mbit/s with MCS 15 in 40 MHz.
    let (_, found) = saturated(&MediumConfig::new(cases[0].0), Mode::mcs(15), 250.0);
    within(0.01, found, 254.9, "MCS 15");
}

#[test]
fn lost_mpdus_are_repeated_alone() {
    let config = MediumConfig::new(phy(Standard::N, 36));
    let error = Probability::from_parts_per_trillion(100_000_000_000).expect("10 %");
    let link = LinkConfig { mode: Mode::mcs(7), error };
    let mut lossy = medium(&config, &[Mode::mcs(7); 2], 5);
    lossy.set_link(Instant::ZERO, StationId(0), StationId(1), link).expect("there is MCS 7");
    let end = seconds(10.0);
    let mut next = 0;
    saturate(&mut lossy, 1, 1_500, 300, end, |outcome| {
        assert_eq!(outcome.frame.payload, next, "frames arrive in their order");
        next += 1;
    });
    let counters = lossy.counters().next().expect("there is a station");
    within(0.02, counters.failed_mpdus as f64 / counters.mpdus as f64, 0.1, "lost MPDUs");
    // A frame fails seven times out of ten million.
    assert!(counters.dropped <= 1, "{counters:?}");
    // Nine of ten MPDUs get across, and the window is never what bounds a PPDU of 28.
    within(0.01, throughput(&lossy, end) / 1e6 * 1_472.0 / 1_500.0, 0.9 * 59.75, "throughput");
}
