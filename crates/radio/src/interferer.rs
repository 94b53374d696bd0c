//! Interferers: neighbours' networks and other devices that send on the channel and do not listen to it.
//!
//! Time since the beginning of the run is divided into periods of burst / duty cycle. In each there is one burst, which begins where a draw from
//! the seed, the interferer's name and the number of the period says. So the share of time is exactly the duty cycle, and whether anything is on the
//! air at an instant is a function of seed and instant.
//! Parameters: `duty`, above 0 and up to 1; `burst`, 100 us to 1 h (a frame of a neighbour takes 0.1 to 5 ms, a microwave oven sends for 8 to 10 ms of
//! every 20 ms at 50 Hz); the power in dBm with which it sends from its position, or with which it arrives everywhere.
//! Where all stations hear one another, all of them sense it, and whatever it meets is lost.
//! Differs from networks: an interferer neither waits for anybody nor retries, and what it sends reserves nothing (NAV).

use crate::decibels::Decibels;
use crate::error::ConfigError;
use crate::position::Position;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use netloom_units::{Duration, Instant, Probability, Seed};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// The most interferers of a medium.
const MOST: usize = 32;
/// The shortest and the longest burst.
const BURSTS: [Duration; 2] = [Duration::from_micros(100), Duration::from_secs(3_600)];
/// The longest period: with a smaller duty cycle nothing is ever heard.
const LONGEST: Duration = Duration::from_secs(1_000_000);
/// The strongest power in dBm.
const MOST_POWER: f64 = 100.0;

/// Where an interferer's signal comes from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Source {
    /// A position, from where it sends with so many dBm.
    At(Position, Decibels),
    /// It arrives with so many dBm at all stations.
    Everywhere(Decibels),
    /// All stations sense it, at no power that is known: with signals between positions, at the threshold of energy.
    Sensed,
}

/// The description of an interferer.
#[derive(Clone, Debug, PartialEq)]
pub struct Interferer {
    /// The name, from which its bursts follow.
    pub name: String,
    /// Where it is, and how strong.
    pub source: Source,
    /// Whether stations find preambles in it, as in what networks of 802.11 send; otherwise it is noise to them.
    pub has_preamble: bool,
    /// The share of time in which it sends.
    pub duty: Probability,
    /// How long it sends without a break.
    pub burst: Duration,
}

impl Interferer {
    /// The most interferers of a medium.
    pub const MOST: usize = MOST;

    /// Checks that all numbers are within their ranges.
    ///
    /// # Errors
    /// If one is not.
    pub fn check(&self) -> Result<(), ConfigError> {
        let wrong = |what: &str| Err(ConfigError::new("interferers", format!("`{}`: {what}", self.name)));
        let (position, power) = match self.source {
            Source::At(position, power) => (Some(position), Some(power)),
            Source::Everywhere(power) => (None, Some(power)),
            Source::Sensed => (None, None),
        };
        if let Some(Err(why)) = position.map(Position::check) {
            return wrong(why);
        }
        if power.is_some_and(|power| !(-300.0..=MOST_POWER).contains(&power.0)) {
            return wrong("a power has -300 dBm to 100 dBm");
        }
        let [shortest, longest] = BURSTS;
        if self.burst < shortest || self.burst > longest {
            return wrong(&format!("a burst takes {shortest} to {longest}"));
        }
        if self.duty.is_zero() || self.period() > LONGEST {
            return wrong("the duty cycle is above 0 %, and a burst comes at least every 1000000 s");
        }
        Ok(())
    }

    /// How often a burst comes.
    fn period(&self) -> Duration {
        let parts = u128::from(self.duty.as_parts_per_trillion()).max(1);
        let nanos = u128::from(self.burst.as_nanos()) * 1_000_000_000_000 / parts;
        Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }
}

/// The interferers of a medium, with their next bursts.
#[derive(Clone, Debug)]
pub(crate) struct Interferers {
    all: Vec<Bursts>,
}

/// An interferer, and which burst comes next.
#[derive(Clone, Debug)]
struct Bursts {
    own: Interferer,
    seed: Seed,
    /// When counting began; none: not yet, and nothing is sent.
    since: Option<Instant>,
    number: u64,
    next: Option<Instant>,
}

/// A burst that begins.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Burst {
    /// The place of its interferer.
    pub(crate) place: usize,
    pub(crate) number: u64,
    pub(crate) end: Instant,
}

impl Interferers {
    pub(crate) fn new(described: &[Interferer], seed: Seed) -> Result<Self, ConfigError> {
        if described.len() > MOST {
            return Err(ConfigError::new(
                "interferers",
                format!("at most {MOST} interferers, found {}", described.len()),
            ));
        }
        described.iter().try_for_each(Interferer::check)?;
        let bursts = |own: &Interferer| Bursts {
            own: own.clone(),
            seed: seed.derive("interferer").derive(&own.name),
            since: None,
            number: 0,
            next: None,
        };
        Ok(Self { all: described.iter().map(bursts).collect() })
    }

    /// Returns the description of the interferer at a place.
    pub(crate) fn own(&self, place: usize) -> &Interferer {
        &self.all[place].own
    }

