//! A pipe: impairments, then a bounded queue, then a transmitter, then a delay line (dummynet: Rizzo 1997, section 2).
//!
//! The pipe is a state machine with three kinds of events beside arrivals: a transmission ends, the idle transmitter
//! opens for the packet that waits, and an internal event is due (a step of the schedule, a flap, a packet of cross
//! traffic, or one that a partition has held). `run_until` executes them in order, each at its computed instant, before anything else; so it does not
//! matter when the pipe is called. The ledger records each packet's fate at that moment: it keeps the counters and
//! sets dropped packets aside with instant and cause.
//!
//! Invariants:
//!
//! - Every instant follows from arrivals, sizes, rates and delays. A driver that calls late gets the same due
//!   instants as one that calls on time.
//! - A pipe treats a train exactly as it would treat its segments one by one.
//! - At every moment, the arrivals of a pipe equal its departures, its drops, the packets that wait and the packets
//!   in flight.
//! - What a partition holds has arrived, and meets the models when it is let go.
//! - Cross traffic is made inside a pipe and leaves it with its last bit. It takes room and time there, and no other
//!   crate sees it.

mod cuts;
mod faults;
mod held;
mod lookahead;
mod on_air;
mod sample;
mod scheduled;

use crate::air::Air;
use crate::cause::Cause;
use crate::delay::{Delay, Order};
use crate::drop_log::DropLog;
use crate::impairments::Impairments;
use crate::internal_events::{CATCH_UP, InternalEvents, TimedEvent, earlier};
use crate::ledger::Ledger;
use crate::line::Line;
use crate::note;
use crate::queue::{Queue, Transmission};
use crate::reorder::Reorder;
use crate::state::{Cuts, OnTheWire};
use crate::transmitter::{Sending, Transmitter};
use crate::{Departure, PipeChange, PipeConfig, PipeCounters, QueueConfig, RateConfig, Tally};
use alloc::{boxed::Box, vec::Vec};
use netloom_packet::Packet;
use netloom_units::{Duration, Instant, Rate, Seed};
pub use sample::PipeSample;
use scheduled::Slopes;

/// One direction of a link.
///
/// Time is an argument everywhere and never goes backwards: what is said to happen before the latest event happens at
/// that event. Every instant is computed from arrivals, sizes and delays; being called late changes nothing.
#[derive(Clone, Debug)]
pub struct Pipe {
    coalesce: Duration,
    cuts: Cuts,
    impairments: Impairments,
    /// Room for what the impairments let through of one packet; empty in between.
    passed: Vec<Packet>,
    queue: Queue,
    /// The queue's configuration.
    discipline: QueueConfig,
    transmitter: Transmitter,
    /// A radio medium in place of queue and transmitter.
    air: Option<Box<Air>>,
    /// When the idle transmitter takes what waits; none if nothing does, or if it is not idle.
    opening: Option<Instant>,
    delay: Delay,
    reorder: Reorder,
    line: Line,
    internal_events: Option<Box<InternalEvents>>,
    slopes: Slopes,
    on_the_wire: OnTheWire,
    seed: Seed,
    now: Instant,
    counters: PipeCounters,
}

/// What happens in a pipe without a call from outside.
#[derive(Clone, Copy, Debug)]
enum Event {
    Sent,
    Opening,
    Internal,
    Air,
}

impl Pipe {
    /// Creates a pipe that is up and empty. `coalesce`: neighbouring segments that are due within this span leave together.
    pub fn new(config: &PipeConfig, coalesce: Duration, seed: Seed) -> Self {
        Self {
            coalesce,
            cuts: Cuts::new(&config.state, seed),
            impairments: Impairments::new(config, seed),
            passed: Vec::new(),
            queue: Queue::new(&config.queue, seed.derive("queue")),
            discipline: config.queue.clone(),
            transmitter: Transmitter::new(&config.rate, config.overhead, seed.derive("rate")),
            air: config.air.as_ref().map(|air| Air::new(air, seed.derive("air"))),
            opening: None,
            delay: Delay::new(config.delay.clone(), seed.derive("delay")),
            reorder: Reorder::new(config.reorder, seed.derive("reorder")),
            line: Line::default(),
            internal_events: InternalEvents::new(config, seed),
            slopes: Slopes::default(),
            on_the_wire: config.state.on_the_wire,
            seed,
            now: Instant::ZERO,
            counters: PipeCounters::default(),
        }
    }

