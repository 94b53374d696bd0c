//! A pipe: impairments, then a bounded queue, then a transmitter, then a delay line (dummynet: Rizzo 1997, section 2).

use crate::drop_tail::{DropTail, Transmission};
use crate::line::Line;
use crate::loss::Loss;
use crate::transmitter::{Sending, Transmitter};
use crate::{Departure, LossConfig, PipeChange, PipeConfig, PipeCounters, QueueConfig, Tally};
use alloc::vec::Vec;
use netloom_packet::Packet;
use netloom_units::{Duration, Instant, Limit, Rate, Seed};

/// Where dropped packets go, so that their buffers can be used again.
pub type Waste = Vec<Packet>;

/// One direction of a link.
///
/// Time is an argument everywhere and never goes backwards: what is said to happen before the latest event happens at
/// that event. Every instant is computed from arrivals, sizes and delays; being called late changes nothing.
#[derive(Debug)]
pub struct Pipe {
    rate: Option<Rate>,
    delay: Duration,
    coalesce: Duration,
    up: bool,
    loss: Loss,
    queue: DropTail,
    transmitter: Transmitter,
    line: Line,
    now: Instant,
    counters: PipeCounters,
}

impl Pipe {
    /// A pipe that is up and empty. `coalesce`: neighbouring segments that are due within this span leave together.
    pub fn new(config: &PipeConfig, coalesce: Duration, seed: Seed) -> Self {
        let PipeConfig { rate, delay, queue: QueueConfig::DropTail(limit), loss } = config;
        Self {
            rate: *rate,
            delay: *delay,
            coalesce,
            up: true,
            loss: Loss::new(loss.clone(), seed.derive("loss")),
            queue: DropTail::new(*limit),
            transmitter: Transmitter::default(),
            line: Line::default(),
            now: Instant::ZERO,
            counters: PipeCounters::default(),
        }
    }

    /// What the pipe has counted so far.
    pub fn counters(&self) -> &PipeCounters {
        &self.counters
    }

    /// A packet enters at `now`.
    pub fn push(&mut self, now: Instant, packet: Packet, waste: &mut Waste) {
        self.advance(now);
        self.counters.arrived.add(&packet);
        if !self.up {
            drop_packet(&mut self.counters.dropped.down, packet, waste);
            return;
        }
        let mut train = packet;
        loop {
            let survivors = self.loss.survivors(train.segments());
            if survivors == train.segments() {
                return self.accept(train, waste);
            }
            if let Some(front) = train.split_front(survivors) {
                self.accept(front, waste);
            }
            let Some(lost) = train.split_front(1) else {
                return drop_packet(&mut self.counters.dropped.loss, train, waste);
            };
            drop_packet(&mut self.counters.dropped.loss, lost, waste);
        }
    }

    /// What the impairments let through goes to the transmitter, or waits for it.
    fn accept(&mut self, mut train: Packet, waste: &mut Waste) {
        let Some(rate) = self.rate else {
            self.counters.travelling.add(&train);
            self.depart(train, self.now, Duration::ZERO, false);
            return;
        };
        while self.transmitter.sending().is_none() {
            let Some(first) = train.split_front(1) else {
                self.start(train, self.now, rate);
                // What takes less than a nanosecond is sent before the segment behind it asks for room.
                return self.send_until(self.now);
            };
            self.start(first, self.now, rate);
            self.send_until(self.now);
        }
        let arriving = Tally { packets: u64::from(train.segments()), bytes: train.size().get() };
        let refused = self.queue.push(train, self.transmission(rate));
        self.counters.queued.packets += arriving.packets;
        self.counters.queued.bytes += arriving.bytes;
        if let Some(tail) = refused {
            self.counters.queued.take(&tail);
            drop_packet(&mut self.counters.dropped.queue, tail, waste);
        }
        self.counters.queue_peak = self.counters.queue_peak.max(self.queue.packets());
    }

    fn start(&mut self, segment: Packet, now: Instant, rate: Rate) {
        self.counters.travelling.add(&segment);
        self.transmitter.start(segment, now, rate);
    }

    fn transmission(&self, rate: Rate) -> Transmission {
        Transmission { rate, remaining: self.transmitter.remaining(self.now) }
    }

    /// A segment, or without a rate limit a train, is sent at `sent` and travels from then on.
    fn depart(&mut self, packet: Packet, sent: Instant, serialization: Duration, back_to_back: bool) {
        let due = sent + self.delay;
        self.line.push(Departure { packet, due, first_due: due, delay: self.delay, serialization, back_to_back });
    }

