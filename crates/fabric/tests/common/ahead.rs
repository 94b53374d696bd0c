//! Plays a network in both ways, ahead of time and on time, so that a test can say that both are the same.

use netloom_fabric::{Delivery, Fabric, PipeId, PortId};
use netloom_link::{PipeChange, PipeCounters};
use netloom_packet::{Packet, Pool};
use netloom_units::{Duration, Instant};
use std::fmt::Debug;
use std::iter::{Enumerate, Peekable};
use std::slice::Iter;

/// What happens to a network.
#[derive(Clone, Debug)]
pub(crate) enum Event<L> {
    Send(L),
    Change(PipeId, Box<PipeChange>),
    Up(PipeId, bool),
}

/// And when.
pub(crate) type Happening<L> = (Instant, Event<L>);

/// What a test knows of its network.
pub(crate) trait Network {
    /// What is sent.
    type Load;
    /// What is noted of a delivery.
    type Record: Debug + PartialEq;
    /// Whether counters are the same at each instant: attempts on the air are counted when they are foreseen.
    const HAS_BOOKS: bool = true;

    fn fabric(&self) -> Fabric;
    /// The packet of the event of this number, and where it enters.
    fn packet(&self, pool: &mut Pool, number: usize, load: &Self::Load) -> (PortId, Packet);
    fn record(delivery: &Delivery) -> Self::Record;
}

/// What the pipes have counted at an instant.
type Books = (Instant, Vec<PipeCounters>);

struct Player<'a, N: Network> {
    network: &'a N,
    fabric: Fabric,
    pool: Pool,
    /// What is still to happen.
    events: Peekable<Enumerate<Iter<'a, Happening<N::Load>>>>,
    records: Vec<N::Record>,
    books: Vec<Books>,
}

const NANOSECOND: Duration = Duration::from_nanos(1);

/// Plays these events in both ways until some time after the last one, since cross traffic never ends.
///
/// # Panics
/// If deliveries or counters differ.
pub(crate) fn assert_same<N: Network>(network: &N, events: &[Happening<N::Load>], linger: Duration) {
    let end = events.last().map_or(Instant::ZERO, |(at, _)| *at) + linger;
    let [mut ahead, mut on_time] = [(); 2].map(|()| Player::new(network, events));
    ahead.play_ahead(end);
    on_time.play_on_time(end, &ahead.books);
    assert_eq!(ahead.records, on_time.records);
    if N::HAS_BOOKS {
        assert_eq!(ahead.books, on_time.books);
    }
}

impl<'a, N: Network> Player<'a, N> {
    fn new(network: &'a N, events: &'a [Happening<N::Load>]) -> Self {
        let events = events.iter().enumerate().peekable();
        let (fabric, pool) = (network.fabric(), Pool::default());
        Self { network, fabric, pool, events, records: Vec::new(), books: Vec::new() }
    }

    /// When the next thing happens, until `end`.
    fn next(&mut self, end: Instant) -> Option<Instant> {
        let event = self.events.peek().map(|(_, (at, _))| *at);
        [event, self.fabric.next_wake()].into_iter().flatten().min().filter(|at| *at < end)
    }

    /// Makes the changes of `now`, which come before all packets of that instant that do not stand before them.
    fn change(&mut self, now: Instant) {
        while let Some((_, (_, event))) =
            self.events.next_if(|(_, (at, event))| *at == now && !matches!(event, Event::Send(_)))
        {
            match event {
                Event::Change(pipe, change) => self.fabric.change(now, *pipe, change),
                Event::Up(pipe, up) => self.fabric.set_up(now, *pipe, *up),
                Event::Send(_) => unreachable!("filtered above"),
            }
        }
    }

    /// Sends what is sent before `end`, until something is changed.
    fn send(&mut self, end: Instant) {
        while let Some((number, (at, event))) =
            self.events.next_if(|(_, (at, event))| *at < end && matches!(event, Event::Send(_)))
        {
            let Event::Send(load) = event else { unreachable!("filtered above") };
            let (port, packet) = self.network.packet(&mut self.pool, number, load);
            self.fabric.inject(*at, port, packet).expect("a known port");
        }
        self.fabric.recycle(&mut self.pool);
    }

    fn advance(&mut self, now: Instant) {
        let records = &mut self.records;
        self.fabric.advance(now, |delivery| records.push(N::record(&delivery)));
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
        for until in notes.iter().map(|(until, _)| *until).chain([end]) {
            while let Some(now) = self.next(until) {
                self.play_instant(now);
            }
            if until < end {
                self.note_books(until);
            }
        }
    }

    /// In windows as long as can be.
    fn play_ahead(&mut self, end: Instant) {
        while let Some(now) = self.next(end) {
            self.change(now);
            self.advance(now);
            let next_change = self.events.clone().find(|(_, (_, event))| !matches!(event, Event::Send(_)));
            let limit = next_change.map_or(end, |(_, (at, _))| *at);
            let until = self.fabric.lookahead_until(now).min(limit);
            if until <= now {
                self.play_instant(now);
                continue;
            }
            let before = self.records.len();
            let records = &mut self.records;
            self.fabric.advance_certain(until, |leave, delivery: Delivery| {
                assert!(leave >= delivery.departure.due && leave < until);
                assert!(delivery.departure.due > now && delivery.departure.due < until);
                records.push(N::record(&delivery));
            });
            let is_ahead = before < self.records.len();
            self.send(until);
            self.fabric.catch_up(until - NANOSECOND);
            if is_ahead && until < end {
                self.note_books(until);
            }
        }
    }
}
