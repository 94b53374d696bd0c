//! Bursts of interferers on the air.

use super::RadioMedium;
use super::signal::{Part, Signal};
use crate::antenna::AntennaPattern;
use crate::decibels::Decibels;
use crate::interferer::{Burst, Interferer, Source};
use crate::path::Path;
use crate::path_loss::Metres;
use crate::phy::Mode;
use crate::position::Position;
use crate::power::Power;
use crate::propagation::Antenna;
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use netloom_units::{Bytes, Instant};

/// An interferer as propagation sees it.
pub(super) struct Place {
    /// A name that no station has.
    name: String,
    path: Path,
    power: Decibels,
}

/// Where interferers are, in their order.
pub(super) fn places(interferers: &[Interferer]) -> Vec<Place> {
    let place = |own: &Interferer| {
        // The power of what arrives everywhere does not depend on places.
        let nowhere = Position { z: Metres(1.5), ..Position::default() };
        let (position, power) = match own.source {
            Source::At(position, power) => (position, power),
            Source::Everywhere(power) => (nowhere, power),
            Source::Sensed => (nowhere, Decibels::default()),
        };
        Place { name: format!("interferer {}", own.name), path: position.into(), power }
    };
    interferers.iter().map(place).collect()
}

impl Place {
    pub(super) fn antenna(&self) -> Antenna<'_> {
        Antenna { name: &self.name, path: &self.path, power: self.power, pattern: AntennaPattern::default() }
    }
}

impl<P> RadioMedium<P> {
    /// Interferers whose bursts begin at `at` begin to send.
    pub(super) fn interfere(&mut self, at: Instant) {
        while let Some(Burst { place, number, end }) = self.interferers.take(at) {
            let stations = self.stations.len();
            let from = stations + place;
            let home = self.home_channel();
            let arrives = |to: usize| {
                let is_reached = home.is_none() || self.stations[to].channel == home;
                if is_reached { self.foreign_power(place, to, at) } else { Power::default() }
            };
            let powers: Vec<Power> = (0..stations).map(arrives).collect();
            self.signals.push(Signal {
                from,
                number,
                answers: 0,
                part: Part::Foreign,
                to: None,
                mode: Mode::kilobits(6_000),
                mpdus: 1,
                size: Bytes::new(0),
                start: at,
                end,
                data: (at, end),
                reserved: end,
                powers,
                is_sensed: vec![false; stations],
                is_over: false,
            });
        }
    }

    /// The power that arrives at a station of an interferer.
    fn foreign_power(&mut self, place: usize, to: usize, at: Instant) -> Power {
        match self.interferers.own(place).source {
            Source::At(..) => self.ways.power(self.stations.len() + place, to, at),
            Source::Everywhere(power) => Power::of(power),
            Source::Sensed => self.receiver.energy,
        }
    }

    /// The power that arrives of a signal at a station that has come while it is on the air.
    pub(super) fn arriving(&mut self, signal: &Signal, station: usize, at: Instant) -> Power {
        match signal.from.checked_sub(self.stations.len()) {
            Some(place) => self.foreign_power(place, station, at),
            None => self.ways.power(signal.from, station, at),
        }
    }

    /// Whether stations can find a preamble in a signal.
    pub(super) fn has_preamble(&self, signal: &Signal) -> bool {
        let place = signal.from.checked_sub(self.stations.len());
        place.is_none_or(|place| self.interferers.own(place).has_preamble)
    }

    /// Whether a signal makes the medium busy: that of a station, or of an interferer if any station notices it.
    pub(super) fn is_noticed(&self, signal: &Signal) -> bool {
        let is_strong = |power: &Power| *power >= self.receiver.energy;
        signal.part != Part::Foreign || signal.is_sensed.contains(&true) || signal.powers.iter().any(is_strong)
    }
}
