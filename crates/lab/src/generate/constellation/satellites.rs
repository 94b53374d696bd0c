//! All satellites of a constellation, whichever way their orbits are described.

use super::elements::Elements;
use super::orbits::{ATMOSPHERE, EARTH, GREENWICH, HYPATIA, Place, Shell};
use std::f64::consts::PI;

/// All satellites of a constellation.
#[derive(Clone, Debug)]
pub(super) enum Orbits {
    Shell(Shell),
    Elements(Elements),
}

impl Orbits {
    /// How many satellites there are.
    pub(super) fn count(&self) -> usize {
        match self {
            Self::Shell(shell) => shell.count(),
            Self::Elements(elements) => elements.count(),
        }
    }

    /// Where a satellite is so many seconds after time zero.
    pub(super) fn place(&self, satellite: usize, seconds: f64) -> Place {
        match self {
            Self::Shell(shell) => shell.place(satellite, seconds),
            Self::Elements(elements) => elements.place(satellite, seconds),
        }
    }

    /// The pairs of satellites that are joined by lasers (+Grid).
    pub(super) fn lasers(&self) -> Vec<[usize; 2]> {
        match self {
            Self::Shell(shell) => shell.lasers(),
            Self::Elements(elements) => elements.lasers(),
        }
    }

    /// The length up to which a laser link between these places passes above the atmosphere, in metres.
    pub(super) fn longest_laser(&self, one: &Place, other: &Place) -> f64 {
        match self {
            Self::Shell(shell) => shell.longest_laser(),
            Self::Elements(_) => {
                let air = EARTH + ATMOSPHERE;
                let part = |place: &Place| {
                    let squared: f64 = place.iter().map(|part| part * part).sum();
                    libm::sqrt((squared - air * air).max(0.0))
                };
                part(one) + part(other)
            }
        }
    }

    /// Greenwich's angle at time zero, in radians.
    pub(super) fn greenwich(&self) -> f64 {
        match self {
            Self::Shell(_) => GREENWICH * PI / 180.0,
            Self::Elements(elements) => elements.greenwich(),
        }
    }

    /// Time zero, in nanoseconds after 1970-01-01 00:00 UTC.
    pub(super) fn start(&self) -> i64 {
        match self {
            Self::Shell(_) => HYPATIA,
            Self::Elements(elements) => elements.start(),
        }
    }
}
