//! The ways between all pairs of stations: what arrives of what is sent, computed once for pairs that stand still, and anew for those that move.
//!
//! Positions of moving stations are those at the beginning of the current millisecond, so that what was computed for a pair can be used for a while.
//! Fading changes within fractions of a wavelength: it follows the positions of the very instant.
//! What is remembered is a pure function of names, paths and the millisecond: whether it is still there makes no difference.

use super::{Antenna, End, Surroundings};
use crate::antenna::AntennaPattern;
use crate::decibels::Decibels;
use crate::fading::{Fading, apart};
use crate::path::Path;
use crate::path_loss::Metres;
use crate::position::Position;
use crate::power::Power;
use crate::shadowing::Shadowing;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use netloom_units::{Duration, Instant, Seed};

/// For so many nanoseconds a station stands before its position is looked at again.
const STEP: u64 = 1_000_000;
/// So many pairs that move have their shadowing ready, each in 2.5 kB; that of others is made whenever it is needed.
const READY: usize = 4_096;

/// See the module's documentation.
#[derive(Clone, Debug)]
pub(crate) struct Ways {
    stations: usize,
    /// The powers that arrive without fading, in dBm, by sender and receiver; of pairs that move, nothing.
    levels: Vec<f64>,
    powers: Vec<Power>,
    /// The fading of pairs, and how far those that stand still are apart, by both numbers, the lower one first; empty without fading.
    fadings: Vec<Option<(Fading, (Metres, Metres))>>,
    /// The stations that move, and all others; none if all stand still.
    moving: Option<Box<Moving>>,
}

/// The stations, if any of them moves.
#[derive(Clone, Debug)]
struct Moving {
    surroundings: Surroundings,
    seed: Seed,
    stations: Vec<Station>,
    /// When paths begin; none: they have not begun.
    begin: Option<Instant>,
    /// The last known losses, with the millisecond, by both numbers, the lower one first.
    losses: Vec<Option<(u64, f64)>>,
    /// The shadowing of some pairs, at the remainders of their places.
    shadowings: Vec<Option<(usize, Arc<Shadowing>)>>,
}

#[derive(Clone, Debug)]
struct Station {
    name: String,
    path: Path,
    power: Decibels,
    pattern: AntennaPattern,
    /// The last known position, with the millisecond.
    seen: Option<(u64, Position)>,
}

impl Surroundings {
    /// The ways between all of these.
    pub(crate) fn ways(&self, antennas: &[Antenna<'_>], seed: Seed) -> Ways {
        self.ways_of(antennas.len(), antennas, seed)
    }

    /// The ways between the first of these and all others; nobody asks about those between two others.
    pub(crate) fn ways_of<'a>(&self, first: usize, antennas: &[Antenna<'a>], seed: Seed) -> Ways {
        let stations = antennas.len();
        let mut levels = vec![f64::NEG_INFINITY; stations * stations];
        let mut fadings = Vec::new();
        if self.fading.is_some() {
            fadings.resize(stations * stations, None);
        }
        for low in 0..first {
            for high in low + 1..stations {
                let (one, other) = (&antennas[low], &antennas[high]);
                if self.fading.is_some() {
                    let ends = [one, other].map(|own| (own.name, own.path.position(Duration::ZERO)));
                    let fading = self.fading(one.name, other.name, seed);
                    fadings[low * stations + high] = fading.map(|fading| (fading, in_order(ends)));
                }
                if one.path.is_standing() && other.path.is_standing() {
                    let end = |own: &Antenna<'a>| End {
                        name: own.name,
                        position: own.path.position(Duration::ZERO),
                        pattern: own.pattern,
                    };
                    let shadowing = self.shadowing(one.name, other.name, seed);
                    let loss = self.loss(end(one), end(other), shadowing.as_ref());
                    levels[low * stations + high] = one.power.0 - loss;
                    levels[high * stations + low] = other.power.0 - loss;
                }
            }
        }
        let powers = levels.iter().map(|level| Power::of(Decibels(*level))).collect();
        let any_moves = antennas.iter().any(|own| !own.path.is_standing());
        let moving = any_moves.then(|| Box::new(Moving::new(self.clone(), antennas, seed)));
        Ways { stations, levels, powers, fadings, moving }
    }
}

impl Ways {
    /// Paths begin at this instant. Until it is said, stations are where they begin.
    pub(crate) fn begin(&mut self, at: Instant) {
        if let Some(moving) = &mut self.moving {
            moving.begin = Some(at);
            moving.losses.fill(None);
            moving.stations.iter_mut().for_each(|own| own.seen = None);
        }
    }

    /// Whether a station moves.
    pub(crate) fn is_moving(&self, station: usize) -> bool {
        self.moving.as_ref().is_some_and(|moving| !moving.stations[station].path.is_standing())
    }

