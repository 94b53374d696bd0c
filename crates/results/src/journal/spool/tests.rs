use super::super::{Fate, Happened, JournalPipe, JournalWriter, Record};
use super::*;
use netloom_link::Cause;
use netloom_packet::Flow;
use std::io::Write;

/// Packets that come every 10 us, are sent at once, and are handed over after 1 ms; every hundredth is dropped.
fn record(number: i64) -> Record {
    let arrived_ns = number * 10_000;
    let flow = Flow {
        source: [10, 0, 0, 1].into(),
        destination: [10, 0, 0, 2].into(),
        protocol: 17,
        source_port: u16::try_from(1_000 + number % 3).unwrap(),
        destination_port: 9,
        dscp: 0,
    };
    let is_dropped = number % 100 == 99;
    let sent = (!is_dropped).then_some(arrived_ns);
    Record {
        pipe: u32::try_from(number % 2).unwrap(),
        arrived_ns,
        started_ns: sent,
        sent_ns: sent,
        due_ns: sent.map(|sent| sent + 1_000_000),
        marked_ns: None,
        fate: if is_dropped {
            Fate::Dropped { at_ns: arrived_ns, cause: Cause::Early }
        } else {
            Fate::Delivered { at_ns: arrived_ns + 1_000_000 }
        },
        size_bytes: 1_000,
        flow: Some(flow),
        sequence: None,
        attempt: None,
    }
}

fn journal(records: i64, bytes_cut: u64) -> tempfile::NamedTempFile {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    let pipes = ["forward", "backward"].map(|direction| JournalPipe {
        link: "l".into(),
        direction: direction.into(),
        pipe: None,
    });
    let mut writer = JournalWriter::begin(&mut file, "lab", &pipes, None).unwrap();
    for number in 0..records {
        writer.push(&record(number)).unwrap();
    }
    writer.finish().unwrap();
    file.flush().unwrap();
    let length = file.as_file().metadata().unwrap().len();
    file.as_file().set_len(length - bytes_cut).unwrap();
    file
}

fn spool(records: i64) -> Arc<Spool> {
    let file = journal(records, 0);
    let (spool, reader) = Spool::begin(file.path()).unwrap();
    spool.fill(reader);
    spool
}

fn span(from_ns: i64, to_ns: i64) -> Span {
    Span { from_ns, to_ns, limit: 1_000_000, ..Span::default() }
}

#[test]
fn a_span_has_what_was_in_a_pipe_then() {
    const PACKETS: i64 = 30_000;
    let spool = spool(PACKETS);
    for (from, to) in
        [(0, 0), (100_000_000, 100_000_000), (5_000_000, 5_400_000), (299_990_000, 1 << 60), (-5, -1), (0, i64::MAX)]
    {
        let is_there = |record: &Record| record.arrived_ns <= to && record.ended_ns().unwrap() >= from;
        let expected: Vec<u32> = (0..PACKETS)
            .filter(|number| is_there(&record(*number)))
            .map(|number| u32::try_from(number).unwrap())
            .collect();
        let found = spool.find(&span(from, to)).unwrap();
        assert_eq!(found.columns.numbers[0], expected, "{from} to {to}");
        assert_eq!(found.found, expected.len() as u64);
        assert!(!found.is_partial);
    }
}

#[test]
fn what_is_wanted_can_be_narrowed_and_thinned() {
    let spool = spool(10_000);
    let all = span(0, i64::MAX);
    let dropped = spool.find(&Span { happened: vec![Happened::Dropped], ..all.clone() }).unwrap();
    assert_eq!((dropped.found, dropped.columns.fates[0]), (100, 4));
    assert_eq!(dropped.columns.instants_ns[1][0], NEVER);
    assert_eq!(spool.find(&Span { pipes: vec![1], ..all.clone() }).unwrap().found, 5_000);
    assert_eq!(spool.find(&Span { flows: vec![2], ..all.clone() }).unwrap().found, 3_333);
    let first = spool.find(&Span { limit: 10, ..all.clone() }).unwrap();
    assert_eq!((first.found, first.columns.numbers[0].clone()), (10_000, (0..10).collect()));
    let thin = spool.find(&Span { limit: 10, is_thinned: true, ..all }).unwrap();
    assert_eq!(thin.columns.numbers[0], (0..10).map(|number| number * 1_000).collect::<Vec<u32>>());
    assert_eq!(thin.found, 10_000);
}

#[test]
fn an_overview_counts_all() {
    let overview = spool(10_000).overview(2);
    assert_eq!((overview.packets, overview.state, overview.lab.as_str()), (10_000, SpoolState::Complete, "lab"));
    assert_eq!((overview.from_ns, overview.to_ns), (Some(0), Some(9_998 * 10_000 + 1_000_000)));
    assert_eq!(overview.blocks.iter().map(|block| block.dropped).sum::<u32>(), 100);
    assert_eq!((overview.flows.len(), overview.flows_left_out, overview.flows[0].bytes), (2, 1, 3_334_000));
}

#[test]
fn a_journal_that_was_cut_off_or_damaged_is_there_up_to_that() {
    let file = journal(20_000, 100);
    let (cut, reader) = Spool::begin(file.path()).unwrap();
    cut.fill(reader);
    assert_eq!(cut.state(), SpoolState::Unfinished);
    assert_eq!(cut.overview(9).packets, 16_384);
    let length = file.as_file().metadata().unwrap().len();
    file.as_file().write_all_at(&[0xaa; 64], length / 2).unwrap();
    let (damaged, rest) = Spool::begin(file.path()).unwrap();
    damaged.fill(rest);
    assert_eq!(damaged.state(), SpoolState::Damaged);
    assert!(damaged.overview(9).problem.unwrap().contains("damaged"));
    assert!(damaged.find(&span(0, i64::MAX)).unwrap().found < 16_385);
    assert!(matches!(Spool::begin(Path::new("/dev/zero")), Err(JournalError::Io(_))));
}

#[test]
fn a_row_is_what_it_was() {
    for number in [0, 99] {
        let row = Row::of(&record(number), 7);
        assert_eq!(Row::read(&row.bytes()), row);
    }
}
