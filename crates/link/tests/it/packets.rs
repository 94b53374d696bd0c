//! Some of the packets of a pipe, and what becomes of them.

use netloom_link::{
    Cause, CrossConfig, DelayConfig, DropLog, OnTheWire, PacketSize, Pipe, PipeConfig, QueueConfig, RateConfig,
    SampledPacket, SampledPackets, StateConfig, Stream, Traffic,
};
use netloom_packet::Pool;
use netloom_testing::loads::{Load, Transport};
use netloom_units::{Bytes, Duration, Instant, Limit, Rate, Seed};

/// The number of the pipe.
const PIPE: u32 = 3;

fn ms(ms: u64) -> Instant {
    Instant::from_nanos(ms * 1_000_000)
}

/// 1,500 bytes take 12 ms, and then travel for 100 ms.
fn config() -> PipeConfig {
    let rate = RateConfig::Constant(Rate::from_bits_per_second(1_000_000).expect("a rate"));
    PipeConfig { rate, delay: DelayConfig::from(Duration::from_millis(100)), ..PipeConfig::default() }
}

fn unlimited() -> PipeConfig {
    PipeConfig { rate: RateConfig::Unlimited, ..config() }
}

/// Four segments of 1,500 bytes.
const TRAIN: Load = Load::Train { transport: Transport::Tcp, full: 4, payload: 1_448, last: 0 };

struct Bench {
    pipe: Pipe,
    log: DropLog,
    pool: Pool,
}

impl Bench {
    /// Packets are picked that are so far apart.
    fn new(config: &PipeConfig, step_ms: u64) -> Self {
        let mut log = DropLog::new();
        log.sample_packets(Some(Duration::from_millis(step_ms)));
        Self { pipe: Pipe::new(config, Duration::ZERO, Seed::new(1)), log, pool: Pool::default() }
    }

    fn push(&mut self, at: u64, load: Load) {
        let packet = load.packet_of(&mut self.pool, 1, 0, 80);
        self.pipe.push(ms(at), packet, self.log.of(PIPE));
    }

    /// What leaves until then; its buffers are used again.
    fn run(&mut self, until: u64) {
        while let Some(wake) = self.pipe.next_wake().filter(|wake| *wake <= ms(until)) {
            while let Some(left) = self.pipe.pop(wake, self.log.of(PIPE)) {
                self.pool.recycle(left.packet);
            }
        }
        self.pipe.lookahead_until(ms(until), self.log.of(PIPE));
        self.log.drain(..).for_each(|dropped| self.pool.recycle(dropped.packet));
    }

    fn sampled(&mut self, until: u64) -> Vec<SampledPacket> {
        self.run(until);
        let SampledPackets { packets, lost } = self.log.sampled_packets();
        assert!(lost == 0 && packets.iter().all(|packet| packet.pipe == PIPE));
        packets
    }
}

/// When it came in, and when its transmission began and ended and it is due, in milliseconds.
fn way(sampled: &SampledPacket) -> (u64, Option<[u64; 3]>) {
    let round = |at: Instant| at.as_nanos() / 1_000_000;
    (round(sampled.entered), sampled.sent.map(|sent| [sent.start, sent.end, sent.due].map(round)))
}

fn ways(sampled: &[SampledPacket]) -> Vec<(u64, Option<[u64; 3]>)> {
    sampled.iter().map(way).collect()
}

/// Three wait for one another. It is known what becomes of them before they arrive.
#[test]
fn a_pick_tells_when_it_came_in_was_sent_and_is_due() {
    let mut bench = Bench::new(&config(), 0);
    (0..3).for_each(|_| bench.push(5, Load::Plain(1_500)));
    let first = bench.sampled(30);
    assert_eq!(ways(&first), [(5, Some([5, 17, 117])), (5, Some([17, 29, 129]))]);
    assert_eq!((first[0].size, first[0].segments, first[0].dropped), (Bytes::new(1_500), 1, None));
    assert_eq!(first[0].flow.map(|flow| flow.source_port), Some(80));
    assert_eq!(ways(&bench.sampled(45)), [(5, Some([29, 41, 141]))]);
    assert!(first[0].number < first[1].number && bench.sampled(500).is_empty(), "each is told once");
}

#[test]
fn picks_are_a_step_apart() {
    let mut bench = Bench::new(&unlimited(), 20);
    (0..100).for_each(|at| bench.push(at, Load::Plain(100)));
    let entered: Vec<u64> = bench.sampled(100).iter().map(|one| way(one).0).collect();
    assert_eq!(entered, [0, 20, 40, 60, 80]);
    // A lone packet is always among them.
    bench.push(300, Load::Plain(100));
    assert_eq!(ways(&bench.sampled(300)), [(300, Some([300, 300, 400]))]);
}

