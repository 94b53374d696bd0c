//! At which site a terminal is: event A3 of TS 36.331, 5.5.4.4, on measured powers.
//!
//! A terminal measures the powers of all sites at multiples of a period, without fading, which layer 1 averages away, and filters them in decibels (5.5.3.2). It
//! goes to the strongest site that was stronger than its own by offset and hysteresis for the time to trigger.

use super::site::HandoverRule;
use crate::measured::Measured;
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
    /// The powers of all sites.
    measured: Measured,
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
        let measured = Measured::default();
        Self { site, until: Instant::ZERO, next: None, connected_until: Instant::ZERO, measured }
    }

    /// A terminal that begins at the strongest site, and measures again at `next`.
    pub(super) fn strongest(measured: &[f64], next: Option<Instant>) -> Self {
        let measured = Measured::new(measured.into());
        let site = measured.strongest(|_| true).unwrap_or(0);
        Self { next, measured, ..Self::at(site) }
    }

    /// Whether it chose its site by itself.
    pub(super) fn is_free(&self) -> bool {
        !self.measured.is_empty()
    }

    /// The terminal has data at this instant.
    pub(super) fn connect(&mut self, at: Instant) {
        self.connected_until = self.connected_until.max(at + CONNECTED);
    }

    /// Takes the measurement that is due, and returns what the terminal does. `has_data`: something waits for it or at it.
    pub(super) fn take(&mut self, rule: &HandoverRule, weight: f64, measured: &[f64], has_data: bool) -> Change {
        let Some(at) = self.next else { return Change::Stays };
        self.next = Some(at + rule.period);
        self.measured.add(weight, measured);
        self.measured.note(at, self.measured.level(self.site) + rule.offset.0 + rule.hysteresis.0);
        let own = self.site;
        let Some(target) = self.measured.lasting(at, rule.trigger, |site| site != own) else { return Change::Stays };
        self.measured.forget();
        self.site = target;
        if !has_data && at >= self.connected_until {
            return Change::Chooses;
        }
        self.until = at + rule.gap;
        Change::IsHandedOver
    }
}
