//! RED: what arrives is dropped or marked with a probability that grows with the average length of the queue.
//!
//! Source: Floyd and Jacobson, "Random Early Detection Gateways for Congestion Avoidance", IEEE/ACM Transactions on
//! Networking 1(4), 1993, figure 2; the gentle mode is Floyd's "Recommendation on using the 'gentle_' variant of RED"
//! (2000); marks are those of RFC 3168. See [`RedConfig`] for the parameters. What differs:
//! - The packet that is being sent is not in the queue. While it is being sent the link is not idle, and a packet that
//!   finds nothing waiting is a sample of zero.
//! - What is above the upper threshold is dropped even if its sender understands marks (RFC 3168, section 7), unless
//!   [`RedConfig::hard_drop`] says otherwise, as Linux does by default (`sch_red`, without `harddrop`).
//! - The byte mode scales by the mean packet, not by the largest, so that a mean packet meets the configured probability.
//! - [`RedConfig::wait`] is that of ns-2 (2.35, queue/red.cc, `modify_p` and `enque`), which the paper does not have.
//!
//! The limit comes last: what RED lets through and finds no room is dropped as by drop-tail, and counts as a full queue.

use super::Transmission;
use super::checks;
use super::drop_tail::DropTail;
use super::fifo::each_segment;
use super::numbers::uniform;
use crate::ConfigError;
use crate::cause::Cause;
use crate::ledger::Ledger;
use alloc::{format, vec::Vec};
use netloom_packet::Packet;
use netloom_units::{Bytes, Duration, Instant, Limit, Probability, Seed};
use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

/// The parameters of RED.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RedConfig {
    /// How much may wait.
    pub limit: Limit,
    /// From this average on, some are dropped; in packets or bytes, and the average with it. Section 4: at least 5 packets.
    pub min: Limit,
    /// From this average on, all are dropped; in the unit of `min`. Section 4: at least twice `min`.
    pub max: Limit,
    /// The probability just below `max`, above 0. Section 4: 1/50.
    pub probability: Probability,
    /// The weight of the newest sample in the average, above 0. Section 4: 0.002.
    pub weight: Probability,
    /// Whether the probability goes on from `max` to twice `max`, up to 1, rather than to jump.
    pub gentle: bool,
    /// Whether what would be dropped below `max` is marked instead, if its sender understands that.
    pub ecn: bool,
    /// Whether packets are dropped at or above `max` even with `ecn` (RFC 3168, section 7). If not, they are marked there, too.
    pub hard_drop: bool,
    /// Whether the probability of a packet is in proportion to its size.
    pub byte_mode: bool,
    /// Whether at least 1/p packets pass between two early drops, and at most 2/p, where p is the probability: `wait_` of ns-2. If not,
    /// at most 1/p do.
    pub wait: bool,
    /// Length of a typical packet: idle time counts in its transmissions, and the byte mode compares with it.
    pub mean_packet: Bytes,
}

impl Default for RedConfig {
    /// The paper's values: section 4, and figure 3 for the thresholds.
    fn default() -> Self {
        Self {
            limit: super::DEFAULT_LIMIT,
            min: Limit::Packets(5),
            max: Limit::Packets(15),
            probability: Probability::from_parts_per_trillion(20_000_000_000).expect("2 % is below 1"),
            weight: Probability::from_parts_per_trillion(2_000_000_000).expect("0.2 % is below 1"),
            gentle: false,
            ecn: false,
            hard_drop: true,
            byte_mode: false,
            wait: false,
            mean_packet: Bytes::new(1_000),
        }
    }
}

impl RedConfig {
    /// Whether these parameters make sense.
    ///
    /// # Errors
    /// The thresholds are not packets or bytes, are of two kinds, or the lower is not below the upper one; the limit is
    /// zero or below the upper one; the probability, the weight or the mean packet is zero.
    pub fn check(&self) -> Result<(), ConfigError> {
        checks::limit(self.limit)?;
        let (Some(min), Some(max)) = (level(self.min), level(self.max)) else {
            let key = if level(self.min).is_none() { "min" } else { "max" };
            return Err(ConfigError::new(key, "a threshold of RED is a number of packets or bytes, not a time"));
        };
        if is_bytes(self.min) != is_bytes(self.max) {
            return Err(ConfigError::new("max", "min and max must be in the same unit, both packets or both bytes"));
        }
        if min >= max {
            let message = format!("{} is not above min, which is {}", self.max, self.min);
            return Err(ConfigError::new("max", message));
        }
        if level(self.limit).is_some_and(|limit| is_bytes(self.limit) == is_bytes(self.max) && limit < max) {
            return Err(ConfigError::new("limit", "the limit is below max: the average could never get there"));
        }
        if self.probability.is_zero() {
            return Err(ConfigError::new("probability", "with probability zero nothing is ever dropped early"));
        }
        if self.weight.is_zero() {
            return Err(ConfigError::new("weight", "with weight zero the average never moves"));
        }
        if self.mean_packet.get() == 0 {
            return Err(ConfigError::new("mean_packet", "a packet has at least one byte"));
        }
        Ok(())
    }
}

