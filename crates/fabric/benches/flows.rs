//! What one packet of one of a thousand flows costs in each discipline: `cargo bench -p netloom-fabric --bench flows`.
//!
//! Sizes are mixed, a flow is chosen at random for each packet, and more is offered for a while than the rate allows, then
//! less: the queue fills and empties. Each row is the best of many short rounds, since whatever else runs on the machine
//! only ever adds. Buffers come from the pool and go back; their headers are written, their payload is not.
#![allow(clippy::disallowed_methods, reason = "a benchmark reads the clock")]

use netloom_fabric::{Fabric, PipeSpec, PortId};
use netloom_link::{
    ClassConfig, CodelConfig, CodelControl, Division, DrrConfig, Filter, FqCodelConfig, PipeConfig, Ports, QueueConfig,
};
use netloom_packet::{Pool, VirtioHeader};
use netloom_units::{Bytes, Duration, Instant, Limit, Rate, Seed};
use std::hint::black_box;

const ROUNDS: u32 = 30;
const PACKETS: u32 = 60_000;
const FLOWS: u16 = 1_000;
/// From the IP header on; 612 bytes on average.
const SIZES: [usize; 6] = [64, 1_500, 200, 576, 1_200, 132];
/// 612 bytes at 10 Gbit/s take 490 ns: every third of these spans is too short, and the queue grows by hundreds.
const GAPS: [u64; 3] = [390, 520, 620];
const ETHERNET: usize = 14;
const HEADERS: usize = ETHERNET + 20 + 8;

fn main() {
    // Cargo adds `--bench`; any other word selects the rows that contain it.
    let wanted = std::env::args().skip(1).find(|word| !word.starts_with("--")).unwrap_or_default();
    println!("{:<40} {:>12} {:>12}", "1000 flows, mixed sizes", "ns/packet", "queue peak");
    for (name, queue) in queues().iter().filter(|(name, _)| name.contains(&wanted)) {
        let rounds: Vec<(f64, u64)> = (0..ROUNDS).map(|_| measure(queue)).collect();
        let best = rounds.iter().map(|round| round.0).fold(f64::INFINITY, f64::min);
        println!("{name:<40} {best:>12.1} {:>12}", rounds[0].1);
    }
}

fn queues() -> Vec<(&'static str, QueueConfig)> {
    let flows = || Division::Flows { count: 1_024, limit: Limit::Packets(1_000) };
    let control = CodelControl::default();
    vec![
        ("drop-tail", QueueConfig::DropTail(Limit::Packets(10_000))),
        ("codel", QueueConfig::Codel(CodelConfig { limit: Limit::Packets(10_000), control })),
        ("fq_codel", QueueConfig::FqCodel(FqCodelConfig::default())),
        ("fq_codel, always full", QueueConfig::FqCodel(FqCodelConfig { limit: 200, ..FqCodelConfig::default() })),
        ("drr", QueueConfig::Drr(DrrConfig { quantum: Bytes::new(1_514), division: flows() })),
        ("wf2q", QueueConfig::Wf2q(flows())),
        ("wf2q, 5 classes", QueueConfig::Wf2q(Division::Classes(classes(&[7, 5, 3, 2, 1])))),
        ("priority, 5 classes", QueueConfig::Priority(classes(&[1; 5]))),
    ]
}

/// Classes by source port, with these weights; the last takes the rest.
fn classes(weights: &[u32]) -> Vec<ClassConfig> {
    let class = |(index, weight): (u16, &u32)| {
        let ports = Ports { first: index * 150 + 1, last: index * 150 + 150 };
        let filter = Filter { from_port: Some(vec![ports]), ..Filter::default() };
        let is_last = usize::from(index) + 1 == weights.len();
        let limit = Limit::Packets(10_000);
        ClassConfig { name: format!("c{index}"), filter: (!is_last).then_some(filter), weight: *weight, limit }
    };
    (0..).zip(weights).map(class).collect()
}

/// Nanoseconds per packet for one round, and how many waited at most.
fn measure(queue: &QueueConfig) -> (f64, u64) {
    let rate = Rate::from_bits_per_second(10_000_000_000);
    let config = PipeConfig {
        rate: rate.into(),
        delay: Duration::from_millis(1).into(),
        queue: queue.clone(),
        ..PipeConfig::default()
    };
    let spec = PipeSpec { name: "pipe".into(), config, coalesce: Duration::ZERO, from: PortId(0), to: PortId(0) };
    let mut fabric = Fabric::new(Seed::new(1), &[spec]);
    let mut pool = Pool::new(16_000, 0);
    let (mut now, mut left, mut random) = (Instant::ZERO, 0_u32, 1_u32);
    let begin = std::time::Instant::now();
    for index in 0..PACKETS {
        let span = GAPS[usize::try_from(index / 2_000 % 3).expect("below three")];
        now = now + Duration::from_nanos(span);
        while fabric.next_wake().is_some_and(|wake| wake <= now) {
            advance(&mut fabric, now, &mut pool, &mut left);
        }
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let port = 1 + u16::try_from(random >> 16).expect("16 bits") % FLOWS;
        let len = ETHERNET + SIZES[usize::try_from(index % 6).expect("below six")];
        let packet = pool.fill_with(len, |bytes| {
            write_headers(&mut bytes[..HEADERS], port);
            Some((len, VirtioHeader::COMPLETE))
        });
        fabric.inject(now, PortId(0), packet.expect("a filled packet")).expect("a known port");
        fabric.recycle(&mut pool);
    }
    while let Some(wake) = fabric.next_wake() {
        advance(&mut fabric, wake, &mut pool, &mut left);
    }
    let spent = begin.elapsed().as_secs_f64() * 1e9;
    let counters = fabric.counters().next().expect("one pipe");
    assert_eq!(u64::from(left) + counters.dropped.packets(), u64::from(PACKETS));
    (spent / f64::from(PACKETS), counters.queue_peak)
}

fn write_headers(bytes: &mut [u8], port: u16) {
    bytes[12..16].copy_from_slice(&[0x08, 0x00, 0x45, 0]);
    bytes[20..22].fill(0);
    bytes[23] = 17;
    bytes[26..34].copy_from_slice(&[10, 0, 0, 1, 10, 0, 0, 2]);
    bytes[34..36].copy_from_slice(&port.to_be_bytes());
    bytes[36..38].copy_from_slice(&9_u16.to_be_bytes());
}

fn advance(fabric: &mut Fabric, now: Instant, pool: &mut Pool, left: &mut u32) {
    fabric.advance(now, |handout| {
        *left += handout.departure.packet.segments();
        pool.recycle(black_box(handout.departure.packet));
    });
}
