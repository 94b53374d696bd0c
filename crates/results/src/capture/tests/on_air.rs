//! Captures of what is on the air, read back by a reader of our own and by tcpdump.

use super::{Slate, frame, rows};
use crate::capture::pcapng::{InterfaceKind, Pcapng};
use crate::capture::{AirFrame, AirLog, FrameKind, LIVE_HOLD, Pace, begin, interfaces};
use netloom_fabric::{Fabric, PortId};
use netloom_lab::Plan;
use netloom_packet::Packet;
use netloom_units::Instant;
use std::io::{BufWriter, Cursor};
use std::process::Command;

fn lab(medium: &str, capture: &str) -> Plan {
    let text = format!(
        "nodes: {{ap: {{position: [0 m, 0 m]}}, a: {{position: [-20 m, 0 m]}}, b: {{position: [20 m, 0 m]}}}}\n\
         links: {{wifi: {{ends: [ap, a, b], medium: {{kind: wifi, channel: 36, access_point: ap, {medium}}}}}}}\n\
         capture: [{{link: wifi, headers: radiotap{capture}}}]\n"
    );
    netloom_lab::parse(&text, "air.yaml").unwrap().plan
}

/// An Ethernet frame with TCP from one node of the plan to another.
fn from_to(plan: &Plan, [from, to]: [usize; 2], port: u16, payload: usize) -> Packet {
    let mut bytes = frame(port, payload);
    let mac = |node: usize| plan.nodes[node].interfaces[0].mac;
    bytes[..6].copy_from_slice(&mac(to));
    bytes[6..12].copy_from_slice(&mac(from));
    Packet::from_bytes(bytes.into_boxed_slice())
}

/// Sends these packets, of which each says when, from where and to where; returns the capture's file.
fn captured(plan: &Plan, sent: &[(u64, [usize; 2], usize)]) -> Vec<u8> {
    let slate = Slate::default();
    let outs = vec![(BufWriter::new(slate.clone()), None)];
    let (shared, thread, mut tap) = begin(plan, &plan.capture, outs, (Pace::Virtual, LIVE_HOLD)).unwrap();
    shared.begin(Instant::ZERO);
    assert!(tap.wants_frames());
    let mut fabric: Fabric = netloom_lab::fabric::fabric_of(plan);
    fabric.record_frames(true);
    for (us, ends, payload) in sent {
        let now = Instant::from_nanos(us * 1_000);
        while let Some(wake) = fabric.next_wake().filter(|wake| *wake <= now) {
            fabric.advance(wake, |_| ());
        }
        let packet = from_to(plan, *ends, 7, *payload);
        fabric.inject(now, PortId(u32::try_from(ends[0]).unwrap()), packet).unwrap();
    }
    while let Some(wake) = fabric.next_wake() {
        fabric.advance(wake, |_| ());
        fabric.frames(|ppdu| tap.frame(ppdu));
    }
    drop(tap);
    assert!(thread.join().unwrap().iter().all(Option::is_none));
    slate.held().clone()
}

/// A record: where its header of radiotap says that it began, in microseconds; whether its checksum is bad; and what is behind the header.
struct Record {
    began_us: u64,
    is_bad: bool,
    present: u32,
    header: Vec<u8>,
    frame: Vec<u8>,
}

fn records(file: &[u8]) -> Vec<Record> {
    let record = |kept: Vec<u8>| {
        assert_eq!(kept[..2], [0, 0], "version 0");
        let length = usize::from(u16::from_le_bytes([kept[2], kept[3]]));
        let (header, frame) = kept.split_at(length);
        let present = u32::from_le_bytes(header[4..8].try_into().unwrap());
        assert_eq!(present & 0b1011, 0b1011, "TSFT, flags and channel");
        let flags = header[16];
        assert_eq!(flags & 0x10, 0x10, "the checksum is there");
        Record {
            began_us: u64::from_le_bytes(header[8..16].try_into().unwrap()),
            is_bad: flags & 0x40 != 0,
            present,
            header: header.to_vec(),
            frame: frame.to_vec(),
        }
    };
    rows(file).into_iter().map(|row| record(row.3)).collect()
}

