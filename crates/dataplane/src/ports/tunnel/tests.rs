//! Two ends of a tunnel that speak over the loopback interface.

use super::message::Message;
use super::*;
use netloom_packet::Segmentation;
use std::net::UdpSocket;
use std::time::{Duration as RealDuration, Instant as RealInstant};

const SETTINGS: TunnelSettings = TunnelSettings { vni: 7, mtu: 1_500, key: None };
const KEYED: TunnelSettings = TunnelSettings { key: Some(TunnelKey::new([5; TunnelKey::LEN])), ..SETTINGS };

fn sockets() -> [UdpSocket; 2] {
    let [one, two] = [(); 2].map(|()| UdpSocket::bind("127.0.0.1:0").unwrap());
    one.connect(two.local_addr().unwrap()).unwrap();
    two.connect(one.local_addr().unwrap()).unwrap();
    [one, two]
}

fn ends(others: TunnelSettings) -> [TunnelEnd; 2] {
    let [one, two] = sockets();
    [TunnelEnd::new(one, &[SETTINGS]).unwrap(), TunnelEnd::new(two, &[others]).unwrap()]
}

/// Both greet until that has come to something.
fn greeted(ends: &mut [TunnelEnd; 2]) -> [Result<bool, Refusal>; 2] {
    let begun = RealInstant::now();
    let mut states = [Ok(false), Ok(false)];
    while states.contains(&Ok(false)) {
        assert!(begun.elapsed() < RealDuration::from_secs(30), "{states:?}");
        for (end, state) in ends.iter_mut().zip(&mut states).filter(|(_, state)| state.is_ok()) {
            *state = end.greet().map(|missing| missing.is_none()).map_err(|(_, why)| why);
        }
    }
    states
}

/// What has come at an end.
fn come(end: &mut TunnelEnd) -> Vec<(u64, Vec<u8>)> {
    let TunnelEnd { far, inbox, .. } = end;
    let mut got = Vec::new();
    loop {
        let count = inbox.fill(&mut far.socket);
        if count == 0 {
            return got;
        }
        for place in 0..count {
            let (bytes, at) = inbox.datagram(place);
            got.extend(far.take(bytes, at).unwrap().map(|frame| (frame.due, frame.bytes.to_vec())));
        }
    }
}

#[test]
fn both_ends_come_to_know_one_another_and_frames_bear_their_instant() {
    let mut ends = ends(SETTINGS);
    assert_eq!(greeted(&mut ends), [Ok(true), Ok(true)]);
    ends.iter_mut().for_each(|end| end.far.takes_frames = true);
    assert!(ends[0].far.path.is_common());
    let due = ends[0].far.socket.now() + 5_000_000;
    for number in 0..3_u8 {
        assert!(ends[0].far.send(due + u64::from(number), Content::Packet, &mut vec![number; 60]));
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
    let mut end = TunnelEnd::new(one, &[SETTINGS]).unwrap();
    end.greet().unwrap();
    let mut hello = [0; 2_000];
    let len = far.recv(&mut hello).unwrap();
    far.send(&hello[..len]).unwrap();
    assert_eq!(end.greet(), Err((0, Refusal::Ourselves)));
    hello[4] = 9;
    far.send(&hello[..len]).unwrap();
    assert_eq!(end.greet(), Err((0, Refusal::Version { own: message::VERSION, other: 9 })));
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
        Message::Echo { number: 0, asked: 0, came: 0, sent: 0, day: None },
        Message::Bye { frames: 9 },
    ];
    let now = far.socket.now();
    for message in all {
        let mut bytes = Vec::new();
        message.write(12_345, &mut bytes);
        assert!(far.take(&mut bytes, now).unwrap().is_none());
    }
    // Nor does another life of the far end, while the one that is known is there.
    let mut bytes = Vec::new();
    let greeting = stranger();
    Message::Hello { greeting, len: 0, knows: true }.write(0, &mut bytes);
    assert!(far.take(&mut bytes, now).unwrap().is_none());
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
    let greeting = stranger();
    Message::Hello { greeting, len: 0, knows: false }.write(0, &mut bytes);
    assert!(far.take(&mut bytes, later).unwrap().is_none());
    assert!(far.is_heard() && !far.path.is_known() && !far.is_joined());
}

/// The greeting of another life.
fn stranger() -> message::Greeting {
    let salt = [0; message::SALT];
    message::Greeting { session: 99, clock: 1, vni: 7, mtu: 1_500, mode: message::PLAIN, longest: 1_558, salt }
}

