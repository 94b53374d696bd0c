//! One station that always sends, in closed form: DIFS, half of the contention window, the frame, SIFS, the acknowledgement.

use crate::common::{layer, medium, phy, saturate, seconds, throughput, within};
use netloom_radio::{Access, Channel, MediumConfig, Mode, Phy, PhyConfig, Preamble, SlotTime, Standard};
use netloom_units::Bytes;

/// Megabits per second of 1,472 bytes in UDP that a single station gets across.
fn goodput(config: &MediumConfig, kilobits: u64) -> f64 {
    let end = seconds(8_000.0 * 12_000.0 / (kilobits as f64 * 1e3));
    let mut medium = medium(config, &[Mode::kilobits(kilobits); 2], 3);
    saturate(&mut medium, 1, 1_500, 2, end, |_| {});
    throughput(&medium, end) / 1e6 * 1_472.0 / 1_500.0
}

/// The closed form for OFDM, in megabits per second; times in microseconds.
fn ofdm(megabits: f64, answer: f64, (slot, sifs, extension): (f64, f64, f64), is_rts: bool) -> f64 {
    let frame = |bytes: f64, rate: f64| 20.0 + 4.0 * ((22.0 + 8.0 * bytes) / (4.0 * rate)).ceil() + extension;
    let request = frame(20.0, answer) + sifs + frame(14.0, answer) + sifs;
    let around = sifs + 2.0 * slot + 7.5 * slot + if is_rts { request } else { 0.0 };
    1_472.0 * 8.0 / (around + frame(1_536.0, megabits) + sifs + frame(14.0, answer))
}

#[test]
fn a_station_of_802_11a_gets_the_closed_form() {
    // As tables have it, without and with RTS.
    let rates = [
        (6, 6, 5.27, 4.99),
        (12, 12, 9.83, 9.08),
        (24, 24, 17.28, 15.30),
        (36, 24, 23.11, 19.71),
        (54, 24, 29.93, 24.46),
    ];
    let five = (9.0, 16.0, 0.0);
    for (rate, answer, plain, protected) in rates {
        let config = MediumConfig::new(phy(Standard::A, 36));
        let found = goodput(&config, rate * 1_000);
        let (megabits, answer) = (rate as f64, f64::from(answer));
        within(0.005, found, ofdm(megabits, answer, five, false), &format!("{rate} Mbit/s"));
        within(0.005, found, plain, &format!("{rate} Mbit/s, table"));
        let with_rts = goodput(&MediumConfig { rts_above: Some(Bytes::new(500)), ..config }, rate * 1_000);
        within(0.005, with_rts, ofdm(megabits, answer, five, true), &format!("{rate} Mbit/s with RTS"));
        within(0.005, with_rts, protected, &format!("{rate} Mbit/s with RTS, table"));
    }
}

#[test]
fn a_station_at_2_ghz_gets_the_closed_form() {
    let channel = Channel::new(6).expect("there is such a channel");
    let g = PhyConfig::new(Standard::G, channel);
    let short = goodput(&MediumConfig::new(layer(&g)), 54_000);
    within(0.005, short, ofdm(54.0, 24.0, (9.0, 10.0, 6.0), false), "11g");
    let long = goodput(&MediumConfig::new(layer(&PhyConfig { slot_time: SlotTime::Long, ..g })), 54_000);
    within(0.005, long, 23.65, "11g with long slots");
    let b = PhyConfig::new(Standard::B, channel);
    within(0.005, goodput(&MediumConfig::new(layer(&b)), 11_000), 6.11, "11b");
    let brief = goodput(&MediumConfig::new(layer(&PhyConfig { preamble: Preamble::Short, ..b })), 11_000);
    within(0.005, brief, 6.79, "11b with short preambles");
}

#[test]
fn ideal_access_costs_nothing_but_the_frame() {
    let layer: Phy = phy(Standard::A, 36);
    let found = goodput(&MediumConfig { access: Access::Ideal, ..MediumConfig::new(layer) }, 54_000);
    // 248 us for each frame.
    within(0.0005, found, 1_472.0 * 8.0 / 248.0, "ideal");
}
