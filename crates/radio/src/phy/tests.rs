use super::*;
use alloc::vec::Vec;
use netloom_units::Rate;

fn phy(standard: Standard, channel: u8, width: Width, guard_interval: GuardInterval) -> Phy {
    let channel = Channel::new(channel).expect("there is such a channel");
    Phy::new(&PhyConfig { width, guard_interval, ..PhyConfig::new(standard, channel) }).expect("it is allowed")
}

fn plain(standard: Standard, channel: u8) -> Phy {
    phy(standard, channel, Width::Mhz20, GuardInterval::Ns800)
}

/// The rate in units of 100 kbit/s, rounded as tables print it.
fn rate(phy: &Phy, index: u8, streams: u8) -> u64 {
    let ppdu = phy.ppdu(Mode::Mcs { index, streams }).expect("there is such a mode");
    (ppdu.bits_per_second() + 50_000) / 100_000
}

#[test]
fn spaces_between_frames_are_those_of_the_standard() {
    // Slot, SIFS, DIFS and the least contention window.
    let spaces = |phy: Phy| (phy.slot(), phy.sifs(), phy.aifs(2), phy.contention_window().0);
    let us = Duration::from_micros;
    assert_eq!(spaces(plain(Standard::B, 6)), (us(20), us(10), us(50), 31));
    assert_eq!(spaces(plain(Standard::G, 6)), (us(9), us(10), us(28), 15));
    assert_eq!(spaces(plain(Standard::A, 36)), (us(9), us(16), us(34), 15));
    assert_eq!(spaces(plain(Standard::Ax, 6)), (us(9), us(10), us(28), 15));
    assert_eq!(spaces(plain(Standard::Ac, 36)), (us(9), us(16), us(34), 15));
    assert_eq!(spaces(Phy::frequency_hopping()), (us(50), us(28), us(128), 15));
}

#[test]
fn frames_take_what_the_formula_says() {
    let a = plain(Standard::A, 36);
    let of = |phy: &Phy, kilobits| phy.ppdu(Mode::kilobits(kilobits)).expect("there is such a rate");
    // 22 and 12,288 bits, 216 in a symbol: 57 symbols. At 6 Mbit/s 513.
    assert_eq!(of(&a, 54_000).duration(Bytes::new(1_536)), Duration::from_micros(20 + 4 * 57));
    assert_eq!(of(&a, 6_000).duration(Bytes::new(1_536)), Duration::from_micros(20 + 4 * 513));
    // 134 bits: 6 symbols of 24 bits, 2 of 96.
    assert_eq!(ack(&a.basic()), Duration::from_micros(44));
    assert_eq!(ack(&a.control(Mode::kilobits(54_000))), Duration::from_micros(28));
    assert_eq!(a.extended_wait(), Duration::from_micros(60));
    assert_eq!(a.answer_timeout(), Duration::from_micros(45));
    // OFDM at 2.4 GHz has 6 us of silence behind it.
    assert_eq!(of(&plain(Standard::G, 6), 54_000).duration(Bytes::new(1_536)), Duration::from_micros(20 + 4 * 57 + 6));
    // 12,288 bits at 5.5 Mbit/s take 2,234.2 us, of which the header states 2,235.
    let b = plain(Standard::B, 6);
    assert_eq!(of(&b, 5_500).duration(Bytes::new(1_536)), Duration::from_micros(192 + 2_235));
    // Bianchi's figures: 240 us for an acknowledgement, 288 us for an RTS.
    let hopping = Phy::frequency_hopping();
    assert_eq!(
        (ack(&hopping.basic()), rts(&hopping.basic())),
        (Duration::from_micros(240), Duration::from_micros(288))
    );
}

#[test]
fn schemes_have_the_rates_of_the_tables() {
    let n = plain(Standard::N, 36);
    let found: Vec<u64> = (0..8).map(|index| rate(&n, index, 1)).collect();
    assert_eq!(found, [65, 130, 195, 260, 390, 520, 585, 650]);
    assert_eq!(rate(&phy(Standard::N, 36, Width::Mhz20, GuardInterval::Ns400), 7, 1), 722);
    let wide = phy(Standard::N, 36, Width::Mhz40, GuardInterval::Ns400);
    assert_eq!((rate(&wide, 7, 2), rate(&wide, 15, 1)), (3_000, 3_000));
    let ac = |guard| phy(Standard::Ac, 36, Width::Mhz80, guard);
    assert_eq!(rate(&ac(GuardInterval::Ns800), 9, 1), 3_900);
    assert_eq!(rate(&ac(GuardInterval::Ns400), 9, 1), 4_333);
    let ax = |width| phy(Standard::Ax, 36, width, GuardInterval::Ns800);
    assert_eq!((rate(&ax(Width::Mhz20), 0, 1), rate(&ax(Width::Mhz20), 11, 1)), (86, 1_434));
    // Tables print 600.5, from 8,166.67 bits instead of 8,166.
    assert_eq!(rate(&ax(Width::Mhz80), 11, 1), 6_004);
    assert_eq!(rate(&ax(Width::Mhz160), 11, 1), 12_010);
}