    /// Pushes a packet into the pipe at `now`.
    #[inline]
    pub fn push(&mut self, now: Instant, packet: Packet, drop_log: &mut DropLog) {
        self.advance(now, drop_log);
        self.arrive(packet, drop_log);
    }

    /// Takes over a packet that has come through another pipe, for its last stretch: it leaves when it is due there. Meant for a
    /// pipe without any model of its own; such packets come in order of due instants.
    #[inline]
    pub fn forward(&mut self, departure: Departure, drop_log: &mut DropLog) {
        let mut ledger = Ledger { counters: &mut self.counters, drop_log, now: self.now };
        ledger.arrive(&departure.packet);
        ledger.send(&departure.packet);
        self.line.push(departure);
    }

    fn arrive(&mut self, train: Packet, drop_log: &mut DropLog) {
        Ledger { counters: &mut self.counters, drop_log: &mut *drop_log, now: self.now }.arrive(&train);
        self.come_in(train, drop_log);
    }

    /// What has arrived meets the models.
    fn come_in(&mut self, train: Packet, drop_log: &mut DropLog) {
        self.set_sloping_loss();
        let mut ledger = Ledger { counters: &mut self.counters, drop_log, now: self.now };
        if !self.cuts.is_up() {
            return ledger.refuse(train, Cause::Down);
        }
        if self.impairments.are_idle() {
            return self.accept(train, drop_log);
        }
        let mut passed = core::mem::take(&mut self.passed);
        self.impairments.pass(train, &mut passed, &mut ledger);
        for piece in passed.drain(..) {
            self.accept(piece, drop_log);
        }
        self.passed = passed;
    }

    /// What the impairments let through goes to the transmitter, or waits for it.
    fn accept(&mut self, mut train: Packet, drop_log: &mut DropLog) {
        drop_log.note(self.now, &train, || note::Event::entered(&train));
        drop_log.enter(self.now, &train);
        if self.air.is_some() {
            return self.put_on_air(train, drop_log);
        }
        let Some(rate) = self.transmitter.rate() else { return self.send_at_once(train, drop_log) };
        while self.is_free() {
            let Some(first) = train.split_front(1) else {
                self.offer(train, rate, drop_log);
                return self.settle(drop_log);
            };
            self.offer(first, rate, drop_log);
            // What takes less than a nanosecond is sent before the segment behind it asks for room.
            self.settle(drop_log);
        }
        let transmission = self.transmission(rate);
        let mut ledger = Ledger { counters: &mut self.counters, drop_log, now: self.now };
        self.queue.push(self.now, train, transmission, &mut ledger);
        self.look_for_opening(self.now);
    }

    /// Whether a segment that arrives now can be sent now.
    fn is_free(&mut self) -> bool {
        self.transmitter.sending().is_none() && self.queue.is_empty() && self.transmitter.opens(self.now) <= self.now
    }

    /// A segment finds the transmitter free.
    fn offer(&mut self, segment: Packet, rate: Rate, drop_log: &mut DropLog) {
        if self.queue.is_bypassed() {
            return self.start(segment, self.now, drop_log);
        }
        let transmission = self.transmission(rate);
        let mut ledger = Ledger { counters: &mut self.counters, drop_log, now: self.now };
        self.queue.push(self.now, segment, transmission, &mut ledger);
        self.start_next(self.now, drop_log);
    }

    fn transmission(&self, rate: Rate) -> Transmission {
        let idle_since = self.transmitter.last_finish();
        Transmission { rate, remaining: self.transmitter.remaining(self.now), idle_since }
    }

    /// Puts the next segment that waits on the transmitter.
    fn start_next(&mut self, now: Instant, drop_log: &mut DropLog) {
        let mut ledger = Ledger { counters: &mut self.counters, drop_log, now: self.now };
        if let Some(segment) = self.queue.pop(now, &mut ledger) {
            self.start(segment, now, drop_log);
        }
    }

    /// If the transmitter is idle while something waits, finds out until when.
    fn look_for_opening(&mut self, now: Instant) {
        let is_waiting = self.transmitter.sending().is_none() && !self.queue.is_empty();
        self.opening = if is_waiting { Some(self.transmitter.opens(now)) } else { None };
    }