/// What tcpdump says of a file: a line for each record.
fn tcpdump(file: &[u8]) -> Vec<String> {
    let mut path = tempfile::NamedTempFile::new().unwrap();
    std::io::Write::write_all(&mut path, file).unwrap();
    let read = Command::new("tcpdump").args(["-n", "-e", "-v", "-r"]).arg(path.path()).output();
    let read = read.expect("the tests need tcpdump");
    assert!(read.status.success(), "{}", String::from_utf8_lossy(&read.stderr));
    // The second line of a packet begins with blanks.
    let text = String::from_utf8(read.stdout).unwrap().replace("\n    ", " ");
    text.lines().map(str::to_owned).collect()
}

/// A collision of two stations, an aggregate and what is sent again are found in the file, at their times and with their senders.
#[test]
fn a_log_says_who_had_the_air() {
    let plan = lab("standard: a, rate: 54 Mbit/s", "");
    let sent = [(1_000, [1, 0], 400), (1_000, [2, 0], 400), (50_000, [0, 1], 100)];
    let file = captured(&plan, &sent);
    let (link, capture) = AirLog::captures(&plan).next().expect("one is on the air");
    let log = AirLog::read(&plan, capture, &file[..]);
    assert_eq!((link, log.is_partial, log.stations.join(" ")), ("wifi", false, "ap a b".to_owned()));
    let whole = log.span((0, 100_000_000), 10, 100);
    let frames = whole.frames.as_ref().expect("they are few");
    let data: Vec<&AirFrame> = frames.iter().filter(|frame| frame.kind == FrameKind::Data).collect();
    assert_eq!((data.len(), frames.len(), whole.found), (5, 8, 8));
    // Both are on the air at once, and neither is decoded.
    assert!(data[..2].iter().all(|frame| frame.collided && frame.bad == 1 && frame.from_ns == 1_020_000));
    assert!(data[2..].iter().all(|frame| !frame.collided && frame.bad == 0 && frame.channel_mhz == 5_180));
    assert_eq!((data[4].sender, data[4].receiver, data[4].retries), (Some(0), Some(1), 0));
    let told = |place: usize| {
        let own = &whole.stations[place];
        [own.frames, own.bad, own.collisions, own.retries]
    };
    assert_eq!([told(0), told(1), told(2)], [[1, 0, 0, 0], [2, 1, 1, 1], [2, 1, 1, 1]]);
    // Acknowledgements are sent by whom the data was for.
    let acks: Vec<_> = frames.iter().filter(|frame| frame.kind == FrameKind::Ack).map(|frame| frame.sender).collect();
    assert_eq!(acks, [Some(0), Some(0), Some(1)]);
    // The parts of the span add up to the time, but for what each is rounded up by.
    for (station, parts) in whole.stations.iter().zip(&whole.busy) {
        let sum: u64 = parts.iter().map(|share| u64::from(share[0]) * 10_000).sum();
        assert!(sum >= station.busy_ns && sum < station.busy_ns + 100_000, "{sum} of {}", station.busy_ns);
    }
    assert!(whole.busy[1][0][1] > 0 && whole.busy[0][0][1] == 0);
    // Of a part of the time there is that part, and of many frames only what they add up to.
    let late = log.span((40_000_000, 60_000_000), 1, 100);
    assert_eq!((late.found, late.stations[2].frames), (2, 0));
    assert_eq!(log.span((0, 100_000_000), 1, 7).frames, None);
    assert_eq!(log.span((5, 5), 0, 7).found, 0);
}

#[test]
fn a_log_of_a_damaged_file_has_what_is_before_the_damage() {
    let plan = lab("standard: n, rate: {mcs: 7}", "");
    let sent: Vec<_> = (0..40).map(|number| (1_000 + number, [1, 0], 1_000)).collect();
    let file = captured(&plan, &sent);
    let capture = &plan.capture[0];
    let whole = AirLog::read(&plan, capture, &file[..]);
    let frames = whole.span((0, u64::MAX), 1, 1_000).frames.expect("they are few");
    // Aggregates are one frame each.
    let mpdus: u32 = frames.iter().filter(|frame| frame.kind == FrameKind::Data).map(|frame| frame.mpdus).sum();
    assert!(mpdus == 40 && frames.len() < 40, "{mpdus} in {}", frames.len());
    for cut in (0..file.len()).step_by(211) {
        let part = AirLog::read(&plan, capture, &file[..cut]);
        assert!(part.len() <= whole.len());
    }
    assert!(AirLog::read(&plan, capture, &file[..file.len() - 5]).is_partial);
    let mut broken = file.clone();
    for at in (0..file.len()).step_by(97) {
        broken[at] ^= 0xff;
        AirLog::read(&plan, capture, &broken[..]).span((0, u64::MAX), 3, 10);
        broken[at] ^= 0xff;
    }
    assert!(AirLog::read(&plan, capture, &b"no capture"[..]).is_empty());
}

