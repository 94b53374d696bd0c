//! Frames that are nearly right, through models that are nearly right and a chain of routers, and into a switch.

use crate::network::{Chain, plain};
use netloom_fabric::{
    Delivery, DeviceSpec, Fabric, PipeId, PipeSpec, PortId, PortVlans, SwitchCounters, SwitchPort, SwitchSpec,
};
use netloom_fuzz::{fuzz, mutated};
use netloom_link::{PipeChange, PipeConfig};
use netloom_packet::{Packet, Pool, Segmentation, VirtioHeader};
use netloom_testing::models::MODELS;
use netloom_testing::streams::{Stream, written};
use netloom_units::{Bytes, Duration, Instant, Seed};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

/// The largest packet of the links, in bytes from the IP header on.
const MTU: Bytes = Bytes::new(1_500);
/// So long is played, and so many instants, at most: cross traffic and flapping links never end.
const END: Instant = Instant::from_nanos(10_000_000);
const MOST_INSTANTS: usize = 3_000;
/// What headers are made wrong with.
const VALUES: [u8; 16] = [0, 1, 2, 4, 5, 6, 0x0f, 0x11, 0x3a, 0x45, 0x4f, 0x60, 0x7f, 0x80, 0x81, 0xff];

/// A frame with its virtio header.
#[derive(Clone, Debug)]
struct Sent {
    virtio: VirtioHeader,
    bytes: Vec<u8>,
}

#[derive(Clone, Debug)]
enum Event {
    /// From the receiver, or from the sender.
    Send(bool, Sent),
    /// A pipe, a key and a value.
    Change(usize, &'static str, String),
    Cut(usize),
    Unplug(usize),
    Join(usize),
}

fn streams() -> impl Strategy<Value = Stream> {
    let headers = (any::<bool>(), any::<bool>(), vec(select(vec![0, 43, 60]), 0..3), 0..=10_usize, 0..=10_usize);
    let fields = (any::<u16>(), any::<u32>(), any::<u8>(), any::<bool>());
    let vlans = vec((select(vec![0x8100, 0x88a8]), any::<u16>()), 0..3);
    let sizes = (1..6_000_usize, prop_oneof![1..40_usize, 500..1_500_usize, 1..60_000_usize]);
    (headers, fields, vlans, sizes).prop_map(|(headers, fields, vlans, (payload, segment_size))| {
        let (v6, tcp, extensions, ip_options, tcp_options) = headers;
        let (id, sequence, flags, accurate_ecn) = fields;
        Stream {
            vlans,
            v6,
            extensions: if v6 { extensions } else { Vec::new() },
            ip_options: if v6 { 0 } else { ip_options },
            id,
            tcp,
            tcp_options: if tcp { tcp_options } else { 0 },
            sequence: if tcp { sequence } else { 0 },
            flags: if tcp { flags } else { 0 },
            accurate_ecn,
            payload: vec![7; payload],
            segment_size,
        }
    })
}

/// What a virtio header says wrongly.
fn wrong_virtio() -> impl Strategy<Value = fn(VirtioHeader, u16) -> VirtioHeader> {
    let wrong: Vec<fn(VirtioHeader, u16) -> VirtioHeader> = vec![
        |virtio, _| virtio,
        |virtio, number| VirtioHeader { segment_size: number, ..virtio },
        |virtio, number| VirtioHeader { header_len: number, ..virtio },
        |virtio, number| VirtioHeader { checksum: virtio.checksum.map(|(_, offset)| (number, offset)), ..virtio },
        |virtio, number| VirtioHeader { checksum: virtio.checksum.map(|(start, _)| (start, number)), ..virtio },
        |virtio, _| VirtioHeader { checksum: None, ..virtio },
        |virtio, number| VirtioHeader { segmentation: KINDS[usize::from(number) % KINDS.len()], ..virtio },
        |virtio, _| VirtioHeader { ecn: !virtio.ecn, ..virtio },
    ];
    select(wrong)
}

const KINDS: [Segmentation; 5] =
    [Segmentation::None, Segmentation::Tcp4, Segmentation::Tcp6, Segmentation::Udp, Segmentation::Other(3)];

fn frames() -> impl Strategy<Value = Sent> {
    let number = prop_oneof![0..200_u16, select(vec![255_u16, 256, 1_500, 32_767, 32_768, 65_534, 65_535])];
    let wounds = vec((0..120_usize, select(VALUES.to_vec())), 0..4);
    let cut = prop::option::weighted(0.1, any::<prop::sample::Index>());
    (streams(), wrong_virtio(), number, wounds, cut, any::<bool>()).prop_map(
        |(stream, wrong, number, wounds, cut, single)| {
            let (virtio, mut bytes) =
                if single { (VirtioHeader::COMPLETE, stream.wire().swap_remove(0)) } else { stream.super_packet() };
            for (at, value) in wounds {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte = value;
                }
            }
            if let Some(cut) = cut {
                bytes.truncate(cut.index(bytes.len() + 1));
            }
            Sent { virtio: wrong(virtio, number), bytes }
        },
    )
}