fn level(limit: Limit) -> Option<u64> {
    match limit {
        Limit::Packets(packets) => Some(packets.into()),
        Limit::Bytes(bytes) => Some(bytes.get()),
        Limit::Time(_) => None,
    }
}

fn is_bytes(limit: Limit) -> bool {
    matches!(limit, Limit::Bytes(_))
}

/// What happens to a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Pass,
    /// Dropped, or marked if that is understood.
    Notify,
    Drop,
}

/// The queue; see the module. Variables are called as in figure 2.
#[derive(Clone, Debug)]
pub(crate) struct Red {
    config: RedConfig,
    /// The thresholds as numbers.
    min: f64,
    max: f64,
    avg: f64,
    /// Packets since the last that was dropped or marked; none while the average is below `min`.
    count: Option<u64>,
    /// Their bytes.
    passed: u64,
    /// When the queue became empty.
    q_time: Instant,
    tail: DropTail,
    random: Xoshiro256PlusPlus,
}

impl Red {
    pub(crate) fn new(config: &RedConfig, seed: Seed) -> Self {
        let mut this = Self {
            config: *config,
            min: 0.0,
            max: 0.0,
            avg: 0.0,
            count: None,
            passed: 0,
            q_time: Instant::ZERO,
            tail: DropTail::new(config.limit),
            random: Xoshiro256PlusPlus::seed_from_u64(seed.get()),
        };
        this.set_thresholds();
        this
    }

    fn set_thresholds(&mut self) {
        (self.min, self.max) = (number(self.config.min), number(self.config.max));
    }

