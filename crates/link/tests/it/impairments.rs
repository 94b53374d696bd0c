//! What loss, corruption, duplication and reordering do in the long run, against the exact laws, and on trains.
//!
//! Every seed is fixed. A test statistic is compared with the value that chance exceeds once in a thousand.

use netloom_link::{
    ChanceConfig, Departure, DropLog, EveryConfig, GilbertConfig, GilbertElliottConfig, LossConfig, MarkovConfig,
    PacketsConfig, Pipe, PipeChange, PipeConfig, PipeCounters, ReorderConfig, SequenceConfig, Then,
};
use netloom_packet::Pool;
use netloom_testing::loads::{Load, Transport, alone, first_segment, number};
use netloom_units::{BitErrorRate, Duration, Instant, Probability, Seed};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

fn percent(tenths: u64) -> Probability {
    Probability::from_parts_per_trillion(tenths * 1_000_000_000).expect("at most 1")
}

fn fraction(probability: Probability) -> f64 {
    probability.as_f64()
}

/// Which of `count` packets of `size` bytes are lost.
fn lost(loss: LossConfig, size: usize, count: u32) -> Vec<bool> {
    loss.check().expect("a description that makes sense");
    let config = PipeConfig { loss, ..PipeConfig::default() };
    let mut pipe = Pipe::new(&config, Duration::ZERO, Seed::new(7));
    let (mut pool, mut drop_log) = (Pool::default(), DropLog::new());
    let one = |number| {
        pipe.push(Instant::ZERO, Load::Plain(size).packet(&mut pool, number), &mut drop_log);
        let passed = pipe.pop(Instant::ZERO, &mut drop_log);
        let is_lost = passed.is_none();
        assert_eq!(drop_log.len(), usize::from(is_lost));
        let packet = passed.map(|departure| departure.packet).or_else(|| drop_log.pop().map(|dropped| dropped.packet));
        pool.recycle(packet.expect("it passed or was dropped"));
        is_lost
    };
    (0..count).map(one).collect()
}