/// One is sent, one waits, and there is no room for more.
#[test]
fn what_the_queue_has_no_room_for_is_told_and_picked_apart() {
    let queue = QueueConfig::DropTail(Limit::Packets(1));
    let mut bench = Bench::new(&PipeConfig { queue, ..config() }, 20);
    for at in [0, 0, 0, 0, 1, 2, 21, 21] {
        bench.push(at, Load::Plain(1_500));
    }
    let told = bench.sampled(40);
    let dropped: Vec<_> = told.iter().filter_map(|one| Some((one.dropped?, way(one)))).collect();
    // The first that was dropped, and the first that was dropped 20 ms later.
    let expected = [0, 21].map(|at| ((ms(at), Cause::Full), (at, None)));
    assert_eq!(dropped, expected);
    // What came at 21 ms waits behind what came second.
    let sent: Vec<_> = told.into_iter().filter(|one| one.sent.is_some()).collect();
    assert_eq!(ways(&sent), [(0, Some([0, 12, 112])), (21, Some([24, 36, 136]))]);
}

/// A pipe that drops each second packet, in the rhythm of the picks.
#[test]
fn drops_in_the_rhythm_of_picks_hide_nothing_that_is_sent() {
    let queue = QueueConfig::DropTail(Limit::Packets(1));
    let mut bench = Bench::new(&PipeConfig { queue, ..config() }, 10);
    bench.push(0, Load::Plain(1_500));
    for round in 0..20 {
        [1, 11].into_iter().for_each(|at| bench.push(12 * round + at, Load::Plain(1_500)));
    }
    let told = bench.sampled(400);
    let sent = told.iter().filter(|one| one.sent.is_some()).count();
    let dropped = told.iter().filter(|one| one.dropped.is_some()).count();
    assert_eq!((sent, dropped), (20, 20));
}

/// What was picked makes room for what comes later.
#[test]
fn what_is_dropped_from_the_queue_keeps_the_instant_at_which_it_came_in() {
    let queue = QueueConfig::DropHead(Limit::Packets(1));
    let mut bench = Bench::new(&PipeConfig { queue, ..config() }, 1);
    for at in [0, 1, 4] {
        bench.push(at, Load::Plain(1_500));
    }
    let told = bench.sampled(5);
    assert_eq!(told.iter().map(|one| (way(one).0, one.dropped)).collect::<Vec<_>>(), [(1, Some((ms(4), Cause::Full)))]);
}

#[test]
fn what_is_lost_at_the_entrance_is_told() {
    let mut bench = Bench::new(&config(), 20);
    bench.pipe.set_up(ms(0), false, bench.log.of(PIPE));
    for at in [1, 2, 30] {
        bench.push(at, Load::Plain(1_500));
    }
    let told = bench.sampled(40);
    let expected = [1, 30].map(|at| (ms(at), Some((ms(at), Cause::Down))));
    assert_eq!(told.iter().map(|one| (one.entered, one.dropped)).collect::<Vec<_>>(), expected);
}

/// Of the picks one has arrived at the cut, two travel, one is on the transmitter, and one waits.
#[test]
fn a_cut_is_told_of_what_waits_and_once_more_of_what_travels() {
    let state = StateConfig { on_the_wire: OnTheWire::Lost, ..StateConfig::default() };
    let mut bench = Bench::new(&PipeConfig { state, ..config() }, 0);
    for at in [0, 100, 100, 100, 100] {
        bench.push(at, Load::Plain(1_500));
    }
    let before = bench.sampled(129);
    assert_eq!(ways(&before), [(0, Some([0, 12, 112])), (100, Some([100, 112, 212])), (100, Some([112, 124, 224]))]);
    bench.pipe.set_up(ms(130), false, bench.log.of(PIPE));
    let after = bench.sampled(131);
    let mut cut = ways(&after);
    cut.sort_unstable();
    assert_eq!(cut, [(100, None), (100, None), (100, Some([100, 112, 212])), (100, Some([112, 124, 224]))]);
    assert!(after.iter().all(|one| one.dropped == Some((ms(130), Cause::Down))));
    let told_again = after.iter().filter(|one| before.iter().any(|other| other.number == one.number));
    assert!(told_again.clone().all(|one| one.sent.is_some()) && told_again.count() == 2);
}

/// A pick that travels arrives, unless the link loses what is on its way.
#[test]
fn what_travels_when_a_link_is_cut_arrives_and_is_not_told_again() {
    let mut bench = Bench::new(&config(), 0);
    bench.push(0, Load::Plain(1_500));
    bench.pipe.set_up(ms(50), false, bench.log.of(PIPE));
    assert_eq!(ways(&bench.sampled(200)), [(0, Some([0, 12, 112]))]);
}

