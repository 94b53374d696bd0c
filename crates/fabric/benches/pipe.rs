//! What one packet costs in the fabric, in nanoseconds: `cargo bench -p netloom-fabric`.
//!
//! Each row is the best of several rounds, since whatever else runs on the machine only ever adds. A packet is a
//! segment; buffers come from the pool and go back, as in a driver, but no byte of payload is copied.
#![allow(clippy::disallowed_methods, reason = "a benchmark reads the clock")]

#[path = "../../link/tests/common/mod.rs"]
mod common;

use common::{Load, Transport};
use netloom_fabric::{Fabric, PipeSpec, PortId};
use netloom_link::{CrossConfig, PacketSize, PipeConfig, QueueConfig, Stream, Traffic};
use netloom_packet::{Packet, Pool, VirtioHeader};
use netloom_units::{Bytes, Duration, Instant, Limit, Rate, Seed};
use std::hint::black_box;

const ROUNDS: u32 = 7;
/// Offered packets per round and row.
const PACKETS: u32 = 400_000;
const SINGLE: Load = Load::Plain(1_500);
const TRAIN: Load = Load::Train { transport: Transport::Tcp, full: 44, payload: 1_448, last: 0 };

/// One row: what is offered to which pipes.
struct Row {
    name: &'static str,
    rate: Option<Rate>,
    delay: Duration,
    coalesce: Duration,
    pipes: u32,
    /// How many of the pipes see traffic, spread evenly over their ids.
    active: u32,
    load: Load,
    /// Lab time between two arrivals at the fabric.
    gap: Duration,
}

