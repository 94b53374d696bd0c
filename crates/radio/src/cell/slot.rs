//! A slot: who gets which blocks, and what becomes of what is sent in them.

use super::bearer::{HEADER, Repeat};
use super::config::Scheduler;
use super::medium::{CellMedium, insert};
use super::serving::Change;
use super::table::transport_block;
use crate::frame::{Cause, Outcome};
use alloc::vec;
use alloc::vec::Vec;
use core::cmp::Ordering;
use netloom_units::{Instant, Probability, Rate};
use rand_core::Rng;

/// A bearer that could send something new.
struct Candidate {
    place: usize,
    cqi: u8,
    /// The most blocks with which it may send.
    most: u32,
    /// The bits that it would get with all blocks.
    rate: u64,
    average: u64,
    served: u64,
}

impl<P> CellMedium<P> {
    /// Decides a slot.
    pub(super) fn run_slot(&mut self, slot: u64) {
        let at = self.start(slot);
        let decoded = at + self.config.slot + self.config.processing;
        // What is given up before this slot is decoded does not learn from it.
        self.give_up_before(decoded);
        self.measure(at);
        let mut is_used = false;
        for is_uplink in [false, true] {
            if self.has_blocks(slot, is_uplink) {
                let mut left = vec![self.config.blocks; self.config.sites.len().max(1)];
                self.send_repeats(at, is_uplink, &mut left);
                self.send_fresh(slot, is_uplink, &mut left);
                is_used |= left.into_iter().any(|left| left < self.config.blocks);
            }
        }
        if is_used {
            self.totals.busy = self.totals.busy + self.config.slot;
        }
    }

    fn bits(&self, cqi: u8, blocks: u32) -> u64 {
        let elements = u64::from(blocks) * u64::from(self.config.elements) * u64::from(self.config.layers);
        transport_block(self.config.table, cqi, elements)
    }