    fn start(&mut self, segment: Packet, now: Instant, drop_log: &mut DropLog) {
        Ledger { counters: &mut self.counters, drop_log, now: self.now }.send(&segment);
        let delay = self.delay.draw();
        self.transmitter.start(segment, now, delay);
        self.set_sloping_delay();
    }

    /// Without a rate limit nothing waits, and a train stays together unless its segments travel for different times.
    fn send_at_once(&mut self, mut train: Packet, drop_log: &mut DropLog) {
        let together = self.delay.is_constant() && self.reorder.is_idle();
        Ledger { counters: &mut self.counters, drop_log: &mut *drop_log, now: self.now }.send(&train);
        while let Some(first) = if together { None } else { train.split_front(1) } {
            self.send_instantly(first, drop_log);
        }
        self.send_instantly(train, drop_log);
    }

    fn send_instantly(&mut self, segment: Packet, drop_log: &mut DropLog) {
        let delay = self.sloping_delay(self.now).unwrap_or_else(|| self.delay.draw());
        self.depart(Sending::at_once(segment, self.now, delay), drop_log);
    }

    /// A segment, or without a rate limit a train, is sent and travels from then on.
    fn depart(&mut self, sent: Sending, drop_log: &mut DropLog) {
        let busy = sent.busy();
        let Sending { segment: packet, finish, serialization, delay, more_delay, .. } = sent;
        let delay = delay + more_delay;
        if packet.is_phantom() {
            return Ledger { counters: &mut self.counters, drop_log, now: self.now }.depart(&packet, self.now);
        }
        let hurried = if self.reorder.is_idle() { None } else { self.reorder.hurry(delay) };
        let delay = hurried.unwrap_or(delay);
        let due = finish + delay;
        let departure = Departure { packet, due, first_due: due, delay, busy };
        let is_in_order = hurried.is_none() && self.delay.order() == Order::Kept;
        let arrives = || if is_in_order { self.line.due_behind(due) } else { due };
        drop_log
            .note(finish, &departure.packet, || note::Event::Sent { start: finish - serialization, due: arrives() });
        drop_log.send(finish - serialization, finish, &departure.packet, arrives);
        if is_in_order {
            return self.line.push(departure);
        }
        let tally = Tally { packets: u64::from(departure.packet.segments()), bytes: departure.packet.size().get() };
        if self.line.push_free(departure) {
            self.counters.reordered.packets += tally.packets;
            self.counters.reordered.bytes += tally.bytes;
        }
    }

    /// Does what happens until `now`, and something happens at `now`.
    fn advance(&mut self, now: Instant, drop_log: &mut DropLog) {
        self.run_until(now, drop_log);
        self.now = self.now.max(now);
    }

    /// Does what happens until `end`, each event at its computed instant.
    ///
    /// The pipe's own time only goes on to the last of these instants: a driver that looks at the clock before it reads
    /// its sockets may still hand in packets that arrived before `end`.
    #[inline]
    fn run_until(&mut self, end: Instant, drop_log: &mut DropLog) {
        // A driver calls several times a packet, and mostly nothing has happened since.
        let is_quiet = self.transmitter.finish().or(self.opening).is_none_or(|at| at > end);
        if !is_quiet || self.internal_events.is_some() || self.air.is_some() {
            self.catch_up(end, drop_log);
        }
    }

    fn catch_up(&mut self, end: Instant, drop_log: &mut DropLog) {
        loop {
            self.skip_steps(end);
            let Some((at, event)) = self.next_event().filter(|(at, _)| *at <= end) else { return };
            self.happen(at, event, drop_log);
        }
    }

    /// Ends what takes no time, between two arrivals of one instant.
    fn settle(&mut self, drop_log: &mut DropLog) {
        while let Some((at, event)) = self.next_transmission().filter(|(at, _)| *at <= self.now) {
            self.happen(at, event, drop_log);
        }
    }

    fn happen(&mut self, at: Instant, event: Event, drop_log: &mut DropLog) {
        self.now = self.now.max(at);
        match event {
            Event::Sent => {
                if let Some(sent) = self.transmitter.finished() {
                    self.depart(sent, drop_log);
                }
                self.take_next(at, drop_log);
            }
            Event::Opening => {
                self.opening = None;
                self.start_next(at, drop_log);
                self.look_for_opening(at);
            }
            Event::Internal => self.act(at, drop_log),
            Event::Air => self.look_at_air(at, drop_log),
        }
    }

