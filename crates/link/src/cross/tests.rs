//! Rates and distributions with fixed seeds, and what is refused.

use super::*;
use alloc::vec;

fn rate(bits: u64) -> Rate {
    Rate::from_bits_per_second(bits).expect("not zero")
}

fn stream(bits: u64, size: PacketSize) -> Stream {
    Stream { rate: rate(bits), size }
}

fn fixed(bytes: u64) -> PacketSize {
    PacketSize::Fixed(Bytes::new(bytes))
}

fn always(traffic: Traffic) -> CrossConfig {
    CrossConfig { traffic, start: Duration::ZERO, stop: None }
}

fn on_off(shape: f64, sources: u16) -> OnOff {
    let (on, off) = (Duration::from_millis(20), Duration::from_millis(60));
    OnOff { stream: stream(4_000_000, fixed(500)), on, off, shape, sources }
}

/// The packets of the first `seconds`: nanoseconds and bytes.
fn packets(traffic: Traffic, seconds: u64) -> Vec<(u64, u64)> {
    let end = Instant::ZERO + Duration::from_secs(seconds);
    let mut cross = Cross::new(&[always(traffic)], Instant::ZERO, Seed::new(7)).expect("there is traffic");
    let mut all = Vec::new();
    while let Some(at) = cross.next().filter(|at| *at < end) {
        all.push((at.as_nanos(), cross.take().expect("it was announced").size().get()));
    }
    all
}

/// Bits per second.
fn mean_rate(packets: &[(u64, u64)], seconds: u64) -> f64 {
    packets.iter().map(|(_, bytes)| bytes * 8).sum::<u64>() as f64 / seconds as f64
}

#[test]
fn a_constant_source_is_exact_however_long_it_runs() {
    // 1000 B at 7,000,003 bit/s: the gap is no whole number of nanoseconds.
    let all = packets(Traffic::Constant(stream(7_000_003, fixed(1_000))), 60);
    for (number, (at, _)) in all.iter().enumerate() {
        let exact = number as u128 * 8_000 * 1_000_000_000 / 7_000_003;
        assert_eq!(u128::from(*at), exact, "packet {number}");
    }
    assert_eq!(all.len(), 52_501, "60 s * 7,000,003 / 8,000, rounded up");
}

#[test]
fn of_a_mix_every_gap_is_that_of_the_packet_before() {
    let all = packets(Traffic::Constant(stream(8_000_000, PacketSize::Imix)), 10);
    assert!(all.windows(2).all(|pair| pair[1].0 - pair[0].0 == pair[0].1 * 1_000));
    // Chi-squared over three sizes: below 9.21 with two degrees of freedom at the level of 1 %.
    let count = |size| all.iter().filter(|(_, this)| *this == size).count() as f64;
    let share = all.len() as f64 / 12.0;
    let terms = [(40, 7.0), (576, 4.0), (1_500, 1.0)].map(|(size, of_twelve)| {
        let expected = share * of_twelve;
        (count(size) - expected) * (count(size) - expected) / expected
    });
    assert!(terms.iter().sum::<f64>() < 9.21, "{terms:?}");
}

/// Kolmogorov and Smirnov at the level of 1 %: 1.63 / sqrt(n).
#[test]
fn gaps_of_a_poisson_source_are_exponential() {
    let all = packets(Traffic::Poisson(stream(8_000_000, fixed(1_000))), 60);
    let mut gaps: Vec<u64> = all.windows(2).map(|pair| pair[1].0 - pair[0].0).collect();
    gaps.sort_unstable();
    let count = gaps.len() as f64;
    let distance = gaps.iter().enumerate().map(|(place, gap)| {
        let expected = 1.0 - libm::exp(-(*gap as f64) / 1e6);
        libm::fabs(expected - place as f64 / count)
    });
    let greatest = distance.fold(0.0, f64::max);
    assert!(greatest < 1.63 / libm::sqrt(count), "{greatest} of {count}");
}

/// Counts of a Poisson process in windows of one length have a variance that equals their mean: the index of dispersion
/// times (windows - 1) is chi-squared, nearly normal with so many degrees of freedom (Fisher's dispersion test).
#[test]
fn a_poisson_source_has_as_much_variance_as_mean() {
    let all = packets(Traffic::Poisson(stream(8_000_000, fixed(1_000))), 60);
    let (mean, variance) = moments(&counts(&all, 10_000_000, 6_000));
    let freedom = 5_999.0;
    let statistic = variance / mean * freedom;
    assert!(libm::fabs(statistic - freedom) < 2.58 * libm::sqrt(2.0 * freedom), "{statistic}");
}

#[test]
fn all_sources_send_at_their_mean_rate() {
    let mixed = packets(Traffic::Poisson(stream(8_000_000, PacketSize::Imix)), 60);
    // About 176,000 packets whose gaps and sizes have standard deviations of 1 and 1.2 means: three standard errors.
    assert!((mean_rate(&mixed, 60) / 8e6 - 1.0).abs() < 0.012, "{}", mean_rate(&mixed, 60));
    // A quarter of the time at 4 Mbit/s, ten times. Shape 3 has a variance, so that the mean comes soon: the share of the
    // time on has a standard error of about 0.58 * sqrt(2) / sqrt(60 s / 80 ms * 10) * 3 / 4, here times four.
    let bursts = packets(Traffic::OnOff(on_off(3.0, 10)), 60);
    assert!((mean_rate(&bursts, 60) / 10e6 - 1.0).abs() < 0.029, "{}", mean_rate(&bursts, 60));
}

