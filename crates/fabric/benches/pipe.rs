//! What one packet costs in the fabric, in nanoseconds: `cargo bench -p netloom-fabric`.
//!
//! Each row is the best of many short rounds, since whatever else runs on the machine only ever adds, and their median. A
//! packet is a segment; buffers come from the pool and go back, as in a driver, but no byte of payload is copied. Rows of
//! the pipe alone leave the driver's part out: their packets are ready before the clock starts.
#![allow(clippy::disallowed_methods, reason = "a benchmark reads the clock")]

use netloom_fabric::{Fabric, PipeSpec, PortId};
use netloom_link::{
    CodelConfig, CodelControl, CrossConfig, Departure, Division, DropLog, DrrConfig, DualPi2Config, FqCodelConfig,
    PacketSize, PieConfig, Pipe, PipeConfig, QueueConfig, RedConfig, Stream, Traffic,
};
use netloom_packet::{Packet, Pool, VirtioHeader};
use netloom_testing::loads::{Load, Transport};
use netloom_units::{Bytes, Duration, Instant, Limit, Rate, Seed};
use std::collections::VecDeque;
use std::hint::black_box;

const ROUNDS: u32 = 60;
const RING_ROUNDS: u32 = 10;
/// How many of each kind are ready before the clock starts.
const READY: usize = 200;
/// Offered packets per round and row: few enough for some rounds to find the processor undisturbed.
const PACKETS: u32 = 40_000;
const SINGLE: &[Offer] = &[Offer { load: Load::Plain(1_500), ecn: 0 }];
const TRAIN: &[Offer] =
    &[Offer { load: Load::Train { transport: Transport::Tcp, full: 44, payload: 1_448, last: 0 }, ecn: 0 }];
/// The customary mix of 7 small, 4 middle and 1 large packet (IMIX): 340 bytes on average, or 2.72 us at 1 Gbit/s.
const MIXED: &[Offer] = &[
    plain(40, 0),
    plain(576, 0),
    plain(40, 1),
    plain(40, 2),
    plain(576, 1),
    plain(40, 0),
    plain(1_500, 2),
    plain(40, 1),
    plain(576, 0),
    plain(40, 2),
    plain(576, 1),
    plain(40, 0),
];
/// Bytes of Ethernet and IPv4 headers.
const HEADERS: usize = 34;
/// How many pipes are made to see what one takes.
const IDLE_PIPES: u32 = 20_000;

/// What is offered, and its bits of congestion notification.
#[derive(Clone, Copy)]
struct Offer {
    load: Load,
    ecn: u8,
}

const fn plain(size: usize, ecn: u8) -> Offer {
    Offer { load: Load::Plain(size), ecn }
}

/// One row: what is offered to which pipes.
struct Row {
    name: &'static str,
    rate: Option<Rate>,
    delay: Duration,
    coalesce: Duration,
    pipes: u32,
    /// How many of the pipes see traffic, spread evenly over their ids.
    active: u32,
    /// What arrives, over and over.
    offers: &'static [Offer],
    queue: QueueConfig,
    buffers: Buffers,
    packets: u32,
    /// How many of these are offered before the clock starts, so that queues are full and rings have grown.
    before: u32,
    rounds: u32,
    /// Lab time between two arrivals at the fabric.
    gap: Duration,
}

