//! PIE: a controller steers the probability of early drops so that packets wait for a target delay.
//!
//! Source: RFC 8033, appendix A (the basic pseudo-code), with its ECN (section 5.1). See [`PieConfig`] for the
//! parameters. Choices that the RFC leaves open:
//! - The queuing delay is measured, not estimated from a departure rate (section 4.3 allows both): it is what the packet
//!   that left last had waited, or zero while nothing waits.
//! - Drops are drawn independently unless [`PieConfig::derandomize`] says otherwise (section 5.4, optional), the step of the
//!   probability is not capped (5.5), and the controller is always active (5.3).
//! - Gains for another update period than 15 ms follow from the RFC's rule for half of it; see [`PieConfig::update`].
//!
//! The probability is updated at multiples of the update period since the run began.

use super::Transmission;
use super::checks;
use super::drop_tail::DropTail;
use super::fifo::each_segment;
use super::numbers::{seconds_longer, uniform};
use super::ticks::Ticks;
use crate::ConfigError;
use crate::cause::Cause;
use crate::ledger::Ledger;
use alloc::vec::Vec;
use netloom_packet::Packet;
use netloom_units::{Bytes, Duration, Instant, Limit, Seed};
use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

/// Gains at the update period of 15 ms, in 1/s (appendix A, "Internal parameters").
const ALPHA: f64 = 0.125;
const BETA: f64 = 1.25;
const UPDATE: Duration = Duration::from_millis(15);
/// From this probability on packets are dropped even if their senders understand marks (section 5.1, `mark_ecnth`).
const MARK_BELOW: f64 = 0.1;

/// Between these sums of probabilities since the last drop, drops are drawn (section 5.4).
const LEAST_ACCUMULATED: f64 = 0.85;
const MOST_ACCUMULATED: f64 = 8.5;

/// The parameters of PIE.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PieConfig {
    /// How much may wait.
    pub limit: Limit,
    /// The delay to steer for, above 0: QDELAY_REF.
    pub target: Duration,
    /// The period of updates, above 0: T_UPDATE. Half the period halves alpha and adds alpha/4 to beta (section 4.2);
    /// in general alpha is proportional to it, and beta gains half of what alpha loses.
    pub update: Duration,
    /// For how long a burst passes without drops after the queue was short: MAX_BURST.
    pub burst: Duration,
    /// Whether packets are marked rather than dropped while the probability is below 10 %, if their sender understands.
    pub ecn: bool,
    /// Whether the probability of a packet is in proportion to its size (a comment in appendix B allows that).
    pub byte_mode: bool,
    /// Length of a typical packet: with no more than two of them waiting, nothing is dropped early; and the byte mode
    /// compares with it. MEAN_PKTSIZE, for which the RFC has no value.
    pub mean_packet: Bytes,
    /// Whether drops are kept apart (section 5.4, as in Linux): none before the probabilities since the last one add up to 0.85, and one
    /// when they do to 8.5.
    pub derandomize: bool,
}

impl Default for PieConfig {
    /// The RFC's values (sections 4.2 and 4.4), as far as it has any.
    fn default() -> Self {
        Self {
            limit: super::DEFAULT_LIMIT,
            target: Duration::from_millis(15),
            update: UPDATE,
            burst: Duration::from_millis(150),
            ecn: false,
            byte_mode: false,
            mean_packet: Bytes::new(1_000),
            derandomize: false,
        }
    }
}

impl PieConfig {
    /// Whether these parameters make sense.
    ///
    /// # Errors
    /// The limit, the target, the update period or the mean packet is zero.
    pub fn check(&self) -> Result<(), ConfigError> {
        checks::limit(self.limit)?;
        if self.target.is_zero() {
            return Err(ConfigError::new("target", "the target delay must be above zero"));
        }
        if self.update.is_zero() {
            return Err(ConfigError::new("update", "the period of updates must be above zero"));
        }
        if self.mean_packet.get() == 0 {
            return Err(ConfigError::new("mean_packet", "a packet has at least one byte"));
        }
        Ok(())
    }
}

/// The queue; see the module. Variables are called as in the RFC.
#[derive(Clone, Debug)]
pub(crate) struct Pie {
    config: PieConfig,
    ticks: Ticks,
    drop_prob: f64,
    burst_allowance: Duration,
    qdelay_old: Duration,
    /// How long the packet that left last had waited.
    last_wait: Duration,
    /// The probabilities since the last drop, if they are added up.
    accu_prob: f64,
    tail: DropTail,
    random: Xoshiro256PlusPlus,
}

impl Pie {
    pub(crate) fn new(config: &PieConfig, seed: Seed) -> Self {
        Self {
            config: *config,
            ticks: Ticks::new(config.update),
            drop_prob: 0.0,
            burst_allowance: config.burst,
            qdelay_old: Duration::ZERO,
            last_wait: Duration::ZERO,
            accu_prob: 0.0,
            tail: DropTail::new(config.limit),
            random: Xoshiro256PlusPlus::seed_from_u64(seed.get()),
        }
    }

    /// Takes other parameters. The controller goes on where it is; a burst that is allowed is not shortened.
    pub(crate) fn configure(
        &mut self,
        now: Instant,
        config: &PieConfig,
        transmission: Transmission,
        ledger: &mut Ledger<'_>,
    ) {
        self.catch_up(now);
        self.config = *config;
        self.ticks.set_period(config.update);
        self.tail.set_limit(config.limit, transmission, ledger);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.tail.is_empty()
    }