/// How often something came in each of so many windows of a length in nanoseconds.
fn counts(packets: &[(u64, u64)], window: u64, windows: usize) -> Vec<f64> {
    let mut counts = vec![0.0; windows];
    for (at, _) in packets {
        if let Some(count) = counts.get_mut(usize::try_from(at / window).expect("small")) {
            *count += 1.0;
        }
    }
    counts
}

fn moments(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    (mean, values.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>() / (count - 1.0))
}

/// How the variance of counts grows with the length of the windows, between 100 ms and 2 s: like length^(2 H).
fn hurst(packets: &[(u64, u64)]) -> f64 {
    let variance = |window: u64, windows| moments(&counts(packets, window, windows)).1;
    let growth = variance(2_000_000_000, 300) / variance(100_000_000, 6_000);
    libm::log(growth) / libm::log(20.0) / 2.0
}

/// Willinger and others 1997: H = (3 - 1.4) / 2 = 0.8 in the limit; independent arrivals have 0.5.
#[test]
fn bursts_of_many_sources_are_bursty_on_all_scales() {
    let bursty = hurst(&packets(Traffic::OnOff(on_off(1.4, 20)), 600));
    let smooth = hurst(&packets(Traffic::Poisson(stream(8_000_000, fixed(1_000))), 600));
    assert!((0.7..0.95).contains(&bursty), "{bursty}");
    assert!((0.4..0.6).contains(&smooth), "{smooth}");
}

#[test]
fn a_recording_ends_or_begins_again() {
    let ms = Duration::from_millis;
    let recorded = [(ms(2), 100), (ms(3), 200), (ms(4), 300)].map(|(at, bytes)| (at, Bytes::new(bytes)));
    let replay = |repeat| Replay { file: "x.pcap".into(), packets: recorded.into(), repeat };
    let times = |repeat, seconds| -> Vec<u64> {
        packets(Traffic::Replay(replay(repeat)), seconds).iter().map(|(at, _)| at / 1_000_000).collect()
    };
    assert_eq!(times(false, 1), [2, 3, 4]);
    // The mean gap is 1 ms: the next round begins at 5 ms, and the one after that at 8 ms.
    assert_eq!(times(true, 1)[..8], [2, 3, 4, 5, 6, 7, 8, 9]);
    assert_eq!(times(true, 1).len(), 998);
}

#[test]
fn several_sources_take_turns() {
    let mut two = always(Traffic::Constant(stream(8_000_000, fixed(1_000))));
    let one = CrossConfig { start: Duration::from_micros(500), stop: Some(Duration::from_millis(3)), ..two.clone() };
    two.stop = Some(Duration::from_millis(2));
    let mut cross = Cross::new(&[one, two], Instant::from_nanos(7), Seed::new(1)).expect("there is traffic");
    let mut seen = Vec::new();
    while let Some(at) = cross.next() {
        let port = cross.take().and_then(|packet| packet.flow()).expect("an IP packet").source_port;
        seen.push((at.as_nanos() / 1_000, port - 49_152));
    }
    assert_eq!(seen, [(0, 1), (500, 0), (1_000, 1), (1_500, 0), (2_500, 0)]);
    assert!(cross.take().is_none());
}

#[test]
fn what_makes_no_sense_is_refused_with_its_key() {
    let ms = Duration::from_millis;
    let key = |config: &CrossConfig| config.check().expect_err("it is wrong").key;
    let right = always(Traffic::Poisson(stream(1_000_000, PacketSize::Imix)));
    assert_eq!(right.check(), Ok(()));
    assert_eq!(key(&CrossConfig { start: ms(2), stop: Some(ms(2)), ..right }), "stop");
    for bytes in [0, 27, 65_536] {
        assert_eq!(key(&always(Traffic::Constant(stream(1_000_000, fixed(bytes))))), "size");
    }
    let bursts = |change: fn(&mut OnOff)| {
        let mut wrong = on_off(1.5, 1);
        change(&mut wrong);
        key(&always(Traffic::OnOff(wrong)))
    };
    assert_eq!(bursts(|wrong| wrong.shape = 1.0), "shape");
    assert_eq!(bursts(|wrong| wrong.shape = f64::NAN), "shape");
    assert_eq!(bursts(|wrong| wrong.shape = f64::INFINITY), "shape");
    assert_eq!(bursts(|wrong| wrong.sources = 0), "sources");
    assert_eq!(bursts(|wrong| wrong.off = Duration::ZERO), "off");
    // 500 B at 4 Mbit/s take 1 ms.
    assert_eq!(bursts(|wrong| wrong.on = Duration::from_nanos(999_999)), "on");
    let replay = |packets: &[(u64, u64)], repeat| {
        let packets = packets.iter().map(|(at, size)| (ms(*at), Bytes::new(*size))).collect();
        key(&always(Traffic::Replay(Replay { file: "x.pcap".into(), packets, repeat })))
    };
    assert_eq!(replay(&[], false), "file");
    assert_eq!(replay(&[(2, 1), (1, 1)], false), "file");
    assert_eq!(replay(&[(1, 1), (1, 1)], true), "file");
}