    /// When the transmitter has something to do next.
    fn next_transmission(&self) -> Option<(Instant, Event)> {
        let sent = self.transmitter.finish().map(|at| (at, Event::Sent));
        sent.or_else(|| self.opening.map(|at| (at, Event::Opening)))
    }

    /// The first of what happens by itself; of events at one instant, a transmission ends first.
    fn next_event(&self) -> Option<(Instant, Event)> {
        let own = self.next_transmission().or_else(|| self.air_wake().map(|at| (at, Event::Air)));
        let Some(internal_events) = &self.internal_events else { return own };
        let event = internal_events.next().map(|at| (at, Event::Internal));
        match (own, event) {
            (Some(own), Some(event)) => Some(if own.0 <= event.0 { own } else { event }),
            (own, event) => own.or(event),
        }
    }

    /// The transmitter has become free.
    fn take_next(&mut self, now: Instant, drop_log: &mut DropLog) {
        if self.queue.is_empty() {
            return;
        }
        let opens = self.transmitter.follows(now);
        if opens <= now {
            self.start_next(now, drop_log);
            self.look_for_opening(now);
        } else {
            self.opening = Some(opens);
        }
    }

    fn act(&mut self, at: Instant, drop_log: &mut DropLog) {
        match self.internal_events.as_mut().and_then(|internal_events| internal_events.take(at)) {
            Some(TimedEvent::Step(leg)) => self.step(&leg, drop_log),
            Some(TimedEvent::SetUp(up)) => self.switch(|cuts| cuts.by_flapping = !up, drop_log),
            Some(TimedEvent::Arrival(packet)) => self.arrive(packet, drop_log),
            Some(TimedEvent::Release(packet)) => self.release(packet, drop_log),
            None => {}
        }
    }

    /// Removes and returns the next packet that is due at `now`, in order of due instants.
    #[inline]
    pub fn pop(&mut self, now: Instant, drop_log: &mut DropLog) -> Option<Departure> {
        self.run_until(now, drop_log);
        match self.line.next_alone() {
            Some(leave) if leave > now => None,
            Some(leave) => self.pop_alone(leave, drop_log),
            None => self.pop_train(now, drop_log),
        }
    }

    fn pop_alone(&mut self, leave: Instant, drop_log: &mut DropLog) -> Option<Departure> {
        // The books are kept before it is taken, which spares a copy.
        let mut ledger = Ledger { counters: &mut self.counters, drop_log, now: self.now };
        self.line.head().into_iter().for_each(|packet| ledger.depart(packet, leave));
        self.line.pop_alone()
    }

    fn pop_train(&mut self, now: Instant, drop_log: &mut DropLog) -> Option<Departure> {
        let sending = self.transmitter.sending().map(|s| (&s.segment, self.line.due_behind(s.due())));
        let departure = self.line.pop(now, self.coalesce, sending)?;
        Ledger { counters: &mut self.counters, drop_log, now: self.now }.depart(&departure.packet, now);
        Some(departure)
    }

    /// Returns when [`Pipe::pop`] may have something; none while the pipe is empty.
    #[inline]
    pub fn next_wake(&self) -> Option<Instant> {
        match self.line.next_alone() {
            Some(leave) if self.internal_events.is_none() && self.is_simple() => Some(leave),
            _ => self.find_next_wake(),
        }
    }

    fn find_next_wake(&self) -> Option<Instant> {
        let sending = self.transmitter.sending().filter(|sending| !sending.segment.is_phantom());
        let coming = sending.map(|s| (&s.segment, self.line.due_behind(s.due())));
        let leave = self.line.next_leave(self.coalesce, coming);
        let busy = self.counters.queued.packets > 0 || sending.is_some();
        let wake = match &self.internal_events {
            None if self.is_simple() => return leave.or(coming.map(|(_, due)| due)).or(self.opening),
            None => leave,
            Some(internal_events) => earlier(leave, self.next_chore(internal_events, busy)),
        };
        if !busy {
            return earlier(wake, self.air.as_ref().and_then(|air| air.own_wake()));
        }
        earlier(wake, self.transmitter.finish().or(self.opening).or_else(|| self.air_wake()))
    }

