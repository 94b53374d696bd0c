//! Queue disciplines by their definitions: lists that are searched and added up again at every packet, timers that tick,
//! and a transmitter that takes a microsecond a byte. None of it is shared with the crate.

use netloom_link::{Cause, DualPi2Config, Overload, PieConfig, QueueConfig, RedConfig};
use netloom_units::{Duration, Limit, Seed};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Nanoseconds that a byte takes at the rate of all these tests.
pub(crate) const NANOS_PER_BYTE: u64 = 1_000;

/// One packet; `ecn` is its two bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Packet {
    pub(crate) number: u32,
    pub(crate) size: u64,
    pub(crate) ecn: u8,
    pub(crate) arrival: u64,
}

/// What became of a packet and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fate {
    /// Number, instant, whether it carries a mark.
    Left(u32, u64, bool),
    Dropped(u32, u64, Cause),
}

#[derive(Debug, Default)]
struct World {
    now: u64,
    sending: Option<(Packet, u64)>,
    last_finish: u64,
    fates: Vec<Fate>,
}

impl World {
    fn drop(&mut self, packet: Packet, cause: Cause) {
        self.fates.push(Fate::Dropped(packet.number, self.now, cause));
    }

    fn remaining(&self) -> u64 {
        self.sending.map_or(0, |(_, finish)| finish - self.now)
    }

    fn fits(&self, limit: Limit, waiting: &[Packet], size: u64) -> bool {
        let bytes: u64 = waiting.iter().map(|packet| packet.size).sum();
        match limit {
            Limit::Packets(most) => waiting.len() < most as usize,
            Limit::Bytes(most) => bytes + size <= most.get(),
            Limit::Time(longest) => self.remaining() + bytes * NANOS_PER_BYTE <= longest.as_nanos(),
        }
    }
}

/// Marks the packet if its sender understands.
fn mark(packet: &mut Packet) -> bool {
    if packet.ecn == 0 {
        return false;
    }
    packet.ecn = 3;
    true
}

trait Discipline {
    fn bypassed(&self) -> bool {
        false
    }
    fn period(&self) -> u64 {
        u64::MAX
    }
    fn tick(&mut self, _: &World) {}
    fn is_empty(&self) -> bool;
    fn arrive(&mut self, packet: Packet, world: &mut World);
    fn next(&mut self, world: &mut World) -> Option<Packet>;
}

/// Plays packets, which are in order of arrival, through a queue.
pub(crate) fn play(config: &QueueConfig, seed: Seed, packets: &[Packet]) -> Vec<Fate> {
    let random = Xoshiro256PlusPlus::seed_from_u64(seed.derive("queue").get());
    let mut queue: Box<dyn Discipline> = match config {
        QueueConfig::DropHead(limit) => Box::new(DropHead { limit: *limit, waiting: Vec::new() }),
        QueueConfig::Red(config) => Box::new(Red::new(*config, random)),
        QueueConfig::Pie(config) => Box::new(Pie::new(*config, random)),
        QueueConfig::DualPi2(config) => Box::new(DualPi2::new(*config)),
        other => unreachable!("{other:?} has no model here"),
    };
    let mut world = World::default();
    let mut tick = queue.period();
    let mut coming = packets.iter().copied().peekable();
    while coming.peek().is_some() || world.sending.is_some() {
        let arrival = coming.peek().map_or(u64::MAX, |packet| packet.arrival);
        let finish = world.sending.map_or(u64::MAX, |(_, finish)| finish);
        let next = arrival.min(finish);
        while tick <= next {
            world.now = tick;
            queue.tick(&world);
            tick = tick.saturating_add(queue.period());
        }
        world.now = next;
        if finish <= next {
            let (packet, _) = world.sending.take().expect("it is being sent");
            world.last_finish = finish;
            world.fates.push(Fate::Left(packet.number, finish, packet.ecn == 3));
        } else {
            let packet = coming.next().expect("it arrives");
            if queue.bypassed() && world.sending.is_none() && queue.is_empty() {
                world.sending = Some((packet, next + packet.size * NANOS_PER_BYTE));
            } else {
                queue.arrive(packet, &mut world);
            }
        }
        if world.sending.is_none() {
            world.sending = queue.next(&mut world).map(|packet| (packet, next + packet.size * NANOS_PER_BYTE));
        }
    }
    world.fates.sort();
    world.fates
}

struct DropHead {
    limit: Limit,
    waiting: Vec<Packet>,
}

impl Discipline for DropHead {
    fn bypassed(&self) -> bool {
        true
    }

    fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    fn arrive(&mut self, packet: Packet, world: &mut World) {
        self.waiting.push(packet);
        while let Some((last, others)) = self.waiting.split_last() {
            if world.fits(self.limit, others, last.size) {
                break;
            }
            world.drop(self.waiting.remove(0), Cause::Full);
        }
    }

