//! A trace of delivery opportunities, as mahimahi records and replays them.
//!
//! | parameter | unit | range | default |
//! |---|---|---|---|
//! | times | ms, one per line | whole, never falling, the last above 0 | - |
//! | bytes | bytes per opportunity | 1 and above | 1,504 B |
//! | header | bytes charged per packet | 0 and above | 4 B |
//!
//! Each line is an instant at which `bytes` may leave. The last line is also the length of the trace, which is repeated
//! without end. Source: mahimahi (Netravali et al. 2015, section 3.2), `mm-link`(1), and what its `LinkQueue::rationalize`
//! does, to the byte:
//! - a packet leaves the queue at the opportunity that carries its first byte, and is sent at the one that carries its
//!   last; it may take several;
//! - what a packet leaves of an opportunity goes to those behind it that already wait;
//! - an opportunity without a packet that waits is lost: a packet that arrives at the very instant of an opportunity
//!   misses it;
//! - a packet has 4 bytes more than its length from the IP header on, the header of the TUN device, and an opportunity
//!   1,504 bytes.
//!
//! Differs from mahimahi, which tells time in milliseconds: packets arrive at any nanosecond. And a packet that is larger
//! than an opportunity, at which mahimahi stops, takes several.

use crate::ConfigError;
use alloc::{format, sync::Arc, vec::Vec};
use core::str::FromStr;
use netloom_units::{Bytes, Duration, Instant, Rate};

/// A trace and what its opportunities are worth; see the module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveryTraceConfig {
    /// The instants of the opportunities.
    pub times: DeliveryTimes,
    /// The file that the times were read from, as the user named it.
    pub file: Arc<str>,
    /// The bytes that may leave at each opportunity.
    pub bytes: Bytes,
    /// The bytes that each packet is charged beside its own and the overhead of the link.
    pub header: Bytes,
}

impl DeliveryTraceConfig {
    /// The bytes that mahimahi lets leave at each opportunity: the MTU of Ethernet and the header of the TUN device.
    pub const BYTES: Bytes = Bytes::new(1_504);
    /// The header of the TUN device through which mahimahi reads packets.
    pub const HEADER: Bytes = Bytes::new(4);

    /// Whether it makes sense.
    ///
    /// # Errors
    /// Opportunities or headers of a size that makes none.
    pub fn check(&self) -> Result<(), ConfigError> {
        if self.bytes.get() == 0 {
            return Err(ConfigError::new(
                "bytes",
                "a delivery opportunity must carry bytes: write for example `1504 B`",
            ));
        }
        if self.header.get() > 65_535 {
            let message = format!("{} are more than the longest packet has: at most 65.535 kB", self.header);
            return Err(ConfigError::new("header", message));
        }
        Ok(())
    }

    /// Returns the mean rate over the whole trace, rounded up to the next bit per second.
    pub fn mean(&self) -> Rate {
        let bits = u128::from(self.bytes.get()) * 8_000_000_000 * self.times.0.len() as u128;
        let rate = bits.div_ceil(u128::from(self.times.period().as_nanos()));
        Rate::from_bits_per_second(u64::try_from(rate).unwrap_or(u64::MAX)).expect("a trace has an opportunity")
    }
}

/// Instants since the beginning of the trace, at least one, never falling, the last above zero.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveryTimes(Arc<[Duration]>);

impl DeliveryTimes {
    /// The instants of one round.
    pub fn times(&self) -> &[Duration] {
        &self.0
    }

    /// After how long the trace begins again.
    pub fn period(&self) -> Duration {
        *self.0.last().expect("a trace has an opportunity")
    }
}

impl FromStr for DeliveryTimes {
    type Err = ConfigError;

    /// Reads a trace in the format of mahimahi: one whole number of milliseconds per line.
    fn from_str(text: &str) -> Result<Self, ConfigError> {
        let mut times: Vec<Duration> = Vec::new();
        for (index, line) in text.lines().enumerate() {
            let time = milliseconds(line).map_err(|why| wrong(index, why))?;
            if times.last().is_some_and(|before| time < *before) {
                return Err(wrong(index, "the times go backwards: each is at least the one before it"));
            }
            times.push(time);
        }
        let Some(last) = times.last() else {
            return Err(ConfigError::new("", "the trace is empty: write one time in milliseconds per line"));
        };
        if last.is_zero() {
            return Err(wrong(times.len() - 1, "the last time is the length of the trace and must be above 0"));
        }
        Ok(Self(times.into()))
    }
}