    /// How many blocks so many bytes need, at most all.
    fn blocks(&self, cqi: u8, bytes: u64) -> u32 {
        let (mut low, mut high) = (1, self.config.blocks);
        while low < high {
            let middle = u32::midpoint(low, high);
            if self.bits(cqi, middle) / 8 >= bytes {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        low
    }

    fn places(&self, is_uplink: bool) -> core::ops::Range<usize> {
        let stations = self.counters.len();
        if is_uplink { stations..2 * stations } else { 0..stations }
    }

    /// The site of a bearer; that of what is for everybody is the first one.
    fn site(&self, place: usize) -> usize {
        self.qualities.site(place % self.counters.len())
    }

    /// Takes the measurements that are due at the beginning of a slot of terminals that have data.
    fn measure(&mut self, at: Instant) {
        for station in 0..self.counters.len() {
            if self.qualities.next_measurement(station).is_some_and(|next| next <= at) && self.has_data(station) {
                match self.qualities.measure(station, true) {
                    Change::Stays => {}
                    Change::Chooses | Change::IsHandedOver => self.hand_over(station, at),
                }
            }
        }
    }

    /// A terminal with data goes to another site.
    fn hand_over(&mut self, station: usize, at: Instant) {
        let stations = self.counters.len();
        self.counters[station].handovers += 1;
        let decoded = at + self.config.slot + self.config.processing;
        let (is_acknowledged, forwards) = (self.is_acknowledged(), self.config.handover.forwards);
        for place in [station, stations + station] {
            let from = self.sender(place);
            let Self { bearers, outcomes, .. } = self;
            let mut sink = |frame, dropped| insert(outcomes, Outcome { at: decoded, from, frame, dropped });
            bearers[place].move_on(is_acknowledged, &mut sink);
            if place == station && !forwards {
                bearers[place].drop_waiting(|frame| sink(frame, Some(Cause::Retries)));
            }
        }
        // The new site learns at the end what waits at the terminal.
        let known = (self.bearers[stations + station].waiting() > 0).then(|| self.requested(station, at));
        self.bearers[stations + station].known_from = known;
    }

    /// The CQI of a bearer and the most blocks with which it holds, if it can be reached at all; otherwise it looks again with the next report.
    fn cqi(&mut self, place: usize, at: Instant) -> Option<(u8, u32)> {
        let stations = self.counters.len();
        let (is_uplink, station) = (place >= stations, place % stations);
        if self.qualities.reachable(station, at) > at || self.bearers[place].blind_until > at {
            return None;
        }
        let all = self.config.blocks;
        let (cqi, most) = if station == self.base { (1, all) } else { self.qualities.cqi(station, is_uplink, at) };
        if cqi == 0 {
            self.bearers[place].blind_until = self.qualities.next_report(at);
        }
        (cqi > 0).then_some((cqi, most))
    }

    /// Sends again what is due, in the order in which it is, and takes it off from the blocks that are left at each site.
    fn send_repeats(&mut self, at: Instant, is_uplink: bool, left: &mut [u32]) {
        let due =
            |this: &Self, place: usize| this.bearers[place].repeats.front().map(|own| own.due).filter(|due| *due <= at);
        let mut all: Vec<_> = self.places(is_uplink).filter_map(|place| Some((due(self, place)?, place))).collect();
        all.sort_unstable();
        for (_, place) in all {
            let Some((cqi, most)) = self.cqi(place, at) else { continue };
            let left = &mut left[self.site(place)];
            while due(self, place).is_some()
                && let Some(repeat) = self.bearers[place].repeats.front().copied()
            {
                let blocks = self.blocks(cqi, repeat.bytes).min(most);
                if blocks > *left {
                    break;
                }
                *left -= blocks;
                self.bearers[place].repeats.pop_front();
                self.send(place, at, repeat, (cqi, blocks));
            }
        }
    }

    /// Sends what is new on the blocks that are left at each site.
    fn send_fresh(&mut self, slot: u64, is_uplink: bool, left: &mut [u32]) {
        let at = self.start(slot);
        let mut candidates: Vec<Candidate> = Vec::new();
        for place in self.places(is_uplink) {
            candidates.extend(self.candidate(place, slot, at));
        }
        let scheduler = self.config.scheduler;
        candidates.sort_by(|one, other| order(scheduler, one, other));
        for Candidate { place, cqi, most, .. } in candidates {
            let left = &mut left[self.site(place)];
            let blocks = self.blocks(cqi, self.bearers[place].needed()).min(*left).min(most);
            if blocks == 0 || self.bits(cqi, blocks) / 8 <= HEADER {
                continue;
            }
            *left -= blocks;
            let bits = self.bits(cqi, blocks);
            let (block, bytes) = self.bearers[place].fill(bits / 8);
            self.bearers[place].share.get(slot, bits, self.config.window);
            if self.bearers[place].waiting() == 0 {
                self.bearers[place].known_from = None;
            }
            self.send(place, at, Repeat { due: at, block, attempt: 1, round: 1, bytes }, (cqi, blocks));
        }
    }

    fn candidate(&mut self, place: usize, slot: u64, at: Instant) -> Option<Candidate> {
        let (stations, bearer) = (self.counters.len(), &self.bearers[place]);
        let is_ready = if place >= stations {
            bearer.known_from.is_some_and(|known| known <= at)
        } else {
            self.listening(place, at) <= at
        };
        if bearer.waiting() == 0 || !is_ready {
            return None;
        }
        let (cqi, most) = self.cqi(place, at)?;
        let rate = self.bits(cqi, most);
        let share = &mut self.bearers[place].share;
        share.pass(slot, self.config.window);
        Some(Candidate { place, cqi, most, rate, average: share.average, served: share.served })
    }

    /// A block is on the air, and is decoded or not.
    fn send(&mut self, place: usize, at: Instant, sent: Repeat, (cqi, blocks): (u8, u32)) {
        let stations = self.counters.len();
        let decoded = at + self.config.slot + self.config.processing;
        let is_good = self.is_decoded(place, sent.attempt);
        let from = self.sender(place);
        self.qualities.used((place % stations, place >= stations), at, blocks);
        self.qualities.connect(place % stations, at);
        self.count(from.0 as usize, self.bits(cqi, blocks), blocks, is_good);
        if place != self.base {
            self.listen(place % stations, at + self.config.slot);
        }
        let is_acknowledged = self.is_acknowledged();
        let (harq, attempts, rounds) = (self.config.harq, self.config.attempts, self.config.rounds);
        let Self { bearers, outcomes, config, .. } = self;
        let bearer = &mut bearers[place];
        let mut sink = |frame, dropped| insert(outcomes, Outcome { at: decoded, from, frame, dropped });
        if is_good {
            bearer.decode(sent.block);
        } else if sent.attempt < attempts {
            bearer.repeat(Repeat { due: at + harq, attempt: sent.attempt + 1, ..sent });
        } else if is_acknowledged && sent.round < rounds {
            bearer.repeat(Repeat { due: decoded + config.reordering, attempt: 1, round: sent.round + 1, ..sent });
        } else {
            bearer.lose(sent.block, &mut sink);
        }
        bearer.deliver(is_acknowledged, &mut sink);
        if is_acknowledged || !bearer.has_gap() {
            bearer.gives_up = None;
        } else if bearer.gives_up.is_none() {
            bearer.gives_up = Some(decoded + config.reordering);
        }
    }

    /// Draws whether a block is decoded; what is for everybody always is.
    fn is_decoded(&mut self, place: usize, attempt: u32) -> bool {
        let lost: Probability = if attempt == 1 { self.config.errors } else { self.config.repeat_errors };
        place == self.base || lost.is_zero() || !lost.happens(self.bearers[place].errors.next_u64())
    }

    fn count(&mut self, station: usize, bits: u64, blocks: u32, is_good: bool) {
        // All sites together are the base station.
        let sites = if station == self.base { self.config.sites.len().max(1) as u64 } else { 1 };
        let slot = self.config.slot.as_nanos();
        let counters = &mut self.counters[station];
        let rate = Rate::from_bits_per_second(bits * 1_000_000_000 / slot).map_or(0, Rate::as_bits_per_second);
        counters.attempt(1, rate);
        counters.failed_mpdus += u64::from(!is_good);
        let share = slot * u64::from(blocks) / u64::from(self.config.blocks) / sites;
        counters.airtime = counters.airtime + netloom_units::Duration::from_nanos(share);
        self.totals.attempts += 1;
        self.totals.failed_mpdus += u64::from(!is_good);
    }
}

/// Who comes first.
fn order(scheduler: Scheduler, one: &Candidate, other: &Candidate) -> Ordering {
    let by_wait = one.served.cmp(&other.served).then(one.place.cmp(&other.place));
    match scheduler {
        Scheduler::RoundRobin => by_wait,
        Scheduler::ProportionalFair => {
            // Ratios of rates to averages, multiplied crosswise; whoever got nothing has the least average of all.
            let ratio = |rate: u64, of: &Candidate| u128::from(rate) * (u128::from(of.average) + 1);
            ratio(other.rate, one).cmp(&ratio(one.rate, other)).then(by_wait)
        }
    }
}
