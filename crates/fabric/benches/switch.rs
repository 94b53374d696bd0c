//! What a switch costs: packets through a chain of 60 switches, beside as many links without any, and a broadcast to 100 ports,
//! over links without rate or delay.
//!
//! `cargo bench -p netloom-fabric --bench switch`; every case is measured several times, and the fastest counts. The goals are
//! 100 ns for a switch and 100 us for the broadcast.
#![allow(clippy::disallowed_methods, reason = "a benchmark reads the clock")]

use netloom_fabric::{DeviceSpec, Fabric, PipeSpec, PortId, SwitchPort, SwitchSpec};
use netloom_link::PipeConfig;
use netloom_packet::{Packet, Pool, VirtioHeader};
use netloom_units::{Bytes, Duration, Instant, Seed};
use std::time;

const SWITCHES: u32 = 60;
const PORTS: u32 = 100;
const ROUNDS: u32 = 2_000;
const REPEATS: u32 = 7;
const EVERYBODY: [u8; 6] = [0xff; 6];
const FAR: [u8; 6] = [2, 0, 0, 0, 0, 9];

fn main() {
    let hops = f64::from(SWITCHES);
    let (link, hop) = (least(alone) / (hops + 1.0), best(chain, FAR, 1) / hops);
    println!("packet over a link          {link:>7.1} ns");
    println!("packet to a known address   {hop:>7.1} ns per switch and link, so {:.1} ns per switch", hop - link);
    println!("broadcast to {PORTS} ports      {:>7.1} us", best(star, EVERYBODY, PORTS as usize) / 1e3);
}

/// As many links without switches: what leaves one is put into the next.
fn alone() -> time::Duration {
    let pipes = links(SWITCHES + 1);
    let (mut fabric, mut pool) = (Fabric::new(Seed::new(1), &pipes), Pool::new(64, 64));
    let mut taken = time::Duration::ZERO;
    for round in 1..=ROUNDS {
        let now = Instant::from_nanos(u64::from(round) * 1_000);
        let mut carried = Some(packet(&mut pool, FAR, [2, 0, 0, 0, 0, 1]));
        let begin = time::Instant::now();
        for link in 0..=SWITCHES {
            let packet = carried.take().expect("what was put into a link without delay leaves it at once");
            fabric.inject(now, PortId(2 * link), packet).expect("a known port");
            fabric.advance(now, |delivery| carried = Some(delivery.departure.packet));
        }
        taken += begin.elapsed();
        carried.into_iter().for_each(|packet| pool.recycle(packet));
    }
    taken
}

/// How long a packet takes from port 0 to all others that hear it, in nanoseconds.
fn best(fabric: fn() -> Fabric, to: [u8; 6], heard: usize) -> f64 {
    least(|| rounds(&mut fabric(), to, heard))
}

/// The shortest of several measurements, for a round, in nanoseconds.
fn least(measure: impl Fn() -> time::Duration) -> f64 {
    let least = (0..REPEATS).map(|_| measure()).min().expect("several repeats");
    least.as_nanos() as f64 / f64::from(ROUNDS)
}

fn rounds(fabric: &mut Fabric, to: [u8; 6], heard: usize) -> time::Duration {
    let (mut pool, mut spent) = (Pool::new(64, 64), Vec::new());
    // The other end says where it is.
    fabric.inject(Instant::ZERO, far(fabric), packet(&mut pool, EVERYBODY, FAR)).expect("a known port");
    fabric.advance(Instant::ZERO, |_| ());
    let mut taken = time::Duration::ZERO;
    for round in 1..=ROUNDS {
        let now = Instant::from_nanos(u64::from(round) * 1_000);
        let sent = packet(&mut pool, to, [2, 0, 0, 0, 0, 1]);
        let begin = time::Instant::now();
        fabric.inject(now, PortId(0), sent).expect("a known port");
        fabric.advance(now, |delivery| spent.push(delivery.departure.packet));
        taken += begin.elapsed();
        assert_eq!(spent.len(), heard);
        spent.drain(..).for_each(|packet| pool.recycle(packet));
        fabric.recycle(&mut pool);
    }
    taken
}

/// The last port at which no switch is.
fn far(fabric: &Fabric) -> PortId {
    let last = fabric.ends().map(|(from, _)| from).max().expect("there are pipes");
    let is_star = fabric.switch_counters().count() == 1;
    if is_star { PortId(last.0 - 1) } else { last }
}

fn packet(pool: &mut Pool, to: [u8; 6], from: [u8; 6]) -> Packet {
    let filled = pool.fill_with(1_514, |bytes| {
        bytes[..6].copy_from_slice(&to);
        bytes[6..12].copy_from_slice(&from);
        Some((1_514, VirtioHeader::COMPLETE))
    });
    filled.expect("a filled packet")
}

/// Links between the ports 2 i and 2 i + 1.
fn links(count: u32) -> Vec<PipeSpec> {
    let ends = (0..count).flat_map(|link| [(2 * link, 2 * link + 1), (2 * link + 1, 2 * link)]);
    let pipe = |(from, to)| PipeSpec {
        name: format!("{from}"),
        config: PipeConfig::default(),
        coalesce: Duration::ZERO,
        from: PortId(from),
        filter: None,
        medium: Vec::new(),
        to: PortId(to),
    };
    ends.map(pipe).collect()
}

fn switch(ports: impl IntoIterator<Item = u32>) -> DeviceSpec {
    let port = |number| SwitchPort { port: PortId(number), mtu: Bytes::new(1_500) };
    let ports = ports.into_iter().map(port).collect();
    DeviceSpec::Switch(SwitchSpec { ports, ageing: Duration::from_secs(300), capacity: 8_192, ..SwitchSpec::default() })
}

fn chain() -> Fabric {
    let pipes = links(SWITCHES + 1);
    let switches: Vec<DeviceSpec> = (0..SWITCHES).map(|number| switch([2 * number + 1, 2 * number + 2])).collect();
    Fabric::new(Seed::new(1), &pipes).with_devices(&pipes, &switches)
}

/// A switch with a port more than hear a broadcast.
fn star() -> Fabric {
    let pipes = links(PORTS + 1);
    Fabric::new(Seed::new(1), &pipes).with_devices(&pipes, &[switch((0..=PORTS).map(|link| 2 * link + 1))])
}
