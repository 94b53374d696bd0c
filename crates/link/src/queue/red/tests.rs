//! What the paper computes of its own algorithm: Floyd and Jacobson 1993, sections 4, 6 and 7.

use super::*;
use crate::{DropLog, PipeCounters};
use netloom_packet::{Pool, VirtioHeader};
use netloom_units::Rate;

fn parts(parts: u64) -> Probability {
    Probability::from_parts_per_trillion(parts).expect("at most 1")
}

/// Thresholds that nothing reaches.
fn unbounded(weight: Probability) -> RedConfig {
    RedConfig {
        limit: Limit::Packets(5_000),
        min: Limit::Packets(4_000),
        max: Limit::Packets(4_001),
        weight,
        ..RedConfig::default()
    }
}

fn busy() -> Transmission {
    let rate = Rate::from_bits_per_second(8_000_000).expect("above zero");
    Transmission { rate, remaining: Duration::from_millis(1), idle_since: None }
}

/// The average that the packet behind a burst of `burst` packets finds, which filled an empty queue.
fn average_after(burst: u32, weight: Probability) -> f64 {
    let mut red = Red::new(&unbounded(weight), Seed::new(1));
    let (mut counters, mut drop_log, mut pool) = (PipeCounters::default(), DropLog::new(), Pool::default());
    for _ in 0..=burst {
        let packet = pool.packet(VirtioHeader::COMPLETE, &[0; 114]);
        let mut ledger = Ledger { counters: &mut counters, drop_log: &mut drop_log, now: Instant::ZERO };
        red.push(Instant::ZERO, packet, busy(), &mut ledger);
    }
    red.avg
}

/// Equation 2: L + 1 + ((1 - w)^(L + 1) - 1) / w.
fn equation_2(burst: u32, weight: f64) -> f64 {
    let burst = f64::from(burst);
    burst + 1.0 + (libm::pow(1.0 - weight, burst + 1.0) - 1.0) / weight
}

/// Section 6.1, equation 2 and figure 8: 10 to 100 packets, weights 0.001 to 0.005.
#[test]
fn a_burst_raises_the_average_as_equation_2_says() {
    for burst in [1, 10, 20, 50, 100] {
        for thousandths in 1..=5 {
            let weight = parts(thousandths * 1_000_000_000);
            let (got, expected) = (average_after(burst, weight), equation_2(burst, weight.as_f64()));
            assert!((got - expected).abs() < 1e-9, "{burst} packets, weight {weight}: {got}, not {expected}");
        }
    }
}

/// Section 6.1, equation 3: "for min_th = 5 and L = 50, it is necessary to choose w_q <= 0.0042", where the last digit is
/// rounded.
#[test]
fn the_upper_bound_of_the_weight_is_the_papers() {
    assert!(average_after(50, parts(4_150_000_000)) < 5.0);
    assert!((average_after(50, parts(4_200_000_000)) - 5.0).abs() < 0.01);
    assert!(average_after(50, parts(4_250_000_000)) > 5.0);
}

/// Section 6.2: after -1 / ln(1 - w) arrivals that find one packet the average has come to 0.63 of it: 1,000 arrivals
/// for a weight of 0.001, 500 for 0.002, 333 for 0.003.
#[test]
fn the_time_constant_is_the_papers() {
    for (thousandths, arrivals) in [(1, 1_000), (2, 500), (3, 333)] {
        let mut red = Red::new(&unbounded(parts(thousandths * 1_000_000_000)), Seed::new(1));
        let (mut counters, mut drop_log, mut pool) = (PipeCounters::default(), DropLog::new(), Pool::default());
        let mut ledger = Ledger { counters: &mut counters, drop_log: &mut drop_log, now: Instant::ZERO };
        red.tail.push(Instant::ZERO, pool.packet(VirtioHeader::COMPLETE, &[0; 114]), busy(), &mut ledger);
        (0..arrivals).for_each(|_| red.average(Instant::ZERO, busy()));
        assert!((red.avg - 0.632).abs() < 0.001, "weight {thousandths}/1000: {}", red.avg);
    }
}