/// Whoever reads a file on as it grows knows in the end what one who reads it at once knows, wherever it was cut; aggregates and collisions across a cut are whole.
#[test]
fn a_log_goes_on_where_it_ended() {
    let plan = lab("standard: n, rate: {mcs: 7}", "");
    let mut sent: Vec<_> = (0..40).map(|number| (1_000 + number, [1, 0], 1_000)).collect();
    sent.extend([(80_000, [1, 0], 400), (80_000, [2, 0], 400), (120_000, [0, 1], 100)]);
    let file = captured(&plan, &sent);
    let capture = &plan.capture[0];
    let whole = AirLog::read(&plan, capture, &file[..]);
    assert!(whole.span((0, u64::MAX), 1, 0).stations.iter().any(|own| own.collisions > 0));
    for step in [37, 211, 1_733, file.len() - 3] {
        let mut log = AirLog::default();
        let mut again = 0;
        for cut in (0..file.len()).step_by(step).chain([file.len()]) {
            if !log.go_on(Cursor::new(&file[..cut])) {
                (log, again) = (AirLog::read(&plan, capture, &file[..cut]), again + 1);
            }
            assert!(cut == file.len() || log.len() <= whole.len());
        }
        assert_eq!((&log, again <= 400 / step + 2), (&whole, true), "{step}: {again}");
        // Nothing was added.
        assert!(log.go_on(Cursor::new(&file[..])));
        assert_eq!(log, whole);
    }
    // Another file is not read on.
    let mut log = whole.clone();
    let mut other = file.clone();
    other[30] ^= 1;
    assert!(!log.go_on(Cursor::new(&other[..])) && !log.go_on(Cursor::new(&file[..20])));
    assert_eq!(log, whole);
}

/// Both stations have waited for long and get a packet at the same instant: they collide, and are sent again.
#[test]
fn a_collision_shows_two_bad_frames_and_their_retries() {
    let plan = lab("standard: a, rate: 54 Mbit/s", "");
    let sent = [(1_000, [1, 0], 400), (1_000, [2, 0], 400), (50_000, [0, 1], 100)];
    let file = captured(&plan, &sent);
    assert_eq!(file, captured(&plan, &sent), "the same bytes");
    let all = records(&file);
    // What was decoded is acknowledged: 14 bytes at 24 Mbit/s, 16 us and 20 us behind its end.
    let acks: Vec<&Record> = all.iter().filter(|record| record.frame[0] == 0xd4).collect();
    assert_eq!((acks.len(), acks[0].frame.len(), acks[0].header[17]), (3, 14, 48));
    let records: Vec<Record> = records(&file).into_iter().filter(|record| record.frame[0] == 0x08).collect();
    // 20 us of preamble and header stand before the data.
    assert_eq!((records[0].began_us, records[1].began_us), (1_020, 1_020));
    assert!(records[0].is_bad && records[1].is_bad);
    let good: Vec<&Record> = records.iter().filter(|record| !record.is_bad).collect();
    assert_eq!(good.len(), 3);
    let retry = |record: &Record| record.frame[1] & 0x08 != 0;
    assert!(good[..2].iter().all(|record| retry(record)) && !retry(good[2]) && !retry(&records[0]));
    let mac = |node: usize| plan.nodes[node].interfaces[0].mac;
    for (record, [from, to]) in [(&records[0], [1, 0]), (&records[1], [2, 0]), (good[2], [0, 1])] {
        // Data without QoS; to the access point, or from it.
        assert_eq!((record.frame[0], record.frame[1] & 3), (0x08, if to == 0 { 1 } else { 2 }));
        assert_eq!(
            (record.frame[4..10].to_vec(), record.frame[10..16].to_vec()),
            (mac(to).to_vec(), mac(from).to_vec())
        );
        assert_eq!(record.frame[16..22], mac(if to == 0 { 0 } else { from }));
        // LLC and SNAP in front of IPv4.
        assert_eq!(record.frame[24..33], [0xaa, 0xaa, 3, 0, 0, 0, 8, 0, 0x45]);
        // Rate: 54 Mbit/s; channel 36: 5,180 MHz, OFDM at 5 GHz.
        assert_eq!(record.present, 0b1111);
        assert_eq!(record.header[17..], [108, 0x3c, 0x14, 0x40, 0x01]);
    }
    // 24 bytes of header, 8 of LLC, 440 of IP, 4 of checksum.
    assert_eq!(records[0].frame.len(), 24 + 8 + 440 + 4);
    let text = tcpdump(&file);
    assert_eq!(text.iter().filter(|line| line.contains("Acknowledgment")).count(), 3, "{text:?}");
    let text: Vec<String> = text.into_iter().filter(|line| !line.contains("Acknowledgment")).collect();
    assert_eq!(text.len(), records.len());
    assert!(
        text[0].contains("bad-fcs") && text[0].contains("54.0 Mb/s") && text[0].contains("5180 MHz"),
        "{}",
        text[0]
    );
    assert!(text.iter().filter(|line| line.contains("Retry")).count() >= 2, "{text:?}");
    assert!(text.iter().all(|line| line.contains("10.0.0.1.7 > 10.0.0.2.80")), "{text:?}");
}