/// Two ends that are joined and take frames.
fn joined(settings: TunnelSettings) -> [TunnelEnd; 2] {
    let [one, two] = sockets();
    let mut ends = [one, two].map(|socket| TunnelEnd::new(socket, &[settings]).unwrap());
    assert_eq!(greeted(&mut ends), [Ok(true), Ok(true)]);
    ends.iter_mut().for_each(|end| end.far.takes_frames = true);
    ends
}

#[test]
fn frames_that_do_not_fit_into_a_datagram_arrive_whole() {
    for settings in [SETTINGS, KEYED] {
        let mut ends = joined(settings);
        ends[0].far.room.found = 576;
        assert_eq!(ends[0].datagram(0), 548);
        let due = ends[0].far.socket.now() + 5_000_000;
        let frames: Vec<Vec<u8>> =
            [60, 400, 1_514, 1_518, 700].map(|len: usize| (0..len).map(|at| at as u8).collect()).into();
        for (frame, number) in frames.iter().zip(0..) {
            assert!(ends[0].far.send(due + number, Content::Packet, &mut frame.to_vec()));
        }
        ends[0].far.socket.flush();
        let mut got = Vec::new();
        while got.len() < frames.len() {
            got.extend(come(&mut ends[1]));
        }
        assert_eq!(got, frames.into_iter().zip(0..).map(|(frame, number)| (due + number, frame)).collect::<Vec<_>>());
        let far = &mut ends[1].far;
        let counts = pieces::Counts { joined: 3, ..pieces::Counts::default() };
        assert_eq!((far.joining.counts, far.numbers.come(), far.lost(u64::MAX)), (counts, 5, 0));
        assert_eq!((ends[0].far.heard_of.cut, ends[0].far.heard_of.sent), (3, 5));
    }
}

#[test]
fn a_piece_that_never_comes_is_a_lost_frame() {
    let mut ends = joined(SETTINGS);
    // What this end must be told, the far end knows.
    let own = ends[1].far.token();
    let far = &mut ends[0].far;
    let frame = [7; 1_000];
    let due = far.socket.now();
    let pieces: Vec<_> = pieces::cut(&frame, Content::Packet, 600).unwrap().collect();
    let write = |piece| {
        let mut bytes = Vec::new();
        Message::Piece { number: 0, due, sent: due, piece }.write(own, &mut bytes);
        bytes
    };
    assert!(far.take(&mut write(pieces[0]), due).unwrap().is_none());
    assert!(far.take(&mut write(pieces[0]), due).unwrap().is_none());
    let mut probe = Vec::new();
    Message::Probe { number: 0, sent: due, frames: 1 }.write(own, &mut probe);
    assert!(far.take(&mut probe, due).unwrap().is_none());
    assert_eq!(far.lost(due + 2 * pieces::WAITS), 1);
    let counts = pieces::Counts { given_up: 1, repeated: 1, ..pieces::Counts::default() };
    assert_eq!(far.joining.counts, counts);
}

#[test]
fn keys_that_differ_are_told_at_both_ends() {
    let other = TunnelSettings { key: Some(TunnelKey::new([6; TunnelKey::LEN])), ..SETTINGS };
    let told = |one: TunnelSettings, two: TunnelSettings| {
        let [first, second] = sockets();
        let mut ends = [TunnelEnd::new(first, &[one]).unwrap(), TunnelEnd::new(second, &[two]).unwrap()];
        let told = greeted(&mut ends);
        (told, ends.map(|end| end.far.heard_of.forged > 0))
    };
    assert_eq!(told(KEYED, other), ([Err(Refusal::OtherKey), Err(Refusal::OtherKey)], [true, true]));
    assert_eq!(told(KEYED, SETTINGS), ([Err(Refusal::KeyHere), Err(Refusal::KeyThere)], [true, false]));
    assert_eq!(told(KEYED, KEYED), ([Ok(true), Ok(true)], [false, false]));
}

