//! Faults of DNS: queries are answered in the place of a server, and responses say something else.

use crate::faults::{at, begin, fault, two};
use crate::network::all;
use crate::switches::{MS, SEED};
use netloom_fabric::{Fabric, PortId};
use netloom_link::{DnsCode, DnsFault, FaultAction, PacketFault};
use netloom_packet::{DnsMessage, Packet};

/// RFC 1071: all 16-bit words with the checksum add up to ones.
fn adds_up(words: &[u8]) -> bool {
    let sum: u64 = words.chunks(2).map(|pair| u64::from(pair[0]) << 8 | u64::from(*pair.get(1).unwrap_or(&0))).sum();
    let mut folded = sum;
    while folded > 0xffff {
        folded = (folded & 0xffff) + (folded >> 16);
    }
    folded == 0xffff
}

/// A message with this header and a question about `WWW.lab`, type A.
fn message(id: u16, flags: [u8; 2], answers: &[[u8; 4]]) -> Vec<u8> {
    let mut bytes = id.to_be_bytes().to_vec();
    bytes.extend_from_slice(&flags);
    bytes.extend_from_slice(&[0, 1, 0, u8::try_from(answers.len()).unwrap(), 0, 0, 0, 0]);
    bytes.extend_from_slice(b"\x03WWW\x03lab\x00\x00\x01\x00\x01");
    for address in answers {
        bytes.extend_from_slice(&[0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4]);
        bytes.extend_from_slice(address);
    }
    bytes
}

/// A datagram between hosts whose addresses end with their numbers, over IPv6 or IPv4.
fn datagram([from, to]: [u8; 2], ports: [u16; 2], is_v6: bool, payload: &[u8]) -> Packet {
    let mut bytes = vec![2, 0, 0, 0, 0, to, 2, 0, 0, 0, 0, from];
    let length = u16::try_from(8 + payload.len()).unwrap();
    if is_v6 {
        bytes.extend_from_slice(&[0x86, 0xdd, 0x60, 0, 0, 0]);
        bytes.extend_from_slice(&length.to_be_bytes());
        bytes.extend_from_slice(&[17, 61]);
        for host in [from, to] {
            bytes.extend_from_slice(&[0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, host]);
        }
    } else {
        let total = (20 + length).to_be_bytes();
        bytes.extend_from_slice(&[8, 0, 0x45, 0, total[0], total[1], 0, 7, 0x40, 0, 61, 17, 0, 0]);
        bytes.extend_from_slice(&[10, 0, 0, from, 10, 0, 0, to]);
    }
    for word in [ports[0], ports[1], length, 0] {
        bytes.extend_from_slice(&word.to_be_bytes());
    }
    bytes.extend_from_slice(payload);
    Packet::from_bytes(bytes.into_boxed_slice())
}

/// Returns the payload above UDP of a packet whose checksums are right.
fn payload(packet: &Packet) -> Vec<u8> {
    let bytes = packet.bytes();
    let (header, addresses) = if bytes[12] == 8 { (20, 26..34) } else { (40, 22..54) };
    let udp = &bytes[14 + header..];
    let pseudo = [&bytes[addresses], &[0, 17], &udp[4..6], udp].concat();
    assert!(adds_up(&pseudo), "{packet:?}");
    assert!(header == 40 || adds_up(&bytes[14..34]), "{packet:?}");
    udp[8..].to_vec()
}

fn dns(kind: DnsFault) -> PacketFault {
    PacketFault { count: None, ..fault(FaultAction::Dns(kind)) }
}

#[test]
fn a_query_gets_the_code_in_the_place_of_an_answer() {
    for is_v6 in [false, true] {
        let mut fabric = Fabric::new(SEED, &two());
        begin(&mut fabric, at(0), 0, dns(DnsFault::Answer(DnsCode::NoName)));
        let query = message(77, [1, 0], &[]);
        fabric.inject(at(0), PortId(0), datagram([1, 2], [4000, 53], is_v6, &query)).unwrap();
        let out = all(&mut fabric);
        let [(due, PortId(0), answer)] = out.as_slice() else { panic!("{out:?}") };
        assert_eq!(*due, at(1));
        // RFC 1035, section 4.1.1: a response, recursion desired and available, code 3; the question is repeated.
        assert_eq!(payload(answer), message(77, [0x81, 0x83], &[]));
        let flow = answer.flow().unwrap();
        assert_eq!((flow.source_port, flow.destination_port), (53, 4000));
        assert!(flow.source.to_string().ends_with('2') && flow.destination.to_string().ends_with('1'), "{flow:?}");
        assert_eq!(&answer.bytes()[..12], [2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2]);
        let counters = *fabric.counters().next().unwrap();
        assert_eq!((counters.arrived.packets, counters.dropped.fault.packets), (1, 1));
    }
}