/// A key and a value that is right or nearly so.
fn model() -> impl Strategy<Value = (&'static str, String)> {
    select(MODELS.to_vec()).prop_flat_map(|(key, values)| {
        let texts: Vec<String> = values.iter().map(|value| (*value).to_owned()).collect();
        (Just(key), prop_oneof![select(texts.clone()), mutated(texts)])
    })
}

fn events(pipes: usize) -> impl Strategy<Value = Vec<(u64, Event)>> {
    let event = prop_oneof![
        8 => (any::<bool>(), frames()).prop_map(|(back, frame)| Event::Send(back, frame)),
        2 => (0..pipes, model()).prop_map(|(pipe, (key, value))| Event::Change(pipe, key, value)),
        1 => (0..pipes).prop_map(Event::Cut),
        1 => (0..pipes).prop_map(Event::Unplug),
        1 => (0..pipes).prop_map(Event::Join),
    ];
    vec((0..3_000_000_u64, event), 1..12)
}

/// As a lab file would allow it: a value that is refused changes nothing.
fn change(config: &mut PipeConfig, key: &str, value: &str) -> Option<PipeChange> {
    let change = netloom_lab::parse_change(key, value).ok()?;
    let changed = change.applied_to(config);
    changed.check(MTU).ok()?;
    *config = changed;
    Some(change)
}

/// A fabric at work.
struct Player {
    fabric: Fabric,
    pool: Pool,
    now: Instant,
    instants: usize,
    delivered: u64,
}

impl Player {
    /// Plays everything before `end`, instant by instant.
    fn play(&mut self, end: Instant) {
        let ethernet = self.fabric.ethernet().clone();
        while let Some(wake) = self.fabric.next_wake().filter(|wake| *wake < end) {
            self.instants += 1;
            if self.instants > MOST_INSTANTS {
                break;
            }
            assert!(wake >= self.now, "time does not run backwards");
            self.now = wake;
            let (pool, delivered) = (&mut self.pool, &mut self.delivered);
            self.fabric.advance(wake, |Delivery { port, departure, .. }| {
                *delivered += u64::from(departure.packet.segments());
                let packet = ethernet.readdress(port, departure.packet, pool).expect("a pool that grows");
                look_at(&packet);
                pool.recycle(packet);
            });
            self.fabric.recycle(&mut self.pool);
        }
        self.now = self.now.max(end);
    }

    /// Every packet is somewhere.
    fn check(&self, injected: u64) {
        let mut arrived = 0;
        let mut departed = 0;
        for counters in self.fabric.counters() {
            assert!(counters.balance(), "{counters:?}");
            arrived += counters.arrived.packets;
            departed += counters.departed.packets;
        }
        let (mut forwarded, mut taken) = (0, 0);
        for counters in self.fabric.router_counters() {
            forwarded += counters.forwarded;
            taken += counters.forwarded + counters.answered + counters.expired + counters.unroutable;
            taken += counters.too_big + counters.ignored + counters.malformed;
        }
        assert_eq!(departed, self.delivered + taken, "what leaves a pipe is delivered or reaches a router");
        assert!(arrived >= injected + forwarded, "what is sent and what routers pass on enters a pipe");
    }
}

/// Does everything that can be done to a packet.
fn look_at(packet: &Packet) {
    let (_, bytes) = written(packet);
    assert_eq!(bytes.len().saturating_sub(14) as u64 > 0, packet.size().get() > 0);
    let _ = (packet.flow(), packet.ecn());
    packet.complete(&mut Vec::new());
    let mut rest = packet.duplicate();
    while let Some(front) = rest.split_front(1) {
        let _ = front.with_flipped_bit(77);
    }
    let _ = (rest.with_flipped_bit(u64::MAX), rest.mark_congested());
}