    fn next(&mut self, _: &mut World) -> Option<Packet> {
        if self.waiting.is_empty() { None } else { Some(self.waiting.remove(0)) }
    }
}

/// The average is computed anew from all samples at every arrival.
struct Red {
    config: RedConfig,
    random: Xoshiro256PlusPlus,
    waiting: Vec<Packet>,
    /// What every packet did to the average: a length, or the packets that could have been sent.
    samples: Vec<Result<f64, f64>>,
    /// What became of the packets before: none below the threshold, else whether it was notified.
    history: Vec<Option<bool>>,
    /// The sizes of these packets.
    sizes: Vec<u64>,
    emptied: u64,
}

impl Red {
    fn new(config: RedConfig, random: Xoshiro256PlusPlus) -> Self {
        Self {
            config,
            random,
            waiting: Vec::new(),
            samples: Vec::new(),
            history: Vec::new(),
            sizes: Vec::new(),
            emptied: 0,
        }
    }

    fn average(&self) -> f64 {
        let weight = self.config.weight.as_f64();
        self.samples.iter().fold(0.0, |average, sample| match sample {
            Ok(length) => (1.0 - weight) * average + weight * length,
            Err(packets) => average * libm::pow(1.0 - weight, *packets),
        })
    }

    fn threshold(limit: Limit) -> f64 {
        match limit {
            Limit::Packets(packets) => packets.into(),
            Limit::Bytes(bytes) => bytes.get() as f64,
            Limit::Time(_) => unreachable!("refused"),
        }
    }

    /// ns-2's `modify_p` with `wait`. The first packet above the threshold passes, and is the first that is counted.
    fn is_due_after_wait(&mut self, p: f64, size: u64) -> bool {
        let passed = self.history.iter().rev().take_while(|one| **one == Some(false)).count();
        if passed == 0 && self.history.last().is_none_or(Option::is_none) {
            return false;
        }
        let bytes = self.sizes.iter().rev().take(passed).sum::<u64>() + size;
        let mean = self.config.mean_packet.get();
        let count = if self.config.byte_mode { bytes / mean } else { passed as u64 + 1 } as f64;
        let chance = if count * p < 1.0 {
            0.0
        } else if count * p < 2.0 {
            p / (2.0 - count * p)
        } else {
            1.0
        };
        let scaled = if chance < 1.0 { self.in_proportion(chance, size) } else { 1.0 };
        uniform(&mut self.random) < scaled
    }

    /// A probability in proportion to a packet's size, in byte mode.
    fn in_proportion(&self, probability: f64, size: u64) -> f64 {
        let scaled = probability * size as f64 / self.config.mean_packet.get() as f64;
        if self.config.byte_mode { scaled } else { probability }
    }

    /// Packets since the last notified one, or since the average came above the threshold.
    fn count(&self) -> u64 {
        let mut count = 0;
        for one in self.history.iter().rev() {
            match one {
                None => return count,
                Some(true) => return count + 1,
                Some(false) => count += 1,
            }
        }
        count
    }
}

impl Discipline for Red {
    fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    fn arrive(&mut self, mut packet: Packet, world: &mut World) {
        let (min, max) = (Self::threshold(self.config.min), Self::threshold(self.config.max));
        let length = match self.config.min {
            Limit::Bytes(_) => self.waiting.iter().map(|one| one.size).sum::<u64>() as f64,
            _ => self.waiting.len() as f64,
        };
        let idle = world.now - self.emptied.max(world.last_finish);
        let typical = self.config.mean_packet.get() * NANOS_PER_BYTE;
        let is_idle = self.waiting.is_empty() && world.remaining() == 0;
        self.samples.push(if is_idle { Err(idle as f64 / typical as f64) } else { Ok(length) });
        let average = self.average();
        let end = if self.config.gentle { 2.0 * max } else { max };
        let top = self.config.probability.as_f64();
        let mut notified = None;
        if average >= end {
            notified = Some(true);
        } else if average >= min {
            let plain = if average < max {
                top * (average - min) / (max - min)
            } else {
                top + (1.0 - top) * (average - max) / max
            };
            let p_b = self.in_proportion(plain, packet.size);
            let rest = 1.0 - self.count() as f64 * p_b;
            notified = Some(match self.config.wait {
                true => self.is_due_after_wait(plain, packet.size),
                false => rest <= 0.0 || uniform(&mut self.random) < p_b / rest,
            });
        }
        self.history.push(notified);
        self.sizes.push(packet.size);
        let is_dropped = notified == Some(true)
            && !((average < max || !self.config.hard_drop) && self.config.ecn && mark(&mut packet));
        if is_dropped {
            world.drop(packet, Cause::Early);
        } else if world.fits(self.config.limit, &self.waiting, packet.size) {
            self.waiting.push(packet);
        } else {
            world.drop(packet, Cause::Full);
        }
    }