fn milliseconds(line: &str) -> Result<Duration, &'static str> {
    if line.is_empty() {
        return Err("the line is empty: write one time in milliseconds per line");
    }
    if !line.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err("this is not a whole number of milliseconds");
    }
    let nanos = line.parse().ok().and_then(|ms: u64| ms.checked_mul(1_000_000));
    nanos.map(Duration::from_nanos).ok_or("this is longer than 584 years")
}

fn wrong(index: usize, why: &str) -> ConfigError {
    ConfigError::new("", format!("line {}: {why}", index + 1))
}

/// The model at work.
#[derive(Clone, Debug)]
pub(crate) struct DeliveryTrace {
    config: DeliveryTraceConfig,
    began: Instant,
    place: Place,
    /// The last packet, and the place when its transmission began.
    before: Option<(Place, u128)>,
}

/// How much of a trace is used up.
#[derive(Clone, Copy, Debug)]
struct Place {
    /// When this round of the trace began.
    round: Instant,
    /// The next opportunity.
    next: usize,
    /// What is left of the one before it, in billionths of a bit.
    surplus: u128,
}

impl DeliveryTrace {
    pub(crate) fn new(config: &DeliveryTraceConfig, now: Instant) -> Self {
        Self { config: config.clone(), began: now, place: Place { round: now, next: 0, surplus: 0 }, before: None }
    }

    pub(crate) fn mean(&self) -> Rate {
        self.config.mean()
    }

    /// What a packet that is charged `size` takes of the opportunities, in billionths of a bit.
    pub(crate) fn needed(&self, size: Bytes) -> u128 {
        u128::from(size.get() + self.config.header.get()) * 8_000_000_000
    }

    /// When a packet that finds the transmitter idle at `now` can leave the queue: what there was until then is lost.
    pub(crate) fn opens(&mut self, now: Instant) -> Instant {
        let (times, period) = (&self.config.times.0, self.config.times.period());
        let elapsed = now.since(self.began).as_nanos();
        let rounds = elapsed / period.as_nanos();
        let within = Duration::from_nanos(elapsed % period.as_nanos());
        // The last opportunity of a round is at its end: within a round, there is always one behind `within`.
        let next = times.partition_point(|time| *time <= within);
        self.place = Place { round: self.began + period * rounds, next, surplus: 0 };
        self.instant(self.place)
    }

    /// When a packet can follow one that is sent to its end at `now`.
    pub(crate) fn follows(&self, now: Instant) -> Instant {
        if self.place.surplus > 0 { now } else { self.instant(self.place) }
    }

    fn instant(&self, place: Place) -> Instant {
        place.round + self.config.times.0[place.next]
    }

    /// The opportunity at `place` begins.
    fn begin(&self, place: &mut Place) {
        place.surplus = u128::from(self.config.bytes.get()) * 8_000_000_000;
        place.next += 1;
        if place.next == self.config.times.0.len() {
            *place = Place { round: place.round + self.config.times.period(), next: 0, ..*place };
        }
    }

    /// How long a packet is on the transmitter that needs so many billionths of a bit.
    pub(crate) fn send(&mut self, start: Instant, needed: u128) -> Duration {
        self.before = Some((self.place, needed));
        let (mut place, mut owed, mut at) = (self.place, needed, start);
        loop {
            let used = owed.min(place.surplus);
            owed -= used;
            place.surplus -= used;
            if owed == 0 || at == Instant::MAX {
                break;
            }
            at = self.instant(place);
            self.begin(&mut place);
        }
        self.place = place;
        at.since(start)
    }

    /// What the packet on the transmitter still needs at `now`.
    pub(crate) fn owed(&self, now: Instant) -> u128 {
        let Some((mut place, mut owed)) = self.before else { return 0 };
        loop {
            owed -= owed.min(place.surplus);
            if owed == 0 || self.instant(place) > now {
                return owed;
            }
            self.begin(&mut place);
        }
    }
}