#[test]
fn what_is_no_query_or_asks_for_another_name_goes_on() {
    let about = |name: &str| PacketFault { question: Some(name.into()), ..dns(DnsFault::Answer(DnsCode::Refused)) };
    let query = message(7, [1, 0], &[]);
    let answered = |fault: PacketFault, packet: Packet| {
        let mut fabric = Fabric::new(SEED, &two());
        begin(&mut fabric, at(0), 0, fault);
        fabric.inject(at(0), PortId(0), packet).unwrap();
        all(&mut fabric)[0].1 == PortId(0)
    };
    let asks = |ports, payload: &[u8]| datagram([1, 2], ports, false, payload);
    for name in ["www.lab", "lab", "Lab."] {
        assert!(answered(about(name), asks([4000, 53], &query)), "{name}");
    }
    for name in ["ww.lab", "w.www.lab", "ab"] {
        assert!(!answered(about(name), asks([4000, 53], &query)), "{name}");
    }
    let any = || dns(DnsFault::Answer(DnsCode::Refused));
    assert!(answered(any(), asks([4000, 53], &query)));
    assert!(!answered(any(), asks([4000, 54], &query)));
    assert!(!answered(any(), asks([4000, 53], &message(7, [0x81, 0x80], &[]))));
    // Each beginning of a message, and a name that never ends.
    for end in 0..query.len() {
        assert!(!answered(any(), asks([4000, 53], &query[..end])), "{end}");
    }
    assert!(!answered(any(), asks([4000, 53], &[&query[..12], &[63; 300]].concat())));
}

#[test]
fn addresses_come_in_the_opposite_order() {
    let mut fabric = Fabric::new(SEED, &two());
    begin(&mut fabric, at(0), 0, dns(DnsFault::Reverse));
    let answer = |addresses: &[[u8; 4]]| message(9, [0x81, 0x80], addresses);
    for (sent, got) in [
        (answer(&[[1; 4], [2; 4], [3; 4]]), answer(&[[3; 4], [2; 4], [1; 4]])),
        (answer(&[[1; 4]]), answer(&[[1; 4]])),
        (message(9, [1, 0], &[]), message(9, [1, 0], &[])),
    ] {
        fabric.inject(at(0), PortId(0), datagram([2, 1], [53, 4000], true, &sent)).unwrap();
        let (_, port, packet) = all(&mut fabric).remove(0);
        let is_same = sent == got;
        // What is not changed is not completed either.
        let said = if is_same { packet.bytes()[62..].to_vec() } else { payload(&packet) };
        assert_eq!((port, said), (PortId(1), got));
    }
    assert_eq!(fabric.take_firings().len(), 1);
    // A count of records that are not there.
    let mut short = answer(&[[1; 4], [2; 4]]);
    short[7] = 9;
    assert_eq!(DnsMessage::read(&short).unwrap().reversed(), None);
}

#[test]
fn an_answer_stays_as_it_was_when_the_fault_began() {
    let mut fabric = Fabric::new(SEED, &two());
    begin(&mut fabric, at(0), 0, PacketFault { lasts: Some(MS * 100), ..dns(DnsFault::Stale) });
    let mut said = |ms: u64, id: u16, addresses: &[[u8; 4]]| {
        let answer = message(id, [0x81, 0x80], addresses);
        fabric.inject(at(ms), PortId(0), datagram([2, 1], [53, 4000], false, &answer)).unwrap();
        let packet = all(&mut fabric).remove(0).2;
        (packet.bytes()[42..].to_vec(), fabric.take_firings().len())
    };
    let answer = |id: u16, addresses: &[[u8; 4]]| message(id, [0x81, 0x80], addresses);
    assert_eq!(said(0, 1, &[[1; 4]]), (answer(1, &[[1; 4]]), 0));
    assert_eq!(said(10, 2, &[[1; 4]]), (answer(2, &[[1; 4]]), 0));
    assert_eq!(said(20, 3, &[[2; 4], [3; 4]]), (answer(3, &[[1; 4]]), 1));
    assert_eq!(said(200, 4, &[[2; 4]]), (answer(4, &[[2; 4]]), 0));
}