/// Pearson's statistic of what was seen against the probabilities of the same cells.
fn chi_squared(seen: &[u64], probabilities: &[f64]) -> f64 {
    let total = seen.iter().sum::<u64>() as f64;
    assert!((probabilities.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{probabilities:?}");
    let cell = |(count, probability): (&u64, &f64)| {
        let expected = total * probability;
        assert!(expected >= 5.0, "cells of {expected} are too small for this test");
        (*count as f64 - expected).powi(2) / expected
    };
    seen.iter().zip(probabilities).map(cell).sum()
}

/// What a chi-squared number exceeds once in a thousand (Wilson and Hilferty 1931).
fn limit(freedom: usize) -> f64 {
    let part = 2.0 / (9.0 * freedom as f64);
    freedom as f64 * (1.0 - part + 3.0902 * part.sqrt()).powi(3)
}

fn assert_fits(seen: &[u64], probabilities: &[f64]) {
    let (got, most) = (chi_squared(seen, probabilities), limit(seen.len() - 1));
    assert!(got < most, "{got:.2} is more than {most:.2}: {seen:?} against {probabilities:?}");
}

/// The share of lost packets, where neighbours are alike: by the means of a hundred batches (Student's t).
fn assert_share(lost: &[bool], share: f64) {
    let batch = lost.len() / 100;
    let means: Vec<f64> =
        lost.chunks_exact(batch).map(|chunk| chunk.iter().filter(|one| **one).count() as f64 / batch as f64).collect();
    let mean = means.iter().sum::<f64>() / 100.0;
    let variance = means.iter().map(|other| (other - mean).powi(2)).sum::<f64>() / 99.0;
    let t = (mean - share) / (variance / 100.0).sqrt();
    assert!(t.abs() < 3.39, "t = {t:.2}: {mean} against {share}");
}

/// Whether `lost` is a chain of two states: from a packet that passed to a lost one with `begin`, and back with `end`.
fn assert_two_states(lost: &[bool], begin: f64, end: f64) {
    let mut seen = [[0_u64; 2]; 2];
    lost.windows(2).for_each(|pair| seen[usize::from(pair[0])][usize::from(pair[1])] += 1);
    assert_fits(&seen[0], &[1.0 - begin, begin]);
    assert_fits(&seen[1], &[end, 1.0 - end]);
}

/// How often runs of `value` have a length of 1, 2 and so on up to `most` and more; the last run may be cut off.
fn runs(lost: &[bool], value: bool, most: usize) -> Vec<u64> {
    let mut seen = vec![0; most];
    let mut run = 0;
    for one in lost {
        if *one == value {
            run += 1;
        } else if run > 0 {
            seen[run.min(most) - 1] += 1;
            run = 0;
        }
    }
    seen
}

/// The probabilities of lengths 1, 2 and so on up to `most` and more, if a run ends behind each packet with `end`.
fn geometric(end: f64, most: i32) -> Vec<f64> {
    let mut law: Vec<f64> = (0..most - 1).map(|longer| end * (1.0 - end).powi(longer)).collect();
    law.push((1.0 - end).powi(most - 1));
    law
}

#[test]
fn independent_loss() {
    for tenths in [1, 10, 300, 999] {
        let p = fraction(percent(tenths));
        let lost = lost(LossConfig::Independent(percent(tenths)), 100, 200_000);
        let count = lost.iter().filter(|lost| **lost).count() as u64;
        assert_fits(&[200_000 - count, count], &[1.0 - p, p]);
        // A loss says nothing about the next packet; of rare ones too few are neighbours to say so.
        if (10..=990).contains(&tenths) {
            assert_two_states(&lost, p, 1.0 - p);
        }
    }
}

#[test]
fn correlated_loss_keeps_its_probability_and_has_its_correlation() {
    for (tenths, alike) in [(10, 250), (10, 900), (300, 500), (950, 800)] {
        let (p, c) = (fraction(percent(tenths)), fraction(percent(alike)));
        let config = ChanceConfig { probability: percent(tenths), correlation: percent(alike) };
        let lost = lost(LossConfig::Correlated(config), 100, 500_000);
        assert_share(&lost, p);
        assert_two_states(&lost, (1.0 - c) * p, (1.0 - c) * (1.0 - p));
        for lag in 1..=4 {
            let got = autocorrelation(&lost, lag);
            let exact = c.powi(i32::try_from(lag).expect("small"));
            assert!((got - exact).abs() < 0.05, "lag {lag}: {got} against {exact}");
        }
    }
}

fn autocorrelation(lost: &[bool], lag: usize) -> f64 {
    let value = |one: &bool| if *one { 1.0 } else { 0.0 };
    let mean = lost.iter().map(value).sum::<f64>() / lost.len() as f64;
    let product = |(a, b): (&bool, &bool)| (value(a) - mean) * (value(b) - mean);
    let covariance = lost.iter().zip(&lost[lag..]).map(product).sum::<f64>() / (lost.len() - lag) as f64;
    covariance / (mean * (1.0 - mean))
}

/// 1 - (1 - p)^n, so that a packet of 1,500 bytes is lost more often than one of 40.
#[test]
fn bit_errors_take_long_packets_more_often() {
    let rate = BitErrorRate::new(1, 100_000).expect("a rate");
    for size in [40, 576, 1_500, 9_000] {
        let lost = lost(LossConfig::BitError(rate), size, 200_000);
        let passed = (1.0 - 1e-5_f64).powi(i32::try_from(size * 8).expect("small"));
        let count = lost.iter().filter(|lost| **lost).count() as u64;
        assert_fits(&[200_000 - count, count], &[passed, 1.0 - passed]);
    }
}

#[test]
fn bursts_of_gilbert() {
    for (tenths, burst) in [(50, 5), (250, 3), (500, 20)] {
        let lost = lost(LossConfig::Gilbert(GilbertConfig { share: percent(tenths), burst }), 100, 500_000);
        let (share, end) = (fraction(percent(tenths)), 1.0 / f64::from(burst));
        let begin = share * end / (1.0 - share);
        assert_share(&lost, share);
        assert_two_states(&lost, begin, end);
        assert_fits(&runs(&lost, true, 8), &geometric(end, 8));
        assert_fits(&runs(&lost, false, 8), &geometric(begin, 8));
    }
}

#[test]
fn gilbert_elliott_in_its_simple_form_is_geometric() {
    let (p, r) = (percent(20), percent(200));
    let config = GilbertElliottConfig { p, r, good: Probability::ZERO, bad: Probability::ONE };
    let lost = lost(LossConfig::GilbertElliott(config), 100, 500_000);
    assert_share(&lost, 0.02 / 0.22);
    assert_fits(&runs(&lost, true, 12), &geometric(0.2, 12));
    assert_fits(&runs(&lost, false, 100), &geometric(0.02, 100));
}

/// The share of both states together, and pairs of losses a distance apart: the state is remembered with 1 - p - r.
#[test]
fn gilbert_elliott_with_four_parameters() {
    let config = GilbertElliottConfig { p: percent(50), r: percent(150), good: percent(20), bad: percent(700) };
    let lost = lost(LossConfig::GilbertElliott(config), 100, 1_000_000);
    let (good, bad) = (0.75, 0.25);
    let share: f64 = good * 0.02 + bad * 0.7;
    assert_share(&lost, share);
    for lag in 1..=5 {
        let kept = 0.8_f64.powi(i32::try_from(lag).expect("small"));
        let covariance = good * bad * (0.7_f64 - 0.02).powi(2) * kept;
        let both: Vec<bool> = lost.iter().zip(&lost[lag..]).map(|(a, b)| *a && *b).collect();
        assert_share(&both, share * share + covariance);
    }
}

/// Stationary shares of the four states, from the balance of what goes in and out of each (Salsano et al., section 4.1).
fn stationary(config: MarkovConfig) -> [f64; 4] {
    let [p13, p31, p32, p23, p14] = [config.p13, config.p31, config.p32, config.p23, config.p14].map(fraction);
    let third = p13 / p31;
    let states = [1.0, third * p32 / p23, third, p14];
    states.map(|state| state / states.iter().sum::<f64>())
}

#[test]
fn markov_without_passing_packets_in_bursts() {
    let none = Probability::ZERO;
    let config =
        MarkovConfig { p13: percent(30), p31: percent(250), p32: none, p23: Probability::ONE, p14: percent(10) };
    let lost = lost(LossConfig::Markov(config), 100, 500_000);
    let [_, _, third, fourth] = stationary(config);
    assert_share(&lost, third + fourth);
    // A run of losses is one alone in a quarter of all cases, and else ends with p31 behind each packet.
    let mut law: Vec<f64> = geometric(0.25, 10).into_iter().map(|probability| 0.75 * probability).collect();
    law[0] += 0.25;
    assert_fits(&runs(&lost, true, 10), &law);
    // Behind a burst one packet passes for sure when it was a loss alone, and by the end of the burst itself otherwise.
    assert_fits(&runs(&lost, false, 50), &geometric(0.04, 50));
}

#[test]
fn markov_with_all_states() {
    let config =
        MarkovConfig { p13: percent(20), p31: percent(200), p32: percent(300), p23: percent(400), p14: percent(10) };
    let lost = lost(LossConfig::Markov(config), 100, 1_000_000);
    let [first, second, third, fourth] = stationary(config);
    assert_share(&lost, third + fourth);
    // Two in a row: only from state 3 to itself. Lost, passed, lost: through state 2, or through 1 from 3 or 4.
    let pair: Vec<bool> = lost.windows(2).map(|two| two[0] && two[1]).collect();
    assert_share(&pair, third * 0.5);
    let around: Vec<bool> = lost.windows(3).map(|three| three[0] && !three[1] && three[2]).collect();
    assert_share(&around, third * 0.3 * 0.4 + (third * 0.2 + fourth) * 0.03);
    let passed: Vec<bool> = lost.windows(2).map(|two| !two[0] && !two[1]).collect();
    assert_share(&passed, first * 0.97 + second * 0.6);
}

/// To which of 300,000 packets it happens, in a pipe with a delay.
fn happens(config: &PipeConfig, what: impl Fn(&[Departure], &[u8]) -> bool) -> Vec<bool> {
    let config = PipeConfig { delay: Duration::from_nanos(1).into(), ..config.clone() };
    let mut pipe = Pipe::new(&config, Duration::ZERO, Seed::new(7));
    let (mut pool, mut drop_log) = (Pool::default(), DropLog::new());
    let one = |count: u32| {
        let now = Instant::from_nanos(2 * u64::from(count));
        let packet = Load::Plain(100).packet(&mut pool, count);
        let sent = packet.bytes().to_vec();
        pipe.push(now, packet, &mut drop_log);
        let mut left = Vec::new();
        while let Some(departure) = pipe.next_wake().and_then(|wake| pipe.pop(wake, &mut drop_log)) {
            left.push(departure);
        }
        let happens = what(&left, &sent);
        left.into_iter().for_each(|departure| pool.recycle(departure.packet));
        happens
    };
    (0..300_000).map(one).collect()
}

/// Whether neighbours are as alike as two states whose probability is 5 % and whose correlation is 60 %.
fn assert_five_and_sixty(what: &[bool]) {
    assert_share(what, 0.05);
    assert_two_states(what, 0.4 * 0.05, 0.4 * 0.95);
}

#[test]
fn corruption_duplication_and_reordering_keep_probability_and_correlation() {
    let chance = ChanceConfig { probability: percent(50), correlation: percent(600) };
    let plain = PipeConfig::default();
    let corrupt = PipeConfig { corrupt: chance, ..plain.clone() };
    assert_five_and_sixty(&happens(&corrupt, |left, sent| left[0].packet.bytes() != sent));
    let duplicate = PipeConfig { duplicate: chance, ..plain.clone() };
    assert_five_and_sixty(&happens(&duplicate, |left, _| left.len() == 2));
    let reorder = PipeConfig { reorder: ReorderConfig { chance, ..ReorderConfig::default() }, ..plain };
    assert_five_and_sixty(&happens(&reorder, |left, _| left[0].delay.is_zero()));
}

/// Which bit is flipped is drawn uniformly: of the 800 of a packet that is no IP packet, in sixteenths.
#[test]
fn every_bit_is_as_likely() {
    let corrupt = PipeConfig { corrupt: ChanceConfig::from(Probability::ONE), ..PipeConfig::default() };
    let seen = std::cell::RefCell::new([0_u64; 16]);
    happens(&corrupt, |left, sent| {
        let bytes = left[0].packet.bytes();
        let at = bytes.iter().zip(sent).position(|(a, b)| a != b).expect("a flipped bit");
        let bit = (at - 14) * 8 + (bytes[at] ^ sent[at]).trailing_zeros() as usize;
        seen.borrow_mut()[bit / 50] += 1;
        true
    });
    assert_fits(&seen.into_inner(), &[1.0 / 16.0; 16]);
}

fn chances() -> impl Strategy<Value = ChanceConfig> {
    let some = (0..=1_000_u64, prop_oneof![Just(0), 0..1_000_u64])
        .prop_map(|(tenths, alike)| ChanceConfig { probability: percent(tenths), correlation: percent(alike) });
    prop_oneof![1 => Just(ChanceConfig::default()), 2 => some]
}

fn shares() -> impl Strategy<Value = Probability> {
    (1..=1_000_u64).prop_map(percent)
}

fn losses() -> impl Strategy<Value = LossConfig> {
    let states = (shares(), shares(), shares(), shares());
    let then = prop_oneof![Just(Then::Repeat), Just(Then::Pass)];
    let markov = (1..=500_u64, 1..=500_u64, 0..=500_u64, shares(), 0..=500_u64);
    prop_oneof![
        Just(LossConfig::None),
        shares().prop_map(LossConfig::Independent),
        chances().prop_map(LossConfig::Correlated),
        (1..100_u64, 100..1_000_000_u64)
            .prop_map(|(wrong, bits)| LossConfig::BitError(BitErrorRate::new(wrong, bits).expect("below 1"))),
        (1..500_u64, 1..50_u32)
            .prop_map(|(tenths, burst)| LossConfig::Gilbert(GilbertConfig { share: percent(tenths), burst })),
        states.prop_map(|(p, r, good, bad)| LossConfig::GilbertElliott(GilbertElliottConfig { p, r, good, bad })),
        markov.prop_map(|(p13, p31, p32, p23, p14)| LossConfig::Markov(MarkovConfig {
            p13: percent(p13),
            p31: percent(p31),
            p32: percent(p32),
            p23,
            p14: percent(p14),
        })),
        (1..20_u64, 1..20_u64).prop_map(|(n, first)| LossConfig::Every(EveryConfig { n, first })),
        (vec((1..5_u64, 0..3_u64), 1..6), prop::option::of(0..5_u64)).prop_map(numbered),
        (vec(any::<bool>(), 1..20), then).prop_map(|(lost, then)| LossConfig::Sequence(SequenceConfig {
            lost: lost.into(),
            then,
            file: None
        })),
    ]
}

/// Runs of lost packets from the distances between them and their lengths.
fn numbered((distances, more): (Vec<(u64, u64)>, Option<u64>)) -> LossConfig {
    let mut last = 0;
    let mut run = |(distance, longer)| {
        let first = last + distance;
        last = first + longer;
        first..=last
    };
    let lost = distances.into_iter().map(&mut run).collect();
    LossConfig::Packets(PacketsConfig { lost, period: more.map(|more| last + more) })
}

fn reorders() -> impl Strategy<Value = ReorderConfig> {
    let by = prop::option::of((1..2_000_000_u64).prop_map(Duration::from_nanos));
    (chances(), by, 1..5_u32).prop_map(|(chance, by, gap)| ReorderConfig { chance, by, gap })
}

fn changes() -> impl Strategy<Value = PipeChange> {
    let (loss, corrupt) = (prop::option::of(losses()), prop::option::of(chances()));
    (loss, corrupt, prop::option::of(chances()), prop::option::of(reorders())).prop_map(
        |(loss, corrupt, duplicate, reorder)| PipeChange { loss, corrupt, duplicate, reorder, ..PipeChange::default() },
    )
}

fn loads() -> impl Strategy<Value = Load> {
    let transport = prop_oneof![Just(Transport::Tcp), Just(Transport::Udp)];
    let train =
        (transport, 1..20_usize, 1..1_460_usize, 0..1_460_usize).prop_map(|(transport, full, payload, last)| {
            Load::Train { transport, full, payload, last: last.min(payload - 1) }
        });
    prop_oneof![(4..1_500_usize).prop_map(Load::Plain), train]
}

#[derive(Clone, Debug)]
enum Event {
    Send(Load),
    Change(Box<PipeChange>),
}

/// Every segment that left or was dropped: when, of which packet, which, and how many bytes; in this order.
type Outcome = (Vec<(Instant, u32, u32, u64)>, PipeCounters);

fn play(config: &PipeConfig, events: &[(u64, Event)], separately: bool) -> Outcome {
    let mut pipe = Pipe::new(config, Duration::ZERO, Seed::new(7));
    let (mut pool, mut drop_log, mut outcome) = (Pool::default(), DropLog::new(), Vec::new());
    let mut now = Instant::ZERO;
    for ((gap, event), count) in events.iter().zip(0..) {
        now = now + Duration::from_nanos(*gap);
        match event {
            Event::Send(load) => {
                let train = load.packet(&mut pool, count);
                let pieces = if separately { alone(train) } else { vec![train] };
                pieces.into_iter().for_each(|piece| pipe.push(now, piece, &mut drop_log));
            }
            Event::Change(change) => pipe.change(now, change, &mut drop_log),
        }
        assert!(pipe.counters().balance(), "{:?}", pipe.counters());
    }
    while let Some(wake) = pipe.next_wake() {
        while let Some(departure) = pipe.pop(wake, &mut drop_log) {
            for segment in alone(departure.packet) {
                outcome.push((departure.due, number(&segment), first_segment(&segment), segment.size().get()));
            }
        }
    }
    for dropped in drop_log {
        let at = dropped.at;
        let name = |segment| (at, number(&segment), first_segment(&segment), segment.size().get());
        outcome.extend(alone(dropped.packet).into_iter().map(name));
    }
    (outcome, *pipe.counters())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, rng_seed: RngSeed::Fixed(7), ..ProptestConfig::default() })]

    /// Whatever impairs them, the segments of a train fare as they would alone.
    #[test]
    fn trains_fare_as_their_segments(
        first in changes(),
        rate in prop::option::of(1_000_000..10_000_000_000_u64),
        events in vec((0..1_000_000_u64, prop_oneof![
            5 => loads().prop_map(Event::Send),
            1 => changes().prop_map(|change| Event::Change(Box::new(change))),
        ]), 1..20),
    ) {
        let base = PipeConfig {
            rate: rate.and_then(netloom_units::Rate::from_bits_per_second).into(),
            delay: Duration::from_millis(1).into(),
            ..PipeConfig::default()
        };
        let config = first.applied_to(&base);
        prop_assert!(config.loss.check().is_ok(), "{:?}", config.loss);
        prop_assert_eq!(play(&config, &events, false), play(&config, &events, true));
    }
}
