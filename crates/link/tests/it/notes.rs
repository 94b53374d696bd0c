//! Notes of all that happens to packets in a pipe.

use netloom_link::{Cause, DelayConfig, Distribution, DropLog, Event, Note, Pipe, PipeConfig, RateConfig};
use netloom_packet::{Packet, Pool};
use netloom_testing::loads::{Load, Transport};
use netloom_units::{Duration, Instant, Rate, Seed};

/// The number of the pipe.
const PIPE: u32 = 3;

fn ms(ms: u64) -> Instant {
    Instant::from_nanos(ms * 1_000_000)
}

/// A pipe with a delay of 100 ms.
fn pipe(rate: RateConfig) -> Pipe {
    let delay =
        DelayConfig { distribution: Distribution::Constant(Duration::from_millis(100)), ..DelayConfig::default() };
    Pipe::new(&PipeConfig { rate, delay, ..PipeConfig::default() }, Duration::ZERO, Seed::new(1))
}

/// 1,500 bytes take 12 ms.
fn one_mbit() -> RateConfig {
    RateConfig::Constant(Rate::from_bits_per_second(1_000_000).expect("a rate"))
}

/// The pipes of which notes are taken.
fn wanted() -> Vec<bool> {
    (0..=PIPE).map(|pipe| pipe == PIPE).collect()
}

fn noting() -> DropLog {
    let mut log = DropLog::new();
    log.take_notes(wanted());
    log
}

fn empty(pipe: &mut Pipe, log: &mut DropLog) -> Vec<Packet> {
    let mut left = Vec::new();
    while let Some(wake) = pipe.next_wake() {
        while let Some(departure) = pipe.pop(wake, log.of(PIPE)) {
            left.push(departure.packet);
        }
    }
    left
}

/// What happened to the segment of this number, without its contents: what, and the instants that belong to it in ms.
fn of_segment(notes: &[Note], segment: u16) -> Vec<(&'static str, Vec<u64>)> {
    let milliseconds = |instants: &[Instant]| instants.iter().map(|at| at.as_nanos() / 1_000_000).collect();
    let own = notes.iter().filter(|note| (note.whose.first..note.whose.first + note.whose.count).contains(&segment));
    own.map(|note| match note.what {
        Event::Entered { .. } => ("entered", milliseconds(&[note.at])),
        Event::Marked => ("marked", milliseconds(&[note.at])),
        Event::Sent { start, due, .. } => ("sent", milliseconds(&[start, note.at, due])),
        Event::Began => ("began", milliseconds(&[note.at])),
        Event::Tried { attempt, .. } => ("tried", milliseconds(&[attempt.start, attempt.end])),
        Event::Left => ("left", milliseconds(&[note.at])),
        Event::Dropped { cause, .. } => (if cause == Cause::Down { "down" } else { "other" }, milliseconds(&[note.at])),
    })
    .collect()
}

#[test]
fn a_train_is_noted_segment_by_segment() {
    let (mut pool, mut log) = (Pool::default(), noting());
    let mut pipe = pipe(one_mbit());
    // 1,500 bytes each with 52 bytes of headers.
    let load = Load::Train { transport: Transport::Tcp, full: 3, payload: 1_448, last: 0 };
    pipe.push(ms(5), load.packet_of(&mut pool, 1, 0, 80), log.of(PIPE));
    let left = empty(&mut pipe, &mut log);
    assert_eq!(left.iter().map(Packet::segments).sum::<u32>(), 3);
    let notes: Vec<Note> = log.notes().collect();
    assert!(notes.iter().all(|note| note.pipe == PIPE));
    for (segment, sent) in [[5, 17, 117], [17, 29, 129], [29, 41, 141]].into_iter().enumerate() {
        let expected = vec![("entered", vec![5]), ("sent", sent.to_vec()), ("left", vec![sent[2]])];
        assert_eq!(of_segment(&notes, u16::try_from(segment).unwrap()), expected, "segment {segment}");
    }
    let content = notes.iter().find_map(|note| match note.what {
        Event::Entered { content } => Some(content),
        _ => None,
    });
    let content = content.expect("it entered");
    assert_eq!((content.bytes, content.segment_bytes, content.segment_payload), (4_500, 1_500, 1_448));
    assert_eq!((content.sequence, content.flow.unwrap().source_port), (Some(0), 80));
    assert_eq!(log.notes().count(), 0, "notes are handed out once");
}

#[test]
fn a_cut_is_noted_wherever_a_packet_is() {
    let (mut pool, mut log) = (Pool::default(), noting());
    let mut pipe = pipe(one_mbit());
    let load = Load::Train { transport: Transport::Udp, full: 4, payload: 1_472, last: 0 };
    pipe.push(ms(0), load.packet(&mut pool, 1), log.of(PIPE));
    pipe.unplug(ms(30), log.of(PIPE));
    pipe.push(ms(40), Load::Plain(1_500).packet(&mut pool, 2), log.of(PIPE));
    let notes: Vec<Note> = log.notes().collect();
    // Two travel, one is on the transmitter, one waits.
    let gone = ("down", vec![30]);
    let travelled = of_segment(&notes[..notes.len() - 1], 1);
    assert_eq!(travelled, [("entered", vec![0]), ("sent", vec![12, 24, 124]), gone.clone()]);
    for segment in 2..4 {
        assert_eq!(of_segment(&notes, segment), [("entered", vec![0]), gone.clone()]);
    }
    // While it is cut, nothing enters.
    let last = notes.last().unwrap();
    assert!(matches!(last.what, Event::Dropped { cause: Cause::Down, content } if content.sequence.is_none()));
    assert_eq!(last.at, ms(40));
}

#[test]
fn a_train_that_is_sent_at_once_stays_together() {
    let (mut pool, mut log) = (Pool::default(), noting());
    let mut pipe = pipe(RateConfig::Unlimited);
    let load = Load::Train { transport: Transport::Tcp, full: 3, payload: 1_448, last: 100 };
    pipe.push(ms(5), load.packet(&mut pool, 1), log.of(PIPE));
    empty(&mut pipe, &mut log);
    let notes: Vec<Note> = log.notes().collect();
    assert_eq!(notes.len(), 3);
    assert!(notes.iter().all(|note| (note.whose.first, note.whose.count) == (0, 4)));
    assert_eq!(of_segment(&notes, 3)[1], ("sent", vec![5, 5, 105]));
}

#[test]
fn nothing_is_noted_unasked() {
    let (mut pool, mut log) = (Pool::default(), DropLog::new());
    let mut pipe = pipe(one_mbit());
    pipe.push(ms(0), Load::Plain(1_500).packet(&mut pool, 1), log.of(PIPE));
    log.take_notes(wanted());
    empty(&mut pipe, &mut log);
    // What was inside is noted from here on.
    assert_eq!(log.notes().count(), 2);
    log.take_notes(Vec::new());
    pipe.push(ms(500), Load::Plain(1_500).packet(&mut pool, 1), log.of(PIPE));
    empty(&mut pipe, &mut log);
    assert_eq!(log.notes().count(), 0);
    // Nor are notes taken of other pipes.
    log.take_notes(wanted());
    pipe.push(ms(900), Load::Plain(1_500).packet(&mut pool, 1), log.of(PIPE + 1));
    assert_eq!(log.notes().count(), 0);
}