/// Section 7 ("method 2"): with a constant average, the packets between two notified ones are as likely to be few as
/// many. With p_b = 1/50 the next is one of the following 49: figure 2 counts the first as number 1.
#[test]
fn notifications_are_spread_evenly() {
    let mut red = Red::new(&RedConfig::default(), Seed::new(7));
    // Just below the upper threshold, where p_b is max_p = 1/50.
    red.avg = 15.0 - 1e-9;
    let (mut seen, mut since) = ([0_u32; 50], 0);
    let total = 49_000;
    for _ in 0..=total {
        loop {
            since += 1;
            if red.judge(Bytes::new(1_000)) != Verdict::Pass {
                break;
            }
        }
        seen[since % 50] += 1;
        since = 0;
    }
    // Chi-squared with 48 degrees of freedom: 0.999 of all draws stay below 84.
    let expected = f64::from(total) / 49.0;
    let chi: f64 =
        seen[1..].iter().map(|count| (f64::from(*count) - expected) * (f64::from(*count) - expected) / expected).sum();
    assert!(chi < 84.0, "{chi}: {seen:?}");
    assert!(seen[0] <= 1, "only the very first may have been number 50");
}

/// ns-2's `wait_`: just below a p_b of 1/50 none of the first 50 packets behind a drop is dropped, and one of the 49 from there on
/// is, each as likely as any other. So a third as many are dropped as without: one in 75 instead of one in 25.
#[test]
fn notifications_wait_as_in_ns_2() {
    let mut red = Red::new(&RedConfig { wait: true, ..RedConfig::default() }, Seed::new(7));
    red.avg = 15.0 - 1e-9;
    let (mut seen, mut since) = ([0_u32; 49], 0);
    let total = 24_500;
    for number in 0..total {
        loop {
            since += 1;
            if red.judge(Bytes::new(1_000)) != Verdict::Pass {
                break;
            }
        }
        assert!((51..=100).contains(&since), "drop {number} after {since} packets");
        seen[(since - 51).min(48)] += 1;
        since = 0;
    }
    // Chi-squared with 48 degrees of freedom: 0.999 of all draws stay below 84.
    let expected = f64::from(total) / 49.0;
    let chi: f64 =
        seen.iter().map(|count| (f64::from(*count) - expected) * (f64::from(*count) - expected) / expected).sum();
    assert!(chi < 84.0, "{chi}: {seen:?}");
}

/// In byte mode, ns-2 counts mean packets: of packets twice as long, half as many pass between two drops.
#[test]
fn waiting_counts_bytes_in_byte_mode() {
    let config = RedConfig { wait: true, byte_mode: true, mean_packet: Bytes::new(500), ..RedConfig::default() };
    let mut red = Red::new(&config, Seed::new(7));
    red.avg = 15.0 - 1e-9;
    let mut since = 0;
    for _ in 0..2_000 {
        loop {
            since += 1;
            if red.judge(Bytes::new(1_000)) != Verdict::Pass {
                break;
            }
        }
        assert!((25..=50).contains(&since), "{since}");
        since = 0;
    }
}

/// Section 4: an idle time counts as the arrivals of packets that find nothing; here of four typical ones, 1 ms each.
#[test]
fn an_idle_link_lets_the_average_decay() {
    let mut red = Red::new(&unbounded(parts(100_000_000_000)), Seed::new(1));
    red.avg = 10.0;
    let now = Instant::from_nanos(9_000_000);
    let idle = Transmission { remaining: Duration::ZERO, idle_since: Some(Instant::from_nanos(5_000_000)), ..busy() };
    red.average(now, idle);
    assert!((red.avg - 10.0 * 0.9 * 0.9 * 0.9 * 0.9).abs() < 1e-12, "{}", red.avg);
}

fn refused(config: RedConfig) -> &'static str {
    config.check().expect_err("it makes no sense").key
}

#[test]
fn what_makes_no_sense_is_refused() {
    let plain = RedConfig::default();
    assert_eq!(plain.check(), Ok(()));
    assert_eq!(refused(RedConfig { min: Limit::Packets(15), ..plain }), "max");
    assert_eq!(refused(RedConfig { min: Limit::Bytes(Bytes::new(3)), ..plain }), "max");
    assert_eq!(refused(RedConfig { min: Limit::Time(Duration::from_millis(3)), ..plain }), "min");
    assert_eq!(refused(RedConfig { max: Limit::Time(Duration::from_millis(3)), ..plain }), "max");
    assert_eq!(refused(RedConfig { limit: Limit::Packets(14), ..plain }), "limit");
    assert_eq!(refused(RedConfig { probability: Probability::ZERO, ..plain }), "probability");
    assert_eq!(refused(RedConfig { weight: Probability::ZERO, ..plain }), "weight");
    assert_eq!(refused(RedConfig { mean_packet: Bytes::new(0), ..plain }), "mean_packet");
}
