//! What a look at a pipe tells, and how long packets took in between.

use netloom_link::{
    DelayConfig, Delays, Distribution, DropLog, OnTheWire, Pipe, PipeConfig, PipeSample, RateConfig, StateConfig,
};
use netloom_packet::Pool;
use netloom_testing::loads::{Load, Transport};
use netloom_units::{Duration, Instant, Rate, Seed};

fn ms(ms: u64) -> Instant {
    Instant::from_nanos(ms * 1_000_000)
}

fn span(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// 1,500 bytes take 12 ms, and then travel for 100 ms.
fn config() -> PipeConfig {
    let rate = RateConfig::Constant(Rate::from_bits_per_second(1_000_000).expect("a rate"));
    let delay =
        DelayConfig { distribution: Distribution::Constant(Duration::from_millis(100)), ..DelayConfig::default() };
    PipeConfig { rate, delay, ..PipeConfig::default() }
}

struct Bench {
    pipe: Pipe,
    log: DropLog,
    pool: Pool,
}

impl Bench {
    fn new(config: &PipeConfig) -> Self {
        let mut log = DropLog::new();
        log.measure_delays(true);
        Self { pipe: Pipe::new(config, Duration::ZERO, Seed::new(1)), log, pool: Pool::default() }
    }

    fn push(&mut self, at: u64, load: Load) {
        let packet = load.packet(&mut self.pool, 1);
        self.pipe.push(ms(at), packet, &mut self.log);
    }

    /// Delivers what is due until then, and looks.
    fn sample(&mut self, at: u64) -> PipeSample {
        while self.pipe.next_wake().is_some_and(|wake| wake <= ms(at)) {
            let wake = self.pipe.next_wake().expect("just seen");
            while let Some(left) = self.pipe.pop(wake, &mut self.log) {
                self.pool.recycle(left.packet);
            }
        }
        self.log.drain(..).for_each(|dropped| self.pool.recycle(dropped.packet));
        self.pipe.sample(ms(at), &mut self.log)
    }
}

fn delays(packets: u64, [p50, p99, max]: [u64; 3]) -> Option<Delays> {
    Some(Delays { packets, p50: span(p50), p99: span(p99), max: span(max) })
}

/// Four segments of 12 ms each wait for one another: they take 112, 124, 136 and 148 ms.
#[test]
fn delays_count_from_the_entrance_to_the_end() {
    let mut bench = Bench::new(&config());
    bench.push(10, Load::Train { transport: Transport::Tcp, full: 4, payload: 1_448, last: 0 });
    let early = bench.sample(25);
    // One is sent, the second has 9 of its 12 ms to go, and two wait.
    assert_eq!((early.counters.queued.packets, early.queueing), (2, Some(span(9 + 24))));
    assert_eq!((early.rate, early.delays), (Rate::from_bits_per_second(1_000_000), None));
    assert_eq!(bench.sample(134).delays, delays(2, [112, 124, 124]));
    let last = bench.sample(158);
    assert_eq!((last.delays, last.queueing), (delays(2, [136, 148, 148]), Some(Duration::ZERO)));
    assert_eq!(bench.sample(200).delays, None);
}

/// Counters are those of the instant, though nothing leaves the pipe then.
#[test]
fn a_look_shows_what_was_put_off() {
    let mut bench = Bench::new(&config());
    (0..4).for_each(|_| bench.push(0, Load::Plain(1_500)));
    for (at, waiting) in [(1, 3), (12, 2), (35, 1), (36, 0)] {
        assert_eq!(bench.sample(at).counters.queued.packets, waiting, "{at} ms");
    }
}

#[test]
fn what_is_lost_on_the_wire_or_in_the_queue_has_no_delay() {
    let state = StateConfig { on_the_wire: OnTheWire::Lost, ..StateConfig::default() };
    let mut bench = Bench::new(&PipeConfig { state, ..config() });
    (0..4).for_each(|_| bench.push(0, Load::Plain(1_500)));
    bench.pipe.set_up(ms(30), false, &mut bench.log);
    bench.push(40, Load::Plain(1_500));
    bench.pipe.set_up(ms(50), true, &mut bench.log);
    bench.push(60, Load::Plain(1_500));
    assert_eq!(bench.sample(150).delays, None);
    assert_eq!(bench.sample(172).delays, delays(1, [112, 112, 112]));
    assert_eq!(bench.sample(172).counters.dropped.down.packets, 5);
}

#[test]
fn a_train_that_is_sent_at_once_counts_as_its_segments() {
    let mut bench = Bench::new(&PipeConfig { rate: RateConfig::Unlimited, ..config() });
    bench.push(5, Load::Train { transport: Transport::Tcp, full: 3, payload: 1_448, last: 100 });
    let sample = bench.sample(105);
    assert_eq!((sample.delays, sample.rate, sample.queueing), (delays(4, [100, 100, 100]), None, None));
}

#[test]
fn nothing_is_measured_unasked() {
    let mut bench = Bench::new(&config());
    bench.log.measure_delays(false);
    bench.push(0, Load::Plain(1_500));
    bench.log.measure_delays(true);
    // What was inside is left out.
    assert_eq!(bench.sample(200).delays, None);
    bench.push(200, Load::Plain(1_500));
    assert_eq!(bench.sample(400).delays, delays(1, [112, 112, 112]));
}