    /// Sends what can be sent until `now`, and something happens at `now`.
    fn advance(&mut self, now: Instant) {
        self.send_until(now);
        self.now = self.now.max(now);
    }

    /// Sends what can be sent until `end`, each segment at its computed instant.
    ///
    /// The pipe's own time only goes on to the last of these instants: a driver that looks at the clock before it reads
    /// its sockets may still hand in packets that arrived before `end`.
    fn send_until(&mut self, end: Instant) {
        while let Some(sent) = self.transmitter.finished(end) {
            let Sending { segment, finish, serialization, back_to_back } = sent;
            self.now = self.now.max(finish);
            self.depart(segment, finish, serialization, back_to_back);
            let Some(rate) = self.rate else { return };
            if let Some(next) = self.queue.pop() {
                self.counters.queued.take(&next);
                self.start(next, finish, rate);
            }
        }
    }

    /// The next packet that is due at `now`, in order.
    pub fn pop(&mut self, now: Instant) -> Option<Departure> {
        self.send_until(now);
        let (leave, entries) = self.head()?;
        if leave > now {
            return None;
        }
        let departure = self.line.pop(entries)?;
        self.counters.travelling.take(&departure.packet);
        self.counters.departed.add(&departure.packet);
        Some(departure)
    }

    fn head(&self) -> Option<(Instant, usize)> {
        let sending = self.transmitter.sending();
        self.line.head(self.coalesce, sending.map(|s| (&s.segment, self.line.due_behind(s.finish + self.delay))))
    }

    /// When [`Pipe::pop`] will have something; none while the pipe is empty.
    pub fn next_wake(&self) -> Option<Instant> {
        match self.head() {
            Some((leave, _)) => Some(leave),
            None => self.transmitter.sending().map(|sending| self.line.due_behind(sending.finish + self.delay)),
        }
    }

    /// Changes the pipe at `now` with packets inside.
    ///
    /// What is on its way keeps its due instant. The segment that is being sent is sent to its end at the new rate.
    /// What waits keeps its order; the tail that a smaller queue has no room for is dropped.
    pub fn change(&mut self, now: Instant, change: &PipeChange, waste: &mut Waste) {
        self.advance(now);
        if let Some(delay) = change.delay {
            self.delay = delay;
        }
        if let Some(loss) = &change.loss {
            self.loss.configure(LossConfig::clone(loss));
        }
        if let Some(rate) = change.rate {
            self.change_rate(rate);
        }
        if let Some(QueueConfig::DropTail(limit)) = change.queue {
            self.change_limit(limit, waste);
        }
    }

    fn change_rate(&mut self, new: Option<Rate>) {
        match (core::mem::replace(&mut self.rate, new), new) {
            (Some(old), Some(rate)) => self.transmitter.change_rate(self.now, old, rate),
            (Some(_), None) => self.send_all_now(),
            (None, _) => {}
        }
    }

    /// The limit is gone: everything that waited is sent at once.
    fn send_all_now(&mut self) {
        if let Some(sending) = self.transmitter.abort() {
            self.depart(sending.segment, self.now, Duration::ZERO, false);
        }
        for train in self.queue.drain() {
            self.counters.queued.take(&train);
            self.counters.travelling.add(&train);
            self.depart(train, self.now, Duration::ZERO, false);
        }
    }

    fn change_limit(&mut self, limit: Limit, waste: &mut Waste) {
        let Some(rate) = self.rate else {
            self.queue = DropTail::new(limit);
            return;
        };
        let transmission = self.transmission(rate);
        for refused in self.queue.set_limit(limit, transmission).into_iter().flatten() {
            self.counters.queued.take(&refused);
            drop_packet(&mut self.counters.dropped.queue, refused, waste);
        }
    }

    /// Cuts the link or joins it again.
    ///
    /// A cut drops what waits and the segment that is being sent; what had left the transmitter arrives. While the link
    /// is down, everything that comes in is dropped.
    pub fn set_up(&mut self, now: Instant, up: bool, waste: &mut Waste) {
        self.advance(now);
        self.up = up;
        if up {
            return;
        }
        if let Some(sending) = self.transmitter.abort() {
            self.counters.travelling.take(&sending.segment);
            drop_packet(&mut self.counters.dropped.down, sending.segment, waste);
        }
        for train in self.queue.drain() {
            self.counters.queued.take(&train);
            drop_packet(&mut self.counters.dropped.down, train, waste);
        }
    }
}

fn drop_packet(cause: &mut Tally, packet: Packet, waste: &mut Waste) {
    cause.add(&packet);
    waste.push(packet);
}
