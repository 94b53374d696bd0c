use super::*;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

const GENERATORS: [u32; 2] = [0o133, 0o171];

/// The errors of bits on all paths that leave state zero at some bit of the period and come back, by their distance; up to `farthest`. `kept`: which of the
/// two bits of each step are sent.
fn spectrum(kept: &[(bool, bool)], farthest: u32) -> BTreeMap<u32, u64> {
    let step = |state: u32, bit: u32, time: usize| {
        let register = bit << 6 | state;
        let sent = GENERATORS.map(|generator| (register & generator).count_ones() % 2);
        let (first, second) = kept[time % kept.len()];
        (register >> 1, sent[0] * u32::from(first) + sent[1] * u32::from(second))
    };
    let mut found = BTreeMap::new();
    for phase in 0..kept.len() {
        // By state and distance: how many paths, and their errors.
        let mut paths = BTreeMap::from([(step(0, 1, phase), (1_u64, 1_u64))]);
        let mut time = phase + 1;
        while !paths.is_empty() {
            let mut next: BTreeMap<(u32, u32), (u64, u64)> = BTreeMap::new();
            for ((from, before), (count, errors)) in paths {
                for bit in [0, 1] {
                    let (to, more) = step(from, bit, time);
                    let (distance, errors) = (before + more, errors + count * u64::from(bit));
                    if distance > farthest {
                        continue;
                    }
                    if to == 0 {
                        *found.entry(distance).or_default() += errors;
                        continue;
                    }
                    let all = next.entry((to, distance)).or_default();
                    *all = (all.0 + count, all.1 + errors);
                }
            }
            (paths, time) = (next, time + 1);
        }
    }
    found
}

/// The punctured codes of IEEE 802.11-2020, 17.3.5.7 and 19.3.11.6.
#[test]
fn weights_are_those_of_the_code() {
    const BOTH: (bool, bool) = (true, true);
    const FIRST: (bool, bool) = (true, false);
    const SECOND: (bool, bool) = (false, true);
    let codes: [(Code, &[(bool, bool)]); 4] = [
        (HALF, &[BOTH]),
        (TWO_THIRDS, &[BOTH, FIRST]),
        (THREE_QUARTERS, &[BOTH, FIRST, SECOND]),
        (FIVE_SIXTHS, &[BOTH, FIRST, SECOND, FIRST, SECOND]),
    ];
    for (code, kept) in codes {
        assert_eq!(code.period, kept.len() as f64);
        let distance = |number: usize| (code.first + number as i32 * code.step) as u32;
        let found = spectrum(kept, distance(code.weights.len() - 1));
        let expected: Vec<(u32, u64)> =
            code.weights.iter().enumerate().map(|(number, weight)| (distance(number), *weight as u64)).collect();
        assert_eq!(found.into_iter().collect::<Vec<_>>(), expected);
    }
}

fn lost(mode: Mode, snr: f64, size: u64) -> f64 {
    frame_error_rate(mode, Decibels(snr), Bytes::new(size)).expect("it has such a code")
}

/// ns-3's documentation of its older default: at 14.25 dB, MCS 0 to 3 carry 5.77, 11.58, 17.39 and 22.96 Mbit/s, and MCS 4 to 7 nothing.
#[test]
fn a_ratio_carries_what_it_carries_in_the_reference() {
    for index in 0..12 {
        let found = lost(Mode::mcs(index), 14.25, 1_500);
        assert!(if index <= 3 { found < 0.01 } else { found > 0.999_999 }, "MCS {index}: {found}");
    }
}

#[test]
fn bits_on_the_air_have_the_error_rates_of_their_constellations() {
    // At 0 dB erfc(1) / 2, at 3.01 dB with four points the same; with sixteen 3/8 erfc(sqrt(snr / 10)).
    let close = |found: f64, expected: f64| assert!(libm::fabs(found - expected) < 1e-12, "{found}, {expected}");
    close(raw_bit_error_rate(2, 1.0), 0.5 * libm::erfc(1.0));
    close(raw_bit_error_rate(4, 2.0), 0.5 * libm::erfc(1.0));
    close(raw_bit_error_rate(16, 40.0), 0.375 * libm::erfc(2.0));
    close(raw_bit_error_rate(64, 42.0), 7.0 / 24.0 * libm::erfc(1.0));
}

#[test]
fn more_signal_loses_less_and_a_frame_of_twice_the_length_is_two() {
    let modes = (0..12).map(Mode::mcs).chain(LEGACY.map(|(kilobits, ..)| Mode::kilobits(kilobits)));
    for mode in modes {
        let all: Vec<f64> = (-200..500).map(|tenths| lost(mode, f64::from(tenths) / 10.0, 1_458)).collect();
        assert!(all.is_sorted_by(|one, next| one >= next) && all[0] == 1.0 && all[699] < 1e-9, "{mode}");
        let at = all.iter().position(|lost| *lost < 0.5).map_or(0.0, |place| (place as f64 - 200.0) / 10.0);
        let (once, twice) = (lost(mode, at, 1_000), lost(mode, at, 2_000));
        assert!(libm::fabs(twice - (1.0 - (1.0 - once) * (1.0 - once))) < 1e-9, "{mode}");
    }
    assert_eq!(frame_error_rate(Mode::kilobits(11_000), Decibels(20.0), Bytes::new(100)), None);
}