    /// The segments of `train` arrive one after the other.
    pub(crate) fn push(&mut self, now: Instant, train: Packet, transmission: Transmission, ledger: &mut Ledger<'_>) {
        self.catch_up(now);
        each_segment(train, |segment| self.enque(now, segment, transmission, ledger));
    }

    /// Appendix A: "Called on each packet arrival".
    fn enque(&mut self, now: Instant, mut segment: Packet, transmission: Transmission, ledger: &mut Ledger<'_>) {
        if self.drop_prob == 0.0 && self.is_below_half(self.current_qdelay()) && self.is_below_half(self.qdelay_old) {
            self.burst_allowance = self.config.burst;
        }
        if self.burst_allowance.is_zero() && self.drop_early(segment.size()) {
            // Section 5.1: marks as long as the probability is low, drops above.
            let is_marked = self.config.ecn && self.drop_prob < MARK_BELOW && ledger.mark(&mut segment);
            if !is_marked {
                return ledger.refuse(segment, Cause::Early);
            }
        }
        self.tail.push(now, segment, transmission, ledger);
    }

    fn is_below_half(&self, delay: Duration) -> bool {
        // delay < QDELAY_REF / 2, without the fraction.
        delay * 2 < self.config.target
    }

    /// Section 4.3; an empty queue has no delay.
    fn current_qdelay(&self) -> Duration {
        if self.tail.is_empty() { Duration::ZERO } else { self.last_wait }
    }

    /// Appendix A, `drop_early`.
    fn drop_early(&mut self, size: Bytes) -> bool {
        // Safeguard PIE to be work conserving.
        let is_short = self.is_below_half(self.qdelay_old) && self.drop_prob < 0.2;
        if is_short || self.tail.waiting().bytes().get() <= self.config.mean_packet.get().saturating_mul(2) {
            return false;
        }
        let share = if self.config.byte_mode { size.get() as f64 / self.config.mean_packet.get() as f64 } else { 1.0 };
        let probability = self.drop_prob * share;
        if !self.config.derandomize {
            return uniform(&mut self.random) < probability;
        }
        // Appendix B: if (PIE->drop_prob_ == 0) PIE->accu_prob_ = 0; PIE->accu_prob_ += PIE->drop_prob_
        self.accu_prob = if self.drop_prob == 0.0 { 0.0 } else { self.accu_prob + probability };
        // if (PIE->accu_prob_ < 0.85) return ENQUE; if (PIE->accu_prob_ >= 8.5) return DROP
        let is_dropped = match self.accu_prob {
            little if little < LEAST_ACCUMULATED => false,
            much if much >= MOST_ACCUMULATED => true,
            _ => uniform(&mut self.random) < probability,
        };
        if is_dropped {
            self.accu_prob = 0.0;
        }
        is_dropped
    }

    /// Makes all updates until `now`.
    fn catch_up(&mut self, now: Instant) {
        while self.ticks.take(now).is_some() {
            let before = (self.drop_prob, self.qdelay_old);
            self.calculate_drop_prob();
            if before == (self.drop_prob, self.qdelay_old) {
                // Nothing happens until `now`: all updates until then are like this one.
                let skipped = self.ticks.skip(now);
                self.burst_allowance = self.burst_allowance - self.config.update * skipped;
            }
        }
    }

    /// Appendix A: "Update periodically, T_UPDATE".
    fn calculate_drop_prob(&mut self) {
        let current_qdelay = self.current_qdelay();
        let (alpha, beta) = self.gains();
        // p = alpha * (current_qdelay - QDELAY_REF) + beta * (current_qdelay - PIE->qdelay_old_)
        let p = alpha * seconds_longer(current_qdelay, self.config.target)
            + beta * seconds_longer(current_qdelay, self.qdelay_old);
        self.drop_prob += p / divisor(self.drop_prob);
        // Exponentially decay drop prob when congestion goes away.
        if current_qdelay.is_zero() && self.qdelay_old.is_zero() {
            self.drop_prob *= 0.98;
        }
        // Bound drop probability.
        self.drop_prob = self.drop_prob.clamp(0.0, 1.0);
        self.qdelay_old = current_qdelay;
        // PIE->burst_allowance_ = max(0, PIE->burst_allowance_ - T_UPDATE)
        self.burst_allowance = self.burst_allowance - self.config.update;
    }

    /// Section 4.2: alpha and beta for the update period.
    fn gains(&self) -> (f64, f64) {
        let alpha = ALPHA * (self.config.update.as_nanos() as f64 / UPDATE.as_nanos() as f64);
        (alpha, BETA + (ALPHA - alpha) / 2.0)
    }

    /// Appendix A, `deque`.
    pub(crate) fn pop(&mut self, now: Instant, ledger: &mut Ledger<'_>) -> Option<Packet> {
        self.catch_up(now);
        let (arrival, segment) = self.tail.pop_aged(ledger)?;
        self.last_wait = now.since(arrival);
        Some(segment)
    }

    /// Everything that waits, in order; the queue is empty afterwards.
    pub(crate) fn drain(&mut self, now: Instant) -> Vec<Packet> {
        self.catch_up(now);
        self.tail.drain()
    }
}

/// Appendix A, and section 4.2 ("auto-tuning"): the smaller the probability, the smaller the steps.
fn divisor(drop_prob: f64) -> f64 {
    match drop_prob {
        p if p < 0.000_001 => 2_048.0,
        p if p < 0.000_01 => 512.0,
        p if p < 0.000_1 => 128.0,
        p if p < 0.001 => 32.0,
        p if p < 0.01 => 8.0,
        p if p < 0.1 => 2.0,
        _ => 1.0,
    }
}
