//! With which access point of a network a station is.
//!
//! A station is with the strongest access point that it hears. It measures the powers of all of them with each of their beacons. As long as that of its own is
//! above a threshold it stays; below it, it goes to the strongest one that was stronger by the hysteresis for long enough, as clients do that scan in
//! the background. On the way it is off the air. One that no longer hears the beacons of its own has lost it, and goes to the strongest one that it hears.
//!
//! Defaults: -70 dBm and 8 dB are those of Apple's devices (About wireless roaming for enterprise); 102.4 ms is the usual period of beacons (100 TU), and Linux
//! gives up behind 7 of them (`beacon_loss_count` of mac80211); 50 ms is the aim of fast transitions (IEEE 802.11r), and a full authentication takes several hundred.
//! Differs from networks: powers are means over fading; beacons take no time on the air, and a station measures those on other channels without leaving its
//! own. So who is where follows from positions alone: it is a function of seed and time.

use crate::decibels::Decibels;
use crate::error::ConfigError;
use crate::measured::Measured;
use alloc::vec::Vec;
use netloom_units::{Duration, Instant};

/// The access points of a network, and how its stations choose between them.
#[derive(Clone, Debug, PartialEq)]
pub struct AccessPoints {
    /// The access points, of which there is at least one.
    pub points: Vec<AccessPoint>,
    /// When stations go from one of them to another.
    pub rule: RoamingRule,
    /// The stations that stay with one of them, each with the place of that among [`points`](Self::points).
    pub kept: Vec<(usize, usize)>,
}

/// An access point of several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccessPoint {
    /// The number of the station that it is.
    pub station: usize,
    /// The channel on which it sends: whoever is on another one hears nothing of it.
    pub channel: u8,
}

/// The rule by which a station goes from one access point to another, and what that costs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RoamingRule {
    /// The power in dBm below which a station looks for another access point; default -70 dBm.
    pub below: Decibels,
    /// How much stronger the other one has to be; default 8 dB.
    pub hysteresis: Decibels,
    /// For how long all beacons must show it; default 300 ms.
    pub trigger: Duration,
    /// The time from one beacon to the next; default 102.4 ms.
    pub beacon: Duration,
    /// So many beacons in a row that are not heard end an association; default 7.
    pub lost_after: u32,
    /// For how long a station is off the air when it goes; default 50 ms.
    pub gap: Duration,
}

impl Default for RoamingRule {
    fn default() -> Self {
        Self {
            below: Decibels(-70.0),
            hysteresis: Decibels(8.0),
            trigger: Duration::from_millis(300),
            beacon: Duration::from_micros(102_400),
            lost_after: 7,
            gap: Duration::from_millis(50),
        }
    }
}

impl AccessPoints {
    /// Checks that the parameters make sense among so many stations.
    pub(crate) fn check(&self, stations: usize) -> Result<(), ConfigError> {
        let wrong = |key, why: &str| Err(ConfigError::new(key, why));
        let is_point = |station: usize| self.points.iter().any(|point| point.station == station);
        if self.points.is_empty() || self.points.iter().any(|point| point.station >= stations) {
            return wrong("access_points", "each of them is a station");
        }
        if self.kept.iter().any(|(station, point)| is_point(*station) || *point >= self.points.len()) {
            return wrong("access_point", "a station that is no access point stays with one of them");
        }
        if self.rule.beacon.is_zero() || self.rule.lost_after == 0 {
            return wrong("roaming", "beacons come each time above zero, and at least one is missed");
        }
        Ok(())
    }

    /// The access point with which a station stays, if it does.
    pub(crate) fn kept(&self, station: usize) -> Option<usize> {
        self.kept.iter().find(|(own, _)| *own == station).map(|(_, point)| *point)
    }
}

/// A station and its access point, by the place of that among all of them.
#[derive(Clone, Debug)]
pub(crate) struct Association {
    /// With which one it is, or to which one it goes.
    pub(crate) point: Option<usize>,
    /// The next beacon; none: nothing ever changes.
    pub(crate) next: Option<Instant>,
    /// Until when it is on its way.
    until: Instant,
    measured: Measured,
    missed: u32,
    kept: Option<usize>,
}

/// The outcome of a beacon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Move {
    Stays,
    /// The station is with none any more.
    Loses,
    /// The station is on its way to another one.
    Goes,
}

impl Association {
    /// A station that begins with the strongest access point that it hears. `least`: the power in dBm from which on it hears one.
    pub(crate) fn strongest(levels: Vec<f64>, least: f64, kept: Option<usize>, next: Option<Instant>) -> Self {
        let measured = Measured::new(levels);
        let mut new = Self { point: None, next, until: Instant::ZERO, measured, missed: 0, kept };
        new.point = new.heard(least);
        new
    }

    /// The strongest access point that it hears and with which it may be.
    fn heard(&self, least: f64) -> Option<usize> {
        self.measured.strongest(|point| self.may_be_with(point) && self.measured.level(point) >= least)
    }

    fn may_be_with(&self, point: usize) -> bool {
        self.kept.is_none_or(|kept| kept == point)
    }

    /// Takes the beacons that are due, and says what the station does.
    pub(crate) fn take(&mut self, rule: &RoamingRule, least: f64, levels: &[f64]) -> Move {
        let Some(at) = self.next else { return Move::Stays };
        self.next = Some(at + rule.beacon);
        if at < self.until {
            return Move::Stays;
        }
        self.measured.add(1.0, levels);
        let Some(own) = self.point else {
            self.point = self.heard(least);
            return if self.point.is_some() { self.go(at, rule) } else { Move::Stays };
        };
        let level = self.measured.level(own);
        self.missed = if level < least { self.missed + 1 } else { 0 };
        if self.missed >= rule.lost_after {
            self.measured.forget();
            (self.point, self.missed) = (None, 0);
            return Move::Loses;
        }
        let looks = level < rule.below.0;
        self.measured.note(at, if looks { (level + rule.hysteresis.0).max(least) } else { f64::INFINITY });
        let others = |point: usize| point != own && self.may_be_with(point);
        let Some(target) = self.measured.lasting(at, rule.trigger, others) else { return Move::Stays };
        self.point = Some(target);
        self.go(at, rule)
    }

    fn go(&mut self, at: Instant, rule: &RoamingRule) -> Move {
        self.measured.forget();
        (self.until, self.missed) = (at + rule.gap, 0);
        Move::Goes
    }
}
