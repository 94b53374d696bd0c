//! Bursts of interferers where all hear one another.
//!
//! All stations sense a burst: nobody begins before it is over, and behind it nobody waits for an EIFS. What is on the air when it begins is lost as
//! in a collision, all MPDUs of it, unless the data is over by then: what has arrived is acknowledged. Instants of bursts are known, so that a
//! begin decides what becomes of a transmission, as it does without them.

use super::Medium;
use crate::airtime::Use;
use crate::config::Access;
use crate::contender::Contender;
use crate::error::ConfigError;
use crate::interferer::{Interferer, Interferers};
use crate::transmission::{Fate, Party, Transmission};
use alloc::vec::Vec;
use netloom_units::{Instant, Seed};

impl<P> Medium<P> {
    /// Adds interferers, all of which every station senses, wherever they are.
    ///
    /// # Errors
    /// If one is described wrongly, or stations do not listen to the medium.
    pub fn with_interferers(mut self, interferers: &[Interferer], seed: Seed) -> Result<Self, ConfigError> {
        if self.config.access == Access::Ideal && !interferers.is_empty() {
            return Err(ConfigError::new("interferers", "stations that do not contend do not listen to others"));
        }
        self.interferers = Interferers::new(interferers, seed)?;
        Ok(self)
    }

    /// Bursts that begin at `at` begin, behind what stations begin then.
    pub(super) fn interfere(&mut self, at: Instant) {
        let mut until = None;
        while let Some(burst) = self.interferers.take(at) {
            until = until.max(Some(burst.end));
        }
        if until.is_some() && self.on_air.is_none() && self.disturbed.is_none() {
            self.airtime.book(at, Use::Idle);
            self.next_begin = None;
            let contenders = self.stations.iter_mut().flat_map(|station| &mut station.contenders);
            contenders.for_each(|contender| contender.freeze(at));
        }
        self.disturbed = self.disturbed.max(until);
    }

    /// All bursts are over: if nothing else is on the air, the medium is idle.
    pub(super) fn calm_down(&mut self, at: Instant) {
        let used = self.use_of_now();
        self.disturbed = None;
        if self.on_air.is_some() {
            return;
        }
        self.airtime.book(at, used);
        self.idle_since = at;
        let contenders = self.stations.iter_mut().flat_map(|station| &mut station.contenders);
        contenders.for_each(|contender| contender.hold(at));
        self.next_begin = self.first_due();
    }

    /// When bursts are over for which frames wait.
    pub(super) fn next_calm(&self) -> Option<Instant> {
        self.disturbed.filter(|_| !self.contenders().all(Contender::has_nothing))
    }

    /// Whether a burst begins before `until`.
    pub(super) fn is_met(&self, until: Instant) -> bool {
        self.interferers.next_begin().is_some_and(|begin| begin < until)
    }

    /// One station sends, and a burst begins before its data is over: nobody decodes it.
    pub(super) fn met(&mut self, start: Instant, party: Party, parties: Vec<Party>) -> Transmission {
        self.stations[party.station].counters.collisions += 1;
        self.totals.collisions += 1;
        let has_access = party.has_rts && !self.is_met(start + party.request());
        let (fate, lasts) =
            if has_access { (Fate::Lost, party.times.data) } else { (Fate::Collides, party.times.first) };
        // Of what comes behind an RTS without an answer, nothing is on the air.
        if has_access || !party.has_rts {
            self.show(start, &party);
        }
        Transmission { start, end: start + lasts, fate, good: 0, may_last: None, parties }
    }
}
