//! Hand-outs ahead of time are those that come on time, behind routers, too: random pipes of all models.

use crate::kernel::written;
use crate::models::{changes, configs};
use crate::network::{Chain, mac, stream};
use netloom_fabric::{Fabric, Handout, PipeId, PortId};
use netloom_link::{PipeChange, PipeCounters};
use netloom_packet::Pool;
use netloom_units::{Duration, Instant};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

const NANOSECOND: Duration = Duration::from_nanos(1);
/// For how long the pipes are called after the last event; cross traffic never ends.
const LINGER: Duration = Duration::from_millis(300);

#[derive(Clone, Debug)]
enum Event {
    /// From the sender, the receiver or a side host; a train or a packet, to either end, with so many hops to live.
    Send {
        from: PortId,
        payload: usize,
        back: bool,
        ttl: u8,
    },
    Change(PipeId, Box<PipeChange>),
    Up(PipeId, bool),
}

type Case = (Chain, Vec<(Instant, Event)>);

fn cases() -> impl Strategy<Value = Case> {
    let window = prop_oneof![Just(0), 0..100_000_u64, 0..5_000_000_u64].prop_map(Duration::from_nanos);
    let happening = prop_oneof![
        12 => (1..6_000_usize, any::<bool>(), prop_oneof![3 => Just(64_u8), 1 => 1..4_u8]).prop_map(|(payload, back, ttl)| {
            Event::Send { from: PortId(0), payload, back, ttl }
        }),
        1 => changes().prop_map(|change| Event::Change(PipeId(0), Box::new(change))),
        1 => any::<bool>().prop_map(|up| Event::Up(PipeId(0), up)),
    ];
    let pause = prop_oneof![Just(0), 1..20_000_u64, 1..2_000_000_u64];
    let events = vec((pause, any::<u32>(), happening), 1..40);
    (1..4_usize, vec((configs(), window), 1..14), events).prop_map(|(routers, models, events)| {
        let mut models = models.into_iter().cycle();
        let chain = Chain::new(routers, || models.next().unwrap());
        let (pipes, end) = (u32::try_from(chain.pipes.len()).unwrap(), u32::try_from(routers).unwrap());
        let mut now = Instant::ZERO;
        let place = |(gap, pick, event): (u64, u32, Event)| {
            now = now + Duration::from_nanos(gap);
            let event = match event {
                Event::Send { payload, back, ttl, .. } => {
                    let from = match pick % (end + 2) {
                        0 => PortId(0),
                        1 => PortId(2 * end + 1),
                        side => PortId(2 * (end + side - 1)),
                    };
                    Event::Send { from, payload, back, ttl }
                }
                Event::Change(_, change) => Event::Change(PipeId(pick % pipes), change),
                Event::Up(_, up) => Event::Up(PipeId(pick % pipes), up),
            };
            (now, event)
        };
        let events = events.into_iter().map(place).collect();
        (chain, events)
    })
}

/// A hand-out: pipe, port, headers and payload, segments, due, first due.
type Record = (u32, u32, Vec<u8>, u32, Instant, Instant);
/// What the pipes have counted at an instant.
type Books = (Instant, Vec<PipeCounters>);

struct Player<'a> {
    fabric: Fabric,
    pool: Pool,
    /// What is still to happen.
    events: std::iter::Peekable<std::iter::Enumerate<std::slice::Iter<'a, (Instant, Event)>>>,
    records: Vec<Record>,
    books: Vec<Books>,
}

impl<'a> Player<'a> {
    fn new((chain, events): &'a Case) -> Self {
        let events = events.iter().enumerate().peekable();
        Self { fabric: chain.fabric(), pool: Pool::default(), events, records: Vec::new(), books: Vec::new() }
    }

    fn next(&mut self, end: Instant) -> Option<Instant> {
        let event = self.events.peek().map(|(_, (at, _))| *at);
        [event, self.fabric.next_wake()].into_iter().flatten().min().filter(|at| *at < end)
    }

