use super::*;
use netloom_link::{
    ChanceConfig, DelayConfig, Distribution, DropLog, Exponential, Order, Pipe, PipeChange, PipeConfig, ReorderConfig,
};
use netloom_packet::{Pool, VirtioHeader};
use netloom_units::{Probability, Rate, Seed};

const SENT: Duration = Duration::from_micros(120);

fn departure(due_us: u64, busy: Duration) -> Departure {
    let due = Instant::from_nanos(due_us * 1_000);
    Departure {
        packet: Pool::new(0, 0).packet(VirtioHeader::COMPLETE, &[0; 1_514]),
        due,
        first_due: due,
        delay: Duration::from_millis(20),
        busy,
    }
}

fn ratio(meter: &Meter) -> f64 {
    meter.busy.as_nanos() as f64 / meter.busy_measured().as_nanos() as f64
}

/// Packets of 120 us each that are delivered 10 us late, and from the third on 40 us late: the delay shows both,
/// the rate only the 30 us that the third took too long.
#[test]
fn lateness_shows_in_the_delay_and_its_growth_in_the_rate() {
    let mut meter = Meter::default();
    for (index, late_us) in [(0, 10), (1, 10), (2, 40), (3, 40)] {
        let departure = departure(index * 120, if index > 0 { SENT } else { Duration::ZERO });
        meter.record(&departure, departure.due + Duration::from_micros(late_us));
    }
    assert_eq!(meter.busy, Duration::from_micros(360));
    assert_eq!(meter.busy_measured(), Duration::from_micros(390));
    assert_eq!(meter.lateness.mean(), Some(Duration::from_micros(25)));
    assert_eq!(meter.delay.mean(), Some(Duration::from_micros(20_025)));
}

#[test]
fn a_packet_behind_an_idle_time_says_nothing_of_the_rate() {
    let mut meter = Meter::default();
    for index in [0, 1_000] {
        let departure = departure(index * 120, Duration::ZERO);
        meter.record(&departure, departure.due);
    }
    assert_eq!(meter.busy_measured(), Duration::ZERO);
}

/// An engine that takes twice as long for everything, and one that loses every second packet.
#[test]
fn an_engine_that_is_slow_or_loses_packets_does_not_achieve_the_rate() {
    let (mut slow, mut lossy) = (Meters::new(1), Meters::new(1));
    let pipe = PipeId(0);
    for index in 0..1_001 {
        let departure = departure(index * 120, if index > 0 { SENT } else { Duration::ZERO });
        slow.record(pipe, &departure, departure.due + Duration::from_micros(index * 120));
        if index % 2 == 0 {
            lossy.record(pipe, &departure, departure.due);
        } else {
            lossy.lose(pipe, &departure);
        }
    }
    assert_eq!(ratio(&slow.pipes[0]), 0.5);
    assert_eq!(ratio(&lossy.pipes[0]), 0.5);
}

/// Bursts of ten packets at 10 Gbit/s, which the kernel takes one by one: each begins on time and ends 18 us late, or the
/// engine wakes up 100 us late and delivers them at once. In between it has made up for it.
#[test]
fn short_bursts_have_no_rate_of_their_own() {
    let sent = Duration::from_nanos(1_200);
    let hands_over: [fn(u64) -> u64; 2] = [|index| index * 2_000, |index| 100_000 - index * 1_200];
    for (late, name) in hands_over.into_iter().zip(["slow", "woken late"]) {
        let mut meter = Meter::default();
        for burst in 0..100_000_u64 {
            for index in 0..10 {
                let due = Instant::from_nanos(burst * 1_000_000 + index * 1_200);
                let busy = if index > 0 { sent } else { Duration::ZERO };
                let departure = Departure { due, first_due: due, ..departure(0, busy) };
                meter.record(&departure, due + Duration::from_nanos(late(index)));
            }
        }
        assert!(meter.busy > Duration::from_secs(1), "{name}: {}", meter.busy);
        assert!((0.999..=1.0).contains(&ratio(&meter)), "{name}: {}", ratio(&meter));
    }
}