/// Three packets wait when the first is sent, and go together; the power at the receiver follows from its distance.
#[test]
fn an_aggregate_is_a_record_for_each_mpdu() {
    for (standard, bit, told) in [("n", 19, "MCS 3"), ("ac", 21, ""), ("ax", 23, "")] {
        let plan = lab(&format!("standard: {standard}, access: radio, rate: {{mcs: 3}}"), ", match: {protocol: tcp}");
        let mut sent = vec![(1_000, [1, 0], 1_000)];
        sent.extend([(1_010, [1, 0], 200); 3]);
        let file = captured(&plan, &sent);
        let records = records(&file);
        assert_eq!(records.len(), 4, "{standard}");
        for (sequence, record) in (0..).zip(&records) {
            assert!(!record.is_bad && record.present & 1 << bit != 0, "{standard}");
            // 16 dBm less 46.6777 dB and 30 times the decimal logarithm of 20: -69.7 dBm.
            assert!(record.present & 1 << 5 != 0 && record.header[22].cast_signed() == -70, "{standard}");
            assert_eq!(u16::from_le_bytes([record.frame[22], record.frame[23]]), sequence << 4);
            // Data with QoS, of the usual priority.
            assert_eq!((record.frame[0], record.frame[24]), (0x88, 0));
        }
        let in_aggregate = |record: &Record| record.present & 1 << 20 != 0;
        assert_eq!(records.iter().map(in_aggregate).collect::<Vec<_>>(), [false, true, true, true], "{standard}");
        let times: Vec<u64> = records[1..].iter().map(|record| record.began_us).collect();
        assert!(times.is_sorted() && times[0] < times[2], "{times:?}");
        let text = tcpdump(&file);
        assert_eq!(text.len(), 4, "{text:?}");
        assert!(text[0].contains("-70dBm signal") && text[0].contains(told), "{}", text[0]);
    }
}

#[test]
fn a_packet_between_stations_is_on_the_air_twice() {
    let plan = lab("standard: n, rate: {mcs: 7}", ", snaplen: 80 B");
    let file = captured(&plan, &[(1_000, [1, 2], 500)]);
    let mac = |node: usize| plan.nodes[node].interfaces[0].mac;
    let records: Vec<Record> = records(&file).into_iter().filter(|record| record.frame[0] == 0x88).collect();
    let addresses = |record: &Record| [4, 10, 16].map(|at| record.frame[at..at + 6].to_vec());
    let expected = |nodes: [usize; 3]| nodes.map(|node| mac(node).to_vec());
    assert_eq!(records.len(), 2);
    assert_eq!((addresses(&records[0]), records[0].frame[1]), (expected([0, 1, 2]), 1));
    assert_eq!((addresses(&records[1]), records[1].frame[1]), (expected([2, 0, 1]), 2));
    assert_eq!(rows(&file)[0].3.len(), 80);
}

