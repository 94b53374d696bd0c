//! What routers say.

use crate::network::{Chain, RECEIVER, SENDER, addresses, all, mac, plain, stream};
use netloom_fabric::{Fabric, PortId, RouterCounters};
use netloom_packet::Pool;
use netloom_testing::streams::ones_complement;
use netloom_units::{Duration, Instant};
use std::net::{IpAddr, Ipv4Addr};

const MS: Duration = Duration::from_millis(1);

fn ask(fabric: &mut Fabric, frame: &[u8]) -> Vec<(Instant, PortId, Vec<u8>)> {
    fabric.inject(Instant::ZERO, PortId(0), plain(&mut Pool::default(), frame)).unwrap();
    all(fabric).into_iter().map(|(due, port, packet)| (due, port, packet.bytes().to_vec())).collect()
}

/// The stream's first packet with so many hops to live.
fn with_ttl(v6: bool, ttl: u8) -> Vec<u8> {
    let mut frame = stream(v6, 5, 1_000).wire().remove(0);
    frame[if v6 { 21 } else { 22 }] = ttl;
    if !v6 {
        fix(&mut frame);
    }
    frame
}

pub(crate) fn fix(frame: &mut [u8]) {
    frame[24..26].fill(0);
    let sum = !ones_complement(&frame[14..34]);
    frame[24..26].copy_from_slice(&sum.to_be_bytes());
}

fn source(frame: &[u8]) -> IpAddr {
    if frame[12] == 0x86 {
        IpAddr::from(<[u8; 16]>::try_from(&frame[22..38]).unwrap())
    } else {
        IpAddr::from(<[u8; 4]>::try_from(&frame[26..30]).unwrap())
    }
}

/// An echo request from the sender, padded to the shortest frame of Ethernet.
fn echo(to: Ipv4Addr) -> Vec<u8> {
    let mut frame =
        [&mac(1)[..], &mac(0), &[8, 0, 0x45, 0, 0, 36, 0, 1, 0, 0, 64, 1, 0, 0], &SENDER.octets(), &to.octets()]
            .concat();
    fix(&mut frame);
    let mut message = vec![8, 0, 0, 0, 1, 2, 3, 4, b'p', b'i', b'n', b'g', 0, 0, 0, 1];
    let sum = !ones_complement(&message);
    message[2..4].copy_from_slice(&sum.to_be_bytes());
    frame.extend(message);
    frame.resize(60, 0);
    frame
}

/// Every hop says that it was here, in order and as far away as it is: what traceroute reads.
#[test]
fn a_packet_that_has_lived_long_enough_names_the_router() {
    for v6 in [false, true] {
        for hop in 1..=20_u8 {
            let chain = Chain::plain(20, MS);
            let mut fabric = chain.fabric();
            let sent = with_ttl(v6, hop);
            let answers = ask(&mut fabric, &sent);
            let [(due, port, answer)] = &answers[..] else { panic!("{answers:?}") };
            assert_eq!((*due, *port), (Instant::ZERO + Duration::from_millis(2 * u64::from(hop)), PortId(0)));
            assert_eq!(source(answer), addresses(20, usize::from(hop) - 1, 1)[usize::from(v6)]);
            let message = if v6 { 54 } else { 34 };
            assert_eq!(answer[message..message + 2], if v6 { [3, 0] } else { [11, 0] });
            let quote = &answer[message + 8..];
            assert_eq!(quote[..7], sent[14..21], "the quote is the packet's beginning");
            assert_eq!(quote[if v6 { 7 } else { 8 }], 1, "as it reached the router");
            assert_eq!(answer.len() - 14, if v6 { 40 + 8 + sent.len() - 14 } else { 576 });
            let expired = fabric.router_counters().map(|counters| counters.expired).collect::<Vec<_>>();
            assert_eq!((expired.iter().sum::<u64>(), expired[usize::from(hop) - 1]), (1, 1));
        }
    }
}

