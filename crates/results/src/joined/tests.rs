use super::*;
use crate::journal::{Fate, JournalPipe, JournalReader, JournalWriter, Record};
use std::fs;

/// A joined folder with the parts `a`, of the node `web`, and `b`, of the node `db`, whose link `line` is cut.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let machines = r#"[{"machine": "a", "nodes": ["web"], "lost": null}, {"machine": "b", "nodes": ["db"]}]"#;
    fs::write(folder.path().join(MACHINES), machines).expect("a file");
    let report = r#"{"lab": "far", "pipes": [
        {"link": "line", "direction": "forward", "pipe": null, "machine": "a"},
        {"link": "line", "direction": "backward", "pipe": null, "machine": "b"}],
        "journal": {"file": "journal.arrows", "packets": 9, "bytes": 9, "lost_packets": 2}}"#;
    fs::write(folder.path().join(REPORT), report).expect("a file");
    for machine in ["a", "b"] {
        fs::create_dir_all(folder.path().join(PARTS).join(machine).join("captures")).expect("a folder");
    }
    folder
}

fn block(kind: u32, body: &[u8]) -> Vec<u8> {
    let mut body = body.to_vec();
    body.resize(body.len().next_multiple_of(4), 0);
    let length = u32::try_from(body.len() + 12).expect("short").to_le_bytes();
    [&kind.to_le_bytes()[..], &length, &body, &length].concat()
}

/// A capture with two interfaces: packets are their interface, their instant and one byte.
fn capture(interfaces: [&str; 2], packets: &[(u32, u64, u8)]) -> Vec<u8> {
    let mut file = block(0x0a0d_0d0a, &[0x4d, 0x3c, 0x2b, 0x1a, 1, 0, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255]);
    for name in interfaces {
        let length = u16::try_from(name.len()).expect("short").to_le_bytes();
        let mut options = [&[1, 0, 0, 0, 0, 0, 4, 0, 2, 0][..], &length, name.as_bytes()].concat();
        options.resize(options.len().next_multiple_of(4), 0);
        options.extend([0; 4]);
        file.extend(block(1, &options));
    }
    for (interface, at, byte) in packets {
        let halves = [u32::try_from(at >> 32).expect("half"), u32::try_from(at & 0xffff_ffff).expect("half")];
        let words = [*interface, halves[0], halves[1], 1, 1].map(u32::to_le_bytes).concat();
        file.extend(block(6, &[&words[..], &[*byte]].concat()));
    }
    file
}

/// The names of the interfaces of a capture, and its packets as above.
fn read(file: &[u8]) -> (Vec<String>, Vec<(u32, u64, u8)>) {
    let (mut names, mut packets, mut rest) = (Vec::new(), Vec::new(), file);
    let word = |bytes: &[u8], at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four"));
    while !rest.is_empty() {
        let (one, others) = rest.split_at(word(rest, 4) as usize);
        match word(one, 0) {
            1 => {
                let length = usize::from(u16::from_le_bytes([one[18], one[19]]));
                names.push(String::from_utf8_lossy(&one[20..20 + length]).into_owned());
            }
            6 => {
                packets.push((word(one, 8), u64::from(word(one, 12)) << 32 | u64::from(word(one, 16)), one[28]));
            }
            _ => {}
        }
        rest = others;
    }
    (names, packets)
}