/// RTS and CTS at 24 Mbit/s in front of three packets that go together, and a BlockAck behind them. An OFDM PPDU has 20 us of preamble and header and 4 us for each 96 bits, so
/// 20 bytes take 28 us, 14 bytes 28 us as well, 32 bytes 32 us; 16 us lie between two frames.
#[test]
fn control_frames_stand_around_data() {
    for access in ["dcf", "radio"] {
        let plan = lab(&format!("standard: n, access: {access}, rate: {{mcs: 3}}, rts_above: 500 B"), "");
        let mut sent = vec![(1_000, [1, 0], 1_000)];
        sent.extend([(1_010, [1, 0], 800); 3]);
        let file = captured(&plan, &sent);
        let records = records(&file);
        let kinds: Vec<u8> = records.iter().map(|record| record.frame[0]).collect();
        assert_eq!(kinds, [0xb4, 0xc4, 0x88, 0xd4, 0xb4, 0xc4, 0x88, 0x88, 0x88, 0x94], "{access}");
        let [request, clear, data, ..] = &records[4..] else { panic!("there are ten") };
        assert_eq!([request, clear].map(|record| record.frame.len()), [20, 14]);
        // HT mixed: 36 us of preamble and header with one stream.
        assert_eq!([clear, data].map(|record| record.began_us - request.began_us), [44, 104], "{access}");
        let mac = |node: usize| plan.nodes[node].interfaces[0].mac.to_vec();
        assert_eq!([&request.frame[4..10], &request.frame[10..16]], [&mac(0)[..], &mac(1)[..]]);
        assert_eq!(clear.frame[4..10], mac(1));
        let duration = |record: &Record| u16::from_le_bytes([record.frame[2], record.frame[3]]);
        assert_eq!(duration(request) - duration(clear), 44, "a SIFS and the CTS");
        let answer = &records[9];
        // The compressed form; from the second packet on, three of them.
        assert_eq!(answer.frame[16..22], [4, 0, 1 << 4, 0, 0b111, 0], "{access}");
        assert_eq!((answer.frame.len(), answer.is_bad, duration(answer)), (32, false, 0));
        let text = tcpdump(&file);
        let told = |what: &str| text.iter().filter(|line| line.contains(what)).count();
        assert_eq!(["Request-To-Send", "Clear-To-Send", "Acknowledgment", " BA"].map(told), [2, 2, 1, 1], "{text:#?}");
    }
}

/// Two stations send an RTS at the same instant: both are lost, and nothing comes behind them.
#[test]
fn requests_that_collide_are_bad() {
    let plan = lab("standard: a, rate: 54 Mbit/s, rts_above: 0 B", "");
    let records = records(&captured(&plan, &[(1_000, [1, 0], 400), (1_000, [2, 0], 400)]));
    let kinds: Vec<(u8, bool)> = records.iter().map(|record| (record.frame[0], record.is_bad)).collect();
    assert_eq!(kinds[..2], [(0xb4, true), (0xb4, true)]);
    assert_eq!(kinds[2..6], [(0xb4, false), (0xc4, false), (0x08, false), (0xd4, false)]);
    assert_eq!(kinds.len(), 10);
}

/// The frames of 400 ms of a medium with beacons, on which a station goes from one access point to another.
fn managed(plan: &Plan) -> Vec<u8> {
    let slate = Slate::default();
    let outs = vec![(BufWriter::new(slate.clone()), None)];
    let (shared, thread, mut tap) = begin(plan, &plan.capture, outs, (Pace::Virtual, LIVE_HOLD)).unwrap();
    shared.begin(Instant::ZERO);
    let mut fabric: Fabric = netloom_lab::fabric::fabric_of(plan);
    fabric.record_frames(true);
    fabric.begin_counting(Instant::ZERO);
    let end = Instant::from_nanos(400_000_000);
    while let Some(wake) = fabric.next_wake().filter(|wake| *wake <= end) {
        fabric.advance(wake, |_| ());
        fabric.frames(|ppdu| tap.frame(ppdu));
    }
    drop(tap);
    assert!(thread.join().unwrap().iter().all(Option::is_none));
    slate.held().clone()
}