fn main() {
    // Cargo adds `--bench`; any other word selects the rows that contain it.
    let wanted = std::env::args().skip(1).find(|word| !word.starts_with("--")).unwrap_or_default();
    println!("{:<40} {:>12}", "", "bytes");
    // What is measured stays, so that nothing of it is used again by the next.
    let mut kept = Vec::new();
    let all = queues().into_iter().chain(queues_of_flows());
    for (name, queue) in all.filter(|(name, _)| format!("idle pipe, {name}").contains(&wanted)) {
        let row = Row { pipes: IDLE_PIPES, queue: queue.clone(), ..plain_row() };
        let specs = row.specs();
        let before = resident();
        let fabric = Fabric::new(Seed::new(1), &specs);
        let taken = resident() - before;
        println!("{:<40} {:>12}", format!("idle pipe, {name}"), taken / u64::from(IDLE_PIPES));
        kept.push((specs, fabric));
    }
    drop(kept);
    println!();
    println!("{:<40} {:>12} {:>12} {:>12}", "", "ns/packet", "median", "ns/offered");
    print("pool only, single packets", (0..ROUNDS).map(|_| pool_only()).collect(), 1.0);
    for chosen in rows().iter().chain(&queue_rows()).filter(|one| one.name.contains(&wanted)) {
        let templates = chosen.templates();
        let segments = f64::from(templates[0].segments());
        let mut pool = Pool::default();
        warm(&mut pool, &templates[0]);
        print(chosen.name, (0..chosen.rounds).map(|_| chosen.measure(&templates, &mut pool)).collect(), segments);
    }
    for row in queue_rows().iter().filter(|one| one.buffers == Buffers::Ready && one.name.contains(&wanted)) {
        let name = row.name.replace("pipe alone", "without the fabric");
        print(&name, (0..row.rounds).map(|_| row.measure_pipe()).collect(), 1.0);
    }
    for (name, count, rate) in CROSS.iter().filter(|(name, ..)| name.contains(&wanted)) {
        print(name, (0..ROUNDS).map(|_| cross_only(*count, *rate)).collect(), 1.0);
    }
    for length in [1_000, 1_000_000].into_iter().filter(|_| "bare ring".contains(&wanted)) {
        print(&format!("bare ring of {length} entries"), (0..RING_ROUNDS).map(|_| ring_only(length)).collect(), 1.0);
    }
}

/// A row of the table.
fn print(name: &str, mut rounds: Vec<f64>, segments: f64) {
    rounds.sort_by(f64::total_cmp);
    let (best, median) = (rounds[0], rounds[rounds.len() / 2]);
    println!("{name:<40} {best:>12.1} {median:>12.1} {:>12.1}", best * segments);
}

/// What memory alone costs: entries like those of a delay line go through a ring of this length. No pipe with as many
/// packets in flight can be faster.
fn ring_only(length: u64) -> f64 {
    let entry = |index: u64| [index; size_of::<Departure>() / size_of::<u64>()];
    let mut ring: VecDeque<_> = (0..length).map(entry).collect();
    let count = length.max(u64::from(PACKETS));
    let begin = std::time::Instant::now();
    for index in 0..count {
        ring.push_back(entry(index));
        black_box(ring.pop_front());
    }
    begin.elapsed().as_secs_f64() * 1e9 / count as f64
}

/// The row that the others are like, but for what they say.
fn plain_row() -> Row {
    Row {
        name: "10 Gbit/s, 1 ms, single packets",
        // 1500 B every 1.2 us are 10 Gbit/s, and so are 44 of them every 52.8 us.
        rate: Rate::from_bits_per_second(10_000_000_000),
        delay: Duration::from_millis(1),
        coalesce: Duration::from_micros(20),
        pipes: 1,
        active: 1,
        offers: SINGLE,
        queue: QueueConfig::default(),
        buffers: Buffers::Pool,
        packets: PACKETS,
        before: PACKETS / 4,
        rounds: ROUNDS,
        gap: Duration::from_nanos(1_200),
    }
}

/// Rows with cross traffic alone: a name, how many sources, and the rate of each in bits per second.
const CROSS: [(&str, usize, u64); 3] = [
    ("cross traffic, 1 Gbit/s, two of 1 Gbit/s", 2, 1_000_000_000),
    ("cross traffic, 1 Gbit/s, one of 0.9 Gbit/s", 1, 900_000_000),
    ("cross traffic, 1 Gbit/s, 100 of 9 Mbit/s", 100, 9_000_000),
];

