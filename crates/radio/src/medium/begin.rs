//! Stations begin to send.

use super::Medium;
use crate::aired::{Control, Outline};
use crate::airtime::Use;
use crate::category::AccessCategory;
use crate::config::Access;
use crate::frame::Destination;
use crate::queue::Failure;
use crate::transmission::{self, Fate, Party, Times, Transmission};
use alloc::vec::Vec;
use netloom_units::{Duration, Instant};

impl<P> Medium<P> {
    /// Whoever has a backoff that is over at `at` begins to send; the backoffs of all others stand still.
    pub(super) fn begin(&mut self, at: Instant) {
        self.airtime.book(at, Use::Idle);
        self.next_begin = None;
        let mut parties = core::mem::take(&mut self.spare);
        parties.clear();
        match self.config.access {
            Access::Ideal => {
                parties.extend(self.first_come(at).and_then(|(station, category)| self.party(station, category)));
            }
            Access::Dcf => self.contend(at, &mut parties),
        }
        self.on_air = Some(self.transmission(at, parties));
    }

    /// Whoever has waited longest of those who are due.
    fn first_come(&self, at: Instant) -> Option<(usize, usize)> {
        let stations = self.stations.iter().enumerate();
        let all =
            stations.flat_map(|(place, station)| station.contenders.iter().enumerate().map(move |one| (place, one)));
        let due = all.filter(|(_, (_, contender))| contender.due() == Some(at));
        // Of those who came at one instant the first station: not whom the medium was told of first.
        due.min_by_key(|(_, (_, contender))| contender.queue.head().map(|(arrival, _)| arrival))
            .map(|(place, (category, _))| (place, category))
    }

    fn contend(&mut self, at: Instant, parties: &mut Vec<Party>) {
        for station in 0..self.stations.len() {
            let mut sends = None;
            for category in (0..self.stations[station].contenders.len()).rev() {
                let contender = &mut self.stations[station].contenders[category];
                let is_due = contender.due() == Some(at);
                contender.freeze(at);
                match (is_due, sends) {
                    (true, None) => sends = Some(category),
                    (true, Some(_)) => self.yield_to_more_urgent(at, station, category),
                    (false, _) => {}
                }
            }
            parties.extend(sends.and_then(|category| self.party(station, category)));
        }
    }

    /// Two categories of a station are due at once: the less urgent one fares as in a collision, without being on the air.
    fn yield_to_more_urgent(&mut self, at: Instant, station: usize, category: usize) {
        if let Some(party) = self.party(station, category) {
            self.fail(at, party, Failure::Internal);
        }
    }

    /// Puts MPDUs of a category on the air.
    fn party(&mut self, station: usize, category: usize) -> Option<Party> {
        let Self { config, limits, stations, .. } = self;
        let sender = &mut stations[station];
        let (flow, to) = sender.contenders[category].queue.pick()?;
        let is_management = sender.contenders[category].queue.is_management(flow);
        let link = sender.link(to, is_management);
        let contender = &mut sender.contenders[category];
        let is_dcf = config.access == Access::Dcf && to != Destination::Everybody;
        // What comes in front of the data and behind it counts for the TXOP limit.
        let around =
            transmission::request(config, &link) + transmission::answer(config, &link, limits.has_aggregates());
        let time = match contender.txop() {
            Duration::ZERO => config.longest_ppdu,
            limit => (limit - around).min(config.longest_ppdu),
        };
        let load = contender.queue.load(flow, limits, &link.ppdu, time);
        let has_rts = is_dcf && !is_management && config.rts_above.is_some_and(|above| load.size > above);
        let times = Times::new(config, &link, load, to, has_rts);
        let (mode, ppdu) = (link.mode, link.ppdu);
        Some(Party { station, category, flow, to, mode, ppdu, load, has_rts, is_management, times })
    }