/// Beacons come each 102.4 ms from where their access point begins, with the time at which they are sent; tcpdump reads them, and what is said when a station comes.
#[test]
fn beacons_and_associations_are_in_the_file() {
    for (standard, channel, other, width) in [
        ("a", 36, 36, 20),
        ("b", 6, 6, 20),
        ("g", 11, 3, 20),
        ("n", 40, 48, 40),
        ("ac", 52, 52, 80),
        ("ax", 100, 149, 80),
        ("ax", 6, 6, 40),
        ("ax", 36, 36, 160),
    ] {
        let text = format!(
            "nodes: {{west: {{kind: switch, position: [0 m, 0 m]}}, east: {{kind: switch, position: [60 m, 0 m]}},\n  \
               phone: {{path: [{{at: 0 s, position: [1 m, 0 m]}}, {{at: 200 ms, position: [59 m, 0 m]}}]}}}}\n\
             links:\n  wire: {{ends: [west, east]}}\n  wifi:\n    ends: [west, east, phone]\n    \
               medium: {{kind: wifi, standard: {standard}, channel: {channel}, width: {width} MHz, access: radio, access_points: [west, east],\n      \
                        beacons: 20.48 ms, roaming: {{below: -30 dBm, hysteresis: 3 dB, time: 0 s, gap: 10 ms}}, stations: {{east: {{channel: {other}}}}}}}\n\
             capture: [{{link: wifi, headers: radiotap}}]\n"
        );
        let plan = netloom_lab::parse(&text, "air.yaml").unwrap_or_else(|wrong| panic!("{wrong}")).plan;
        let file = managed(&plan);
        let records = records(&file);
        assert!(records.iter().all(|record| !record.is_bad), "{standard}");
        for place in [0, 1] {
            let own = |record: &&Record| record.frame[0] == 0x80 && record.frame[10..16] == mac_of(&plan, place);
            let beacons: Vec<&Record> = records.iter().filter(own).collect();
            assert!((19..=20).contains(&beacons.len()), "{standard}: {}", beacons.len());
            let number = [channel, other][place];
            let megahertz = if number <= 14 { 2_407 + 5 * number } else { 5_000 + 5 * number };
            for beacon in &beacons {
                assert_eq!(u16::from_le_bytes([beacon.header[18], beacon.header[19]]), megahertz, "{standard}");
                assert_eq!([&beacon.frame[4..10], &beacon.frame[16..22]], [&[0xff; 6][..], &mac_of(&plan, place)]);
                let time = u64::from_le_bytes(beacon.frame[24..32].try_into().unwrap());
                assert_eq!((time, beacon.frame[32..34].to_vec()), (beacon.began_us, vec![20, 0]));
            }
        }
        // Without the data: switches tell one another that the station moved.
        let first = records.iter().map(|record| record.frame[0]);
        let kinds: Vec<u8> = first.filter(|kind| *kind != 0x80 && kind & 0x0c != 0x08).collect();
        assert_eq!(kinds, [0x40, 0xd4, 0x50, 0xd4, 0xb0, 0xd4, 0xb0, 0xd4, 0x20, 0xd4, 0x30, 0xd4], "{standard}");
        // It says with which access point it was.
        let again = records.iter().find(|record| record.frame[0] == 0x20).unwrap();
        assert_eq!(again.frame[28..34], mac_of(&plan, 0), "{standard}");
        let lines = tcpdump(&file);
        let told = |what: &str| lines.iter().filter(|line| line.contains(what)).count();
        let all = ["Beacon (wifi)", "Probe Request (wifi)", "Probe Response (wifi)", "Authentication (Open System)"]
            .map(told);
        assert!(all[0] >= 38 && all[1..] == [1, 1, 2], "{standard}: {all:?} {lines:#?}");
        assert_eq!(["ReAssoc Request", "ReAssoc Response", "[|"].map(told), [1, 1, 0], "{standard}: {lines:#?}");
        // The log knows them, too.
        let log = AirLog::read(&plan, &plan.capture[0], &file[..]);
        let frames = log.span((0, u64::MAX), 1, 1_000).frames.unwrap();
        let count = |kind| frames.iter().filter(|frame| frame.kind == kind).count();
        assert_eq!((count(FrameKind::Management), count(FrameKind::Ack)), (6, 6));
        assert_eq!(count(FrameKind::Beacon) + count(FrameKind::Data) + 12, frames.len());
        assert!(frames.iter().all(|frame| frame.sender.is_some()));
    }
}

/// The address of an end of the medium.
fn mac_of(plan: &Plan, place: usize) -> [u8; 6] {
    let medium = plan.links.iter().find(|link| link.name == "wifi").unwrap();
    let end = medium.ends[place];
    plan.nodes[end.node].interfaces[end.interface].mac
}

#[test]
fn the_interface_is_the_medium() {
    let plan = lab("standard: a", "");
    let all = interfaces(&plan, &plan.capture[0]);
    assert_eq!((all.len(), all[0].name.as_str(), all[0].kind), (1, "wifi", InterfaceKind::Radiotap));
    let mut file = Vec::new();
    Pcapng::begin(BufWriter::new(&mut file), "a lab", &all, None).unwrap().close().unwrap();
    let section = u32::from_le_bytes(file[4..8].try_into().unwrap()) as usize;
    assert_eq!(file[section + 8..section + 10], 127_u16.to_le_bytes());
}