#[test]
fn nothing_that_was_recorded_or_made_without_the_key_counts() {
    let mut ends = joined(KEYED);
    let sniffed = {
        let far = &mut ends[0].far;
        let due = far.socket.now();
        assert!(far.send(due, Content::Packet, &mut vec![1; 60]) && far.send(due, Content::Packet, &mut vec![2; 60]));
        far.socket.flush();
        let TunnelEnd { far: there, inbox, .. } = &mut ends[1];
        let mut all = Vec::new();
        while all.len() < 2 {
            for place in 0..inbox.fill(&mut there.socket) {
                let (bytes, came) = inbox.datagram(place);
                if bytes[5] == 2 {
                    all.push((bytes.to_vec(), came));
                }
            }
        }
        all
    };
    let token = ends[0].far.token();
    let far = &mut ends[1].far;
    let mut taken = 0;
    for (bytes, came) in sniffed.iter().chain(&sniffed) {
        taken += usize::from(far.take(&mut bytes.clone(), *came).unwrap().is_some());
    }
    assert_eq!((taken, far.heard_of.replayed), (2, 2));
    // Whoever knows the token has no key.
    let mut bytes = Vec::new();
    Message::Bye { frames: 9 }.write(token, &mut bytes);
    bytes.resize(100, 0);
    assert!(far.take(&mut bytes, sniffed[0].1).unwrap().is_none());
    let mut hello = Vec::new();
    Message::Hello { greeting: stranger(), len: 0, knows: false }.write(token, &mut hello);
    let later = far.socket.now() + far_end::SILENT_AFTER + 1;
    assert!(far.take(&mut hello, later).unwrap().is_none());
    assert_eq!((far.heard_of.forged, far.has_left(), far.is_silent(later)), (2, false, true));
}

#[test]
fn frames_that_the_path_loses_are_sent_again() {
    for settings in [SETTINGS, KEYED] {
        let mut ends = joined(settings);
        // The longer ones go in pieces.
        ends[0].far.room.found = 576;
        let due = ends[0].far.socket.now() + 5_000_000;
        let frames: Vec<(u64, Vec<u8>)> = (0..20_u8)
            .map(|number| (due + u64::from(number), vec![number; 60 + usize::from(number % 3) * 500]))
            .collect();
        for (instant, frame) in &frames {
            assert!(ends[0].far.send(*instant, Content::Packet, &mut frame.to_vec()));
        }
        ends[0].far.socket.flush();
        let mut got = Vec::new();
        let mut datagrams = 0;
        // Each third datagram is lost, and the last one.
        let sent = frames.iter().map(|(_, frame)| frame.len().div_ceil(500).max(1)).sum::<usize>();
        while datagrams < sent {
            let TunnelEnd { far, inbox, .. } = &mut ends[1];
            for place in 0..inbox.fill(&mut far.socket) {
                let (bytes, came) = inbox.datagram(place);
                let is_frame = [2, 6].contains(&bytes[5]);
                datagrams += usize::from(is_frame);
                if !is_frame || (datagrams % 3 > 0 && datagrams < sent) {
                    got.extend(far.take(bytes, came).unwrap().map(|frame| (frame.due, frame.bytes.to_vec())));
                }
            }
        }
        assert!(got.len() < frames.len());
        let begun = RealInstant::now();
        while got.len() < frames.len() {
            assert!(begun.elapsed() < RealDuration::from_secs(30), "{} came", got.len());
            for place in [1, 0] {
                let far = &mut ends[place].far;
                far.speak(far.socket.now());
                got.extend(come(&mut ends[1 - place]));
            }
        }
        got.sort();
        assert_eq!(got, frames);
        let [one, two] = &mut ends;
        assert_eq!((two.far.numbers.come(), two.far.lost(u64::MAX)), (20, 0));
        assert!(two.far.missing.repaired >= 7 && one.far.kept.resent >= two.far.missing.repaired);
    }
}

/// Three tunnels by one socket, of which one has no key.
fn several() -> [TunnelSettings; 3] {
    [SETTINGS, TunnelSettings { vni: 8, mtu: 9_000, ..KEYED }, TunnelSettings { vni: 9, ..KEYED }]
}

#[test]
fn tunnels_share_a_socket_and_each_has_its_own_frames() {
    let [one, two] = sockets();
    // Their order is nobody's business.
    let mut turned = several();
    turned.reverse();
    let mut ends = [TunnelEnd::new(one, &several()).unwrap(), TunnelEnd::new(two, &turned).unwrap()];
    assert_eq!(greeted(&mut ends), [Ok(true), Ok(true)]);
    let [near, far] = &mut ends;
    [&mut far.far].into_iter().chain(&mut far.others).for_each(|own| own.takes_frames = true);
    let due = near.far.socket.now() + 5_000_000;
    for (own, number) in [&mut near.far].into_iter().chain(&mut near.others).zip(7_u8..) {
        assert!(own.send(due, Content::Packet, &mut vec![number; 60]));
        own.socket.flush();
    }
    let mut got = Vec::new();
    while got.len() < 3 {
        for place in 0..far.inbox.fill(&mut far.far.socket) {
            let (bytes, came) = far.inbox.datagram(place);
            let to = far.addressees.of_datagram(bytes).expect("all are for one of them");
            let own = to.checked_sub(1).map_or(&mut far.far, |other| &mut far.others[other]);
            let vni = own.settings.vni;
            got.extend(own.take(bytes, came).unwrap().map(|frame| (vni, frame.due, frame.bytes.to_vec())));
        }
    }
    got.sort();
    assert_eq!(got, [7, 8, 9].map(|number: u8| (u32::from(number), due, vec![number; 60])));
    // With a key, an end may ask before the other one knows it, and such a question is a stray.
    assert!([&far.far].into_iter().chain(&far.others).all(|own| own.heard_of.forged == 0));
}

