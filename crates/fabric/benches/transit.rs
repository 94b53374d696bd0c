//! What a hop costs: packets and trains through a chain of 60 transit routers, over links without rate or delay.
//!
//! `cargo bench -p netloom-fabric --bench transit`; every case is measured several times, and the fastest counts.
#![allow(clippy::disallowed_methods, reason = "a benchmark reads the clock")]

use netloom_fabric::{DeviceSpec, Fabric, Neighbor, NextHop, PipeSpec, PortId, RouterInterface, RouterSpec};
use netloom_link::{PipeConfig, Prefix};
use netloom_packet::{Packet, Pool, Segmentation, VirtioHeader};
use netloom_units::{Bytes, Duration, Instant, Seed};
use std::net::{IpAddr, Ipv4Addr};
use std::time;

const ROUTERS: u32 = 60;
const ROUNDS: u32 = 2_000;
const REPEATS: u32 = 7;
const HEADERS: usize = 14 + 20 + 32;

fn main() {
    for (name, payload) in
        [("packet of 100 bytes", 34), ("packet of 1,500 bytes", 1_448), ("train of 44 segments", 44 * 1_448)]
    {
        let best = (0..REPEATS).map(|_| per_hop(payload)).min().expect("several repeats");
        println!("{name:<24} {:>7.1} ns per hop", best.as_nanos() as f64 / f64::from(ROUNDS * ROUTERS));
    }
}

fn per_hop(payload: usize) -> time::Duration {
    let mut fabric = chain();
    let mut pool = Pool::new(64, 64);
    let mut spent = Vec::new();
    let mut taken = time::Duration::ZERO;
    for round in 0..ROUNDS {
        let now = Instant::from_nanos(u64::from(round) * 1_000);
        let sent = packet(&mut pool, payload);
        let begin = time::Instant::now();
        fabric.inject(now, PortId(0), sent).expect("a known port");
        fabric.advance(now, |delivery| spent.push(delivery.departure.packet));
        taken += begin.elapsed();
        assert_eq!(spent.len(), 1);
        spent.drain(..).for_each(|packet| pool.recycle(packet));
    }
    taken
}

fn mac(port: u32) -> [u8; 6] {
    let [_, _, high, low] = port.to_be_bytes();
    [2, 0, 0, 0, high, low]
}

fn subnet(link: u32) -> Prefix {
    Prefix::new(address(link, 0), 30).expect("four addresses")
}

fn address(link: u32, host: u32) -> IpAddr {
    Ipv4Addr::from_bits((10 << 24) + 4 * link + host).into()
}

/// Port 2 i is the end of link i that is nearer to the sender.
fn chain() -> Fabric {
    let pipes: Vec<PipeSpec> = (0..=ROUTERS)
        .flat_map(|link| [(2 * link, 2 * link + 1), (2 * link + 1, 2 * link)])
        .map(|(from, to)| PipeSpec {
            name: format!("{from}"),
            config: PipeConfig::default(),
            coalesce: Duration::ZERO,
            from: PortId(from),
            filter: None,
            medium: Vec::new(),
            to: PortId(to),
        })
        .collect();
    let interface = |port: u32| RouterInterface {
        port: PortId(port),
        mac: mac(port),
        mtu: Bytes::new(1_500),
        addresses: vec![address(port / 2, port % 2 + 1)],
        is_shared: false,
        neighbors: vec![Neighbor { mac: mac(port ^ 1), addresses: vec![address(port / 2, 2 - port % 2)] }],
        subnets: vec![subnet(port / 2)],
    };
    let routes = |router: u32| (0..=ROUTERS).map(move |link| (subnet(link), NextHop::by(usize::from(link > router))));
    let router = |router: u32| {
        DeviceSpec::Router(RouterSpec {
            interfaces: vec![interface(2 * router + 1), interface(2 * router + 2)],
            routes: routes(router).collect(),
            ..RouterSpec::default()
        })
    };
    let routers: Vec<DeviceSpec> = (0..ROUTERS).map(router).collect();
    Fabric::new(Seed::new(1), &pipes).with_devices(&pipes, &routers)
}

/// A packet of TCP, or a super-packet, from one end of the chain to the other.
fn packet(pool: &mut Pool, payload: usize) -> Packet {
    let virtio = if payload > 1_448 {
        VirtioHeader {
            checksum: Some((34, 16)),
            segmentation: Segmentation::Tcp4,
            ecn: false,
            segment_size: 1_448,
            header_len: 66,
        }
    } else {
        VirtioHeader::COMPLETE
    };
    let len = HEADERS + payload;
    let filled = pool.fill_with(len, |bytes| {
        bytes[..6].copy_from_slice(&mac(1));
        bytes[12..16].copy_from_slice(&[8, 0, 0x45, 0]);
        bytes[16..18].copy_from_slice(&u16::try_from(len - 14).expect("shorter than a packet").to_be_bytes());
        bytes[22..24].copy_from_slice(&[64, 6]);
        let [from, to] = [address(0, 1), address(ROUTERS, 2)];
        for (at, address) in [(26, from), (30, to)] {
            let IpAddr::V4(v4) = address else { unreachable!("made above") };
            bytes[at..at + 4].copy_from_slice(&v4.octets());
        }
        // RFC 1071: routers look at it.
        bytes[24..26].fill(0);
        let words = bytes[14..34].chunks(2).map(|pair| u32::from(u16::from_be_bytes([pair[0], pair[1]])));
        let sum = words.sum::<u32>();
        let checksum = !u16::try_from((sum & 0xffff) + (sum >> 16)).expect("ten words carry a little");
        bytes[24..26].copy_from_slice(&checksum.to_be_bytes());
        bytes[34 + 12] = 8 << 4;
        Some((len, virtio))
    });
    filled.expect("a filled packet")
}