    /// Bursts begin from this instant on.
    pub(crate) fn begin(&mut self, now: Instant) {
        for bursts in &mut self.all {
            (bursts.since, bursts.number) = (Some(now), 0);
            bursts.next = bursts.start();
        }
    }

    /// When the next burst begins.
    pub(crate) fn next_begin(&self) -> Option<Instant> {
        self.all.iter().filter_map(|bursts| bursts.next).min()
    }

    /// Takes the next of those that begin at an instant.
    pub(crate) fn take(&mut self, at: Instant) -> Option<Burst> {
        let place = self.all.iter().position(|bursts| bursts.next == Some(at))?;
        let bursts = &mut self.all[place];
        let burst = Burst { place, number: bursts.number, end: at + bursts.own.burst };
        bursts.number += 1;
        bursts.next = bursts.start();
        Some(burst)
    }
}

impl Bursts {
    /// When the burst with the current number begins.
    fn start(&self) -> Option<Instant> {
        let (period, burst) = (self.own.period().as_nanos(), self.own.burst.as_nanos());
        let mut random = Xoshiro256PlusPlus::seed_from_u64(self.seed.get() ^ self.number.rotate_left(32));
        let room = u128::from(period - burst) + 1;
        let offset = u64::try_from((u128::from(random.next_u64()) * room) >> 64).unwrap_or(0);
        let nanos = self.number.checked_mul(period)?.checked_add(offset)?;
        let begun = self.since?.as_nanos().checked_add(nanos)?;
        // What would end behind the end of all clocks never begins.
        begun.checked_add(burst).map(|_| Instant::from_nanos(begun))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interferer(name: &str, percent: u32, burst: Duration) -> Interferer {
        let source = Source::Everywhere(Decibels(-70.0));
        let duty = Probability::from_parts_per_trillion(u64::from(percent) * 10_000_000_000).expect("up to 100 %");
        Interferer { name: name.into(), source, has_preamble: true, duty, burst }
    }

    fn bursts(of: &Interferer, since: Instant, count: usize) -> Vec<(Instant, Instant)> {
        let mut all = Interferers::new(core::slice::from_ref(of), Seed::new(3)).expect("it is right");
        all.begin(since);
        let next = || {
            let at = all.next_begin()?;
            all.take(at).map(|burst| (at, burst.end))
        };
        core::iter::from_fn(next).take(count).collect()
    }

    #[test]
    fn bursts_take_their_share_of_time() {
        let own = interferer("upstairs", 30, Duration::from_micros(1_500));
        let found = bursts(&own, Instant::from_nanos(77), 1_000);
        // One in each period of 5 ms, somewhere in it, and never two at once.
        for ((begin, end), number) in found.iter().zip(0..) {
            let first = Instant::from_nanos(77 + 5_000_000 * number);
            assert!(*begin >= first && *end <= first + Duration::from_millis(5), "{begin:?}");
            assert_eq!(end.since(*begin), Duration::from_micros(1_500));
        }
        let offsets = found.iter().zip(0..).map(|((begin, _), number)| begin.as_nanos() - 77 - 5_000_000 * number);
        let mean = offsets.sum::<u64>() / 1_000;
        assert!(mean.abs_diff(1_750_000) < 100_000, "{mean} ns");
        // They depend on seed and name, and on the beginning as all times do.
        assert_eq!(found, bursts(&own, Instant::from_nanos(77), 1_000));
        let later: Vec<_> = bursts(&own, Instant::from_nanos(1_077), 1_000);
        assert!(found.iter().zip(&later).all(|(one, other)| other.0.since(one.0) == Duration::from_micros(1)));
        assert_ne!(found, bursts(&Interferer { name: "downstairs".into(), ..own }, Instant::from_nanos(77), 1_000));
    }

    #[test]
    fn all_of_the_time_is_without_a_break() {
        let found = bursts(&interferer("oven", 100, Duration::from_millis(2)), Instant::ZERO, 10);
        assert!(found[0].0 == Instant::ZERO && found.windows(2).all(|pair| pair[0].1 == pair[1].0));
    }

    #[test]
    fn wrong_interferers_are_named() {
        let right = interferer("x", 50, Duration::from_millis(1));
        let of = |wrong: Interferer| wrong.check().map_err(|wrong| wrong.message);
        assert_eq!(of(right.clone()), Ok(()));
        let cases = [
            (Interferer { duty: Probability::ZERO, ..right.clone() }, "above 0 %"),
            (Interferer { burst: Duration::from_micros(99), ..right.clone() }, "a burst takes"),
            (Interferer { source: Source::Everywhere(Decibels(f64::NAN)), ..right.clone() }, "a power has"),
            (Interferer { source: Source::Everywhere(Decibels(101.0)), ..right.clone() }, "a power has"),
        ];
        for (wrong, why) in cases {
            assert!(of(wrong).is_err_and(|message| message.starts_with("`x`: ") && message.contains(why)), "{why}");
        }
        let many: Vec<Interferer> = core::iter::repeat_n(right, MOST + 1).collect();
        assert!(Interferers::new(&many, Seed::new(1)).is_err());
    }
}
