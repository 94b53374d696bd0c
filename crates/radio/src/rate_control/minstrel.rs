//! Minstrel: the mode with the greatest throughput by what arrived lately, and now and then another one.
//!
//! Source: the rate control of Linux (`rc80211_minstrel_ht.c`) in its form up to 2019. Every 50 ms the share of MPDUs that arrived is averaged with
//! what was known, which counts for 75 %. A mode's throughput is that share, at most 90 %, and nothing below 10 %, over the time that 1,200 bytes
//! take. A PPDU uses the mode with the greatest throughput; after two failures in a row the second best; after four the surest: the best
//! of those of which 95 % arrive, or else the one of which most does. One PPDU in ten tries another mode that could be better than the best.
//! Differs from the source: retries are PPDUs of their own, each with its own backoff, instead of a chain that the hardware works off; which mode is
//! tried follows from the seed, both names and the number of the PPDU; all modes have one stream.

use netloom_units::{Duration, Instant};

/// The interval at which shares are computed.
const INTERVAL: Duration = Duration::from_millis(50);
/// The weight of what was known before.
const WEIGHT: f64 = 0.75;
/// More than this share does not make a mode better, and less makes it useless.
const MOST: f64 = 0.9;
const LEAST: f64 = 0.1;
/// The share of modes that count as sure.
const SURE: f64 = 0.95;
/// The share of PPDUs that try something.
const SAMPLES: f64 = 0.1;
/// So many failures in a row for each part of the chain.
const PATIENCE: u32 = 2;

/// The time that a mode takes, in nanoseconds: for 1,200 bytes, and for what is around the data of a PPDU.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Airtime {
    pub(crate) data: f64,
    pub(crate) around: f64,
}

/// The MPDUs of a mode, and those that arrived.
#[derive(Clone, Copy, Debug, Default)]
struct Record {
    tried: u32,
    arrived: u32,
    /// The averaged share; none if the mode was never tried.
    share: Option<f64>,
}

/// The knowledge of the way to a destination.
#[derive(Clone, Debug)]
pub(crate) struct Minstrel {
    records: alloc::vec::Vec<Record>,
    best: usize,
    second: usize,
    surest: usize,
    /// Failures in a row.
    failures: u32,
    updated: Instant,
    /// The PPDUs since then, and how many MPDUs a PPDU had on average before.
    ppdus: u32,
    length: f64,
}

impl Minstrel {
    /// Knows nothing, and begins with the slowest of so many modes.
    pub(crate) fn new(now: Instant, modes: usize) -> Self {
        let records = alloc::vec![Record::default(); modes];
        Self { records, best: 0, second: 0, surest: 0, failures: 0, updated: now, ppdus: 0, length: 1.0 }
    }

    /// The place of the mode for the next PPDU. `chance` yields numbers from zero to below one.
    pub(crate) fn choose(&mut self, now: Instant, times: &[Airtime], chance: impl Fn(u32) -> f64) -> usize {
        if now.since(self.updated) >= INTERVAL {
            self.update(now, times);
        }
        if self.failures == 0 && chance(0) < SAMPLES {
            let better = self.throughput(self.best, times);
            let is_open = |place: &usize| *place != self.best && MOST / self.span(*place, times) > better;
            let open = (0..self.records.len()).filter(is_open);
            let which = (chance(1) * open.clone().count() as f64) as usize;
            return open.into_iter().nth(which).unwrap_or(self.best);
        }
        match self.failures / PATIENCE {
            0 => self.best,
            1 => self.second,
            _ => self.surest,
        }
    }

    /// Notes how many MPDUs of a PPDU arrived.
    pub(crate) fn report(&mut self, place: usize, tried: u32, arrived: u32) {
        let record = &mut self.records[place];
        record.tried = record.tried.saturating_add(tried);
        record.arrived = record.arrived.saturating_add(arrived);
        self.ppdus = self.ppdus.saturating_add(1);
        self.failures = if arrived == 0 { self.failures.saturating_add(1) } else { 0 };
    }

