//! Hand-outs ahead of time are those that come on time: random pipes of all models, driven in both ways.
//!
//! The cases are the same in every run; `PROPTEST_CASES=20000` tries more of them.

#[path = "../../link/tests/common/mod.rs"]
mod common;
#[path = "../../link/tests/common/models.rs"]
mod models;

use common::{Load, first_segment, number};
use models::{changes, configs, loads};
use netloom_fabric::{Fabric, Handout, PipeId, PipeSpec, PortId};
use netloom_link::{PipeChange, PipeConfig, PipeCounters};
use netloom_packet::Pool;
use netloom_units::{Duration, Instant, Seed};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

#[derive(Clone, Debug)]
enum Event {
    Send { load: Load, ecn: u8 },
    Change(Box<PipeChange>),
    Up(bool),
}

#[derive(Clone, Debug)]
struct Case {
    specs: Vec<PipeSpec>,
    /// At which instant, to which pipe, what happens.
    events: Vec<(Instant, u32, Event)>,
}

fn specs() -> impl Strategy<Value = Vec<PipeSpec>> {
    let window = prop_oneof![Just(0), 0..100_000_u64, 0..5_000_000_u64].prop_map(Duration::from_nanos);
    vec((configs(), window), 1..4).prop_map(|pipes| {
        let spec = |(index, (config, coalesce)): (u32, (PipeConfig, Duration))| PipeSpec {
            name: format!("link{index}"),
            config,
            coalesce,
            from: PortId(index),
            filter: None,
            to: PortId(index + 100),
        };
        (0..).zip(pipes).map(spec).collect()
    })
}

fn cases() -> impl Strategy<Value = Case> {
    let happening = prop_oneof![
        12 => (loads(), 0..4_u8).prop_map(|(load, ecn)| Event::Send { load, ecn }),
        1 => changes().prop_map(|change| Event::Change(Box::new(change))),
        1 => any::<bool>().prop_map(Event::Up),
    ];
    let pause = prop_oneof![Just(0), 1..20_000_u64, 1..2_000_000_u64];
    (specs(), vec((pause, any::<prop::sample::Index>(), happening), 1..60)).prop_map(|(specs, events)| {
        let mut now = Instant::ZERO;
        let mut later = |nanos| {
            now = now + Duration::from_nanos(nanos);
            now
        };
        let pipe = |index: prop::sample::Index| u32::try_from(index.index(specs.len())).expect("few pipes");
        let events = events.into_iter().map(|(gap, index, event)| (later(gap), pipe(index), event)).collect();
        Case { specs, events }
    })
}

/// A hand-out: pipe, packet, first segment, segments, due, first due.
type Record = (u32, u32, u32, u32, Instant, Instant);

/// What the pipes have counted at an instant.
type Books = (Instant, Vec<PipeCounters>);

struct Player<'a> {
    fabric: Fabric,
    pool: Pool,
    /// What is still to happen.
    events: std::iter::Peekable<std::iter::Enumerate<std::slice::Iter<'a, (Instant, u32, Event)>>>,
    records: Vec<Record>,
    books: Vec<Books>,
}

const NANOSECOND: Duration = Duration::from_nanos(1);

impl<'a> Player<'a> {
    fn new(case: &'a Case) -> Self {
        let fabric = Fabric::new(Seed::new(7), &case.specs);
        let events = case.events.iter().enumerate().peekable();
        Self { fabric, pool: Pool::default(), events, records: Vec::new(), books: Vec::new() }
    }

    /// When the next thing happens, until `end`.
    fn next(&mut self, end: Instant) -> Option<Instant> {
        let event = self.events.peek().map(|(_, (at, ..))| *at);
        [event, self.fabric.next_wake()].into_iter().flatten().min().filter(|at| *at < end)
    }

