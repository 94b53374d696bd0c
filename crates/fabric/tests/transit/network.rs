//! A chain of transit routers, each with a host at its side.

use crate::mesh::port;
use netloom_fabric::{Delivery, DeviceSpec, Fabric, Neighbor, NextHop, PipeSpec, PortId, RouterInterface, RouterSpec};
use netloom_link::{PipeConfig, Prefix};
use netloom_packet::{Packet, Pool};
use netloom_testing::streams::Stream;
use netloom_units::{Bytes, Duration, Instant, Seed};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The sender and the receiver of [`Stream`].
pub(crate) const SENDER: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
pub(crate) const RECEIVER: Ipv4Addr = Ipv4Addr::new(10, 255, 3, 2);
const SENDER_V6: u128 = 0xf0f1_f2f3_f4f5_f6f7_f8f9_fafb_fcfd_feff;
const RECEIVER_V6: u128 = 0xe0e1_e2e3_e4e5_e6e7_e8e9_eaeb_eced_eeef;

/// Links 0 to `routers` are the chain, from the sender to the receiver; the others lead to the hosts at its side. Port
/// 2 i is the end of link i that is nearer to the sender, or at the side host.
#[derive(Clone, Debug)]
pub(crate) struct Chain {
    pub(crate) routers: usize,
    pub(crate) pipes: Vec<PipeSpec>,
    specs: Vec<RouterSpec>,
}

pub(crate) fn mac(port: u32) -> [u8; 6] {
    let [_, _, high, low] = port.to_be_bytes();
    [2, 0, 0, 0, high, low]
}

impl Chain {
    /// All pipes of these models, forward and backward of each link in turn, as often as there are links.
    pub(crate) fn new(routers: usize, mut model: impl FnMut() -> (PipeConfig, Duration)) -> Self {
        let mut pipes = Vec::new();
        for link in 0..=2 * routers {
            for (from, to) in [(0, 1), (1, 0)] {
                let (config, coalesce) = model();
                let name = format!("{link}.{from}");
                pipes.push(PipeSpec {
                    name,
                    config,
                    coalesce,
                    from: port(link, from),
                    filter: None,
                    medium: Vec::new(),
                    to: port(link, to),
                });
            }
        }
        let spec = |router| router_spec(routers, router);
        Self { routers, pipes, specs: (0..routers).map(spec).collect() }
    }

    /// Pipes that only take this long.
    pub(crate) fn plain(routers: usize, delay: Duration) -> Self {
        let change = netloom_lab::parse_change("delay", &delay.to_string()).unwrap();
        let config = change.applied_to(&PipeConfig::default());
        Self::new(routers, || (config.clone(), Duration::ZERO))
    }

    pub(crate) fn with_mtu(mut self, router: usize, mtu: u64) -> Self {
        self.specs[router].interfaces[1].mtu = Bytes::new(mtu);
        self
    }

    pub(crate) fn fabric(&self) -> Fabric {
        Fabric::new(Seed::new(7), &self.pipes).with_devices(&self.pipes, &self.devices())
    }

    fn devices(&self) -> Vec<DeviceSpec> {
        self.specs.iter().cloned().map(DeviceSpec::Router).collect()
    }

    /// Where the receiver is.
    pub(crate) fn end(&self) -> PortId {
        port(self.routers, 1)
    }
}

fn router_spec(routers: usize, router: usize) -> RouterSpec {
    let interface = |link: usize, end: usize, other: [IpAddr; 2]| {
        let (own, neighbor) = (port(link, end), port(link, 1 - end));
        let subnets = addresses(routers, link, end).map(|address| {
            let (cut, length) = match address {
                IpAddr::V4(v4) => (IpAddr::V4((v4.to_bits() & !3).into()), 30),
                IpAddr::V6(v6) => (IpAddr::V6((v6.to_bits() >> 64 << 64).into()), 64),
            };
            Prefix::new(cut, length).unwrap()
        });
        RouterInterface {
            port: own,
            mac: mac(own.0),
            mtu: Bytes::new(1_500),
            addresses: addresses(routers, link, end).to_vec(),
            is_shared: false,
            neighbors: vec![Neighbor { mac: mac(neighbor.0), addresses: other.to_vec() }],
            subnets: subnets.to_vec(),
        }
    };
    let link = |link, end: usize| interface(link, end, addresses(routers, link, 1 - end));
    let towards = |text: &str, place: usize| {
        let (address, length) = text.split_once('/').unwrap();
        (Prefix::new(address.parse().unwrap(), length.parse().unwrap()).unwrap(), NextHop::by(place))
    };
    RouterSpec {
        interfaces: vec![link(router, 1), link(router + 1, 0), link(routers + 1 + router, 1)],
        routes: vec![
            towards("10.0.0.0/30", 0),
            towards("10.255.3.0/30", 1),
            towards("f0f1:f2f3:f4f5:f6f7::/64", 0),
            towards("e0e1:e2e3:e4e5:e6e7::/64", 1),
        ],
        ..RouterSpec::default()
    }
}

/// The addresses at an end of a link.
pub(crate) fn addresses(routers: usize, link: usize, end: usize) -> [IpAddr; 2] {
    let host = u32::try_from(end + 1).unwrap();
    let net = match link {
        0 => SENDER.to_bits() - 1,
        last if last == routers => RECEIVER.to_bits() - 2,
        other => 10 << 24 | 100 << 16 | u32::try_from(other).unwrap() << 8,
    };
    let v6 = match (link, end) {
        (0, 0) => SENDER_V6,
        (0, _) => SENDER_V6 - 1,
        (last, 1) if last == routers => RECEIVER_V6,
        (last, _) if last == routers => RECEIVER_V6 - 1,
        (other, _) => 0xfd00 << 112 | u128::try_from(other).unwrap() << 64 | u128::from(host),
    };
    [Ipv4Addr::from_bits(net + host).into(), Ipv6Addr::from_bits(v6).into()]
}

/// A TCP stream in segments of 1,000 bytes from the sender to the receiver.
pub(crate) fn stream(v6: bool, id: u16, payload: usize) -> Stream {
    Stream {
        vlans: Vec::new(),
        v6,
        ip_options: 0,
        extensions: Vec::new(),
        id,
        tcp: true,
        tcp_options: 3,
        sequence: 77,
        flags: 0x18,
        accurate_ecn: false,
        payload: (0..payload).map(|at| u8::try_from(at % 251).unwrap()).collect(),
        segment_size: 1_000,
    }
}

/// A frame as it stands.
pub(crate) fn plain(pool: &mut Pool, bytes: &[u8]) -> Packet {
    pool.packet(netloom_packet::VirtioHeader::COMPLETE, bytes)
}

/// All that leaves the fabric until nothing is left in it: when, where, and the frames.
pub(crate) fn all(fabric: &mut Fabric) -> Vec<(Instant, PortId, Packet)> {
    let mut out = Vec::new();
    let ethernet = fabric.ethernet().clone();
    let mut pool = Pool::default();
    while let Some(now) = fabric.next_wake() {
        fabric.advance(now, |Delivery { port, departure, .. }| {
            assert_eq!(departure.due, now);
            out.push((
                departure.due,
                port,
                ethernet.readdress(port, departure.packet, &mut pool).expect("a pool that grows"),
            ));
        });
    }
    out
}