    fn update(&mut self, now: Instant, times: &[Airtime]) {
        let mpdus: f64 = self.records.iter().map(|record| f64::from(record.tried)).sum();
        if self.ppdus > 0 {
            self.length = mpdus / f64::from(self.ppdus);
        }
        for record in self.records.iter_mut().filter(|record| record.tried > 0) {
            let found = f64::from(record.arrived) / f64::from(record.tried);
            let share = record.share.map_or(found, |share| WEIGHT * share + (1.0 - WEIGHT) * found);
            *record = Record { tried: 0, arrived: 0, share: Some(share) };
        }
        (self.updated, self.ppdus) = (now, 0);
        let all = 0..self.records.len();
        let throughput = |place: usize| self.throughput(place, times);
        let best = greatest(all.clone(), throughput);
        let second = greatest(all.clone().filter(|place| *place != best), throughput);
        let has_sure = all.clone().any(|place| self.share(place) >= SURE);
        let surest = if has_sure {
            greatest(all.filter(|place| self.share(*place) >= SURE), throughput)
        } else {
            greatest(all, |place| self.share(place))
        };
        (self.best, self.second, self.surest) = (best, second, surest);
    }

    fn share(&self, place: usize) -> f64 {
        self.records[place].share.unwrap_or(0.0)
    }

    fn throughput(&self, place: usize, times: &[Airtime]) -> f64 {
        let share = self.share(place);
        if share < LEAST { 0.0 } else { share.min(MOST) / self.span(place, times) }
    }

    /// The time that an MPDU takes, with its part of what is around the data.
    fn span(&self, place: usize, times: &[Airtime]) -> f64 {
        times[place].data + times[place].around / self.length
    }
}

/// The place with the greatest value, of equal ones the first; the slowest mode if there is none.
fn greatest(places: impl Iterator<Item = usize>, value: impl Fn(usize) -> f64) -> usize {
    let better = |best: Option<usize>, place: usize| match best {
        Some(best) if value(best) >= value(place) => Some(best),
        _ => Some(place),
    };
    places.fold(None, better).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three modes, each twice as fast as the one before.
    const TIMES: [Airtime; 3] =
        [Airtime { data: 4e6, around: 0.0 }, Airtime { data: 2e6, around: 0.0 }, Airtime { data: 1e6, around: 0.0 }];

    fn never(_: u32) -> f64 {
        0.999
    }

    fn after(millis: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(millis)
    }

    #[test]
    fn shares_are_averaged_and_the_chain_follows_from_them() {
        let mut own = Minstrel::new(Instant::ZERO, 3);
        assert_eq!(own.choose(after(0), &TIMES, never), 0);
        // All arrive in the slowest mode, 0.8 in the next, 0.3 in the fastest: 0.225, 0.4 and 0.3 MPDUs in a millisecond.
        for (place, arrived) in [(0, 10), (1, 8), (2, 3)] {
            own.report(place, 10, arrived);
        }
        assert_eq!(own.choose(after(49), &TIMES, never), 0);
        assert_eq!(own.choose(after(50), &TIMES, never), 1);
        assert_eq!((own.best, own.second, own.surest), (1, 2, 0));
        // 0.75 · 0.8, and 0.75 · 0.3 + 0.25: 0.3 and 0.475 MPDUs in a millisecond.
        own.report(1, 1, 0);
        own.report(2, 1, 1);
        assert_eq!(own.choose(after(100), &TIMES, never), 2);
        assert!(libm::fabs(own.share(1) - 0.6) < 1e-12 && libm::fabs(own.share(2) - 0.475) < 1e-12);
        // What was not tried keeps its share.
        assert!(libm::fabs(own.share(0) - 1.0) < 1e-12);
    }

    #[test]
    fn failures_go_along_the_chain() {
        let mut own = Minstrel::new(Instant::ZERO, 3);
        for (place, arrived) in [(0, 10), (1, 8), (2, 3)] {
            own.report(place, 10, arrived);
        }
        let mut chain = alloc::vec::Vec::new();
        for _ in 0..6 {
            let place = own.choose(after(50), &TIMES, never);
            chain.push(place);
            own.report(place, 1, 0);
        }
        assert_eq!(chain, [1, 1, 2, 2, 0, 0]);
        own.report(0, 1, 1);
        assert_eq!(own.choose(after(50), &TIMES, never), 1);
    }

    #[test]
    fn only_what_could_be_better_is_tried() {
        let mut own = Minstrel::new(Instant::ZERO, 3);
        own.report(1, 10, 10);
        let sample = |which: f64| move |part| if part == 0 { 0.05 } else { which };
        // 0.45 MPDUs in a millisecond: the slowest has 0.225 at most, the fastest 0.9.
        assert_eq!(own.choose(after(50), &TIMES, never), 1);
        assert!((0..10_u8).all(|tenth| own.choose(after(50), &TIMES, sample(f64::from(tenth) / 10.0)) == 2));
        own.report(2, 10, 10);
        assert_eq!(own.choose(after(100), &TIMES, sample(0.5)), 2);
    }
}