#[test]
fn preambles_grow_with_streams() {
    let start = |phy: &Phy, streams| phy.ppdu(Mode::Mcs { index: 0, streams }).expect("there is such a mode").preamble;
    let us = Duration::from_micros;
    let n = plain(Standard::N, 36);
    assert_eq!([1, 2, 3, 4].map(|streams| start(&n, streams)), [us(36), us(40), us(48), us(48)]);
    let ac = plain(Standard::Ac, 36);
    assert_eq!([1, 3, 8].map(|streams| start(&ac, streams)), [us(40), us(52), us(68)]);
    // A training field of HE has 6.4 us and the guard interval.
    let ax = |guard| start(&phy(Standard::Ax, 36, Width::Mhz20, guard), 1);
    assert_eq!(ax(GuardInterval::Ns800), Duration::from_nanos(43_200));
    assert_eq!(ax(GuardInterval::Ns1600), us(44));
    assert_eq!(ax(GuardInterval::Ns3200), us(52));
}

#[test]
fn symbols_with_the_short_guard_interval_fill_up_whole_ones() {
    let ppdu = phy(Standard::N, 36, Width::Mhz20, GuardInterval::Ns400).ppdu(Mode::mcs(7)).expect("there is MCS 7");
    // 822 bits are 4 symbols of 260, 14.4 us, for which the PPDU takes 16 us.
    assert_eq!(ppdu.duration(Bytes::new(100)), Duration::from_micros(36 + 16));
}

#[test]
fn answers_go_at_the_highest_basic_rate_below_the_data() {
    let rate = |phy: &Phy, mode| phy.control(mode).bits_per_second() / 1_000_000;
    let n = plain(Standard::N, 36);
    assert_eq!([0, 1, 2, 3, 7, 8, 9].map(|index| rate(&n, Mode::mcs(index))), [6, 12, 12, 24, 24, 6, 12]);
    let g = plain(Standard::G, 6);
    let modes = [1_000, 11_000, 9_000, 18_000, 54_000].map(Mode::kilobits);
    assert_eq!(modes.map(|mode| rate(&g, mode)), [1, 2, 6, 12, 24]);
    assert_eq!(rate(&plain(Standard::B, 6), Mode::kilobits(5_500)), 2);
}

#[test]
fn contradictions_are_refused_by_their_key() {
    let key = |standard, channel, width, guard_interval| {
        let channel = Channel::new(channel).expect("there is such a channel");
        Phy::new(&PhyConfig { width, guard_interval, ..PhyConfig::new(standard, channel) }).map_err(|error| error.key)
    };
    let usual = GuardInterval::Ns800;
    assert_eq!(key(Standard::A, 6, Width::Mhz20, usual), Err("channel"));
    assert_eq!(key(Standard::G, 36, Width::Mhz20, usual), Err("channel"));
    assert_eq!(key(Standard::G, 6, Width::Mhz40, usual), Err("width"));
    assert_eq!(key(Standard::Ax, 6, Width::Mhz80, usual), Err("width"));
    assert_eq!(key(Standard::Ax, 36, Width::Mhz20, GuardInterval::Ns400), Err("guard-interval"));
    let no_mode = |phy: Phy, mode| phy.ppdu(mode).map_err(|error| error.key);
    assert_eq!(no_mode(plain(Standard::Ac, 36), Mode::mcs(9)), Err("mcs"));
    assert_eq!(no_mode(plain(Standard::N, 36), Mode::mcs(32)), Err("mcs"));
    assert_eq!(no_mode(plain(Standard::A, 36), Mode::mcs(0)), Err("rate"));
    assert_eq!(no_mode(plain(Standard::A, 36), Mode::kilobits(11_000)), Err("rate"));
    let odd = Mode::Legacy(Rate::from_bits_per_second(6_000_001).expect("above zero"));
    assert_eq!(no_mode(plain(Standard::A, 36), odd), Err("rate"));
}
