mod life;

use super::file::BATCH_RECORDS;
use super::*;
use netloom_fuzz::fuzz;
use netloom_link::Cause;
use netloom_packet::Flow;
use netloom_units::Bytes;
use proptest::prelude::{Just, Strategy, any, prop_oneof};
use proptest::sample::Index;
use std::net::IpAddr;

fn pipes() -> Vec<JournalPipe> {
    let pipe = |link: &str, direction: &str, pipe: Option<&str>| JournalPipe {
        link: link.into(),
        direction: direction.into(),
        pipe: pipe.map(Into::into),
    };
    vec![
        pipe("access", "forward", None),
        pipe("access", "backward", None),
        pipe("backbone", "forward", Some("voice")),
        pipe("bus", "shared", None),
    ]
}

fn flow(source: &str, destination: &str, protocol: u8, source_port: u16) -> Flow {
    let address = |text: &str| text.parse::<IpAddr>().unwrap();
    let destination_port = if source_port == 0 { 0 } else { 80 };
    Flow {
        source: address(source),
        destination: address(destination),
        protocol,
        source_port,
        destination_port,
        dscp: 46,
    }
}

/// Records of all kinds, as many as are asked for.
fn records(count: usize) -> Vec<Record> {
    let one = |number: usize| {
        let at = i64::try_from(number).unwrap() * 1_000 - 5_000;
        let plain = Record {
            pipe: u32::try_from(number % 4).unwrap(),
            arrived_ns: at,
            started_ns: Some(at + 1),
            sent_ns: Some(at + 2),
            due_ns: Some(at + 3),
            marked_ns: None,
            fate: Fate::Delivered { at_ns: at + 4 },
            size_bytes: u32::try_from(number % 1_500).unwrap(),
            flow: Some(flow("10.0.0.1", "10.0.0.2", 6, 40_000)),
            sequence: Some(u32::MAX - u32::try_from(number).unwrap()),
            attempt: None,
        };
        match number % 5 {
            0 => plain,
            1 => {
                Record { fate: Fate::Dropped { at_ns: at, cause: Cause::Early }, sent_ns: None, due_ns: None, ..plain }
            }
            2 => {
                Record { fate: Fate::Dropped { at_ns: at, cause: Cause::Full }, started_ns: None, flow: None, ..plain }
            }
            3 => Record { fate: Fate::Inside, marked_ns: Some(at), sequence: None, ..plain },
            _ => Record { flow: Some(flow("fd00::1", "fd00::2", 58, 0)), sequence: None, ..plain },
        }
    };
    (0..count).map(one).collect()
}

fn written(records: &[Record], limit: Option<Bytes>) -> (Vec<u8>, Written) {
    let mut file = Vec::new();
    let mut writer = JournalWriter::begin(&mut file, "dumbbell", &pipes(), limit).unwrap();
    records.iter().for_each(|record| writer.push(record).unwrap());
    let written = writer.finish().unwrap();
    (file, written)
}

/// The records that can be read, and why no more.
fn read(file: &[u8]) -> (Vec<Record>, Option<JournalError>) {
    let reader = match JournalReader::new(file) {
        Ok(reader) => reader,
        Err(error) => return (Vec::new(), Some(error)),
    };
    let mut all = Vec::new();
    for record in reader {
        match record {
            Ok(record) => all.push(record),
            Err(error) => return (all, Some(error)),
        }
    }
    (all, None)
}

#[test]
fn what_is_written_is_read() {
    let all = records(2 * BATCH_RECORDS + 17);
    let (file, written) = written(&all, None);
    assert_eq!((written.records, written.bytes, written.left_out), (all.len() as u64, file.len() as u64, 0));
    let reader = JournalReader::new(&file[..]).unwrap();
    assert_eq!((reader.lab(), reader.pipes()), ("dumbbell", &pipes()[..]));
    let (again, end) = read(&file);
    assert!(end.is_none(), "{end:?}");
    assert!(again == all);
    assert!(file.len() < all.len() * 60, "{} bytes for {} records", file.len(), all.len());
}

/// Attempts on the air stand among packets; whoever does not ask for them reads packets alone, and a journal without them has none of their columns.
#[test]
fn attempts_are_read_by_those_who_ask_for_them() {
    let packets = records(40);
    let tried = |(number, record): (u32, &Record)| {
        let sent = record.arrived_ns + 2;
        let is_good = number.is_multiple_of(2);
        let fate =
            if is_good { Fate::Delivered { at_ns: sent } } else { Fate::Dropped { at_ns: sent, cause: Cause::Air } };
        let attempt = AirAttempt {
            number: number + 1,
            kilobits_per_second: 6_500 * number,
            sender: "ap".into(),
            receiver: is_good.then(|| "phone".into()),
        };
        let (started_ns, sent_ns) = (Some(record.arrived_ns), Some(sent));
        Record { fate, started_ns, sent_ns, due_ns: None, marked_ns: None, attempt: Some(attempt), ..record.clone() }
    };
    let all: Vec<Record> =
        (0..).zip(&packets).flat_map(|(number, record)| [tried((number, record)), record.clone()]).collect();
    let mut file = Vec::new();
    let mut writer = JournalWriter::begin_with(&mut file, "air", &pipes(), (None, true)).unwrap();
    all.iter().for_each(|record| writer.push(record).unwrap());
    let written = writer.finish().unwrap();
    assert_eq!((written.records, written.attempts), (80, 40));
    let reader = JournalReader::new(&file[..]).unwrap();
    assert!(reader.has_attempts());
    assert_eq!(reader.map(Result::unwrap).collect::<Vec<_>>(), packets);
    let with = JournalReader::new(&file[..]).unwrap().with_attempts();
    assert_eq!(with.map(Result::unwrap).collect::<Vec<_>>(), all);
    // As rows.
    let row = csv_row(&all[0], &pipes()[0]);
    assert_eq!(row.split(',').count(), attempts_heading().split(',').count());
    assert!(row.contains(",decoded,") && row.ends_with(",1,0,ap,phone"), "{row}");
    let json = json_row(&all[2], &pipes()[1]);
    let told = ["outcome", "attempt", "rate_kilobits_per_second", "receiver"].map(|key| json[key].to_string());
    assert_eq!(told, ["\"lost\"", "2", "6500", "null"]);
    assert_eq!(csv_row(&packets[0], &pipes()[0]).split(',').count(), csv_heading().split(',').count());
    // Damage anywhere is told and never a record that was not written.
    for cut in (0..file.len()).step_by(97) {
        let Ok(part) = JournalReader::new(&file[..cut]) else { continue };
        let found: Vec<Record> = part.with_attempts().map_while(Result::ok).collect();
        assert!(all.starts_with(&found));
    }
    assert!(!JournalReader::new(&written_without(&packets)[..]).unwrap().has_attempts());
}