    /// Makes the changes of `now`, which come before all packets of that instant that do not stand before them.
    fn change(&mut self, now: Instant) {
        while let Some((_, (_, pipe, event))) =
            self.events.next_if(|(_, (at, _, event))| *at == now && !matches!(event, Event::Send { .. }))
        {
            match event {
                Event::Change(change) => self.fabric.change(now, PipeId(*pipe), change),
                Event::Up(up) => self.fabric.set_up(now, PipeId(*pipe), *up),
                Event::Send { .. } => unreachable!("filtered above"),
            }
        }
    }

    /// Sends what is sent before `end`, until something is changed.
    fn send(&mut self, end: Instant) {
        while let Some((count, (at, pipe, event))) =
            self.events.next_if(|(_, (at, _, event))| *at < end && matches!(event, Event::Send { .. }))
        {
            let Event::Send { load, ecn } = event else { unreachable!("filtered above") };
            let packet = load.packet_with(&mut self.pool, u32::try_from(count).expect("few"), *ecn);
            self.fabric.inject(*at, PortId(*pipe), packet).expect("a known port");
        }
        self.fabric.recycle(&mut self.pool);
    }

    fn advance(&mut self, now: Instant) {
        let records = &mut self.records;
        self.fabric.advance(now, |handout| records.push(record(&handout)));
    }

    /// Does everything of one instant.
    fn play_instant(&mut self, now: Instant) {
        while self.next(now + NANOSECOND).is_some() {
            self.change(now);
            self.advance(now);
            self.send(now + NANOSECOND);
            self.advance(now);
        }
    }

    fn note_books(&mut self, until: Instant) {
        // The pipes do what they have put off.
        self.fabric.settle(until - NANOSECOND);
        self.books.push((until, self.fabric.counters().copied().collect()));
    }

    /// One instant after the other; the books are noted at these instants.
    fn play_on_time(&mut self, end: Instant, notes: &[Books]) {
        for until in notes.iter().map(|(until, _)| *until) {
            while let Some(now) = self.next(until) {
                self.play_instant(now);
            }
            self.note_books(until);
        }
        while let Some(now) = self.next(end) {
            self.play_instant(now);
        }
    }

    /// In windows as long as can be.
    fn play_ahead(&mut self, end: Instant) -> usize {
        let mut ahead = 0;
        while let Some(now) = self.next(end) {
            self.change(now);
            self.advance(now);
            let next_change = self.events.clone().find(|(_, (.., event))| !matches!(event, Event::Send { .. }));
            let limit = next_change.map_or(end, |(_, (at, ..))| *at);
            let until = self.fabric.certain_until(now).min(limit);
            if until <= now {
                self.play_instant(now);
                continue;
            }
            let (records, before) = (&mut self.records, ahead);
            self.fabric.advance_certain(until, |handout: Handout| {
                assert!(handout.departure.due > now && handout.departure.due < until);
                ahead += 1;
                records.push(record(&handout));
            });
            self.send(until);
            if before < ahead {
                self.note_books(until);
            }
        }
        ahead
    }
}

fn record(handout: &Handout) -> Record {
    let Handout { pipe, departure, .. } = handout;
    let packet = &departure.packet;
    (pipe.0, number(packet), first_segment(packet), packet.segments(), departure.due, departure.first_due)
}

/// For how long the pipes are called after the last event; cross traffic never ends.
const LINGER: Duration = Duration::from_millis(500);

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(7),
        ..ProptestConfig::default()
    })]

    #[test]
    fn ahead_of_time_is_on_time(case in cases()) {
        let end = case.events.last().map_or(Instant::ZERO, |(at, ..)| *at) + LINGER;
        let (mut ahead, mut on_time) = (Player::new(&case), Player::new(&case));
        ahead.play_ahead(end);
        on_time.play_on_time(end, &ahead.books);
        prop_assert_eq!(&ahead.records, &on_time.records);
        prop_assert_eq!(&ahead.books, &on_time.books);
    }
}
