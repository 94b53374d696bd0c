//! Transmissions end.

use super::Medium;
use crate::aired::Recorder;
use crate::attempt::Attempt;
use crate::category::AccessCategory;
use crate::config::{Access, Recovery};
use crate::contender::Contender;
use crate::frame::{Destination, StationId};
use crate::queue::Failure;
use crate::transmission::{Fate, Party, Transmission};
use netloom_units::Instant;

impl<P> Medium<P> {
    /// The medium becomes idle, or whoever had it goes on.
    pub(super) fn end(&mut self, at: Instant) {
        self.airtime.book(at, self.use_of_now());
        let Some(transmission) = self.on_air.take() else { return };
        self.record(&transmission);
        self.recorder.iter_mut().for_each(Recorder::end);
        if transmission.fate == Fate::Collides {
            self.end_collision(at, &transmission);
        } else if let Some(next) = self.end_of_one(at, &transmission) {
            self.on_air = Some(next);
            self.spare = transmission.parties;
            return;
        }
        self.idle_since = at;
        self.resume(at, &transmission);
        self.next_begin = self.first_due();
        self.spare = transmission.parties;
    }

    fn record(&mut self, transmission: &Transmission) {
        let Some(attempts) = &mut self.attempts else { return };
        let (start, collided) = (transmission.start, transmission.fate == Fate::Collides);
        for Party { station, category, to, mode, load, has_rts, times, .. } in &transmission.parties {
            let end = start + if collided { times.first } else { times.data };
            attempts.push(Attempt {
                from: StationId(u32::try_from(*station).expect("stations are numbered so")),
                to: *to,
                category: if self.config.phy.has_qos() {
                    AccessCategory::ALL[*category]
                } else {
                    AccessCategory::BestEffort
                },
                mode: *mode,
                size: load.size,
                mpdus: load.mpdus,
                decoded: transmission.good,
                has_rts: *has_rts,
                collided,
                start,
                end,
                answered: if collided { end } else { transmission.end },
            });
        }
    }

    pub(super) fn contenders(&self) -> impl Iterator<Item = &Contender<P>> {
        self.stations.iter().flat_map(|station| &station.contenders)
    }

    /// When a station begins next; none as long as an interferer sends.
    pub(super) fn first_due(&self) -> Option<Instant> {
        self.contenders().filter(|_| self.disturbed.is_none()).filter_map(Contender::due).min()
    }

    fn end_collision(&mut self, at: Instant, transmission: &Transmission) {
        for party in &transmission.parties {
            self.charge(*party, transmission.start + party.times.first, transmission.start);
            self.fail(at, *party, party.failure(transmission.fate));
        }
    }

    /// One station has sent: it repeats what was lost, or goes on within its TXOP.
    fn end_of_one(&mut self, at: Instant, transmission: &Transmission) -> Option<Transmission> {
        let party = *transmission.parties.first()?;
        self.charge(party, at, transmission.start);
        let failure = party.failure(transmission.fate);
        if transmission.fate == Fate::Lost {
            self.fail(at, party, failure);
            return None;
        }
        self.repeat(at, party, failure);
        let contender = &mut self.stations[party.station].contenders[party.category];
        contender.reset_window();
        let next = self.continue_txop(at, transmission);
        if next.is_none() {
            self.stations[party.station].contenders[party.category].back_off();
        }
        next
    }

    fn charge(&mut self, party: Party, until: Instant, since: Instant) {
        let queue = &mut self.stations[party.station].contenders[party.category].queue;
        queue.charge(party.flow, until.since(since));
    }

    /// Nothing of it got across: the window widens, unless the frame is given up.
    pub(super) fn fail(&mut self, at: Instant, party: Party, failure: Failure) {
        let is_given_up = self.repeat(at, party, failure);
        let contender = &mut self.stations[party.station].contenders[party.category];
        if is_given_up {
            contender.reset_window();
        } else {
            contender.widen_window();
        }
        contender.back_off();
    }

    /// Lets what is still on the air wait to be repeated, or gives it up. Returns whether any is given up.
    fn repeat(&mut self, at: Instant, party: Party, failure: Failure) -> bool {
        let station = &mut self.stations[party.station];
        let (failed, given_up) =
            station.contenders[party.category].queue.fail(party.flow, failure, self.config.retries);
        station.counters.failed_mpdus += u64::from(failed);
        self.totals.failed_mpdus += u64::from(failed);
        self.release(at, party);
        given_up > 0
    }

    /// All go on behind their interframe spaces: counted from the end of a good frame, later behind one that could not be decoded.
    fn resume(&mut self, at: Instant, transmission: &Transmission) {
        let is_good = matches!(transmission.fate, Fate::Arrives(_) | Fate::Arrived);
        let is_early = is_good || self.config.recovery == Recovery::Difs || self.config.access == Access::Ideal;
        let phy = &self.config.phy;
        let heard = if is_early { at } else { at + phy.extended_wait() };
        self.stations
            .iter_mut()
            .flat_map(|station| &mut station.contenders)
            .for_each(|contender| contender.resume(heard));
        if is_early {
            return;
        }
        let is_collision = transmission.fate == Fate::Collides;
        for party in &transmission.parties {
            let sent = if is_collision { party.times.first } else { party.times.data };
            let is_answered = party.to != Destination::Everybody;
            let gave_up = if is_answered { transmission.start + sent + phy.answer_timeout() } else { at };
            let contenders = &mut self.stations[party.station].contenders;
            contenders.iter_mut().for_each(|contender| contender.resume(at.max(gave_up)));
        }
    }
}
