//! Whose the medium's time was.

use alloc::{vec, vec::Vec};
use netloom_units::{Duration, Instant};

/// How the time of a medium was spent: idle, in collisions, by interferers, and by each station. The sum is the time that has passed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Airtime {
    /// The time in which nobody sent, interframe spaces and backoffs included.
    pub idle: Duration,
    /// The time in which several sent at once.
    pub collisions: Duration,
    /// The time in which interferers alone sent.
    pub interferers: Duration,
    /// The time of each station in order of numbers: its PPDUs, what comes in front of them and their answers, with the spaces
    /// between them.
    pub stations: Vec<Duration>,
    /// All of it but the idle time.
    busy: Duration,
    booked: Instant,
}

/// A use of the medium.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Use {
    Idle,
    Collision,
    Interferer,
    Station(usize),
}

impl Airtime {
    /// Nothing has been spent until `since`.
    pub(crate) fn new(stations: usize, since: Instant) -> Self {
        let (stations, zero) = (vec![Duration::ZERO; stations], Duration::ZERO);
        Self { idle: zero, collisions: zero, interferers: zero, stations, busy: zero, booked: since }
    }

    pub(crate) fn busy(&self) -> Duration {
        self.busy
    }

    /// Books the time up to `until` that is not booked yet.
    pub(crate) fn book(&mut self, until: Instant, what: Use) {
        let span = until.since(self.booked);
        if !matches!(what, Use::Idle) {
            self.busy = self.busy + span;
        }
        let spent = match what {
            Use::Idle => &mut self.idle,
            Use::Collision => &mut self.collisions,
            Use::Interferer => &mut self.interferers,
            Use::Station(station) => &mut self.stations[station],
        };
        *spent = *spent + span;
        self.booked = self.booked.max(until);
    }

    /// Returns the time that has passed.
    pub fn total(&self) -> Duration {
        self.stations.iter().fold(self.idle + self.collisions + self.interferers, |sum, spent| sum + *spent)
    }
}