/// What is not made up for counts, however short the bursts are.
#[test]
fn an_engine_that_falls_back_with_every_burst_does_not_achieve_the_rate() {
    let mut meter = Meter::default();
    for burst in 0..1_000_u64 {
        for index in 0..10 {
            let departure = departure(burst * 1_200 + index * 120, if index > 0 { SENT } else { Duration::ZERO });
            meter.record(&departure, departure.due + Duration::from_micros((burst * 9 + index) * 120));
        }
    }
    assert_eq!(ratio(&meter), 0.5);
}

/// After a pause of a minute, in which the clock of the run stood still.
#[test]
fn a_machine_that_slept_says_nothing_of_the_rate() {
    let mut meter = Meter::default();
    for (index, late_s) in [(0, 0), (1, 0), (2, 60)] {
        let departure = departure(index * 120, SENT);
        meter.record(&departure, departure.due + Duration::from_secs(late_s));
    }
    assert_eq!((meter.busy, meter.busy_measured()), (SENT, SENT));
    assert!(meter.lateness.max().expect("three packets") >= Duration::from_secs(60));
}

/// What an engine measures that delivers each packet of a full pipe when it is due: `packets` of 1,500 bytes.
fn punctual(config: &PipeConfig, packets: u64, change: impl Fn(u64) -> Option<PipeChange>) -> Meter {
    let (mut pipe, mut drop_log) = (Pipe::new(config, Duration::from_micros(50), Seed::new(1)), DropLog::new());
    let (mut pool, mut meter) = (Pool::default(), Meter::default());
    for index in 0..packets {
        // Twice as many as can be sent.
        let now = Instant::from_nanos(index * 60_000);
        while let Some(wake) = pipe.next_wake().filter(|wake| *wake <= now) {
            pipe.pop(wake, &mut drop_log).into_iter().for_each(|departure| {
                meter.record(&departure, departure.due);
                pool.recycle(departure.packet);
            });
        }
        if let Some(change) = change(index) {
            pipe.change(now, &change, &mut drop_log);
        }
        pipe.push(now, pool.packet(VirtioHeader::COMPLETE, &[0; 1_514]), &mut drop_log);
        drop_log.drain(..).for_each(|dropped| pool.recycle(dropped.packet));
    }
    meter
}

fn full(delay: impl Into<DelayConfig>) -> PipeConfig {
    PipeConfig { rate: Rate::from_bits_per_second(100_000_000).into(), delay: delay.into(), ..PipeConfig::default() }
}

/// They travel for different times, wait for each other, overtake each other, come twice, or travel for another time
/// from some instant on: the transmitter sends all the same.
#[test]
fn what_happens_behind_the_transmitter_is_no_matter_of_the_rate() {
    let drawn = Exponential { shift: Duration::from_millis(10), mean: Duration::from_millis(5) };
    let distribution = Distribution::Exponential(drawn);
    let random = DelayConfig { distribution, ..DelayConfig::default() };
    let free = DelayConfig { order: Order::Free, ..random.clone() };
    let half = ChanceConfig::from(Probability::from_parts_per_trillion(500_000_000_000).expect("a half"));
    let constant = || full(Duration::from_millis(20));
    let cases = [
        ("random", full(random)),
        ("overtaking", full(free)),
        ("reordered", PipeConfig { reorder: ReorderConfig { chance: half, ..ReorderConfig::default() }, ..constant() }),
        ("duplicated", PipeConfig { duplicate: half, ..constant() }),
        ("jumping", constant()),
    ];
    for (name, config) in cases {
        let jump = |index| Duration::from_millis(if index % 2_000 < 1_000 { 5 } else { 40 });
        let change = |index| {
            let is_due = name == "jumping" && index % 1_000 == 0;
            is_due.then(|| PipeChange { delay: Some(jump(index).into()), ..PipeChange::default() })
        };
        let meter = punctual(&config, 20_000, change);
        assert!(meter.busy > Duration::from_secs(1), "{name}: {}", meter.busy);
        assert_eq!(ratio(&meter), 1.0, "{name}");
    }
}