fn main() {
    // 1500 B every 1.2 us are 10 Gbit/s, and so are 44 of them every 52.8 us.
    let ten = Rate::from_bits_per_second(10_000_000_000);
    let row = Row {
        name: "10 Gbit/s, 1 ms, single packets",
        rate: ten,
        delay: Duration::from_millis(1),
        coalesce: Duration::from_micros(20),
        pipes: 1,
        active: 1,
        load: SINGLE,
        gap: Duration::from_nanos(1_200),
    };
    let train_gap = Duration::from_nanos(52_800);
    let rows = [
        Row { name: "no rate, no delay, single packets", rate: None, delay: Duration::ZERO, ..row },
        Row { name: "no rate, no delay, trains of 44", rate: None, delay: Duration::ZERO, load: TRAIN, ..row },
        Row { name: "no rate, 1 ms, single packets", rate: None, ..row },
        Row { name: "10 Gbit/s, 1 ms, single, overloaded", gap: Duration::from_nanos(600), ..row },
        Row { name: "10 Gbit/s, 1 ms, trains, window 20 us", load: TRAIN, gap: train_gap, ..row },
        Row { name: "10 Gbit/s, no delay, trains, 20 us", delay: Duration::ZERO, load: TRAIN, gap: train_gap, ..row },
        Row {
            name: "10 Gbit/s, 1 ms, trains, no window",
            coalesce: Duration::ZERO,
            load: TRAIN,
            gap: train_gap,
            ..row
        },
        Row { name: "1000 pipes, 10 active, single", pipes: 1_000, active: 10, gap: Duration::from_nanos(120), ..row },
        Row {
            name: "1000 pipes, 1000 active, single",
            pipes: 1_000,
            active: 1_000,
            gap: Duration::from_nanos(120),
            ..row
        },
        row,
    ];
    // Cargo adds `--bench`; any other word selects the rows that contain it.
    let wanted = std::env::args().skip(1).find(|word| !word.starts_with("--")).unwrap_or_default();
    println!("{:<40} {:>12} {:>12}", "", "ns/packet", "ns/offered");
    let alone = pool_only();
    println!("{:<40} {alone:>12.1} {alone:>12.1}", "pool only, single packets");
    for chosen in rows.iter().filter(|one| one.name.contains(&wanted)) {
        let segments = f64::from(chosen.load.packet(&mut Pool::default(), 0).segments());
        let best = (0..ROUNDS).map(|_| chosen.measure()).fold(f64::INFINITY, f64::min);
        println!("{:<40} {best:>12.1} {:>12.1}", chosen.name, best * segments);
    }
    for (name, count, rate) in CROSS.iter().filter(|(name, ..)| name.contains(&wanted)) {
        let best = (0..ROUNDS).map(|_| cross_only(*count, *rate)).fold(f64::INFINITY, f64::min);
        println!("{name:<40} {best:>12.1} {best:>12.1}");
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
    let spec = PipeSpec { name: "pipe".into(), config, coalesce: Duration::ZERO, from: port, filter: None, to: port };
    let mut fabric = Fabric::new(Seed::new(1), &[spec]);
    let end = Instant::from_nanos(u64::from(PACKETS) * 6_000);
    let begin = std::time::Instant::now();
    while let Some(wake) = fabric.next_wake().filter(|wake| *wake < end) {
        fabric.advance(wake, |handout| drop(black_box(handout)));
    }
    let spent = begin.elapsed().as_secs_f64() * 1e9;
    let arrived: u64 = fabric.counters().map(|counters| counters.cross.arrived.packets).sum();
    spent / arrived as f64
}

/// What the pool alone costs: a buffer taken and given back.
fn pool_only() -> f64 {
    let mut pool = Pool::new(64, 0);
    let mut best = f64::INFINITY;
    for _ in 0..ROUNDS {
        let begin = std::time::Instant::now();
        for _ in 0..PACKETS {
            let packet = pool.fill_with(1_514, |_| Some((1_514, VirtioHeader::COMPLETE)));
            pool.recycle(black_box(packet).expect("a filled packet"));
        }
        best = best.min(begin.elapsed().as_secs_f64() * 1e9 / f64::from(PACKETS));
    }
    best
}

impl Row {
    fn fabric(&self) -> Fabric {
        let config = PipeConfig {
            rate: self.rate.into(),
            delay: self.delay.into(),
            queue: QueueConfig::DropTail(Limit::Packets(1_000)),
            ..PipeConfig::default()
        };
        let spec = |index: u32| PipeSpec {
            name: format!("pipe{index}"),
            config: config.clone(),
            coalesce: self.coalesce,
            from: PortId(index),
            filter: None,
            to: PortId(index),
        };
        Fabric::new(Seed::new(1), &(0..self.pipes).map(spec).collect::<Vec<_>>())
    }

    /// Nanoseconds per packet for one round: arrival, queue, transmitter, delay line, departure, buffer returned.
    fn measure(&self) -> f64 {
        let template = self.load.packet(&mut Pool::default(), 0);
        let virtio = template_virtio(&template);
        let offered = PACKETS / template.segments();
        let mut fabric = self.fabric();
        let mut pool = Pool::default();
        warm(&mut pool, &template, virtio);
        let (mut now, mut left) = (Instant::ZERO, 0_u64);
        let begin = std::time::Instant::now();
        for index in 0..offered {
            now = now + self.gap;
            while fabric.next_wake().is_some_and(|wake| wake <= now) {
                advance(&mut fabric, now, &mut pool, &mut left);
            }
            let len = template.bytes().len();
            // The bytes of the template are there already: the buffers were warmed with them.
            let packet = pool.fill_with(len, |_| Some((len, virtio))).expect("a filled packet");
            let port = PortId(index % self.active * (self.pipes / self.active));
            fabric.inject(now, port, packet).expect("a known port");
            fabric.recycle(&mut pool);
        }
        while let Some(wake) = fabric.next_wake() {
            advance(&mut fabric, wake, &mut pool, &mut left);
        }
        let spent = begin.elapsed().as_secs_f64() * 1e9;
        let dropped: u64 = fabric.counters().map(|counters| counters.dropped.packets()).sum();
        assert_eq!(left + dropped, u64::from(offered * template.segments()));
        spent / f64::from(offered * template.segments())
    }
}

fn advance(fabric: &mut Fabric, now: Instant, pool: &mut Pool, left: &mut u64) {
    fabric.advance(now, |handout| {
        *left += u64::from(handout.departure.packet.segments());
        pool.recycle(black_box(handout.departure.packet));
    });
}

fn template_virtio(template: &Packet) -> VirtioHeader {
    template.write_head(&mut [0; netloom_packet::MAX_HEAD]).virtio
}

/// Writes the template into as many buffers as are in use at once, or a few more.
fn warm(pool: &mut Pool, template: &Packet, virtio: VirtioHeader) {
    let buffers = if template.segments() == 1 { 10_000 } else { 64 };
    let packets: Vec<Packet> = (0..buffers).map(|_| pool.packet(virtio, template.bytes())).collect();
    packets.into_iter().for_each(|packet| pool.recycle(packet));
}
