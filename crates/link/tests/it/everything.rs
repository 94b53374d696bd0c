//! What holds for every combination of models, changed while packets are inside.
//!
//! Descriptions are those of lab files. The cases are the same in every run; `PROPTEST_CASES=20000` tries more of them.

use netloom_link::{
    Cause, DropLog, Event as Noted, Note, Pipe, PipeChange, PipeConfig, PipeCounters, SampledPacket, Sent,
};
use netloom_packet::{Packet, Pool};
use netloom_testing::loads::{Load, alone, first_segment, number};
use netloom_testing::models::{changes, configs, loads};
use netloom_units::{Bytes, Duration, Instant, Seed};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

#[derive(Clone, Debug)]
enum Event {
    Send { load: Load, port: u16, ecn: u8 },
    Change(Box<PipeChange>),
    Up(bool),
}

#[derive(Clone, Debug)]
struct Case {
    config: PipeConfig,
    coalesce: Duration,
    events: Vec<(Instant, Event)>,
}

fn cases() -> impl Strategy<Value = Case> {
    let event = prop_oneof![
        8 => (loads(), 1..5_u16, 0..4_u8).prop_map(|(load, port, ecn)| Event::Send { load, port, ecn }),
        1 => changes().prop_map(|change| Event::Change(Box::new(change))),
        1 => any::<bool>().prop_map(Event::Up),
    ];
    let gap = prop_oneof![Just(0), 1..20_000_u64, 1..2_000_000_u64];
    let coalesce = prop_oneof![Just(0), 0..100_000_u64].prop_map(Duration::from_nanos);
    (configs(), coalesce, vec((gap, event), 1..40)).prop_map(|(config, coalesce, events)| {
        let mut now = Instant::ZERO;
        let mut later = |nanos| {
            now = now + Duration::from_nanos(nanos);
            now
        };
        let events: Vec<_> = events.into_iter().map(|(nanos, one)| (later(nanos), one)).collect();
        // A late call finds segments joined that a change brought together after the first of them was due.
        let plain = PipeConfig::default();
        let is_steady = events.iter().all(|(_, one)| matches!(one, Event::Send { .. }))
            && (&config.schedule, &config.state) == (&plain.schedule, &plain.state);
        Case { config, coalesce: if is_steady { coalesce } else { Duration::ZERO }, events }
    })
}

/// A packet that left, or was dropped.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Fate {
    at: Instant,
    number: u32,
    segment: u32,
    size: Bytes,
    dropped: Option<Cause>,
}

/// When the pipe is called between events, and how packets are handed to it.
#[derive(Clone, Copy, Debug)]
struct Driving {
    late: Option<Duration>,
    separately: bool,
}

const PUNCTUAL: Driving = Driving { late: None, separately: false };

/// For how long a pipe is called after the last event; cross traffic never ends.
const LINGER: Duration = Duration::from_secs(3);

struct Player {
    pipe: Pipe,
    driving: Driving,
    drop_log: DropLog,
    fates: Vec<Fate>,
}

/// What a pipe wrote down beside.
#[derive(Debug, Default)]
struct Watched {
    notes: Vec<Note>,
    packets: Vec<SampledPacket>,
}

/// Plays a case, checks the books at every step, and tells the fate of every segment.
fn play(case: &Case, driving: Driving) -> (Vec<Fate>, PipeCounters) {
    let (fates, counters, _) = play_with(case, driving, DropLog::new());
    (fates, counters)
}

fn play_with(case: &Case, driving: Driving, mut log: DropLog) -> (Vec<Fate>, PipeCounters, Watched) {
    let fresh = Pipe::new(&case.config, case.coalesce, Seed::new(7));
    let _ = log.of(0);
    let mut player = Player { pipe: fresh, driving, drop_log: log, fates: Vec::new() };
    let mut pool = Pool::default();
    for (count, (at, event)) in (0..).zip(&case.events) {
        player.depart_until(*at);
        let Player { pipe, drop_log, .. } = &mut player;
        match event {
            Event::Send { load, port, ecn } => {
                let packet = load.packet_of(&mut pool, count, *ecn, *port);
                let pieces = if driving.separately { alone(packet) } else { vec![packet] };
                pieces.into_iter().for_each(|piece| pipe.push(*at, piece, drop_log));
            }
            Event::Change(change) => pipe.change(*at, change, drop_log),
            Event::Up(up) => pipe.set_up(*at, *up, drop_log),
        }
        player.settle();
    }
    let last = case.events.last().map_or(Instant::ZERO, |(at, _)| *at);
    player.depart_until(last + LINGER);
    player.fates.sort();
    let Player { pipe, mut drop_log, fates, .. } = player;
    let watched = Watched { notes: drop_log.notes().collect(), packets: drop_log.sampled_packets().packets };
    (fates, *pipe.counters(), watched)
}