    fn transmission(&mut self, start: Instant, parties: Vec<Party>) -> Transmission {
        for party in &parties {
            self.count(*party);
            self.stations[party.station].counters.collisions += u64::from(parties.len() > 1);
            self.totals.collisions += u64::from(parties.len() > 1);
        }
        if let [party] = parties[..] {
            let limit = self.stations[party.station].contenders[party.category].txop();
            let may_last = (!limit.is_zero()).then(|| start + limit);
            return self.alone(start, party, may_last, parties);
        }
        // Of what comes behind an RTS, nothing is on the air.
        for party in &parties {
            if party.has_rts {
                self.show_request(start, party);
            } else {
                self.show(start, party);
            }
        }
        let end = start + parties.iter().map(|party| party.times.first).max().unwrap_or_default();
        Transmission { start, end, fate: Fate::Collides, good: 0, may_last: None, parties }
    }

    fn count(&mut self, party: Party) {
        self.stations[party.station].counters.attempt(party.load.mpdus, party.ppdu.bits_per_second());
        self.totals.attempts += 1;
    }

    /// Notes what is on the air of a party that begins at `start`, once it is decided what will be decoded.
    pub(super) fn show(&mut self, start: Instant, party: &Party) {
        let outline = self.outline(start + party.request(), party);
        let Party { station, category, flow, .. } = *party;
        let queue = &mut self.stations[station].contenders[category].queue;
        if let Some(recorder) = &mut self.recorder {
            recorder.begin(outline, queue.on_air(flow));
        }
        queue.note_sent(flow);
    }

    /// Notes an RTS that collides.
    fn show_request(&mut self, start: Instant, party: &Party) {
        let outline = self.outline(start, party);
        self.recorder.iter_mut().for_each(|recorder| recorder.request(outline));
    }

    fn outline(&self, start: Instant, party: &Party) -> Outline {
        let Party { station, category, to, mode, ppdu, load, has_rts, times, .. } = *party;
        Outline {
            from: station,
            to,
            category: self.config.phy.has_qos().then(|| AccessCategory::ALL[category]),
            mode,
            ppdu,
            size: load.size,
            start,
            answer: times.whole - times.data,
            signal: None,
            control: Control::new(&self.config, mode, has_rts),
        }
    }

    /// One station sends: which MPDUs will be decoded is decided now.
    fn alone(&mut self, start: Instant, party: Party, may_last: Option<Instant>, parties: Vec<Party>) -> Transmission {
        let arrives = start + party.times.data;
        if self.is_met(arrives) {
            return self.met(start, party, parties);
        }
        let sender = &mut self.stations[party.station];
        let link = sender.link(party.to, party.is_management);
        let good = sender.decide(party.category, party.flow, &link);
        self.show(start, &party);
        if good == 0 {
            return Transmission { start, end: arrives, fate: Fate::Lost, good, may_last, parties };
        }
        let end = start + party.times.whole;
        Transmission { start, end, fate: Fate::Arrives(arrives), good, may_last, parties }
    }

    /// Whoever has sent with success goes on behind a SIFS, if its queue has something for which the TXOP has time left.
    pub(super) fn continue_txop(&mut self, now: Instant, before: &Transmission) -> Option<Transmission> {
        // A burst that met the answer ends the TXOP.
        let until = before.may_last.filter(|_| self.disturbed.is_none())?;
        let sent = *before.parties.first()?;
        let Self { config, limits, stations, .. } = self;
        let start = now + config.phy.sifs();
        let sender = &mut stations[sent.station];
        let (flow, to) = sender.contenders[sent.category].queue.pick()?;
        let is_management = sender.contenders[sent.category].queue.is_management(flow);
        let link = sender.link(to, is_management);
        let time =
            until.since(start + transmission::answer(config, &link, limits.has_aggregates())).min(config.longest_ppdu);
        let queue = &mut sender.contenders[sent.category].queue;
        let load = queue.load(flow, limits, &link.ppdu, time);
        if link.ppdu.duration(load.size) > time {
            queue.unload(flow);
            return None;
        }
        let times = Times::new(config, &link, load, to, false);
        let party =
            Party { flow, to, mode: link.mode, ppdu: link.ppdu, load, has_rts: false, is_management, times, ..sent };
        self.count(party);
        let mut parties = core::mem::take(&mut self.spare);
        parties.clear();
        parties.push(party);
        Some(self.alone(start, party, Some(until), parties))
    }
}