#[test]
fn a_tunnel_of_a_socket_that_does_not_fit_is_named() {
    let told = |change: fn(&mut [TunnelSettings; 3])| {
        let [one, two] = sockets();
        let mut others = several();
        change(&mut others);
        let mut ends = [TunnelEnd::new(one, &several()).unwrap(), TunnelEnd::new(two, &others).unwrap()];
        let begun = RealInstant::now();
        loop {
            assert!(begun.elapsed() < RealDuration::from_secs(30));
            let told = [0, 1].map(|end: usize| ends[end].greet());
            if let Some(why) = told.into_iter().find_map(Result::err) {
                return why;
            }
        }
    };
    assert_eq!(told(|all| all[1].mtu = 1_400).0, 1);
    assert_eq!(told(|all| all[2].key = None).0, 2);
    // What no tunnel has, one tells that nobody has greeted.
    assert!(matches!(told(|all| all[1].vni = 99).1, Refusal::Vni { .. }));
}

/// A super-packet of TCP over IPv4: three segments of `size` bytes of payload, and what says so.
fn super_packet(size: u16) -> (VirtioHeader, Vec<u8>) {
    let payload = 3 * usize::from(size);
    let mut bytes = vec![0; 54 + payload];
    bytes[12] = 8;
    bytes[14] = 0x45;
    bytes[16..18].copy_from_slice(&u16::try_from(40 + payload).unwrap().to_be_bytes());
    (bytes[22], bytes[23]) = (64, 6);
    bytes[46] = 0x50;
    bytes[54..].iter_mut().zip(0..).for_each(|(byte, at)| *byte = at as u8);
    let segmentation = Segmentation::Tcp4;
    (VirtioHeader { checksum: Some((34, 16)), segmentation, ecn: false, segment_size: size, header_len: 54 }, bytes)
}

#[test]
fn a_train_arrives_as_a_train() {
    for settings in [SETTINGS, KEYED] {
        let mut ends = joined(settings);
        let (virtio, bytes) = super_packet(1_448);
        let frame = [&virtio.bytes()[..], &bytes].concat();
        let due = ends[0].far.socket.now() + 5_000_000;
        assert!(ends[0].far.send(due, Content::Train, &mut frame.clone()));
        ends[0].far.socket.flush();
        let mut got = Vec::new();
        while got.is_empty() {
            got = come(&mut ends[1]);
        }
        assert_eq!(got, [(due, frame.clone())]);
        let mut pool = Pool::default();
        let packet = packet_of(Content::Train, &got[0].1, 1_500, &mut pool).unwrap();
        assert_eq!((packet.segments(), packet.bytes()), (3, &bytes[..]));
        // What was lost has to be sent again lately: then packets go one by one.
        assert!(!ends[0].far.loses());
        ends[0].far.send_again(0, 1);
        assert!(ends[0].far.loses());
    }
}

#[test]
fn a_train_that_cannot_be_cut_or_is_too_long_is_none() {
    let mut pool = Pool::default();
    let mut taken = |virtio: VirtioHeader, bytes: &[u8], mtu| {
        let frame = [&virtio.bytes()[..], bytes].concat();
        packet_of(Content::Train, &frame, mtu, &mut pool).is_some()
    };
    let (good, bytes) = super_packet(1_448);
    assert!(taken(good, &bytes, 1_488));
    assert!(!taken(good, &bytes, 1_487), "segments longer than the link takes");
    let other = |code| VirtioHeader { segmentation: Segmentation::Other(code), ..good };
    for bad in [
        VirtioHeader { segmentation: Segmentation::None, ..good },
        VirtioHeader { segmentation: Segmentation::Tcp6, ..good },
        VirtioHeader { checksum: None, ..good },
        VirtioHeader { checksum: Some((9_000, 16)), ..good },
        VirtioHeader { segment_size: 0, ..good },
        VirtioHeader { segment_size: u16::MAX, ..good },
        other(3),
    ] {
        assert!(!taken(bad, &bytes, 1_500), "{bad:?}");
    }
    for len in 0..60 {
        assert!(!taken(good, &bytes[..len], 1_500), "{len} bytes");
    }
}