impl Player {
    fn depart_until(&mut self, end: Instant) {
        while let Some(wake) = self.pipe.next_wake() {
            let step = self.driving.late.map_or(1, Duration::as_nanos);
            let call = Instant::from_nanos(wake.as_nanos().checked_next_multiple_of(step).unwrap_or(u64::MAX));
            if call >= end {
                break;
            }
            while let Some(departure) = self.pipe.pop(call, &mut self.drop_log) {
                assert!(departure.due <= call, "{departure:?} leaves at {call}");
                // Of segments that leave together the last is due at `due`, and the first no earlier than `first_due`.
                assert!(departure.first_due <= departure.due);
                self.tell(&departure.packet, departure.due, None);
            }
            self.settle();
        }
    }

    /// The counters are right, and what was dropped is reported.
    fn settle(&mut self) {
        assert!(self.pipe.counters().balance(), "{:?}", self.pipe.counters());
        for dropped in self.drop_log.drain(..).collect::<Vec<_>>() {
            self.tell(&dropped.packet, dropped.at, Some(dropped.cause));
        }
    }

    fn tell(&mut self, packet: &Packet, at: Instant, dropped: Option<Cause>) {
        for index in 0..packet.segments() {
            let (number, segment) = (number(packet), first_segment(packet) + index);
            self.fates.push(Fate { at, number, segment, size: packet.segment_size(index), dropped });
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(7),
        ..ProptestConfig::default()
    })]

    #[test]
    fn late_calls_change_nothing(case in cases(), step in 1..20_000_000_u64) {
        let late = Driving { late: Some(Duration::from_nanos(step)), ..PUNCTUAL };
        // Over by the time that the latest call comes.
        let until = case.events.last().map_or(Instant::ZERO, |(at, _)| *at) + Duration::from_secs(2);
        let told = |driving| -> Vec<Fate> { play(&case, driving).0.into_iter().filter(|fate| fate.at < until).collect() };
        prop_assert_eq!(told(late), told(PUNCTUAL));
    }

    #[test]
    fn a_train_is_its_segments(case in cases()) {
        let separately = Driving { separately: true, ..PUNCTUAL };
        let ((trains, counted), (segments, counted_alone)) = (play(&case, PUNCTUAL), play(&case, separately));
        prop_assert_eq!(trains, segments);
        prop_assert_eq!(counted, counted_alone);
    }

    #[test]
    fn everything_leaves_or_is_dropped(case in cases()) {
        let (fates, counters) = play(&case, PUNCTUAL);
        let dropped = fates.iter().filter(|fate| fate.dropped.is_some()).count() as u64;
        prop_assert_eq!(dropped, counters.dropped.packets());
        prop_assert_eq!(fates.len() as u64 - dropped, counters.departed.packets);
        let arrived = counters.arrived.packets + counters.duplicated.packets;
        let inside = counters.queued.packets + counters.travelling.packets;
        prop_assert_eq!(arrived, fates.len() as u64 + inside);
    }

    #[test]
    fn sampled_packets_are_what_notes_say_and_change_nothing(case in cases(), step in prop_oneof![Just(0), 0..3_000_000_u64]) {
        let mut watching = DropLog::new();
        watching.take_notes(vec![true]);
        watching.sample_packets(Some(Duration::from_nanos(step)));
        let (fates, counters, Watched { notes, packets }) = play_with(&case, PUNCTUAL, watching);
        prop_assert_eq!((fates, counters), play(&case, PUNCTUAL));
        let has = |at: Instant, is_meant: &dyn Fn(&Noted) -> bool| notes.iter().any(|note| note.at == at && is_meant(&note.what));
        for SampledPacket { entered, sent, dropped, .. } in &packets {
            if let Some(Sent { start, end, due }) = sent {
                let is_sent = has(*end, &|what| *what == Noted::Sent { start: *start, due: *due });
                prop_assert!(start >= entered && is_sent, "{sent:?}");
            }
            if let Some((at, cause)) = dropped {
                let is_dropped = has(*at, &|what| matches!(what, Noted::Dropped { cause: other, .. } if other == cause));
                prop_assert!(is_dropped, "{dropped:?}");
            }
            let comes_in = has(*entered, &|what| matches!(what, Noted::Entered { .. }));
            prop_assert!(comes_in || *dropped == dropped.filter(|(at, _)| at == entered), "{entered}");
        }
        let mut numbers: Vec<u64> = packets.iter().map(|packet| packet.number).collect();
        numbers.sort_unstable();
        numbers.dedup();
        // Each step has one that was let in and one that was not, at most.
        let span = case.events.last().map_or(0, |(at, _)| at.as_nanos());
        prop_assert!(step == 0 || numbers.len() as u64 <= 2 * (span / step + 1));
    }

    #[test]
    fn the_same_seed_gives_the_same_fates(case in cases()) {
        prop_assert_eq!(play(&case, PUNCTUAL), play(&case, PUNCTUAL));
    }
}