    /// When a pipe with internal events wants to be called though nothing may leave. What changes it counts only while
    /// packets are inside; cross traffic is done in portions.
    fn next_chore(&self, internal_events: &InternalEvents, busy: bool) -> Option<Instant> {
        let change = if self.is_loaded() { internal_events.next_change(busy) } else { None };
        let own = self.next_transmission().map(|(at, _)| at);
        let put_off = earlier(own, internal_events.next_arrival()).map(|at| at + CATCH_UP);
        earlier(earlier(change, put_off), internal_events.next_release())
    }

    /// Whether packets leave in the order in which they are sent, so that the first of them is the first to be due.
    fn is_simple(&self) -> bool {
        self.delay.order() == Order::Kept && self.reorder.is_idle() && self.air.is_none()
    }

    /// Whether a packet is inside that will be delivered.
    fn is_loaded(&self) -> bool {
        self.counters.queued.packets + self.counters.travelling.packets > 0
    }

    /// Changes the pipe at `now` with packets inside.
    ///
    /// What is on its way keeps its due instant. The segment that is being sent is sent to its end at the new rate.
    /// What waits keeps its order; the tail that a smaller queue has no room for is dropped.
    pub fn change(&mut self, now: Instant, change: &PipeChange, drop_log: &mut DropLog) {
        self.advance(now, drop_log);
        if change.schedule.is_some() {
            self.end_slopes(drop_log);
        }
        self.apply(change, drop_log);
        if change.schedule.is_some() || change.state.is_some() || change.cross.is_some() {
            self.internal_events = InternalEvents::changed(self.internal_events.take(), self.now, change, self.seed);
        }
    }

    fn apply(&mut self, change: &PipeChange, drop_log: &mut DropLog) {
        self.slopes.leave(change);
        if let Some(delay) = &change.delay {
            self.delay.configure(delay.clone());
            if let Some(sending) = self.transmitter.sending_mut() {
                sending.delay = self.delay.draw();
            }
        }
        self.impairments.change(change);
        if let Some(reorder) = change.reorder {
            self.reorder.configure(reorder);
        }
        if let Some(overhead) = change.overhead {
            self.transmitter.set_overhead(overhead);
        }
        if let Some(rate) = &change.rate {
            self.change_rate(rate, drop_log);
        }
        if let Some(queue) = &change.queue {
            self.change_queue(queue, drop_log);
        }
        if let Some(state) = &change.state {
            self.on_the_wire = state.on_the_wire;
            self.cuts.carrier(self.now);
            self.cuts.flap(state, self.now, self.seed);
        }
    }

    fn change_rate(&mut self, rate: &RateConfig, drop_log: &mut DropLog) {
        self.transmitter.change_rate(self.now, rate);
        self.set_sloping_delay();
        if self.transmitter.rate().is_none() {
            self.send_all_now(drop_log);
        }
        self.look_for_opening(self.now);
    }

    /// The limit is gone: everything that waited is sent at once.
    fn send_all_now(&mut self, drop_log: &mut DropLog) {
        if let Some(sending) = self.transmitter.abort() {
            let delay = self.sloping_delay(self.now).unwrap_or(sending.delay);
            let finish = self.now;
            let whole = Sending { finish, serialization: Duration::ZERO, back_to_back: false, delay, ..sending };
            self.depart(whole, drop_log);
        }
        for train in self.queue.drain(self.now) {
            Ledger { counters: &mut self.counters, drop_log: &mut *drop_log, now: self.now }.release(&train);
            self.send_at_once(train, drop_log);
        }
    }

    fn change_queue(&mut self, queue: &QueueConfig, drop_log: &mut DropLog) {
        let seed = self.seed.derive("queue");
        self.discipline = queue.clone();
        let Some(rate) = self.transmitter.rate() else {
            self.queue = Queue::new(queue, seed);
            return;
        };
        let transmission = self.transmission(rate);
        let mut ledger = Ledger { counters: &mut self.counters, drop_log, now: self.now };
        self.queue.configure(self.now, queue, seed, transmission, &mut ledger);
        self.look_for_opening(self.now);
    }
}
