//! What one packet of one of a thousand flows costs in each discipline: `cargo bench -p netloom-fabric --bench flows`.
//!
//! Sizes are mixed, a flow is chosen at random for each packet, and more is offered for a while than the rate allows, then
//! less: the queue fills and empties, and such a cycle is timed as a whole. Each row is the median of many cycles, and the
//! best tenth of them, since whatever else runs on the machine only ever adds. Buffers come from the pool and go back;
//! their headers are written, their payload is not.
#![allow(clippy::disallowed_methods, reason = "a benchmark reads the clock")]

use netloom_link::{
    ClassConfig, CodelConfig, CodelControl, Division, DropLog, DrrConfig, Filter, FqCodelConfig, Pipe, PipeConfig,
    Ports, QueueConfig,
};
use netloom_packet::{Pool, VirtioHeader};
use netloom_units::{Bytes, Duration, Instant, Limit, Rate, Seed};
use std::hint::black_box;

const CYCLES: u32 = 300;
/// Of a cycle; a third of them is offered at each pace.
const PACKETS: u32 = 6_000;
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
    println!("{:<30} {:>10} {:>10} {:>12}", "ns/packet, 1000 flows", "median", "10 %", "queue peak");
    for (name, queue) in queues().iter().filter(|(name, _)| name.contains(&wanted)) {
        let (mut cycles, peak) = measure(queue);
        cycles.sort_by(f64::total_cmp);
        println!("{name:<30} {:>10.1} {:>10.1} {peak:>12}", cycles[cycles.len() / 2], cycles[cycles.len() / 10]);
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

/// Nanoseconds per packet for each cycle, and how many waited at most.
fn measure(queue: &QueueConfig) -> (Vec<f64>, u64) {
    let rate = Rate::from_bits_per_second(10_000_000_000);
    let delay = Duration::from_millis(1).into();
    let config = PipeConfig { rate: rate.into(), delay, queue: queue.clone(), ..PipeConfig::default() };
    let mut bench = Bench {
        pipe: Pipe::new(&config, Duration::ZERO, Seed::new(1)),
        drop_log: DropLog::new(),
        pool: Pool::new(4_000, 0),
        now: Instant::ZERO,
        random: 1,
        left: 0,
    };
    // The first cycle makes the tables.
    bench.cycle();
    let timed = (1..CYCLES).map(|_| {
        let begin = std::time::Instant::now();
        bench.cycle();
        begin.elapsed().as_secs_f64() * 1e9 / f64::from(PACKETS)
    });
    let cycles = timed.collect();
    while let Some(wake) = bench.pipe.next_wake() {
        bench.now = wake;
        bench.depart();
    }
    let counters = bench.pipe.counters();
    assert_eq!(u64::from(bench.left) + counters.dropped.packets(), u64::from(CYCLES * PACKETS));
    (cycles, counters.queue_peak)
}

struct Bench {
    pipe: Pipe,
    drop_log: DropLog,
    pool: Pool,
    now: Instant,
    random: u32,
    left: u32,
}

impl Bench {
    fn cycle(&mut self) {
        for index in 0..PACKETS {
            let pace = usize::try_from(index / (PACKETS / 3)).expect("below three");
            let end = self.now + Duration::from_nanos(GAPS[pace]);
            while let Some(wake) = self.pipe.next_wake().filter(|wake| *wake <= end) {
                self.now = wake;
                self.depart();
            }
            self.now = end;
            self.offer(SIZES[usize::try_from(index % 6).expect("below six")]);
        }
    }

    fn offer(&mut self, size: usize) {
        self.random = self.random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let port = 1 + u16::try_from(self.random >> 16).expect("16 bits") % FLOWS;
        let packet = self.pool.fill_with(ETHERNET + size, |bytes| {
            write_headers(&mut bytes[..HEADERS], port);
            Some((ETHERNET + size, VirtioHeader::COMPLETE))
        });
        self.pipe.push(self.now, packet.expect("a filled packet"), &mut self.drop_log);
        self.recycle();
    }

    fn depart(&mut self) {
        while let Some(departure) = self.pipe.pop(self.now, &mut self.drop_log) {
            self.left += departure.packet.segments();
            self.pool.recycle(black_box(departure.packet));
        }
        self.recycle();
    }

    fn recycle(&mut self) {
        self.drop_log.drain(..).for_each(|dropped| self.pool.recycle(dropped.packet));
    }
}

fn write_headers(bytes: &mut [u8], port: u16) {
    bytes[12..16].copy_from_slice(&[0x08, 0x00, 0x45, 0]);
    bytes[20..22].fill(0);
    bytes[23] = 17;
    bytes[26..34].copy_from_slice(&[10, 0, 0, 1, 10, 0, 0, 2]);
    bytes[34..36].copy_from_slice(&port.to_be_bytes());
    bytes[36..38].copy_from_slice(&9_u16.to_be_bytes());
}
