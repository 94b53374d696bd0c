//! Which packets faults choose.

use super::*;
use crate::{Filter, Ports};
use alloc::{vec, vec::Vec};
use netloom_units::{Bytes, Duration};

const ACK: u8 = 0x10;
const SYN: u8 = 0x02;
const FIN: u8 = 0x01;
const RST: u8 = 0x04;

/// A segment of TCP from 10.0.0.1 and this port to port 80 of 10.0.0.2.
fn segment(port: u16, flags: u8, sequence: u32, payload: usize) -> Packet {
    let mut bytes = vec![2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, 0];
    let total = u16::try_from(40 + payload).unwrap().to_be_bytes();
    bytes.extend_from_slice(&[0x45, 2, total[0], total[1], 0, 7, 0x40, 0, 61, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
    bytes.extend_from_slice(&port.to_be_bytes());
    bytes.extend_from_slice(&[0, 80]);
    bytes.extend_from_slice(&sequence.to_be_bytes());
    bytes.extend_from_slice(&[0, 0, 0, 9, 0x50, flags, 1, 0, 0, 0, 0, 0]);
    bytes.resize(bytes.len() + payload, 0);
    Packet::from_bytes(bytes.into_boxed_slice())
}

fn data(port: u16) -> Packet {
    segment(port, ACK, 1, 100)
}

fn fault() -> PacketFault {
    PacketFault {
        id: 7,
        filter: Filter::default(),
        kinds: Vec::new(),
        question: None,
        longer: None,
        after: After::Nothing,
        is_by_flow: false,
        nth: 1,
        count: Some(1),
        probability: Probability::ONE,
        lasts: None,
        action: FaultAction::Drop,
    }
}

fn at(ms: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(ms)
}

fn gate(faults: &[PacketFault]) -> FaultGate {
    let mut gate = FaultGate::new(FaultGround { answers: true, tracks: true }, Seed::new(1));
    assert!(gate.begin(at(0), faults).is_empty());
    gate
}

/// Which of these packets are treated.
fn treated(fault: PacketFault, packets: impl IntoIterator<Item = Packet>) -> Vec<usize> {
    let mut gate = gate(&[fault]);
    let judged = packets.into_iter().map(|packet| gate.judge(at(1), &packet).is_some()).collect::<Vec<_>>();
    (0..judged.len()).filter(|place| judged[*place]).collect()
}

#[test]
fn packets_are_counted_together_or_by_flow() {
    let ports = || [1, 2, 1, 2, 2, 1, 1].map(data);
    assert_eq!(treated(PacketFault { nth: 3, ..fault() }, ports()), [2]);
    assert_eq!(treated(PacketFault { nth: 3, count: Some(2), ..fault() }, ports()), [2, 3]);
    assert_eq!(treated(PacketFault { nth: 3, count: None, ..fault() }, ports()), [2, 3, 4, 5, 6]);
    // The third of port 1 is the sixth of all, and the third of port 2 the fifth.
    assert_eq!(treated(PacketFault { nth: 3, is_by_flow: true, ..fault() }, ports()), [4, 5]);
    let of_two = Filter { from_port: Some(vec![Ports::one(2)]), ..Filter::default() };
    assert_eq!(treated(PacketFault { nth: 2, filter: of_two, ..fault() }, ports()), [3]);
}

#[test]
fn sizes_and_kinds_choose() {
    let packets = || {
        [(SYN, 0), (ACK, 0), (ACK, 10), (ACK, 900), (ACK | FIN, 0), (RST, 0)]
            .map(|(flags, payload)| segment(1, flags, 1, payload))
    };
    let all = PacketFault { count: None, ..fault() };
    // 940 bytes from the IP header on.
    assert_eq!(treated(PacketFault { longer: Some(Bytes::new(939)), ..all.clone() }, packets()), [3]);
    assert_eq!(treated(PacketFault { longer: Some(Bytes::new(940)), ..all.clone() }, packets()), [0; 0]);
    let kinds = [
        (TcpKind::Syn, [0].as_slice()),
        (TcpKind::Ack, &[1]),
        (TcpKind::Data, &[2, 3]),
        (TcpKind::Fin, &[4]),
        (TcpKind::Rst, &[5]),
    ];
    for (kind, chosen) in kinds {
        assert_eq!(treated(PacketFault { kinds: vec![kind], ..all.clone() }, packets()), chosen, "{kind:?}");
    }
    // Nothing resets what resets itself, and only what is capable of it can be marked (here all are).
    let reset = FaultAction::Reset(ResetEnds::Both);
    assert_eq!(treated(PacketFault { action: reset, ..all.clone() }, packets()), [0, 1, 2, 3, 4]);
    assert_eq!(treated(PacketFault { action: FaultAction::Mark, ..all.clone() }, packets()).len(), 6);
    assert_eq!(treated(PacketFault { action: FaultAction::Unmark, ..all.clone() }, packets()), [0; 0]);
    assert_eq!(treated(PacketFault { action: FaultAction::Corrupt(Some(45)), ..all }, packets()), [2, 3]);
}

#[test]
fn handshakes_are_spared() {
    let after = PacketFault { after: After::Handshake, count: None, ..fault() };
    // The client's side: SYN, once more, the ACK of the handshake, data, an ACK.
    let client = [(SYN, 0), (SYN, 0), (ACK, 0), (ACK, 10), (ACK, 0)];
    assert_eq!(treated(after.clone(), client.map(|(flags, payload)| segment(1, flags, 1, payload))), [3, 4]);
    // The server's side: SYN with ACK, and what follows; and a connection that was there before.
    let server = [(SYN | ACK, 0), (ACK, 0), (ACK, 10)];
    assert_eq!(treated(after.clone(), server.map(|(flags, payload)| segment(1, flags, 1, payload))), [1, 2]);
    assert_eq!(treated(after.clone(), [segment(1, ACK, 5, 0), segment(1, SYN, 5, 0)]), [0]);
    // A connection that is refused has no handshake; one that is reset has had one.
    assert_eq!(treated(after, [segment(1, RST | ACK, 0, 0), segment(2, RST | ACK, 5, 0)]), [1]);
}

#[test]
fn payload_is_counted_once_whatever_is_sent_again() {
    let limit =
        PacketFault { after: After::Payload(Bytes::new(300)), action: FaultAction::Reset(ResetEnds::Both), ..fault() };
    // Near the end of sequence numbers: 1 for the SYN, and 100 bytes each.
    let start = u32::MAX - 150;
    let sent = |number: u32| segment(1, ACK, start.wrapping_add(1 + 100 * number), 100);
    let packets = [segment(1, SYN, start, 0), sent(0), sent(1), sent(1), sent(0), sent(2), sent(3), sent(4)];
    assert_eq!(treated(limit.clone(), packets), [6]);
    // Without its beginning, from the first segment on.
    assert_eq!(treated(limit, [sent(3), sent(4), sent(5), sent(6)]), [3]);
}

#[test]
fn a_fault_ends_with_its_time_and_chance_is_of_the_seed() {
    let mut timed = gate(&[PacketFault { count: None, lasts: Some(Duration::from_millis(5)), ..fault() }]);
    assert!(timed.judge(at(4), &data(1)).is_some());
    assert!(timed.judge(at(5), &data(1)).is_none());
    let half = Probability::from_parts_per_trillion(500_000_000_000).unwrap();
    let chance = || PacketFault { count: None, probability: half, ..fault() };
    let first = treated(chance(), (0..1_000).map(|_| data(1)));
    // Of a thousand, 500 with a deviation of 16.
    assert!((420..580).contains(&first.len()), "{}", first.len());
    assert_eq!(first, treated(chance(), (0..1_000).map(|_| data(1))));
    // Two that choose one packet: both count it, and the first treats it.
    let mut both = gate(&[
        PacketFault { nth: 2, ..fault() },
        PacketFault { id: 8, ..fault() },
        PacketFault { id: 9, nth: 2, ..fault() },
    ]);
    let ids: Vec<_> = (0..3).map(|_| both.judge(at(1), &data(1)).map(|verdict| verdict.fault)).collect();
    assert_eq!(ids, [Some(8), Some(7), None]);
}

#[test]
fn connections_end_with_the_number_that_comes_next() {
    let mut gate = gate(&[]);
    for (flags, sequence, payload) in [(SYN, 99, 0), (ACK, 100, 50), (ACK, 200, 10), (ACK, 150, 50)] {
        assert!(gate.judge(at(1), &segment(1, flags, sequence, payload)).is_none());
    }
    assert!(gate.judge(at(1), &segment(2, ACK | FIN, 5, 0)).is_none());
    assert!(gate.judge(at(1), &segment(3, ACK, 5, 0)).is_none() && gate.judge(at(1), &segment(3, RST, 5, 0)).is_none());
    let end = || PacketFault { action: FaultAction::EndConnections, ..fault() };
    let ended = gate.begin(at(2), &[end()]);
    let told: Vec<_> =
        ended.iter().map(|one| (one.flow.source_port, one.reset.as_ref().and_then(Packet::sequence))).collect();
    assert_eq!(told, [(1, Some(210)), (2, None)]);
    assert!(gate.begin(at(3), &[end()]).is_empty());
    // What comes back, as this pipe sees it: the other way round, so that it dooms what is sent here.
    let back = Ended { flow: ended[0].flow.reversed(), ..ended[0].clone() };
    gate.doom(&back);
    let verdict = gate.judge(at(4), &segment(1, ACK, 210, 5)).unwrap();
    assert_eq!(verdict.action, FaultAction::Reset(ResetEnds::Sender));
    // A new connection with the same ports is another one.
    assert!(gate.judge(at(5), &segment(1, SYN, 1, 0)).is_none());
    assert!(gate.judge(at(5), &segment(1, ACK, 2, 5)).is_none());
}

#[test]
fn shares_are_of_connections_in_both_directions() {
    let third = Probability::from_parts_per_trillion(300_000_000_000).unwrap();
    let share = |probability, seed| Filter {
        share: Some(crate::Share { probability, seed: Seed::new(seed) }),
        ..Filter::default()
    };
    let own = share(third, 1);
    let flows: Vec<Flow> = (0..10_000).map(|port| data(port).flow().unwrap()).collect();
    let of = |filter: &Filter| flows.iter().filter(|flow| filter.matches(Some(flow))).count();
    // 3,000 with a deviation of 46.
    assert!((2_800..3_200).contains(&of(&own)), "{}", of(&own));
    assert!(flows.iter().all(|flow| own.matches(Some(flow)) == own.matches(Some(&flow.reversed()))));
    let larger = share(Probability::from_parts_per_trillion(600_000_000_000).unwrap(), 1);
    assert!(flows.iter().all(|flow| !own.matches(Some(flow)) || larger.matches(Some(flow))));
    assert!(larger.covers(&own) && !own.covers(&larger) && !share(Probability::ONE, 2).covers(&own));
    assert!(flows.iter().any(|flow| own.matches(Some(flow)) != share(third, 2).matches(Some(flow))));
}
