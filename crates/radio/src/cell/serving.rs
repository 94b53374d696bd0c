//! At which site a terminal is: event A3 of TS 36.331, 5.5.4.4, on measured powers.
//!
//! A terminal measures the powers of all sites at multiples of a period, without fading, which layer 1 averages away, and filters them in decibels (5.5.3.2). It
//! goes to the strongest site that was stronger than its own by offset and hysteresis for the time to trigger.

use super::site::HandoverRule;
use alloc::vec;
use alloc::vec::Vec;
use netloom_units::{Duration, Instant};

/// For so long behind its last data a terminal is connected: one that is not just chooses another site, without a gap.
const CONNECTED: Duration = Duration::from_secs(10);

/// A terminal and its site.
#[derive(Clone, Debug)]
pub(super) struct Serving {
    pub(super) site: usize,
    /// Until when nothing can be sent because of the last handover.
    pub(super) until: Instant,
    /// The next measurement; none: it stays.
    pub(super) next: Option<Instant>,
    connected_until: Instant,
    /// By site: the filtered power in dBm, and since when it is so strong.
    levels: Vec<f64>,
    since: Vec<Option<Instant>>,
}

/// The outcome of a measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    Stays,
    /// The terminal was not connected, and chose another site.
    Chooses,
    IsHandedOver,
}

impl Serving {
    /// A terminal that stays at a site.
    pub(super) fn at(site: usize) -> Self {
        let (levels, since) = (Vec::new(), Vec::new());
        Self { site, until: Instant::ZERO, next: None, connected_until: Instant::ZERO, levels, since }
    }

    /// A terminal that begins at the strongest site, and measures again at `next`.
    pub(super) fn strongest(measured: &[f64], next: Option<Instant>) -> Self {
        let site = best(measured, 0..measured.len()).unwrap_or(0);
        Self { next, levels: measured.into(), since: vec![None; measured.len()], ..Self::at(site) }
    }

    /// Whether it chose its site by itself.
    pub(super) fn is_free(&self) -> bool {
        !self.levels.is_empty()
    }

    /// The terminal has data at this instant.
    pub(super) fn connect(&mut self, at: Instant) {
        self.connected_until = self.connected_until.max(at + CONNECTED);
    }

    /// Takes the measurement that is due, and returns what the terminal does. `has_data`: something waits for it or at it.
    pub(super) fn take(&mut self, rule: &HandoverRule, weight: f64, measured: &[f64], has_data: bool) -> Change {
        let Some(at) = self.next else { return Change::Stays };
        self.next = Some(at + rule.period);
        for (level, new) in self.levels.iter_mut().zip(measured) {
            *level += weight * (new - *level);
        }
        let least = self.levels[self.site] + rule.offset.0 + rule.hysteresis.0;
        for (level, since) in self.levels.iter().zip(&mut self.since) {
            *since = if *level > least { since.or(Some(at)) } else { None };
        }
        let own = self.site;
        let long =
            |site: &usize| *site != own && self.since[*site].is_some_and(|since| at.since(since) >= rule.trigger);
        let Some(target) = best(&self.levels, (0..self.levels.len()).filter(long)) else { return Change::Stays };
        self.since.fill(None);
        self.site = target;
        if !has_data && at >= self.connected_until {
            return Change::Chooses;
        }
        self.until = at + rule.gap;
        Change::IsHandedOver
    }
}

/// The strongest of these sites, the first of equal ones.
fn best(levels: &[f64], sites: impl Iterator<Item = usize>) -> Option<usize> {
    sites.reduce(|best, site| if levels[site] > levels[best] { site } else { best })
}