#[test]
fn a_router_answers_echo_requests_to_all_its_addresses() {
    let chain = Chain::plain(3, MS);
    for (link, end) in [(0, 1), (1, 0), (4, 1)] {
        let IpAddr::V4(to) = addresses(3, link, end)[0] else { unreachable!("IPv4 comes first") };
        let answers = ask(&mut chain.fabric(), &echo(to));
        let [(due, port, answer)] = &answers[..] else { panic!("{answers:?}") };
        assert_eq!((*due, *port, source(answer)), (Instant::ZERO + MS + MS, PortId(0), to.into()));
        assert_eq!((answer[34], ones_complement(&answer[14..34]), ones_complement(&answer[34..])), (0, 0xffff, 0xffff));
        assert_eq!(answer[38..], echo(to)[38..50], "the same, without the padding");
        assert_eq!(answer[..12], [mac(0), mac(1)].concat());
    }
    let mut corrupted = echo(Ipv4Addr::new(10, 0, 0, 2));
    corrupted[45] ^= 1;
    let mut fabric = chain.fabric();
    assert_eq!(ask(&mut fabric, &corrupted), []);
    assert_eq!(fabric.router_counters().next().unwrap().ignored, 1);
}

#[test]
fn arp_and_neighbour_solicitations_are_answered() {
    let chain = Chain::plain(1, MS);
    let arp = |asked: [u8; 4]| {
        let target = [0; 6];
        [&[0xff; 6][..], &mac(0), &[8, 6, 0, 1, 8, 0, 6, 4, 0, 1], &mac(0), &SENDER.octets(), &target, &asked].concat()
    };
    let answers = ask(&mut chain.fabric(), &arp([10, 0, 0, 2]));
    let wanted =
        [&mac(0)[..], &mac(1), &[8, 6, 0, 1, 8, 0, 6, 4, 0, 2], &mac(1), &[10, 0, 0, 2], &mac(0), &SENDER.octets()];
    assert_eq!(answers, [(Instant::ZERO + MS + MS, PortId(0), wanted.concat())]);
    assert_eq!(ask(&mut chain.fabric(), &arp([10, 0, 0, 3])), [], "an address of nobody");

    let [IpAddr::V6(from), IpAddr::V6(asked)] = [addresses(1, 0, 0)[1], addresses(1, 0, 1)[1]] else { unreachable!() };
    let mut message = [&[135, 0, 0, 0, 0, 0, 0, 0][..], &asked.octets(), &[1, 1], &mac(0)].concat();
    let group =
        [0xff, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0xff, asked.octets()[13], asked.octets()[14], asked.octets()[15]];
    let pseudo = [&from.octets()[..], &group, &[0, 0, 0, 32, 0, 0, 0, 58], &message].concat();
    let sum = !ones_complement(&pseudo);
    message[2..4].copy_from_slice(&sum.to_be_bytes());
    let header = [0x60, 0, 0, 0, 0, 32, 58, 255];
    let frame =
        [&[0x33, 0x33, 0xff, 0xed, 0xee, 0xfe][..], &mac(0), &[0x86, 0xdd], &header, &from.octets(), &group, &message];
    let advertised = ask(&mut chain.fabric(), &frame.concat());
    let [(_, port, answer)] = &advertised[..] else { panic!("{advertised:?}") };
    assert_eq!((*port, answer[54], answer[21]), (PortId(0), 136, 255));
    assert_eq!(answer[62..], [&asked.octets()[..], &[2, 1], &mac(1)].concat());
}

#[test]
fn what_cannot_go_on_is_told_why() {
    // A link that is narrower than the segments of a train: each of them is answered with that.
    let chain = Chain::plain(2, MS).with_mtu(1, 1_000);
    let mut fabric = chain.fabric();
    let (virtio, train) = stream(false, 1, 3_000).super_packet();
    fabric.inject(Instant::ZERO, PortId(0), Pool::default().packet(virtio, &train)).unwrap();
    let told = all(&mut fabric);
    assert_eq!(told.len(), 3);
    for (_, port, packet) in &told {
        assert_eq!((port.0, &packet.bytes()[34..36], &packet.bytes()[40..42]), (0, &[3, 4][..], &[0x03, 0xe8][..]));
    }
    let wanted = RouterCounters { too_big: 3, ..RouterCounters::default() };
    assert_eq!(fabric.router_counters().nth(1), Some(&wanted));

    let to = |destination: Ipv4Addr| {
        let mut frame = with_ttl(false, 64);
        frame[30..34].copy_from_slice(&destination.octets());
        fix(&mut frame);
        frame
    };
    for (destination, code) in [(Ipv4Addr::new(192, 0, 2, 1), 0), (Ipv4Addr::from(RECEIVER.to_bits() + 1), 1)] {
        let mut own = Chain::plain(2, MS).fabric();
        let answers = ask(&mut own, &to(destination));
        assert_eq!((answers.len(), &answers[0].2[34..36]), (1, &[3, code][..]), "{destination}");
    }
    // Loopback, multicast, broadcast: not a word.
    for destination in [[127, 0, 0, 1], [224, 0, 0, 5], [255; 4]] {
        assert_eq!(ask(&mut Chain::plain(2, MS).fabric(), &to(destination.into())), []);
    }
    // Frames for another machine, and with a tag.
    let mut other = with_ttl(false, 64);
    other[5] = 9;
    let tagged = [&with_ttl(false, 64)[..12], &[0x81, 0, 0, 1], &with_ttl(false, 64)[12..]].concat();
    for frame in [other, tagged] {
        assert_eq!(ask(&mut Chain::plain(2, MS).fabric(), &frame), []);
    }
}