#[test]
fn a_capture_of_a_link_that_is_cut_is_that_of_its_own_ends() {
    let folder = folder();
    let late = 1 << 33;
    // Forward: 1 leaves web at 5 and comes to db at 25; its tunnel has it at 24 and 24. Backward: 2, from 10 to 30.
    let at_web = capture(["web:eth0", "to-b-1:eth0"], &[(0, 5, 1), (1, 24, 1), (1, 29, 2), (0, 30, 2), (0, late, 3)]);
    let at_db = capture(["to-a-1:eth0", "db:eth0"], &[(1, 10, 2), (0, 24, 1), (1, 25, 1), (0, 29, 2), (1, 30, 4)]);
    let place = |machine: &str, name: &str| folder.path().join(PARTS).join(machine).join("captures").join(name);
    fs::write(place("a", "line.pcapng"), at_web).expect("a file");
    fs::write(place("b", "line.pcapng"), at_db).expect("a file");
    // The part b was killed while it wrote.
    let alone = capture(["db:eth0", "db:eth1"], &[(0, 1, 7), (1, 2, 8)]);
    fs::write(place("b", "db.pcapng"), &alone[..alone.len() - 5]).expect("a file");
    assert_eq!(join(folder.path()).expect("parts"), None);
    let joined = |name: &str| read(&fs::read(folder.path().join("captures").join(name)).expect("a file"));
    let (names, packets) = joined("line.pcapng");
    assert_eq!(names, ["web:eth0", "db:eth0"]);
    assert_eq!(packets, [(0, 5, 1), (1, 10, 2), (1, 25, 1), (0, 30, 2), (1, 30, 4), (0, late, 3)]);
    assert_eq!(joined("db.pcapng").1, [(0, 1, 7)]);
    // It can be done again.
    join(folder.path()).expect("parts");
    assert_eq!(joined("line.pcapng").1.len(), 6);
}

#[test]
fn what_is_no_capture_is_named() {
    for (wrong, why) in [
        (&b"nothing"[..], "no capture"),
        (&[&capture(["db:eth0", "db:eth1"], &[(2, 1, 1)])[..]].concat(), "an interface that is not described"),
        (&[&capture(["db:eth0", "db:eth1"], &[])[..], &[6, 0, 0, 0, 9, 0, 0, 0]].concat(), "no length"),
    ] {
        let folder = folder();
        fs::write(folder.path().join(PARTS).join("b/captures/l.pcapng"), wrong).expect("a file");
        let error = join(folder.path()).expect_err("it is none").to_string();
        assert!(error.contains("l.pcapng") && error.contains(why), "{error}");
    }
}

fn record(pipe: u32, arrived_ns: i64, ended: Option<i64>) -> Record {
    let fate = ended.map_or(Fate::Inside, |at_ns| Fate::Delivered { at_ns });
    let (started_ns, sent_ns, due_ns, marked_ns) = (None, None, ended, None);
    Record {
        pipe,
        arrived_ns,
        started_ns,
        sent_ns,
        due_ns,
        marked_ns,
        fate,
        size_bytes: 100,
        flow: None,
        sequence: None,
        attempt: None,
    }
}

#[test]
fn each_direction_is_in_the_journal_once_by_instant() {
    let folder = folder();
    let pipes = ["forward", "backward"].map(|direction| JournalPipe {
        link: "line".into(),
        direction: direction.into(),
        pipe: None,
    });
    let write = |machine: &str, records: &[Record], is_whole: bool| {
        let path = folder.path().join(PARTS).join(machine).join("journal.arrows");
        let mut journal = JournalWriter::begin(fs::File::create(path).expect("a file"), "part", &pipes, None).unwrap();
        records.iter().for_each(|record| journal.push(record).expect("room"));
        if is_whole {
            journal.finish().expect("room");
        } else {
            journal.flush().expect("room");
        }
    };
    write("a", &[record(0, 1, Some(20)), record(1, 24, Some(24)), record(0, 5, Some(40)), record(0, 50, None)], true);
    // It was killed.
    write("b", &[record(1, 3, Some(20)), record(0, 20, Some(20)), record(1, 9, Some(30))], false);
    let row = join(folder.path()).expect("parts").expect("a journal");
    assert_eq!((row.packets, row.lost_packets), (5, 2));
    let journal = JournalReader::open(&folder.path().join("journal.arrows")).expect("a journal");
    assert_eq!((journal.lab(), journal.pipes()), ("far", &pipes[..]));
    let found: Vec<_> = journal.map(|record| record.map(|record| (record.pipe, record.arrived_ns)).unwrap()).collect();
    assert_eq!(found, [(0, 1), (1, 3), (1, 9), (0, 5), (0, 50)]);
}