    fn next(&mut self, world: &mut World) -> Option<Packet> {
        let next = if self.waiting.is_empty() { None } else { Some(self.waiting.remove(0)) };
        if next.is_some() && self.waiting.is_empty() {
            self.emptied = world.now;
        }
        next
    }
}

fn uniform(random: &mut Xoshiro256PlusPlus) -> f64 {
    (random.next_u64() >> 11) as f64 / 9_007_199_254_740_992.0
}

fn seconds(nanos: i128) -> f64 {
    nanos as f64 / 1e9
}

struct Pie {
    config: PieConfig,
    random: Xoshiro256PlusPlus,
    waiting: Vec<Packet>,
    waited: u64,
    probability: f64,
    /// Of the probabilities since the last drop.
    sum: f64,
    old: u64,
    burst: u64,
}

impl Pie {
    fn new(config: PieConfig, random: Xoshiro256PlusPlus) -> Self {
        let burst = config.burst.as_nanos();
        Self { config, random, waiting: Vec::new(), waited: 0, probability: 0.0, sum: 0.0, old: 0, burst }
    }

    fn delay(&self) -> u64 {
        if self.waiting.is_empty() { 0 } else { self.waited }
    }

    fn is_early(&mut self, packet: &Packet) -> bool {
        let bytes: u64 = self.waiting.iter().map(|one| one.size).sum();
        let mean = self.config.mean_packet.get();
        if (2 * self.old < self.config.target.as_nanos() && self.probability < 0.2) || bytes <= 2 * mean {
            return false;
        }
        let share = if self.config.byte_mode { packet.size as f64 / mean as f64 } else { 1.0 };
        if !self.config.derandomize {
            return uniform(&mut self.random) < self.probability * share;
        }
        if self.probability == 0.0 {
            self.sum = 0.0;
        } else {
            self.sum += self.probability * share;
        }
        if self.sum < 0.85 {
            return false;
        }
        let is_early = self.sum >= 8.5 || uniform(&mut self.random) < self.probability * share;
        if is_early {
            self.sum = 0.0;
        }
        is_early
    }
}

impl Discipline for Pie {
    fn period(&self) -> u64 {
        self.config.update.as_nanos()
    }

    fn tick(&mut self, _: &World) {
        let (delay, target) = (self.delay(), self.config.target.as_nanos());
        let alpha = 0.125 * (self.config.update.as_nanos() as f64 / 15e6);
        let beta = 1.25 + (0.125 - alpha) / 2.0;
        let difference = |one: u64, other: u64| seconds(i128::from(one) - i128::from(other));
        let step = alpha * difference(delay, target) + beta * difference(delay, self.old);
        let table = [(1e-6, 2048.0), (1e-5, 512.0), (1e-4, 128.0), (1e-3, 32.0), (1e-2, 8.0), (0.1, 2.0)];
        let divisor = table.iter().find(|(below, _)| self.probability < *below).map_or(1.0, |(_, divisor)| *divisor);
        self.probability += step / divisor;
        if delay == 0 && self.old == 0 {
            self.probability *= 0.98;
        }
        self.probability = self.probability.clamp(0.0, 1.0);
        self.old = delay;
        self.burst = self.burst.saturating_sub(self.config.update.as_nanos());
    }

    fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    fn arrive(&mut self, mut packet: Packet, world: &mut World) {
        let half = |delay: u64| 2 * delay < self.config.target.as_nanos();
        if self.probability == 0.0 && half(self.delay()) && half(self.old) {
            self.burst = self.config.burst.as_nanos();
        }
        let is_early = self.burst == 0 && self.is_early(&packet);
        if is_early && !(self.config.ecn && self.probability < 0.1 && mark(&mut packet)) {
            world.drop(packet, Cause::Early);
        } else if world.fits(self.config.limit, &self.waiting, packet.size) {
            self.waiting.push(packet);
        } else {
            world.drop(packet, Cause::Full);
        }
    }

    fn next(&mut self, world: &mut World) -> Option<Packet> {
        let next = if self.waiting.is_empty() { None } else { Some(self.waiting.remove(0)) };
        if let Some(packet) = next {
            self.waited = world.now - packet.arrival;
        }
        next
    }
}

/// All packets of both queues stand in one list, which is searched for the first of either.
struct DualPi2 {
    config: DualPi2Config,
    waiting: Vec<Packet>,
    base: f64,
    before: u64,
    /// What `recur` keeps for each queue: low latency, classic; and for drops of the first where these are drawn apart.
    counts: [f64; 3],
    credit: i128,
}

