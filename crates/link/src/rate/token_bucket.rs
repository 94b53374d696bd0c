//! A token bucket: bursts at once, and over any longer time no more than the rate.
//!
//! | parameter | unit | range | default |
//! |---|---|---|---|
//! | rate | bit/s | 1 and above | - |
//! | burst | bytes | 1 and above, at least the largest packet | - |
//! | peak rate | bit/s | above the rate | none: bursts leave at once |
//! | peak burst | bytes | 1 and above, at least the largest packet | 1,500 B |
//!
//! Tokens are bits. They flow into the bucket at the rate until it holds `burst`; it is full in the beginning. A packet
//! is sent in no time at the first instant at which the bucket holds as many tokens as it has bits, which it takes out.
//! With a peak rate there is a second bucket of that rate and of `peak burst`, and a packet is sent once it finds its
//! tokens in both. Source: `tc-tbf`(8) and Linux `sch_tbf`, which VITO (section 4) uses for its links.
//!
//! Differs from Linux:
//! - The packet that waits for its tokens is on the transmitter and no longer in the queue: the queue holds one packet
//!   more than that of `tbf` with the same limit.
//! - Tokens are exact, in bits and nanoseconds (billionths of a bit), and a packet leaves at the first whole nanosecond
//!   at which its tokens are there, not at the tick of a timer.
//! - A packet larger than a bucket, which Linux drops, is sent when that bucket is full; what it lacks is owed.
//! - A change keeps the tokens that are in the bucket, where Linux fills it.

use crate::ConfigError;
use alloc::format;
use netloom_units::{Bytes, Duration, Instant, Rate};

/// A token bucket; see the module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenBucketConfig {
    /// How fast tokens flow into the bucket.
    pub rate: Rate,
    /// How many bytes worth of tokens the bucket holds.
    pub burst: Bytes,
    /// How fast a burst may leave; none: at once.
    pub peak: Option<PeakConfig>,
}

/// The bucket that spreads bursts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PeakConfig {
    /// How fast tokens flow into it.
    pub rate: Rate,
    /// How many bytes worth of tokens it holds: how much may leave in no time.
    pub burst: Bytes,
}

impl PeakConfig {
    /// The customary MTU of Ethernet: bursts leave packet by packet.
    pub const BURST: Bytes = Bytes::new(1_500);
}

impl TokenBucketConfig {
    /// Whether it makes sense.
    ///
    /// # Errors
    /// Buckets that hold nothing, or a peak rate that is not above the rate.
    pub fn check(&self) -> Result<(), ConfigError> {
        let Self { rate, burst, peak } = self;
        if burst.get() == 0 {
            return Err(ConfigError::new("burst", "a bucket that holds nothing lets nothing through: write a size"));
        }
        let Some(peak) = peak else { return Ok(()) };
        if peak.rate <= *rate {
            let message = format!("{} is not above the rate of {rate}: a burst could not leave faster", peak.rate);
            return Err(ConfigError::new("peak", message));
        }
        if peak.burst.get() == 0 {
            return Err(ConfigError::new(
                "peak_burst",
                "a bucket that holds nothing lets nothing through: write a size",
            ));
        }
        Ok(())
    }

    /// Whether packets that are charged up to `largest` find room in the buckets.
    ///
    /// # Errors
    /// A bucket that is smaller.
    pub fn check_largest(&self, largest: Bytes) -> Result<(), ConfigError> {
        let buckets = [("burst", Some(self.burst)), ("peak_burst", self.peak.map(|peak| peak.burst))];
        let small = buckets.into_iter().find_map(|(key, burst)| Some((key, burst.filter(|burst| *burst < largest)?)));
        let Some((key, burst)) = small else { return Ok(()) };
        Err(ConfigError::new(
            key,
            format!(
                "a bucket of {} B never holds the tokens of the link's largest packet, {} B with its overhead: \
                 write at least that, or lower the `mtu`",
                burst.get(),
                largest.get()
            ),
        ))
    }
}

/// Tokens, in billionths of a bit: what flows in is the rate times nanoseconds.
#[derive(Clone, Copy, Debug)]
struct Bucket {
    rate: u64,
    depth: i128,
    /// Below zero after a packet that is larger than the bucket.
    level: i128,
}

impl Bucket {
    fn full(rate: Rate, burst: Bytes) -> Self {
        let depth = i128::from(burst.get()) * 8_000_000_000;
        Self { rate: rate.as_bits_per_second(), depth, level: depth }
    }

    fn inflow(&self, span: Duration) -> i128 {
        let tokens = u128::from(self.rate) * u128::from(span.as_nanos());
        i128::try_from(tokens).unwrap_or(i128::MAX)
    }

    /// Lets tokens flow in for `span`, as far as there is room.
    fn fill(&mut self, span: Duration) {
        self.level = self.level.saturating_add(self.inflow(span)).min(self.depth);
    }

    /// How long until a packet of so many billionths of a bit is let through, to the next whole nanosecond.
    fn wait(&self, needed: i128) -> Duration {
        let lacking = needed.min(self.depth) - self.level;
        let Ok(lacking) = u128::try_from(lacking) else { return Duration::ZERO };
        let nanos = match u64::try_from(lacking) {
            Ok(small) => small.div_ceil(self.rate),
            Err(_) => u64::try_from(lacking.div_ceil(u128::from(self.rate))).unwrap_or(u64::MAX),
        };
        Duration::from_nanos(nanos)
    }