/// No error about an error: two routers would keep each other busy.
#[test]
fn errors_are_not_answered() {
    let mut frame = with_ttl(false, 1);
    frame[23] = 1;
    frame[34..36].copy_from_slice(&[11, 0]);
    fix(&mut frame);
    let mut fabric = Chain::plain(1, MS).fabric();
    assert_eq!(ask(&mut fabric, &frame), []);
    assert_eq!(fabric.router_counters().next().unwrap().expired, 1);
}

/// A frame of the stream's that its sender lets be cut.
fn may_be_cut(frame: &mut [u8]) {
    frame[20] = 0;
    fix(frame);
}

/// The fragments of one packet, put together: its payload, without a gap.
fn joined(fragments: &[Vec<u8>], mtu: usize) -> Vec<u8> {
    let mut payload = Vec::new();
    for (place, frame) in fragments.iter().enumerate() {
        let length = usize::from(u16::from_be_bytes([frame[16], frame[17]]));
        let says = u16::from_be_bytes([frame[20], frame[21]]);
        assert!(frame.len() == 14 + length && length <= mtu, "{length} of {mtu}");
        assert_eq!(usize::from(says & 0x1fff) * 8, payload.len(), "where the last one ended");
        assert_eq!(says & 0x2000 > 0, place + 1 < fragments.len(), "more follow, but for the last");
        assert_eq!(ones_complement(&frame[14..34]), 0xffff);
        payload.extend(&frame[34..]);
    }
    payload
}

/// Two links narrow a packet's way one after the other; what arrives is what was sent, with two hops less to live.
#[test]
fn what_may_be_cut_arrives_in_fragments() {
    let chain = Chain::plain(2, MS).with_mtu(0, 700).with_mtu(1, 333);
    let mut frame = stream(false, 5, 1_000).wire().remove(0);
    may_be_cut(&mut frame);
    let mut fabric = chain.fabric();
    let arrived = ask(&mut fabric, &frame);
    assert!(arrived.iter().all(|(due, port, _)| *port == chain.end() && *due == Instant::ZERO + MS * 3));
    let frames: Vec<Vec<u8>> = arrived.into_iter().map(|(.., bytes)| bytes).collect();
    assert_eq!(joined(&frames, 333), frame[34..]);
    assert!(frames.iter().all(|own| own[18..20] == frame[18..20] && own[22] == 62 && own[26..34] == frame[26..34]));
    let counted: Vec<(u64, u64, u64)> =
        fabric.router_counters().map(|own| (own.forwarded, own.fragments, own.too_big)).collect();
    // 1,052 bytes: 680 and 352 of payload; of these 312, 312 and 56, and 312 and 40.
    assert_eq!(counted, [(1, 2, 0), (2, 5, 0)]);
}

/// Of a super-packet every segment is cut as if it had come alone; its checksum is made before.
#[test]
fn trains_are_cut_first() {
    let chain = Chain::plain(1, MS).with_mtu(0, 600);
    let sent = stream(false, 1, 2_500);
    let (virtio, mut train) = sent.super_packet();
    may_be_cut(&mut train);
    let mut fabric = chain.fabric();
    fabric.inject(Instant::ZERO, PortId(0), Pool::default().packet(virtio, &train)).unwrap();
    let arrived: Vec<Vec<u8>> = all(&mut fabric).into_iter().map(|(.., packet)| packet.bytes().to_vec()).collect();
    let segments = sent.wire();
    let counts = [2, 2, 1];
    let mut rest = &arrived[..];
    for (segment, count) in segments.iter().zip(counts) {
        let (own, others) = rest.split_at(count);
        assert_eq!(joined(own, 600), segment[34..]);
        rest = others;
    }
    assert!(rest.is_empty() && segments.len() == 3);
}