    fn change(&mut self, now: Instant) {
        while let Some((_, (_, event))) =
            self.events.next_if(|(_, (at, event))| *at == now && !matches!(event, Event::Send { .. }))
        {
            match event {
                Event::Change(pipe, change) => self.fabric.change(now, *pipe, change),
                Event::Up(pipe, up) => self.fabric.set_up(now, *pipe, *up),
                Event::Send { .. } => unreachable!("filtered above"),
            }
        }
    }

    fn send(&mut self, end: Instant) {
        while let Some((count, (at, event))) =
            self.events.next_if(|(_, (at, event))| *at < end && matches!(event, Event::Send { .. }))
        {
            let Event::Send { from, payload, back, ttl } = event else { unreachable!("filtered above") };
            let (virtio, mut frame) = stream(false, u16::try_from(count * 100).unwrap(), *payload).super_packet();
            frame[..6].copy_from_slice(&mac(from.0 ^ 1));
            if *back {
                // The sum of both addresses is the same.
                frame[26..34].rotate_left(4);
            }
            frame[22] = *ttl;
            let packet = self.pool.packet(virtio, &frame);
            self.fabric.inject(*at, *from, packet).unwrap();
        }
        self.fabric.recycle(&mut self.pool);
    }

    fn advance(&mut self, now: Instant) {
        let records = &mut self.records;
        self.fabric.advance(now, |handout| records.push(record(&handout)));
    }

    fn play_instant(&mut self, now: Instant) {
        while self.next(now + NANOSECOND).is_some() {
            self.change(now);
            self.advance(now);
            self.send(now + NANOSECOND);
            self.advance(now);
        }
    }

    fn note_books(&mut self, until: Instant) {
        self.fabric.settle(until - NANOSECOND);
        self.books.push((until, self.fabric.counters().copied().collect()));
    }

    fn play_on_time(&mut self, end: Instant, notes: &[Books]) {
        for until in notes.iter().map(|(until, _)| *until).chain([end]) {
            while let Some(now) = self.next(until) {
                self.play_instant(now);
            }
            if until < end {
                self.note_books(until);
            }
        }
    }

    /// In windows as long as can be. Says how many hand-outs were made ahead.
    fn play_ahead(&mut self, end: Instant) -> usize {
        let mut ahead = 0;
        while let Some(now) = self.next(end) {
            self.change(now);
            self.advance(now);
            let next_change = self.events.clone().find(|(_, (_, event))| !matches!(event, Event::Send { .. }));
            let limit = next_change.map_or(end, |(_, (at, _))| *at);
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
            self.fabric.catch_up(until - NANOSECOND);
            if before < ahead && until < end {
                self.note_books(until);
            }
        }
        ahead
    }
}

fn record(handout: &Handout) -> Record {
    let Handout { pipe, port, departure } = handout;
    let (packet, bytes) = (&departure.packet, written(&departure.packet).1);
    (pipe.0, port.0, bytes, packet.segments(), departure.due, departure.first_due)
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(7),
        ..ProptestConfig::default()
    })]

    #[test]
    fn ahead_of_time_is_on_time(case in cases()) {
        let end = case.1.last().map_or(Instant::ZERO, |(at, _)| *at) + LINGER;
        let (mut ahead, mut on_time) = (Player::new(&case), Player::new(&case));
        ahead.play_ahead(end);
        on_time.play_on_time(end, &ahead.books);
        prop_assert_eq!(&ahead.records, &on_time.records);
        prop_assert_eq!(&ahead.books, &on_time.books);
    }
}

/// What is on its way along a chain is known for as long as the whole chain takes.
#[test]
fn paths_add_up() {
    let chain = Chain::plain(9, Duration::from_millis(1));
    // From the sender to the receiver it takes ten links, but between two hosts at the sides of one router two.
    assert_eq!(chain.fabric().certain_until(Instant::ZERO), Instant::ZERO + Duration::from_millis(2));
}