fn written_without(records: &[Record]) -> Vec<u8> {
    written(records, None).0
}

#[test]
fn an_empty_journal_names_its_pipes() {
    let (file, _) = written(&[], None);
    let reader = JournalReader::new(&file[..]).unwrap();
    assert_eq!(reader.pipes().len(), 4);
    assert_eq!(reader.count(), 0);
}

#[test]
fn the_same_records_make_the_same_bytes() {
    let all = records(BATCH_RECORDS + 5);
    assert!(written(&all, None).0 == written(&all, None).0);
}

#[test]
fn a_journal_stops_before_its_limit_and_counts_what_it_leaves_out() {
    let all = records(4 * BATCH_RECORDS);
    let whole = written(&all, None).0.len() as u64;
    let limit = Bytes::new(whole * 3 / 4);
    let (file, written) = written(&all, Some(limit));
    assert!(file.len() as u64 <= limit.get());
    assert_eq!(written.records + written.left_out, all.len() as u64);
    assert_eq!(written.records, 2 * BATCH_RECORDS as u64);
    let (again, end) = read(&file);
    assert!(end.is_none() && again[..] == all[..again.len()] && again.len() as u64 == written.records);
}

#[test]
fn a_journal_that_was_cut_off_is_read_up_to_there() {
    let all = records(3 * BATCH_RECORDS);
    let (file, _) = written(&all, None);
    let mut seen = Vec::new();
    for cut in (0..file.len()).step_by(9_973).chain([file.len() - 8, file.len() - 1]) {
        let (part, end) = read(&file[..cut]);
        assert!(part[..] == all[..part.len()], "cut at {cut}");
        seen.push(part.len());
        match end.expect("its end is missing") {
            JournalError::Foreign(_) => assert!(cut < 5_000 && part.is_empty(), "cut at {cut}"),
            JournalError::Unfinished { records, offset } => {
                assert!(records == part.len() as u64 && offset <= cut as u64, "cut at {cut}");
            }
            other => panic!("cut at {cut}: {other}"),
        }
    }
    seen.dedup();
    assert_eq!(seen, [0, 1, 2, 3].map(|batches| batches * BATCH_RECORDS));
}

#[test]
fn damage_is_told_with_its_place_and_what_is_before_is_kept() {
    let all = records(2 * BATCH_RECORDS);
    let (mut file, _) = written(&all, None);
    // The description of the second batch begins where a journal of the first alone has its end mark.
    let at = written(&all[..BATCH_RECORDS], None).0.len() - 8;
    file[at + 8..at + 40].fill(0xa5);
    let (part, end) = read(&file);
    assert_eq!(part.len(), BATCH_RECORDS);
    let text = end.unwrap().to_string();
    assert!(text.contains(&format!("damaged at byte {at}")) && text.contains("the 8192 packets before"), "{text}");
}

#[test]
fn what_is_no_journal_is_told() {
    let told = |file: &[u8]| read(file).1.unwrap().to_string();
    assert!(told(b"").contains("no journal of netloom"));
    assert!(told(b"a,b\n1,2\nand more text than eight bytes").contains("no message of Arrow IPC"));
}

/// What is done to a byte of a file or to eight of them, and where it is cut off.
type Damage = (Vec<(Index, u8, Option<i64>)>, Option<Index>);

fn damage() -> impl Strategy<Value = Damage> {
    let extreme = prop_oneof![Just(-1), Just(i64::MIN), Just(i64::MAX), Just(1 << 40), 0..100_000_i64];
    let one = (any::<Index>(), any::<u8>(), proptest::option::of(extreme));
    (proptest::collection::vec(one, 1..6), proptest::option::weighted(0.2, any::<Index>()))
}

#[test]
fn fuzz_journals() {
    let all = records(600);
    let (whole, _) = written(&all, None);
    fuzz("journals", 600, &damage(), |(damaged, cut)| {
        let mut file = whole.clone();
        for (place, byte, word) in damaged {
            let at = place.index(file.len());
            match word.filter(|_| at + 8 <= file.len()) {
                Some(word) => file[at..at + 8].copy_from_slice(&word.to_le_bytes()),
                None => file[at] = byte,
            }
        }
        file.truncate(cut.map_or(file.len(), |cut| cut.index(file.len())));
        let (part, _) = read(&file);
        assert!(part.len() <= 1 << 16);
    });
}