/// What an error and a reply say of themselves: Linux's `icmp_send` keeps the service of what it is about, sets the precedence, and lets
/// routers cut it; its replies have the class of the request.
#[test]
fn what_routers_say_looks_as_from_linux() {
    let mut frame = with_ttl(false, 1);
    frame[15] = 0x2a;
    fix(&mut frame);
    let mut request = echo(Ipv4Addr::new(10, 0, 0, 2));
    request[15] = 0x2a;
    fix(&mut request);
    let mut fabric = Chain::plain(1, MS).fabric();
    for (sent, class, number) in [(frame, 0xca, 1), (request, 0x2a, 2)] {
        let answers = ask(&mut fabric, &sent);
        let [(_, _, answer)] = &answers[..] else { panic!("{answers:?}") };
        assert_eq!((answer[15], &answer[18..22], answer[22]), (class, &[0, number, 0, 0][..], 64));
        assert_eq!(ones_complement(&answer[14..34]), 0xffff);
    }
    let answers = ask(&mut Chain::plain(1, MS).fabric(), &with_ttl(true, 1));
    assert_eq!((answers[0].2[14], answers[0].2[15] >> 4), (0x60, 0), "of IPv6 there is no precedence");
}

/// Who sends much hears little: six errors at once and one a second; errors about sizes are always sent.
#[test]
fn errors_to_one_sender_are_rare() {
    let mut fabric = Chain::plain(1, MS).with_mtu(0, 700).fabric();
    let mut told = |frame: &[u8], second: u64| {
        let now = Instant::ZERO + Duration::from_secs(second);
        for _ in 0..20 {
            fabric.inject(now, PortId(0), plain(&mut Pool::default(), frame)).unwrap();
        }
        all(&mut fabric).len()
    };
    assert_eq!([0, 1, 3, 20].map(|second| told(&with_ttl(false, 1), second)), [6, 1, 2, 6]);
    assert_eq!(told(&with_ttl(false, 64), 20), 20);
}

/// Linux's `ip_rcv` drops these as well.
#[test]
fn headers_that_are_wrong_go_no_further() {
    let good = [with_ttl(false, 64), with_ttl(true, 64)];
    let mut checksum = good[0].clone();
    checksum[25] ^= 1;
    let mut long = good[0].clone();
    let length = u16::try_from(long.len() - 14 + 1).unwrap();
    long[16..18].copy_from_slice(&length.to_be_bytes());
    fix(&mut long);
    let mut short = good[0].clone();
    short[16..18].copy_from_slice(&[0, 19]);
    fix(&mut short);
    let mut long_v6 = good[1].clone();
    long_v6[19] += 1;
    let mut fabric = Chain::plain(1, MS).fabric();
    for frame in [&checksum, &long, &short, &long_v6, &good[0][..33].to_vec()] {
        assert_eq!(ask(&mut fabric, frame), []);
    }
    assert_eq!(fabric.router_counters().next(), Some(&RouterCounters { malformed: 5, ..RouterCounters::default() }));
    // Behind a packet, a frame may be padded.
    for mut frame in good {
        frame.extend([0; 20]);
        assert_eq!(ask(&mut fabric, &frame).len(), 1);
    }
}

/// The address is the router's, and the packet is for somebody whom a source route names.
#[test]
fn a_source_route_is_not_the_end() {
    let with_options = |options: [u8; 8]| {
        let plain = echo(Ipv4Addr::new(10, 0, 0, 2));
        let mut frame = [&plain[..34], &options, &plain[34..50]].concat();
        frame[14] = 0x47;
        frame[16..18].copy_from_slice(&44_u16.to_be_bytes());
        frame[24..26].fill(0);
        let sum = !ones_complement(&frame[14..42]);
        frame[24..26].copy_from_slice(&sum.to_be_bytes());
        frame
    };
    let asked = |options| ask(&mut Chain::plain(1, MS).fabric(), &with_options(options)).len();
    for kind in [131, 137] {
        assert_eq!(asked([1, kind, 7, 4, 192, 0, 2, 1]), 0, "it leads on");
        assert_eq!(asked([1, kind, 7, 8, 192, 0, 2, 1]), 1, "it is at its end");
    }
    assert_eq!(asked([7, 7, 4, 0, 0, 0, 0, 0]), 1, "a route that is recorded leads nowhere");
}