const LOW: usize = 0;
const CLASSIC: usize = 1;
const DROPS: usize = 2;

fn half(packet: &Packet) -> usize {
    if packet.ecn % 2 == 1 { LOW } else { CLASSIC }
}

impl DualPi2 {
    fn new(config: DualPi2Config) -> Self {
        Self { config, waiting: Vec::new(), base: 0.0, before: 0, counts: [0.0; 3], credit: 0 }
    }

    fn first(&self, which: usize) -> Option<(usize, Packet)> {
        self.waiting.iter().copied().enumerate().find(|(_, packet)| half(packet) == which)
    }

    fn recur(&mut self, which: usize, likelihood: f64) -> bool {
        self.counts[which] += likelihood;
        if self.counts[which] > 1.0 {
            self.counts[which] -= 1.0;
            return true;
        }
        false
    }

    /// The place in the list of what is to leave next.
    fn schedule(&mut self) -> Option<usize> {
        match (self.first(LOW), self.first(CLASSIC)) {
            (Some(low), Some(classic)) => {
                let share = i128::from(self.config.classic_share.as_parts_per_trillion());
                let low_latency = self.credit <= 0;
                if low_latency {
                    self.credit += i128::from(low.1.size) * share;
                } else {
                    self.credit -= i128::from(classic.1.size) * (1_000_000_000_000 - share);
                }
                Some(if low_latency { low.0 } else { classic.0 })
            }
            (low, classic) => {
                self.credit = 0;
                low.or(classic).map(|(place, _)| place)
            }
        }
    }

    fn ramp(&self, wait: u64) -> f64 {
        let (min, range) = (self.config.min.as_nanos(), self.config.range.as_nanos());
        match wait {
            long if long >= min + range => 1.0,
            short if short <= min => 0.0,
            between => (between - min) as f64 / range as f64,
        }
    }

    /// Whether the packet is kept.
    fn treat(&mut self, packet: &mut Packet, wait: u64, len: usize) -> bool {
        let coupled = f64::from(self.config.coupling) * self.base;
        let squared = self.base * self.base;
        if half(packet) == CLASSIC {
            let most = 1.0 / (f64::from(self.config.coupling) * f64::from(self.config.coupling));
            let can_mark = squared < most || self.config.overload == Overload::Overflow;
            return !self.recur(CLASSIC, squared) || (can_mark && mark(packet));
        }
        let likelihood = if coupled < 1.0 {
            coupled.max(if len > 1 { self.ramp(wait) } else { 0.0 })
        } else if self.config.overload == Overload::Overflow {
            mark(packet);
            return true;
        } else if self.config.overload == Overload::Linux {
            let is_dropped = self.recur(DROPS, squared);
            if !is_dropped {
                mark(packet);
            }
            return !is_dropped;
        } else if self.recur(LOW, squared) {
            return false;
        } else {
            coupled
        };
        if self.recur(LOW, likelihood) {
            mark(packet);
        }
        true
    }
}

impl Discipline for DualPi2 {
    fn period(&self) -> u64 {
        self.config.update.as_nanos()
    }

    fn tick(&mut self, world: &World) {
        let age = self.waiting.iter().map(|packet| world.now - packet.arrival).max().unwrap_or(0);
        let rtt = self.config.rtt_max.as_secs_f64();
        let (alpha, beta) = (0.1 * self.config.update.as_secs_f64() / (rtt * rtt), 0.3 / rtt);
        let difference = |other: u64| seconds(i128::from(age) - i128::from(other));
        let step = alpha * difference(self.config.target.as_nanos()) + beta * difference(self.before);
        let most = if self.config.overload == Overload::Overflow { 1.0 / f64::from(self.config.coupling) } else { 1.0 };
        self.base = (self.base + step).clamp(0.0, most);
        self.before = age;
    }

    fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    fn arrive(&mut self, packet: Packet, world: &mut World) {
        if world.fits(self.config.limit, &self.waiting, packet.size) {
            self.waiting.push(packet);
        } else {
            world.drop(packet, Cause::Full);
        }
    }

    fn next(&mut self, world: &mut World) -> Option<Packet> {
        while let Some(place) = self.schedule() {
            let which = half(&self.waiting[place]);
            let len = self.waiting.iter().filter(|packet| half(packet) == which).count();
            let mut packet = self.waiting.remove(place);
            let wait = world.now - packet.arrival;
            if self.treat(&mut packet, wait, len) {
                return Some(packet);
            }
            world.drop(packet, Cause::Early);
        }
        None
    }
}

/// Nanoseconds as a duration.
pub(crate) fn nanos(nanos: u64) -> Duration {
    Duration::from_nanos(nanos)
}