    /// Returns the power in dBm that arrives at `to` of what `from` sends at an instant, on average over fading.
    pub(crate) fn level(&mut self, from: usize, to: usize, at: Instant) -> Decibels {
        let known = self.levels[from * self.stations + to];
        let moving = self.moving.as_mut().filter(|moving| moving.moves(from, to));
        Decibels(moving.map_or(known, |moving| moving.level(from, to, at)))
    }

    /// Returns the power that arrives at `to` of what `from` sends at an instant.
    pub(crate) fn power(&mut self, from: usize, to: usize, at: Instant) -> Power {
        let place = from * self.stations + to;
        let pair = from.min(to) * self.stations + from.max(to);
        let known = self.fadings.get(pair).and_then(Option::as_ref);
        let Some(moving) = self.moving.as_mut().filter(|moving| moving.moves(from, to)) else {
            let level = Decibels(self.levels[place]);
            return known.map_or(self.powers[place], |(fading, apart)| Power::of(level + fading.gain(at, *apart)));
        };
        let level = Decibels(moving.level(from, to, at));
        Power::of(known.map_or(level, |(fading, _)| level + fading.gain(at, moving.apart(from, to, at))))
    }
}

/// How far the end with the later name is from the other one.
fn in_order([one, other]: [(&str, Position); 2]) -> (Metres, Metres) {
    if one.0 <= other.0 { apart(one.1, other.1) } else { apart(other.1, one.1) }
}

impl Moving {
    fn new(surroundings: Surroundings, antennas: &[Antenna<'_>], seed: Seed) -> Self {
        let station = |own: &Antenna<'_>| Station {
            name: own.name.into(),
            path: own.path.clone(),
            power: own.power,
            pattern: own.pattern,
            seen: None,
        };
        let pairs = antennas.len() * antennas.len();
        let ready = if surroundings.shadowing.is_some() { READY.min(pairs) } else { 0 };
        Self {
            surroundings,
            seed,
            stations: antennas.iter().map(station).collect(),
            begin: None,
            losses: vec![None; pairs],
            shadowings: vec![None; ready],
        }
    }

    /// Whether one of two different stations moves.
    fn moves(&self, one: usize, other: usize) -> bool {
        one != other && [one, other].iter().any(|own| !self.stations[*own].path.is_standing())
    }

    /// The power in dBm that arrives without fading.
    fn level(&mut self, from: usize, to: usize, at: Instant) -> f64 {
        let step = self.begin.map_or(0, |begin| at.since(begin).as_nanos() / STEP);
        let (low, high) = (from.min(to), from.max(to));
        let pair = low * self.stations.len() + high;
        let loss = match self.losses[pair] {
            Some((known, loss)) if known == step => loss,
            _ => {
                let loss = self.loss(pair, (low, high), step);
                self.losses[pair] = Some((step, loss));
                loss
            }
        };
        self.stations[from].power.0 - loss
    }

    /// How far the stations of a pair are apart at an instant.
    fn apart(&self, one: usize, other: usize, at: Instant) -> (Metres, Metres) {
        let time = self.begin.map_or(Duration::ZERO, |begin| at.since(begin));
        in_order([one, other].map(|own| {
            let Station { name, path, .. } = &self.stations[own];
            (name.as_str(), path.position(time))
        }))
    }

    fn loss(&mut self, pair: usize, (low, high): (usize, usize), step: u64) -> f64 {
        let places = [low, high].map(|own| self.stations[own].position(step));
        let shadowing = self.shadowing(pair, (low, high));
        let end = |own: usize, position: Position| {
            let Station { name, pattern, .. } = &self.stations[own];
            End { name, position, pattern: *pattern }
        };
        self.surroundings.loss(end(low, places[0]), end(high, places[1]), shadowing.as_deref())
    }

    fn shadowing(&mut self, pair: usize, (low, high): (usize, usize)) -> Option<Arc<Shadowing>> {
        let place = pair.checked_rem(self.shadowings.len())?;
        if let Some((known, shadowing)) = &self.shadowings[place]
            && *known == pair
        {
            return Some(shadowing.clone());
        }
        let (one, other) = (&self.stations[low].name, &self.stations[high].name);
        let made = Arc::new(self.surroundings.shadowing(one, other, self.seed)?);
        self.shadowings[place] = Some((pair, made.clone()));
        Some(made)
    }
}

impl Station {
    fn position(&mut self, step: u64) -> Position {
        if let Some((known, position)) = self.seen
            && known == step
        {
            return position;
        }
        let position = self.path.position(Duration::from_nanos(step.saturating_mul(STEP)));
        self.seen = Some((step, position));
        position
    }
}

#[cfg(test)]
mod tests;