    /// How many tokens more than a packet needs would have flowed in after `wait`, if there were room for them.
    fn surplus(&self, needed: i128, wait: Duration) -> u128 {
        let lacking = needed.min(self.depth) - self.level;
        u128::try_from(self.inflow(wait).saturating_sub(lacking)).unwrap_or(0)
    }

    /// Lets a packet through after `wait`. `rounding`: how much of this span is behind the exact instant at which the
    /// packet is sent, because that is rounded up to a whole nanosecond. What flows in meanwhile finds the packet's room:
    /// nothing of it is lost, and the rate is exact.
    fn take(&mut self, needed: i128, wait: Duration, rounding: Fraction) {
        let all = self.level.saturating_add(self.inflow(wait));
        self.level = if all <= self.depth {
            all.saturating_sub(needed)
        } else {
            let afterwards = rounding.tokens(self.rate);
            (all - afterwards).min(self.depth).saturating_sub(needed) + afterwards
        };
    }

    /// The same tokens in a bucket of another size.
    fn resized(self, rate: Rate, burst: Bytes) -> Self {
        let full = Self::full(rate, burst);
        Self { level: self.level.min(full.depth), ..full }
    }
}

/// A part of a nanosecond.
#[derive(Clone, Copy, Debug)]
struct Fraction {
    numerator: u64,
    denominator: u64,
}

impl Fraction {
    /// The part that `surplus` tokens take to flow in at `rate`; at most a whole nanosecond.
    fn of(surplus: u128, rate: u64) -> Self {
        Self { numerator: u64::try_from(surplus).unwrap_or(u64::MAX).min(rate), denominator: rate }
    }

    fn is_less_than(self, other: Self) -> bool {
        u128::from(self.numerator) * u128::from(other.denominator)
            < u128::from(other.numerator) * u128::from(self.denominator)
    }

    /// What flows in at `rate` meanwhile, rounded up to a billionth of a bit: tokens that are there at a whole nanosecond
    /// are found there.
    fn tokens(self, rate: u64) -> i128 {
        let tokens = (u128::from(self.numerator) * u128::from(rate)).div_ceil(u128::from(self.denominator));
        i128::try_from(tokens).unwrap_or(i128::MAX)
    }
}

/// Both buckets at an instant.
#[derive(Clone, Copy, Debug)]
struct Tokens {
    at: Instant,
    mean: Bucket,
    peak: Option<Bucket>,
}

impl Tokens {
    fn fill_until(&mut self, now: Instant) {
        let span = now.since(self.at);
        self.mean.fill(span);
        if let Some(peak) = &mut self.peak {
            peak.fill(span);
        }
        self.at = self.at.max(now);
    }

    fn buckets(&self) -> impl Iterator<Item = &Bucket> {
        core::iter::once(&self.mean).chain(&self.peak)
    }

    /// Sends a packet; returns how long it waits.
    fn send(&mut self, start: Instant, needed: i128) -> Duration {
        self.fill_until(start);
        let wait = self.buckets().map(|bucket| bucket.wait(needed)).max().unwrap_or_default();
        // The bucket that lets the packet through last does so at the exact instant.
        let fractions = self.buckets().map(|bucket| Fraction::of(bucket.surplus(needed, wait), bucket.rate));
        let Some(rounding) = fractions.reduce(|least, next| if next.is_less_than(least) { next } else { least }) else {
            return wait;
        };
        self.mean.take(needed, wait, rounding);
        if let Some(peak) = &mut self.peak {
            peak.take(needed, wait, rounding);
        }
        self.at = start + wait;
        wait
    }
}

/// The model at work.
#[derive(Clone, Debug)]
pub(crate) struct TokenBucket {
    rate: Rate,
    /// When the last packet was sent, or will be.
    tokens: Tokens,
    /// The last packet, and the buckets when it began to wait: it may be taken off the transmitter.
    before: Option<(Tokens, u128)>,
}

impl TokenBucket {
    pub(crate) fn new(config: &TokenBucketConfig, now: Instant) -> Self {
        let mean = Bucket::full(config.rate, config.burst);
        let peak = config.peak.map(|peak| Bucket::full(peak.rate, peak.burst));
        Self { rate: config.rate, tokens: Tokens { at: now, mean, peak }, before: None }
    }

    pub(crate) fn rate(&self) -> Rate {
        self.rate
    }

    /// How long a packet of so many billionths of a bit is on the transmitter from `start` on.
    pub(crate) fn send(&mut self, start: Instant, owed: u128) -> Duration {
        let mut before = self.tokens;
        before.fill_until(start);
        self.before = Some((before, owed));
        self.tokens.send(start, i128::try_from(owed).unwrap_or(i128::MAX))
    }

    /// What the packet on the transmitter lacks: all of it, until it is sent.
    pub(crate) fn owed(&self) -> u128 {
        self.before.map_or(0, |(_, owed)| owed)
    }

    /// The packet on the transmitter is taken off it and leaves its tokens.
    pub(crate) fn abort(&mut self) {
        if let Some((before, _)) = self.before.take() {
            self.tokens = before;
        }
    }

    /// Takes another configuration at `now`, when nothing is on the transmitter.
    pub(crate) fn change(&mut self, now: Instant, config: &TokenBucketConfig) {
        self.tokens.fill_until(now);
        self.before = None;
        self.rate = config.rate;
        self.tokens.mean = self.tokens.mean.resized(config.rate, config.burst);
        self.tokens.peak = config.peak.map(|peak| match self.tokens.peak {
            Some(bucket) => bucket.resized(peak.rate, peak.burst),
            None => Bucket::full(peak.rate, peak.burst),
        });
    }
}