    /// Takes other parameters. The average goes on, unless its unit changes: then it begins with what waits.
    pub(crate) fn configure(&mut self, config: &RedConfig, transmission: Transmission, ledger: &mut Ledger<'_>) {
        let is_same_unit = is_bytes(self.config.min) == is_bytes(config.min);
        self.config = *config;
        self.set_thresholds();
        self.tail.set_limit(config.limit, transmission, ledger);
        if !is_same_unit {
            self.avg = self.length();
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.tail.is_empty()
    }

    /// The segments of `train` arrive one after the other.
    pub(crate) fn push(&mut self, now: Instant, train: Packet, transmission: Transmission, ledger: &mut Ledger<'_>) {
        each_segment(train, |segment| self.push_segment(now, segment, transmission, ledger));
    }

    fn push_segment(&mut self, now: Instant, mut segment: Packet, transmission: Transmission, ledger: &mut Ledger<'_>) {
        self.average(now, transmission);
        match self.judge(segment.size()) {
            Verdict::Pass => {}
            Verdict::Notify if self.config.ecn && ledger.mark(&mut segment) => {}
            Verdict::Drop if self.config.ecn && !self.config.hard_drop && ledger.mark(&mut segment) => {}
            Verdict::Notify | Verdict::Drop => return ledger.refuse(segment, Cause::Early),
        }
        self.tail.push(now, segment, transmission, ledger);
    }

    /// "Calculate the new average queue size" (figure 2; the idle queue is section 11).
    fn average(&mut self, now: Instant, transmission: Transmission) {
        let weight = self.config.weight.as_f64();
        let is_idle = self.tail.is_empty() && transmission.remaining.is_zero();
        if !is_idle {
            // avg ← (1 - w_q) avg + w_q q
            self.avg = (1.0 - weight) * self.avg + weight * self.length();
        } else if self.avg > 0.0 {
            // m ← f(time - q_time); avg ← (1 - w_q)^m avg. f counts packets that could have been sent meanwhile.
            let idle = now.since(self.q_time.max(transmission.idle_since.unwrap_or(self.q_time)));
            let typical = transmission.rate.serialization_delay(self.config.mean_packet);
            self.avg *= libm::pow(1.0 - weight, ratio(idle, typical));
        }
    }

    /// The queue's length in the unit of the thresholds.
    fn length(&self) -> f64 {
        let waiting = self.tail.waiting();
        if is_bytes(self.config.min) { waiting.bytes().get() as f64 } else { waiting.packets() as f64 }
    }

    /// What to do with the arriving packet, now that the average is known (figure 2).
    fn judge(&mut self, size: Bytes) -> Verdict {
        let end = if self.config.gentle { 2.0 * self.max } else { self.max };
        if self.avg < self.min {
            // else count ← -1
            self.count = None;
            return Verdict::Pass;
        }
        if self.avg >= end {
            // else if max_th ≤ avg: mark the arriving packet, count ← 0
            (self.count, self.passed) = (Some(0), 0);
            return Verdict::Drop;
        }
        let is_due = if self.config.wait { self.is_due_after_wait(size) } else { self.is_due(size) };
        match is_due {
            false => Verdict::Pass,
            true if self.avg < self.max => Verdict::Notify,
            true => Verdict::Drop,
        }
    }

    fn is_due(&mut self, size: Bytes) -> bool {
        // increment count
        let count = self.count.map_or(0, |count| count + 1);
        let p_b = self.scaled(self.probability(), size);
        // p_a ← p_b / (1 - count · p_b)
        let rest = 1.0 - count as f64 * p_b;
        let is_due = rest <= 0.0 || uniform(&mut self.random) < p_b / rest;
        // with probability p_a: mark the arriving packet, count ← 0
        self.count = Some(if is_due { 0 } else { count });
        is_due
    }

    /// As ns-2 has it with `wait_`: p_a is 0 while count · p_b is below 1, and then p_b / (2 - count · p_b). In byte mode packets are
    /// counted by their bytes, in whole mean packets, and p_a is in proportion to the size.
    fn is_due_after_wait(&mut self, size: Bytes) -> bool {
        let Some(before) = self.count else {
            // The average has just come above the threshold: this packet is the first that is counted, and passes.
            (self.count, self.passed) = (Some(1), size.get());
            return false;
        };
        let count = before + 1;
        self.passed += size.get();
        let since = if self.config.byte_mode { self.passed / self.config.mean_packet.get() } else { count };
        let p_b = self.probability();
        let part = since as f64 * p_b;
        let p_a = match part {
            _ if part < 1.0 => 0.0,
            _ if part < 2.0 => p_b / (2.0 - part),
            _ => 1.0,
        };
        let is_due = uniform(&mut self.random) < if p_a < 1.0 { self.scaled(p_a, size) } else { 1.0 };
        (self.count, self.passed) = if is_due { (Some(0), 0) } else { (Some(count), self.passed) };
        is_due
    }

    fn probability(&self) -> f64 {
        let max_p = self.config.probability.as_f64();
        if self.avg < self.max {
            // p_b ← max_p (avg - min_th) / (max_th - min_th)
            max_p * (self.avg - self.min) / (self.max - self.min)
        } else {
            // Gentle: from max_p at max_th to 1 at twice max_th.
            max_p + (1.0 - max_p) * (self.avg - self.max) / self.max
        }
    }

    /// p_b ← p_b · PacketSize / MaximumPacketSize (section 4), here with the mean packet.
    fn scaled(&self, probability: f64, size: Bytes) -> f64 {
        let mean = self.config.mean_packet.get() as f64;
        if self.config.byte_mode { probability * size.get() as f64 / mean } else { probability }
    }

    /// The next segment to send.
    pub(crate) fn pop(&mut self, now: Instant, ledger: &mut Ledger<'_>) -> Option<Packet> {
        let segment = self.tail.pop(ledger)?;
        if self.tail.is_empty() {
            // "When queue becomes empty: q_time ← time."
            self.q_time = now;
        }
        Some(segment)
    }

    /// Everything that waits, in order; the queue is empty afterwards.
    pub(crate) fn drain(&mut self, now: Instant) -> Vec<Packet> {
        if !self.tail.is_empty() {
            self.q_time = now;
        }
        self.tail.drain()
    }
}

fn number(limit: Limit) -> f64 {
    level(limit).unwrap_or_default() as f64
}

/// How many times `part` fits into `span`.
fn ratio(span: Duration, part: Duration) -> f64 {
    span.as_nanos() as f64 / part.as_nanos().max(1) as f64
}

#[cfg(test)]
mod tests;