/// Nanoseconds per packet of the cross traffic, arrivals of a Poisson process on a link of 1 Gbit/s.
fn cross_only(sources: usize, rate: u64) -> f64 {
    let stream = Stream {
        rate: Rate::from_bits_per_second(rate).expect("not zero"),
        size: PacketSize::Fixed(Bytes::new(1_500)),
    };
    let source = CrossConfig { traffic: Traffic::Poisson(stream), start: Duration::ZERO, stop: None };
    let config = PipeConfig {
        rate: Rate::from_bits_per_second(1_000_000_000).into(),
        cross: vec![source; sources],
        ..PipeConfig::default()
    };
    let port = PortId(0);
    let spec = PipeSpec {
        name: "pipe".into(),
        config,
        coalesce: Duration::ZERO,
        from: port,
        to: port,
        filter: None,
        medium: Vec::new(),
    };
    let mut fabric = Fabric::new(Seed::new(1), &[spec]);
    let end = Instant::from_nanos(u64::from(PACKETS) * 6_000);
    let begin = std::time::Instant::now();
    while let Some(wake) = fabric.next_wake().filter(|wake| *wake < end) {
        fabric.advance(wake, |delivery| drop(black_box(delivery)));
    }
    let spent = begin.elapsed().as_secs_f64() * 1e9;
    let arrived: u64 = fabric.counters().map(|counters| counters.cross.arrived.packets).sum();
    spent / arrived as f64
}

fn rows() -> Vec<Row> {
    let row = plain_row;
    let train_row = || Row { offers: TRAIN, gap: Duration::from_nanos(52_800), ..row() };
    let many = || Row { pipes: 1_000, gap: Duration::from_nanos(120), ..row() };
    vec![
        Row { name: "no rate, no delay, single packets", rate: None, delay: Duration::ZERO, ..row() },
        Row {
            name: "no rate, no delay, trains of 44",
            rate: None,
            delay: Duration::ZERO,
            gap: Duration::from_nanos(1_200),
            ..train_row()
        },
        Row { name: "no rate, 1 ms, single packets", rate: None, ..row() },
        Row { name: "10 Gbit/s, 1 ms, single, overloaded", gap: Duration::from_nanos(600), ..row() },
        Row { name: "10 Gbit/s, 1 ms, trains, window 20 us", ..train_row() },
        Row { name: "10 Gbit/s, no delay, trains, 20 us", delay: Duration::ZERO, ..train_row() },
        Row { name: "10 Gbit/s, 1 ms, trains, no window", coalesce: Duration::ZERO, ..train_row() },
        Row { name: "1000 pipes, 10 active, single", active: 10, ..many() },
        Row { name: "1000 pipes, 1000 active, single", active: 1_000, ..many() },
        row(),
        Row { name: "1000 in flight, one buffer", buffers: Buffers::One, ..row() },
        Row {
            name: "1000000 in flight, one buffer",
            buffers: Buffers::One,
            delay: Duration::from_millis(1_200),
            packets: 4_000_000,
            before: 2_200_000,
            rounds: 3,
            ..row()
        },
    ]
}

/// Every discipline with mixed sizes, a little below the rate and above it.
fn queue_rows() -> Vec<Row> {
    let mixed = |name, queue: &QueueConfig, gap| Row {
        name,
        offers: MIXED,
        queue: queue.clone(),
        rate: Rate::from_bits_per_second(1_000_000_000),
        gap: Duration::from_nanos(gap),
        ..plain_row()
    };
    let [(_, drop_tail), (_, drop_head), (_, red), (_, pie), (_, dual_pi2)] = queues();
    vec![
        Row { buffers: Buffers::Ready, ..mixed("drop-tail, mixed sizes, pipe alone", &drop_tail, 2_800) },
        mixed("drop-tail, mixed sizes", &drop_tail, 2_800),
        mixed("drop-tail, mixed sizes, overloaded", &drop_tail, 2_500),
        mixed("drop-head, mixed sizes, overloaded", &drop_head, 2_500),
        Row { buffers: Buffers::Ready, ..mixed("RED, mixed sizes, pipe alone", &red, 2_800) },
        mixed("RED, mixed sizes", &red, 2_800),
        mixed("RED, mixed sizes, overloaded", &red, 2_500),
        Row { buffers: Buffers::Ready, ..mixed("PIE, mixed sizes, pipe alone", &pie, 2_800) },
        mixed("PIE, mixed sizes", &pie, 2_800),
        mixed("PIE, mixed sizes, overloaded", &pie, 2_500),
        mixed("DualPI2, mixed sizes", &dual_pi2, 2_800),
        mixed("DualPI2, mixed sizes, overloaded", &dual_pi2, 2_500),
    ]
}