/// Whatever happens to whatever packets: none is lost or made up, and nothing goes on for ever.
#[test]
fn fuzz_frames_through_models_and_routers() {
    let inputs = (1..4_usize).prop_flat_map(|routers| {
        let pipes = 2 * (2 * routers + 1);
        let mtu = select(vec![1_500_u64, 1_280, 576, 68]);
        (Just(routers), vec((0..pipes, model()), 0..6), mtu, events(pipes))
    });
    fuzz("frames", 500, &inputs, |(routers, models, mtu, mut events)| {
        let mut chain = Chain::plain(routers, Duration::from_micros(10)).with_mtu(0, mtu);
        for (pipe, (key, value)) in models {
            let _ = change(&mut chain.pipes[pipe].config, key, &value);
        }
        events.sort_by_key(|(at, _)| *at);
        let ends = [PortId(0), chain.end()];
        let mut configs: Vec<PipeConfig> = chain.pipes.iter().map(|pipe| pipe.config.clone()).collect();
        let (fabric, pool) = (chain.fabric(), Pool::default());
        let mut player = Player { fabric, pool, now: Instant::ZERO, instants: 0, delivered: 0 };
        let mut injected = 0;
        let id = |pipe: usize| PipeId(u32::try_from(pipe).expect("few pipes"));
        for (at, event) in events {
            let now = Instant::from_nanos(at);
            player.play(now);
            if player.instants > MOST_INSTANTS {
                break;
            }
            match event {
                Event::Send(back, Sent { virtio, bytes }) => {
                    let packet = player.pool.packet(virtio, &bytes);
                    look_at(&packet);
                    injected += u64::from(packet.segments());
                    player.fabric.inject(now, ends[usize::from(back)], packet).expect("a known port");
                }
                Event::Change(pipe, key, value) => {
                    if let Some(made) = change(&mut configs[pipe], key, &value) {
                        player.fabric.change(now, id(pipe), &made);
                    }
                }
                Event::Cut(pipe) => player.fabric.set_up(now, id(pipe), false),
                Event::Unplug(pipe) => player.fabric.unplug(now, id(pipe)),
                Event::Join(pipe) => player.fabric.set_up(now, id(pipe), true),
            }
            player.check(injected);
        }
        player.play(END);
        player.check(injected);
    });
}

/// Whatever frames come to a switch, with VLANs or without: each segment that comes in is counted, and what goes out is what the
/// counters say. The table stays within its bounds.
#[test]
fn fuzz_frames_into_a_switch() {
    let of_ports = vec((prop::option::of(1..4_u16), vec(1..4_u16, 0..3)), 4);
    let inputs = (of_ports, any::<bool>(), select(vec![1_500_u64, 576, 68]), vec((0..4_u32, frames()), 1..20));
    fuzz("frames_into_switch", 500, &inputs, |(wanted, has_vlans, mtu, sent)| {
        let of_port = |(untagged, mut tagged): (Option<u16>, Vec<u16>)| {
            tagged.sort_unstable();
            tagged.dedup();
            tagged.retain(|vlan| Some(*vlan) != untagged);
            PortVlans { untagged, tagged }
        };
        let pipes: Vec<PipeSpec> = (0..4)
            .flat_map(|number| crate::hubs::link([2 * number, 2 * number + 1], Duration::from_micros(10)))
            .collect();
        let ports = (0..4).map(|number| SwitchPort { port: PortId(2 * number + 1), mtu: Bytes::new(mtu) }).collect();
        let vlans = if has_vlans { wanted.into_iter().map(of_port).collect() } else { Vec::new() };
        let spec = SwitchSpec { ports, ageing: Duration::from_micros(50), capacity: 2, vlans, ..SwitchSpec::default() };
        let fabric = Fabric::new(Seed::new(7), &pipes).with_devices(&pipes, &[DeviceSpec::Switch(spec)]);
        let mut player = Player { fabric, pool: Pool::default(), now: Instant::ZERO, instants: 0, delivered: 0 };
        let mut injected = 0;
        for ((host, Sent { virtio, bytes }), step) in sent.into_iter().zip(1_u64..) {
            let now = Instant::from_nanos(step * 7_000);
            player.play(now);
            let packet = player.pool.packet(virtio, &bytes);
            injected += u64::from(packet.segments());
            player.fabric.inject(now, PortId(2 * host), packet).expect("a known port");
        }
        player.play(END);
        let counted = player.fabric.switch_counters().next().expect("one");
        assert_eq!(counted.iter().map(|own| own.received).sum::<u64>(), injected);
        let ended = |own: &SwitchCounters| own.filtered + own.reserved + own.foreign + own.malformed + own.flooded;
        assert!(counted.iter().all(|own| ended(own) <= own.received));
        let departed: u64 = player.fabric.counters().map(|own| own.departed.packets).sum();
        assert_eq!(departed, injected + player.delivered, "what leaves a pipe comes to the switch, or to a host");
    });
}

/// A frame that no router can read ends there, and is counted.
#[test]
fn bytes_that_are_no_frame_reach_the_first_router() {
    let chain = Chain::plain(1, Duration::from_micros(10));
    let mut fabric = chain.fabric();
    for len in 0..60 {
        fabric.inject(Instant::ZERO, PortId(0), plain(&mut Pool::default(), &vec![0xff; len])).expect("a known port");
    }
    let out = crate::network::all(&mut fabric);
    let counters: Vec<_> = fabric.router_counters().collect();
    assert_eq!((out.len(), counters[0].ignored), (0, 60));
}