/// It comes in and is lost on its way at one instant: it is reported once as sent and once as dropped, with one number.
#[test]
fn what_is_cut_at_once_is_no_second_pick() {
    let state = StateConfig { on_the_wire: OnTheWire::Lost, ..StateConfig::default() };
    let mut bench = Bench::new(&PipeConfig { state, ..unlimited() }, 20);
    bench.push(7, Load::Plain(1_500));
    bench.pipe.set_up(ms(7), false, bench.log.of(PIPE));
    let told = bench.sampled(8);
    assert_eq!(told.iter().map(|one| (one.number, one.dropped.is_some())).collect::<Vec<_>>(), [(0, false), (0, true)]);
}

#[test]
fn of_trains_one_segment_is_picked_and_not_always_the_same() {
    let mut bench = Bench::new(&config(), 20);
    bench.push(0, TRAIN);
    bench.push(100, TRAIN);
    let told = bench.sampled(200);
    assert_eq!(ways(&told), [(0, Some([0, 12, 112])), (100, Some([112, 124, 224]))]);
    assert!(told.iter().all(|one| (one.size, one.segments) == (Bytes::new(1_500), 1)));
    // The second half of the train finds no room: it is one drop.
    let queue = QueueConfig::DropTail(Limit::Packets(1));
    let mut full = Bench::new(&PipeConfig { queue, ..config() }, 20);
    full.push(0, TRAIN);
    let told_full = full.sampled(30);
    assert_eq!((told_full.len(), told_full[0].dropped.is_some(), told_full[0].entered), (2, true, ms(0)));
    assert_eq!(told_full[0].segments, 1, "all but the last, then the last: {told_full:?}");
}

#[test]
fn a_train_that_is_sent_at_once_is_told_as_a_whole() {
    let mut bench = Bench::new(&unlimited(), 20);
    bench.push(5, TRAIN);
    let told = bench.sampled(5);
    assert_eq!((ways(&told), told[0].size, told[0].segments), (vec![(5, Some([5, 5, 105]))], Bytes::new(6_000), 4));
}

/// A queue that is much longer than what is remembered of it.
#[test]
fn what_is_remembered_is_bounded() {
    let queue = QueueConfig::DropTail(Limit::Packets(10_000));
    let mut bench = Bench::new(&PipeConfig { queue, ..config() }, 0);
    (0..5_000).for_each(|_| bench.push(0, Load::Plain(1_500)));
    assert_eq!(bench.sampled(1_000_000).len(), 256);
    let mut idle = Bench::new(&unlimited(), 0);
    (0..5_000).for_each(|at| idle.push(at, Load::Plain(1_500)));
    idle.run(6_000);
    let SampledPackets { packets, lost } = idle.log.sampled_packets();
    assert_eq!((packets.len(), lost, way(&packets[0]).0), (4_096, 904, 904), "the newest are kept");
    assert_eq!(idle.log.sampled_packets(), SampledPackets::default());
}

/// Buffers are used again, and so are the numbers of frames.
#[test]
fn a_new_packet_in_an_old_buffer_is_none_that_was_told_before() {
    let state = StateConfig { on_the_wire: OnTheWire::Lost, ..StateConfig::default() };
    let mut bench = Bench::new(&PipeConfig { state, ..config() }, 1_000);
    bench.push(0, Load::Plain(1_500));
    assert_eq!(bench.sampled(150).len(), 1);
    bench.push(150, Load::Plain(1_500));
    bench.run(170);
    bench.pipe.set_up(ms(170), false, bench.log.of(PIPE));
    assert_eq!(bench.sampled(300), []);
}

#[test]
fn cross_traffic_is_not_picked() {
    let rate = Rate::from_bits_per_second(100_000).expect("a rate");
    let stream = Stream { rate, size: PacketSize::Fixed(Bytes::new(1_250)) };
    let cross = CrossConfig { traffic: Traffic::Constant(stream), start: Duration::ZERO, stop: None };
    let mut bench = Bench::new(&PipeConfig { cross: vec![cross], ..config() }, 0);
    bench.run(1_000);
    bench.push(1_000, Load::Plain(1_500));
    assert_eq!(bench.sampled(1_100).len(), 1);
    assert!(bench.pipe.counters().cross.arrived.packets >= 10);
}

#[test]
fn nothing_is_picked_unasked_and_delays_are_measured_beside() {
    let mut bench = Bench::new(&config(), 0);
    bench.log.sample_packets(None);
    bench.log.measure_delays(true);
    bench.push(0, Load::Plain(1_500));
    bench.log.sample_packets(Some(Duration::ZERO));
    // What was inside is left out.
    assert_eq!(bench.sampled(200), []);
    bench.push(200, Load::Plain(1_500));
    assert_eq!(bench.sampled(400).len(), 1);
    let delays = bench.pipe.sample(ms(400), bench.log.of(PIPE)).delays;
    assert_eq!(delays.map(|delays| delays.packets), Some(2));
    bench.log.measure_delays(false);
    bench.push(400, Load::Plain(1_500));
    assert_eq!(bench.sampled(600).len(), 1);
}
