//! Two ends of a tunnel that speak over the loopback interface.

use super::message::Message;
use super::*;
use std::time::{Duration as RealDuration, Instant as RealInstant};

const SETTINGS: TunnelSettings = TunnelSettings { vni: 7, mtu: 1_500 };

fn sockets() -> [UdpSocket; 2] {
    let [one, two] = [(); 2].map(|()| UdpSocket::bind("127.0.0.1:0").unwrap());
    one.connect(two.local_addr().unwrap()).unwrap();
    two.connect(one.local_addr().unwrap()).unwrap();
    [one, two]
}

fn ends(others: TunnelSettings) -> [TunnelEnd; 2] {
    let [one, two] = sockets();
    [TunnelEnd::new(one, SETTINGS).unwrap(), TunnelEnd::new(two, others).unwrap()]
}

/// Both greet until that has come to something.
fn greeted(ends: &mut [TunnelEnd; 2]) -> [Result<bool, Refusal>; 2] {
    let begun = RealInstant::now();
    let mut states = [Ok(false), Ok(false)];
    while states.contains(&Ok(false)) {
        assert!(begun.elapsed() < RealDuration::from_secs(30), "{states:?}");
        for (end, state) in ends.iter_mut().zip(&mut states).filter(|(_, state)| state.is_ok()) {
            *state = end.greet();
        }
    }
    states
}

/// What has come at an end.
fn come(end: &mut TunnelEnd) -> Vec<(u64, Vec<u8>)> {
    let TunnelEnd { far, inbox } = end;
    let mut got = Vec::new();
    while inbox.fill(&mut far.socket) > 0 {
        for (bytes, at) in inbox.datagrams() {
            got.extend(far.take(bytes, at).unwrap().map(|frame| (frame.due, frame.bytes.to_vec())));
        }
    }
    got
}

#[test]
fn both_ends_come_to_know_one_another_and_frames_bear_their_instant() {
    let mut ends = ends(SETTINGS);
    assert_eq!(greeted(&mut ends), [Ok(true), Ok(true)]);
    ends.iter_mut().for_each(|end| end.far.takes_frames = true);
    assert!(ends[0].far.path.is_common());
    let due = ends[0].far.socket.now() + 5_000_000;
    for number in 0..3_u8 {
        ends[0].far.send(due + u64::from(number), |out| out.extend_from_slice(&[number; 60]));
    }
    ends[0].far.socket.flush();
    let mut got = Vec::new();
    while got.len() < 3 {
        got.extend(come(&mut ends[1]));
    }
    // On one machine both read the same clock, and the instant is exact.
    assert_eq!(got, [0, 1, 2].map(|number: u8| (due + u64::from(number), vec![number; 60])));
    assert_eq!((ends[1].far.numbers.come(), ends[1].far.numbers.repeated()), (3, 0));
}

#[test]
fn each_end_says_what_does_not_fit() {
    let told = greeted(&mut ends(TunnelSettings { vni: 8, ..SETTINGS }));
    assert_eq!(told, [Err(Refusal::Vni { own: 7, other: 8 }), Err(Refusal::Vni { own: 8, other: 7 })]);
    let of_mtu = greeted(&mut ends(TunnelSettings { mtu: 1_400, ..SETTINGS }));
    assert_eq!(
        of_mtu,
        [Err(Refusal::Mtu { own: 1_500, other: 1_400 }), Err(Refusal::Mtu { own: 1_400, other: 1_500 })]
    );
}

#[test]
fn another_version_and_an_echo_of_oneself_are_refused() {
    let [one, far] = sockets();
    let mut end = TunnelEnd::new(one, SETTINGS).unwrap();
    end.greet().unwrap();
    let mut hello = [0; 2_000];
    let len = far.recv(&mut hello).unwrap();
    far.send(&hello[..len]).unwrap();
    assert_eq!(end.greet(), Err(Refusal::Ourselves));
    hello[4] = 9;
    far.send(&hello[..len]).unwrap();
    assert_eq!(end.greet(), Err(Refusal::Version { own: 1, other: 9 }));
}

#[test]
fn whoever_lacks_the_token_changes_nothing() {
    let mut ends = ends(SETTINGS);
    assert_eq!(greeted(&mut ends), [Ok(true), Ok(true)]);
    let far = &mut ends[1].far;
    far.takes_frames = true;
    let all = [
        Message::Frame { number: 0, due: 0, sent: 0, bytes: &[0; 60] },
        Message::Probe { number: 1, sent: 0, frames: u64::MAX },
        Message::Echo { number: 0, asked: 0, came: 0, sent: 0 },
        Message::Bye { frames: 9 },
    ];
    let now = far.socket.now();
    for message in all {
        let mut bytes = Vec::new();
        message.write(12_345, &mut bytes);
        assert!(far.take(&bytes, now).unwrap().is_none());
    }
    // Nor does another life of the far end, while the one that is known is there.
    let mut bytes = Vec::new();
    let greeting = message::Greeting { session: 99, clock: 1, vni: 7, mtu: 1_500, mode: 0 };
    Message::Hello { greeting, len: 0, knows: true }.write(0, &mut bytes);
    assert!(far.take(&bytes, now).unwrap().is_none());
    assert_eq!((far.heard_of.strays, far.has_left(), far.lost(u64::MAX)), (5, false, 0));
    assert!(far.is_heard() && far.path.is_known() && !far.was_ready());
}

#[test]
fn the_other_life_of_a_far_end_that_fell_silent_is_welcome() {
    let mut ends = ends(SETTINGS);
    assert_eq!(greeted(&mut ends), [Ok(true), Ok(true)]);
    let far = &mut ends[1].far;
    let later = far.socket.now() + far_end::SILENT_AFTER + 1;
    let mut bytes = Vec::new();
    let greeting = message::Greeting { session: 99, clock: 1, vni: 7, mtu: 1_500, mode: 0 };
    Message::Hello { greeting, len: 0, knows: false }.write(0, &mut bytes);
    assert!(far.take(&bytes, later).unwrap().is_none());
    assert!(far.is_heard() && !far.path.is_known() && !far.is_joined());
}

#[test]
fn packets_on_the_path_are_longer_by_what_is_said() {
    assert_eq!((tunnel_packet(1_414, false), tunnel_packet(1_394, true)), (1_500, 1_500));
}
