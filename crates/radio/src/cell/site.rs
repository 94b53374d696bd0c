//! The places from which a base station sends, and when terminals change between them.

use crate::antenna::AntennaPattern;
use crate::decibels::Decibels;
use crate::error::ConfigError;
use crate::position::Position;
use alloc::format;
use alloc::string::String;
use netloom_units::Duration;

/// At most so many sites belong to a base station.
pub(super) const MOST_SITES: usize = 64;
/// The greatest filter coefficient of TS 36.331, 6.3.5.
const MOST_FILTER: u32 = 19;

/// A cell of several that one base station has: where it is, how it sends and on which carrier.
#[derive(Clone, Debug, PartialEq)]
pub struct CellSite {
    /// The unique name, from which random generators are derived.
    pub name: String,
    /// Where its antenna is.
    pub position: Position,
    /// The power in dBm with which it sends on all blocks together, without the gain of its antenna.
    pub power: Decibels,
    /// The gain of its antenna by direction.
    pub pattern: AntennaPattern,
    /// The number of its carrier: sites with the same one interfere.
    pub carrier: u32,
}

/// The rule by which a terminal changes to another site, and what that costs: event A3 of TS 36.331 and TS 38.331, 5.5.4.4.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HandoverRule {
    /// By how much another site has to be stronger (a3-Offset).
    pub offset: Decibels,
    /// The margin on top of that for the event to begin; it is taken off for the event to end.
    pub hysteresis: Decibels,
    /// For how long all measurements must show it.
    pub trigger: Duration,
    /// The time from one measurement to the next.
    pub period: Duration,
    /// The coefficient k of the filter of layer 3 (TS 36.331, 5.5.3.2).
    pub filter: u32,
    /// For how long nothing is sent to the terminal or by it.
    pub gap: Duration,
    /// Whether the old site hands on what waits for the terminal; otherwise that is lost.
    pub forwards: bool,
}

impl Default for HandoverRule {
    fn default() -> Self {
        Self {
            offset: Decibels(3.0),
            hysteresis: Decibels(1.0),
            trigger: Duration::from_millis(160),
            period: Duration::from_millis(40),
            filter: 4,
            gap: Duration::from_millis(50),
            forwards: true,
        }
    }
}

impl HandoverRule {
    /// Checks that the parameters make sense with slots of this length.
    pub(super) fn check(&self, slot: Duration) -> Result<(), ConfigError> {
        let wrong = |why: &str| Err(ConfigError::new("handover", why));
        if self.period.is_zero() || !self.period.as_nanos().is_multiple_of(slot.as_nanos()) {
            return wrong("the time between measurements is a multiple of the slot");
        }
        if self.filter > MOST_FILTER {
            return wrong("the coefficient of the filter is 0 to 19");
        }
        if ![self.offset.0, self.hysteresis.0].iter().all(|value| (-100.0..=100.0).contains(value))
            || self.hysteresis.0 < 0.0
        {
            return wrong("the offset is -100 dB to 100 dB, and the hysteresis 0 dB to 100 dB");
        }
        Ok(())
    }

    /// The weight of a new measurement. The coefficient is meant for one each 200 ms; with another time between them the filter keeps its time (TS 36.331, 5.5.3.2).
    pub(super) fn weight(&self) -> f64 {
        let old = 1.0 - libm::exp2(-f64::from(self.filter) / 4.0);
        1.0 - libm::pow(old, self.period.as_secs_f64() / 0.2)
    }
}

/// Checks that sites differ from one another and from terminals.
pub(super) fn check(sites: &[CellSite], terminals: &[&str]) -> Result<(), ConfigError> {
    let wrong = |why: String| Err(ConfigError::new("cells", why));
    if sites.len() > MOST_SITES {
        return wrong(format!("there are at most {MOST_SITES} of them"));
    }
    for (place, CellSite { name, power, .. }) in sites.iter().enumerate() {
        if sites[..place].iter().any(|other| other.name == *name) || terminals.contains(&name.as_str()) {
            return wrong(format!("`{name}`: something else has this name: write another one"));
        }
        if !power.0.is_finite() {
            return wrong(format!("`{name}`: its power is a number of dBm"));
        }
    }
    Ok(())
}
