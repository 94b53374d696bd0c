//! Saturation throughput against Bianchi (2000), "Performance Analysis of the IEEE 802.11 Distributed Coordination Function".
//!
//! The model: a station sends in a slot with probability τ, and its frame collides with probability p = 1 - (1 - τ)^(n - 1). With W = CWmin + 1
//! and m doublings, τ = 2 / (1 + W + p W Σ (2p)^i, i < m) (his equations 7 and 9). Its slots include busy ones, where a backoff counts one on.
//! In the standard it stands still, and who has sent may send again before all others. Tinnirello, Bianchi and Xiao (2010, "Refinements on IEEE
//! 802.11 Distributed Coordination Function Modeling Approaches") correct for both, by which the throughput differs by up to 0.7 %.

use crate::common::{medium, phy, saturate, seconds, throughput, wide, within};
use netloom_radio::{
    Aggregation, Contention, GuardInterval, Medium, MediumConfig, Mode, Phy, Recovery, RetryLimits, Standard, Width,
};
use netloom_units::Bytes;

/// Frames are repeated until they get through, as the model assumes.
const ENDLESS: RetryLimits = RetryLimits { short: u32::MAX, long: u32::MAX };

/// The probability τ by bisection of the fixed point.
fn tau(stations: i32, window: f64, doublings: i32) -> f64 {
    let sum = |p: f64| (0..doublings).map(|i| (2.0 * p).powi(i)).sum::<f64>();
    let excess = |tau: f64| {
        let p = 1.0 - (1.0 - tau).powi(stations - 1);
        tau - 2.0 / (1.0 + window + p * window * sum(p))
    };
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..100 {
        let middle = (low + high) / 2.0;
        if excess(middle) < 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

/// The times of one setting in microseconds.
#[derive(Clone, Copy)]
struct Times {
    payload: f64,
    slot: f64,
    success: f64,
    collision: f64,
}

/// The share of time in which payload passes.
fn share(stations: i32, window: f64, doublings: i32, times: Times) -> f64 {
    let tau = tau(stations, window, doublings);
    let some = 1.0 - (1.0 - tau).powi(stations);
    let one = f64::from(stations) * tau * (1.0 - tau).powi(stations - 1);
    let spent = (1.0 - some) * times.slot + one * times.success + (some - one) * times.collision;
    one * times.payload / spent
}

/// The same as the standard counts slots.
fn refined(stations: i32, window: f64, doublings: i32, times: Times) -> f64 {
    let again = 1.0 / window;
    let whole = Times {
        payload: times.payload / (1.0 - again),
        success: times.success / (1.0 - again) + times.slot,
        collision: times.collision + times.slot,
        ..times
    };
    share(stations, window, doublings, whole)
}

/// Bianchi's table 2: 8,184 bits of payload, 272 of the MAC's header, 128 of the PHY's, at 1 Mbit/s.
fn hopping(is_rts: bool) -> (MediumConfig, Times) {
    let phy = Phy::frequency_hopping();
    let contention = [Contention { cw_min: 31, cw_max: 1_023, ..Contention::dcf(&phy) }; 4];
    let rts_above = is_rts.then_some(Bytes::new(0));
    let config =
        MediumConfig { contention, retries: ENDLESS, recovery: Recovery::Difs, rts_above, ..MediumConfig::new(phy) };
    let (payload, slot, sifs, difs, answer, request) = (8_184.0, 50.0, 28.0, 128.0, 240.0, 288.0);
    let data = payload + 272.0 + 128.0;
    let acknowledged = data + sifs + answer + difs;
    let times = if is_rts {
        Times { payload, slot, success: request + sifs + answer + sifs + acknowledged, collision: request + difs }
    } else {
        Times { payload, slot, success: acknowledged, collision: data + difs }
    };
    (config, times)
}

/// The bytes of payload that Bianchi's frames have in ours, whose header is two bytes longer than his.
const PAYLOAD: u64 = 1_023 - 2;

fn run(config: &MediumConfig, mode: Mode, stations: u32, size: u64, end: f64) -> Medium<u64> {
    let mut medium = medium(config, &vec![mode; stations as usize + 1], 1);
    saturate(&mut medium, stations, size, 2, seconds(end), |_| {});
    medium
}

/// The share of time in which 8,184 bits pass, as simulated for about so many frames.
fn simulated(config: &MediumConfig, times: Times, stations: u32, frames: f64) -> f64 {
    let end = frames * times.success * 1.5e-6;
    let medium = run(config, Mode::kilobits(1_000), stations, PAYLOAD, end);
    let delivered: u64 = medium.counters().map(|counters| counters.delivered).sum();
    delivered as f64 * 8_184e-6 / end
}

#[test]
fn basic_access_has_the_throughput_of_the_model() {
    // The last column is from the paper's model, computed apart from this test, with 1 us of propagation.
    for (stations, published) in
        [(2, None), (5, Some(0.8102)), (10, Some(0.7579)), (20, Some(0.6975)), (50, Some(0.6109))]
    {
        let (config, times) = hopping(false);
        let found = simulated(&config, times, stations, 200_000.0);
        let n = i32::try_from(stations).expect("few");
        within(0.01, found, share(n, 32.0, 5, times), &format!("{stations} stations"));
        within(0.005, found, refined(n, 32.0, 5, times), &format!("{stations} stations, refined"));
        if let Some(published) = published {
            within(0.01, found, published, &format!("{stations} stations, published"));
        }
    }
}

#[test]
fn access_with_rts_has_the_throughput_of_the_model() {
    for stations in [2, 5, 10, 20, 50] {
        let (config, times) = hopping(true);
        let found = simulated(&config, times, stations, 200_000.0);
        let n = i32::try_from(stations).expect("few");
        within(0.01, found, share(n, 32.0, 5, times), &format!("{stations} stations"));
        within(0.005, found, refined(n, 32.0, 5, times), &format!("{stations} stations, refined"));
    }
}

#[test]
fn attempts_collide_as_often_as_in_the_model() {
    // W = 32 and m = 5, from the paper's model.
    for (stations, expected) in [(2, 0.0570), (5, 0.1781), (10, 0.2898), (20, 0.3988), (50, 0.5324)] {
        let (config, times) = hopping(false);
        let medium = run(&config, Mode::kilobits(1_000), stations, PAYLOAD, 200_000.0 * times.success * 1e-6);
        let (mut attempts, mut collisions) = (0, 0);
        for counters in medium.counters() {
            attempts += counters.attempts;
            collisions += counters.collisions;
        }
        // Attempts that come alone, before all others, make it a part of W rarer.
        let found = collisions as f64 / attempts as f64;
        within(0.06, found, expected, &format!("{stations} stations"));
    }
}

/// The throughput in megabits per second that ns-3's regression has of its own model (wifi-bianchi.cc): 1,500 bytes; of 5, 10, 25 and 50
/// stations, with an EIFS behind collisions and with a DIFS. It wants to be within 1.5 % of either.
type Reference = ([f64; 4], [f64; 4]);

fn agree_with_reference(config: &MediumConfig, mode: Mode, (eifs, difs): Reference) {
    let config = MediumConfig { retries: ENDLESS, aggregation: Aggregation::NONE, ..*config };
    for ((stations, low), high) in [5, 10, 25, 50].into_iter().zip(eifs).zip(difs) {
        let end = 60_000.0 * 1_500.0 * 8.0 / (low * 1e6);
        let found = throughput(&run(&config, mode, stations, 1_500, end), seconds(end)) / 1e6;
        let error = [low, high].map(|one: f64| (found / one - 1.0).abs()).into_iter().fold(1.0, f64::min);
        assert!(error < 0.015, "{mode:?}, {stations} stations: {found:.4} instead of {low} or {high}");
    }
}

#[test]
fn networks_have_the_throughput_of_reference() {
    let a = MediumConfig::new(phy(Standard::A, 36));
    let of_a = [
        (6_000, ([4.690, 4.320, 3.848, 3.471], [4.709, 4.345, 3.880, 3.507])),
        (12_000, ([8.897, 8.215, 7.333, 6.623], [8.952, 8.290, 7.427, 6.728])),
        (24_000, ([16.084, 14.915, 13.360, 12.089], [16.247, 15.143, 13.650, 12.414])),
        (54_000, ([29.286, 27.376, 24.681, 22.416], [29.832, 28.152, 25.690, 23.562])),
    ];
    of_a.into_iter().for_each(|(kilobits, expected)| agree_with_reference(&a, Mode::kilobits(kilobits), expected));
    let b = MediumConfig::new(phy(Standard::B, 6));
    let of_b = [
        (1_000, ([0.8418, 0.7831, 0.6973, 0.6285], [0.8437, 0.7861, 0.7016, 0.6336])),
        (11_000, ([6.382, 6.027, 5.422, 4.910], [6.473, 6.177, 5.643, 5.175])),
    ];
    of_b.into_iter().for_each(|(kilobits, expected)| agree_with_reference(&b, Mode::kilobits(kilobits), expected));
    // There, 802.11ax has the DIFS of DCF.
    let layer = wide(Standard::Ax, Width::Mhz80, GuardInterval::Ns800);
    let ax = MediumConfig { contention: [Contention::dcf(&layer); 4], ..MediumConfig::new(layer) };
    agree_with_reference(&ax, Mode::mcs(11), ([58.01, 55.09, 50.19, 45.84], [60.34, 58.55, 54.88, 51.29]));
}

#[test]
fn a_shared_medium_is_fair() {
    let layer = phy(Standard::A, 36);
    let medium = run(&MediumConfig::new(layer), Mode::kilobits(54_000), 10, 1_500, 60.0);
    let delivered: Vec<f64> = medium.counters().take(10).map(|counters| counters.delivered as f64).collect();
    let (sum, squares) = (delivered.iter().sum::<f64>(), delivered.iter().map(|one| one * one).sum::<f64>());
    let jain = sum * sum / (10.0 * squares);
    assert!(jain > 0.998, "Jain's index is {jain}");
}