fn queues() -> [(&'static str, QueueConfig); 5] {
    let limit = Limit::Packets(1_000);
    // A target that this rate and limit can exceed.
    let target = Duration::from_micros(500);
    [
        ("drop-tail", QueueConfig::DropTail(limit)),
        ("drop-head", QueueConfig::DropHead(limit)),
        ("RED", QueueConfig::Red(RedConfig { limit, ..RedConfig::default() })),
        ("PIE", QueueConfig::Pie(PieConfig { limit, target, ..PieConfig::default() })),
        ("DualPI2", QueueConfig::DualPi2(DualPi2Config { limit, target, ..DualPi2Config::default() })),
    ]
}

/// Those whose packets wait by flow; `flows.rs` says what they cost per packet.
fn queues_of_flows() -> [(&'static str, QueueConfig); 4] {
    let limit = Limit::Packets(1_000);
    let hashed = || Division::Flows { count: 1_024, limit };
    [
        ("CoDel", QueueConfig::Codel(CodelConfig { limit, control: CodelControl::default() })),
        ("FQ-CoDel", QueueConfig::FqCodel(FqCodelConfig::default())),
        ("DRR", QueueConfig::Drr(DrrConfig { quantum: Bytes::new(1_514), division: hashed() })),
        ("WF2Q+", QueueConfig::Wf2q(hashed())),
    ]
}

/// Where packets come from.
#[derive(Clone, Copy, PartialEq)]
enum Buffers {
    /// From a pool, as in a driver.
    Pool,
    /// All packets share the buffer of their kind, so that millions of them can be in flight.
    One,
    /// They were made before the clock starts.
    Ready,
}

/// Bytes of memory that this process has.
fn resident() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").expect("Linux tells every process its size");
    let pages =
        statm.split(' ').nth(1).and_then(|pages| pages.parse::<u64>().ok()).expect("the second is the resident set");
    pages * 4_096
}

/// What the pool alone costs: a buffer taken and given back.
fn pool_only() -> f64 {
    let mut pool = Pool::new(64, 0);
    let begin = std::time::Instant::now();
    for _ in 0..PACKETS {
        let packet = pool.fill_with(1_514, |_| Some((1_514, VirtioHeader::COMPLETE)));
        pool.recycle(black_box(packet).expect("a filled packet"));
    }
    begin.elapsed().as_secs_f64() * 1e9 / f64::from(PACKETS)
}

impl Row {
    fn templates(&self) -> Vec<Packet> {
        let mut pool = Pool::default();
        self.offers.iter().map(|offer| offer.load.packet_with(&mut pool, 0, offer.ecn)).collect()
    }

    fn specs(&self) -> Vec<PipeSpec> {
        let config = PipeConfig {
            rate: self.rate.into(),
            delay: self.delay.into(),
            queue: self.queue.clone(),
            ..PipeConfig::default()
        };
        let spec = |index: u32| PipeSpec {
            name: format!("pipe{index}"),
            config: config.clone(),
            coalesce: self.coalesce,
            from: PortId(index),
            filter: None,
            medium: Vec::new(),
            to: PortId(index),
        };
        (0..self.pipes).map(spec).collect()
    }

    /// Packets that are ready before the clock starts, if this row wants them: more than are in the pipe at once.
    fn ready(&self, templates: &[Packet]) -> Option<VecDeque<Packet>> {
        let packets = || templates.iter().cycle().map(Packet::duplicate).take(READY * templates.len()).collect();
        (self.buffers == Buffers::Ready).then(packets)
    }

    /// Nanoseconds per packet for one round: arrival, queue, transmitter, delay line, departure, buffer returned. As many
    /// leave while the clock runs as arrive.
    fn measure(&self, templates: &[Packet], pool: &mut Pool) -> f64 {
        let segments = templates[0].segments();
        let offered = self.packets / segments;
        let mut fabric = Fabric::new(Seed::new(1), &self.specs());
        let mut now = Instant::ZERO;
        let mut exit = Exit { left: 0, kept: self.ready(templates) };
        let mut begin = std::time::Instant::now();
        let mut offers = templates.iter().cycle();
        for index in 0..offered {
            if index == self.before / segments {
                begin = std::time::Instant::now();
            }
            now = now + self.gap;
            while fabric.next_wake().is_some_and(|wake| wake <= now) {
                exit.advance(&mut fabric, now, pool);
            }
            let template = offers.next().expect("they come over and over");
            let packet = match self.buffers {
                Buffers::Pool => received(pool, template),
                Buffers::One => template.duplicate(),
                Buffers::Ready => exit.again().unwrap_or_else(|| template.duplicate()),
            };
            let port = PortId(index % self.active * (self.pipes / self.active));
            fabric.inject(now, port, packet).expect("a known port");
            fabric.recycle(pool);
        }
        let spent = begin.elapsed().as_secs_f64() * 1e9;
        while let Some(wake) = fabric.next_wake() {
            exit.advance(&mut fabric, wake, pool);
        }
        let dropped: u64 = fabric.counters().map(|counters| counters.dropped.packets()).sum();
        assert_eq!(exit.left + dropped, u64::from(offered * segments));
        spent / f64::from((offered - self.before / segments) * segments)
    }
}

impl Row {
    /// The same for a pipe that is in no fabric: nobody asks which of many is due next.
    fn measure_pipe(&self) -> f64 {
        let mut ready = self.ready(&self.templates()).expect("a row of ready packets");
        let mut pipe = Pipe::new(&self.specs()[0].config, self.coalesce, Seed::new(1));
        let (mut now, mut drop_log) = (Instant::ZERO, DropLog::new());
        let mut begin = std::time::Instant::now();
        for index in 0..self.packets {
            if index == self.before {
                begin = std::time::Instant::now();
            }
            now = now + self.gap;
            while let Some(wake) = pipe.next_wake().filter(|wake| *wake <= now) {
                if let Some(departure) = pipe.pop(wake, &mut drop_log) {
                    ready.push_back(black_box(departure.packet));
                }
            }
            pipe.push(now, ready.pop_front().expect("more than are in the pipe at once"), &mut drop_log);
            ready.extend(drop_log.drain(..).map(|dropped| dropped.packet));
        }
        begin.elapsed().as_secs_f64() * 1e9 / f64::from(self.packets - self.before)
    }
}

/// A packet like `template` as from a driver: of its bytes only the headers are written, for the buffers were warmed with
/// the rest.
fn received(pool: &mut Pool, template: &Packet) -> Packet {
    let bytes = template.bytes();
    let fill = |buffer: &mut [u8]| {
        buffer[..HEADERS].copy_from_slice(&bytes[..HEADERS]);
        Some((bytes.len(), virtio(template)))
    };
    pool.fill_with(bytes.len(), fill).expect("a filled packet")
}

/// Where packets go.
struct Exit {
    /// How many have left.
    left: u64,
    /// They come again in the same order; none if their buffers go back to the pool.
    kept: Option<VecDeque<Packet>>,
}

impl Exit {
    fn advance(&mut self, fabric: &mut Fabric, now: Instant, pool: &mut Pool) {
        fabric.advance(now, |delivery| {
            let packet = black_box(delivery.departure.packet);
            self.left += u64::from(packet.segments());
            match &mut self.kept {
                Some(kept) => kept.push_back(packet),
                None => pool.recycle(packet),
            }
        });
    }

    fn again(&mut self) -> Option<Packet> {
        self.kept.as_mut().and_then(VecDeque::pop_front)
    }
}

fn virtio(template: &Packet) -> VirtioHeader {
    // Every row offers either trains, whose headers are all alike, or plain packets.
    match template.segments() {
        1 => VirtioHeader::COMPLETE,
        _ => template.write_head(&mut [0; netloom_packet::MAX_HEAD]).virtio,
    }
}

/// Writes the template into as many buffers as are in use at once, or a few more.
fn warm(pool: &mut Pool, template: &Packet) {
    let virtio = virtio(template);
    let buffers = if template.segments() == 1 { 10_000 } else { 64 };
    let packets: Vec<Packet> = (0..buffers).map(|_| pool.packet(virtio, template.bytes())).collect();
    packets.into_iter().for_each(|packet| pool.recycle(packet));
}
