//! GINE, section 4.2 and figure 13: the density of a shifted exponential delay (10 ms + exponential with mean 10 ms),
//! 10,000 packets sent every 100 ms, every 10 ms, and every 10 ms with c = 0.8; and how many were reordered.

use super::{MS, free, ms, sent_every};
use netloom_link::{DelayConfig, Distribution, Exponential};

const COUNT: u32 = 10_000;

fn delay(correlation: &str) -> DelayConfig {
    free(Distribution::Exponential(Exponential { shift: ms(10), mean: ms(10) }), correlation)
}

/// How many delays lie in each bin of 5 ms from 10 ms on; what is beyond 80 ms goes into the last.
fn density(delays: &[f64]) -> [f64; 14] {
    let mut bins = [0.0; 14];
    for delay in delays {
        bins[(((delay / MS - 10.0) / 5.0) as usize).min(13)] += 1.0;
    }
    bins
}

/// Chi-squared of the counts against the exact density, 13 degrees of freedom: 27.69 at the 1 % level.
fn check_density(delays: &[f64]) {
    let above = |bin: u32| (-f64::from(bin) / 2.0).exp();
    let mut chi_squared = 0.0;
    for (bin, found) in (0..).zip(density(delays)) {
        let share = if bin == 13 { above(13) } else { above(bin) - above(bin + 1) };
        let expected = share * f64::from(COUNT);
        chi_squared += (found - expected).powi(2) / expected;
    }
    assert!(chi_squared < 27.69, "the density differs by {chi_squared}: {:?}", density(delays));
}

/// The paper saw no reordering. Two neighbours change places with probability P(X > Y + 100 ms) = e^-10 / 2, since both
/// shifts cancel and X exceeds anything by an exponential time: 0.23 of 10,000 are expected.
#[test]
fn every_100_ms_hardly_any_packet_overtakes() {
    let (delays, reordered) = sent_every(ms(100), COUNT, delay("0 %"), 13);
    check_density(&delays);
    assert!(reordered <= 2, "{reordered} overtook");
}

/// The paper saw one, on a machine with other things to do. A packet overtakes its neighbour if
/// 0.8 D + 0.2 X < D - 10 ms, that is D > X + 50 ms, where D = 10 ms + exponential parts with mean 10 ms in all and a
/// deviation of 10/3 ms, and X is 10 ms at least: twelve deviations above the mean.
#[test]
fn correlated_packets_every_10_ms_do_not_overtake() {
    let (delays, reordered) = sent_every(ms(10), COUNT, delay("80 %"), 13);
    assert!(reordered <= 1, "{reordered} overtook");
    // The density that the figure shows: narrow, around 20 ms; little at 10 ms, where the other has its peak of 3,935.
    let bins = density(&delays);
    assert!(bins[0] < 500.0 && bins[1] + bins[2] > 8_000.0, "{bins:?}");
}

/// The paper saw 1242 reorderings. A packet overtakes the one before it with probability
/// P(X > Y + 10 ms) = e^-1 / 2 = 0.1839. It overtakes any packet before it unless each of them, sent k * 10 ms
/// earlier, has a delay shorter than its own by that: with y = e^-Y, which is uniform, and q = 1/e
///
/// P = 1 - ∫ Π (1 - y q^k) dy = Σ over n ≥ 1 of (-1)^(n+1) q^(n(n+1)/2) / ((n + 1) (1 - q) (1 - q^2) … (1 - q^n))
///   = 0.29099 - 0.03036 + 0.00119 - 0.00002 = 0.26180
///
/// by Euler's expansion of the product. The paper's 0.1242 = e^-x / 2 belongs to a spacing of x = 1.39 times 10 ms:
/// its ping could not keep the interval, as it notes that the density "did not show good match" there.
#[test]
fn every_10_ms_a_quarter_of_the_packets_overtakes() {
    let (delays, reordered) = sent_every(ms(10), COUNT, delay("0 %"), 13);
    check_density(&delays);
    // Packets that are near one another share their fate, which at most doubles the deviation of a binomial count, 44.
    let expected = 0.261_80 * f64::from(COUNT);
    assert!((reordered as f64 - expected).abs() < 3.0 * 88.0, "{reordered} overtook, {expected} were expected");
    let swapped = delays.windows(2).filter(|pair| pair[0] > pair[1] + 10.0 * MS).count() as f64;
    assert!((swapped - 1_839.4).abs() < 3.0 * 39.0, "{swapped} overtook the one before");
    // At the spacing that the paper's ping kept: e^-1.393 / 2 of 10,000.
    let (slower, _) = sent_every(netloom_units::Duration::from_micros(13_930), COUNT, delay("0 %"), 13);
    let as_in_the_paper = slower.windows(2).filter(|pair| pair[0] > pair[1] + 13.93 * MS).count() as f64;
    assert!((as_in_the_paper - 1_242.0).abs() < 3.0 * 33.0, "{as_in_the_paper} overtook the one before");
}
