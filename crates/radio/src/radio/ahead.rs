//! What is certain, whoever begins to send: the lookahead of virtual time.
//!
//! An outcome is handed out a SIFS behind its event, so at every instant all is known for a SIFS. More is known where everybody hears what is on
//! the air: nobody begins before its end, so that it is decided what arrives of it; and what follows, an answer or another PPDU, takes as long
//! as a SIFS and the shortest of all at least.

use super::signal::{Part, Signal};
use super::state::{Exchange, State};
use super::{RadioMedium, id};
use crate::contender::Contender;
use crate::frame::{Frame, StationId};
use alloc::vec::Vec;
use netloom_units::Instant;

impl<P> RadioMedium<P> {
    /// Returns the instant before which all outcomes are known at `now`, no matter what is enqueued from `now` on. An answer may be earlier
    /// than what could be proved, never later.
    pub fn lookahead_until(&mut self, now: Instant) -> Instant {
        self.run_until(now);
        let (sifs, shortest) = (self.config.phy.sifs(), self.config.phy.shortest());
        let arrival = self.next_arrival();
        if let Some(place) = self.certain() {
            let known = self.signals[place].end + sifs + shortest;
            return arrival.map_or(known, |arrival| arrival.max(self.now).min(known)) + sifs;
        }
        let active = self.signals.iter().filter(|signal| !signal.is_over);
        let ends = active.filter_map(|signal| self.first_outcome(signal));
        let waits = self.stations.iter().filter_map(|own| own.exchange.and_then(|exchange| exchange.deadline));
        let replies = self.stations.iter().filter_map(|own| own.reply.map(|reply| reply.at + shortest));
        let begins = (0..self.stations.len()).map(|station| self.free_at(station) + shortest);
        let first = ends.chain(waits).chain(replies).chain(begins).chain(arrival).min();
        first.map_or(Instant::MAX, |first| first.max(self.now) + sifs)
    }

    /// The first instant at which an outcome can follow from a PPDU on the air; none of an answer that tells nothing new.
    fn first_outcome(&self, signal: &Signal) -> Option<Instant> {
        match (signal.part, signal.to) {
            (Part::Request, _) => Some(signal.end + self.config.phy.sifs() + self.config.phy.shortest()),
            (Part::Answer, Some(to)) => {
                let exchange = self.stations[to].exchange.filter(|exchange| exchange.number == signal.answers)?;
                let has_all = exchange.is_copy || exchange.arrived == Some(exchange.party.load.mpdus);
                (!has_all).then_some(signal.end)
            }
            (Part::Foreign, _) => None,
            _ => Some(signal.end),
        }
    }

    /// No backoff of a station ends before this, whatever it gets to send.
    fn free_at(&self, station: usize) -> Instant {
        let own: &State<P> = &self.stations[station];
        if own.is_idle {
            let first = own.contenders.iter().map(Contender::earliest).min();
            return first.unwrap_or(self.now).max(self.now);
        }
        let active = self.signals.iter().filter(|signal| !signal.is_over);
        let heard = active.filter(|signal| signal.is_sensed[station] || signal.from == station);
        let reserved = own.reset.or(own.reserved);
        let deadline = own.exchange.and_then(|exchange| exchange.deadline);
        let busy = heard.map(|signal| signal.end).chain(reserved).chain(deadline).max();
        // Whoever has a TXOP may go on behind a SIFS with what comes meanwhile.
        let has_txop = own.exchange.is_some_and(|exchange| exchange.until.is_some());
        let least = self.config.contention.iter().map(|one| one.aifsn).min().filter(|_| !has_txop).unwrap_or(0);
        busy.unwrap_or(self.now).max(self.now) + self.config.phy.aifs(least)
    }

    /// The data on the air that nobody can disturb any more: all others hear it, nobody has anything to answer, and no interferer begins.
    fn certain(&self) -> Option<usize> {
        let mut active = (0..self.signals.len()).filter(|place| !self.signals[*place].is_over);
        let only = active.next().filter(|_| active.next().is_none())?;
        let signal = &self.signals[only];
        let hears = |(station, own): (usize, &State<P>)| {
            let is_still = own.reply.is_none() && own.exchange.is_none_or(|exchange| exchange.deadline.is_none());
            // Whoever comes while it is on the air is silent until it is over.
            is_still && (signal.is_sensed[station] || station == signal.from || own.channel.is_none())
        };
        let is_alone = self.interferers.next_begin().is_none_or(|begin| begin >= signal.end);
        (signal.part == Part::Data && is_alone && self.stations.iter().enumerate().all(hears)).then_some(only)
    }

    /// Shows the frames that will be handed out for certain, when, and who receives them: those that are to be handed out already, and
    /// what arrives of data that nobody can disturb. Before the answer of [`RadioMedium::lookahead_until`], nothing else is delivered. They
    /// stay where they are, and are handed out by [`RadioMedium::advance`] in their turn.
    pub fn foresee(&mut self, mut sink: impl FnMut(Instant, &mut Frame<P>, &[StationId])) {
        for reception in self.outcomes.iter_mut().filter(|one| one.outcome.dropped.is_none()) {
            sink(reception.outcome.at, &mut reception.outcome.frame, &reception.heard_by);
        }
        let Some(signal) = self.certain().map(|place| self.signals[place].clone()) else { return };
        let hearers = self.hearers(&signal);
        self.decide(&signal, &hearers);
        let audience = self.audience(&signal, &hearers);
        let own = &mut self.stations[signal.from];
        let is_new = |exchange: &Exchange| exchange.number == signal.number && !exchange.is_copy;
        let Some(exchange) = own.exchange.filter(is_new) else { return };
        let heard_by: Vec<StationId> = match signal.to {
            Some(to) => alloc::vec![id(to)],
            None => audience,
        };
        let (at, failure) = (signal.end + self.config.phy.sifs(), Self::failure(&exchange));
        let queue = &mut own.contenders[exchange.party.category].queue;
        queue.foresee(exchange.party.flow, failure, self.config.retries, |is_late, frame| {
            if !is_late {
                sink(at, frame, &heard_by);
            }
        });
    }
}
