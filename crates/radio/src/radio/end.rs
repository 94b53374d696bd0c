//! PPDUs, waits and reservations end; exchanges succeed or fail.

use super::signal::{Part, Signal};
use super::state::{Copies, Exchange};
use super::{RadioMedium, Reception};
use crate::frame::{Destination, Outcome, StationId};
use crate::queue::{Failure, Load};
use crate::transmission::Party;
use alloc::vec::Vec;
use netloom_units::{Bytes, Duration, Instant};

impl<P> RadioMedium<P> {
    /// Everything ends that is over at `at`.
    pub(super) fn end(&mut self, at: Instant) {
        let is_ending = |signal: &Signal| !signal.is_over && signal.end == at;
        let ending: Vec<usize> = (0..self.signals.len()).filter(|place| is_ending(&self.signals[*place])).collect();
        for place in &ending {
            let signal = &mut self.signals[*place];
            signal.is_over = true;
            if let Some(sender) = self.stations.get_mut(signal.from) {
                sender.is_sending = false;
            }
        }
        let ending: Vec<Signal> = ending.into_iter().map(|place| self.signals[place].clone()).collect();
        self.receive(at, &ending);
        for station in 0..self.stations.len() {
            self.tick(at, station);
        }
        self.depart_all(at);
        self.forget();
        self.settle(at);
    }

    fn tick(&mut self, at: Instant, station: usize) {
        let own = &mut self.stations[station];
        let is_over = |timer: Option<Instant>| timer.is_some_and(|until| until <= at);
        if is_over(own.reserved) || is_over(own.reset) {
            (own.reserved, own.reset) = (None, None);
        }
        if is_over(own.exchange.and_then(|exchange| exchange.deadline)) {
            self.give_up(at, station);
        }
    }

    /// Drops what is over and disturbed nothing that is still on the air.
    fn forget(&mut self) {
        let first = self.signals.iter().filter(|signal| !signal.is_over).map(|signal| signal.start).min();
        self.signals.retain(|signal| first.is_some_and(|first| signal.end > first));
    }

    /// How what is still on the air of an exchange fails.
    pub(super) fn failure(exchange: &Exchange) -> Failure {
        match exchange.part {
            _ if exchange.party.to == Destination::Everybody => Failure::Final,
            Part::Data if exchange.party.has_rts => Failure::Long,
            _ => Failure::Short,
        }
    }

    /// An exchange ends without an answer: what has arrived of it is sent again all the same.
    pub(super) fn give_up(&mut self, at: Instant, station: usize) {
        let Some(exchange) = self.stations[station].exchange.take() else { return };
        let (party, arrived) = (exchange.party, exchange.arrived.unwrap_or(0));
        if exchange.is_disturbed && arrived == 0 {
            self.stations[station].counters.collisions += 1;
            self.totals.collisions += 1;
        }
        self.charge(at, &exchange);
        self.learn(&exchange, 0);
        let is_given_up = if exchange.is_copy {
            self.repeat_copies(party)
        } else {
            self.keep_copies(party, arrived);
            self.repeat(at, &exchange) > 0
        };
        let contender = &mut self.stations[station].contenders[party.category];
        if is_given_up {
            contender.reset_window();
        } else {
            contender.widen_window();
        }
        contender.back_off();
        self.forget_absent(at, station, party.to);
    }

    /// An exchange ends with its answer, or needed none: its sender goes on within its TXOP, or contends again.
    pub(super) fn succeed(&mut self, at: Instant, station: usize) {
        let Some(exchange) = self.stations[station].exchange.take() else { return };
        self.charge(at, &exchange);
        self.learn(&exchange, exchange.arrived.unwrap_or(0));
        let Party { category, to, .. } = exchange.party;
        if exchange.is_copy {
            self.drop_copies(exchange.party);
        } else {
            self.repeat(at, &exchange);
        }
        self.stations[station].contenders[category].reset_window();
        self.forget_absent(at, station, to);
        if !self.continue_txop(at, &exchange) {
            self.stations[station].contenders[category].back_off();
        }
    }

    /// The sender's rate control notes how many MPDUs it knows to have arrived; an RTS without answer tells it nothing.
    fn learn(&mut self, exchange: &Exchange, arrived: u32) {
        let Party { station, to, mode, load, is_management, .. } = exchange.party;
        let Destination::Station(to) = to else { return };
        let is_data = exchange.part == Part::Data && !is_management;
        let own = self.learned.get_mut(&(station, to.0 as usize)).filter(|_| is_data);
        if let Some(own) = own {
            own.report(mode, (load.mpdus, arrived), &self.modes);
        }
    }

    fn charge(&mut self, at: Instant, exchange: &Exchange) {
        let Party { station, category, flow, .. } = exchange.party;
        let own = &mut self.stations[station];
        own.contenders[category].queue.charge(flow, at.since(exchange.start));
        // While its sender waits for an answer that does not begin, nothing of it is on the air.
        let waited = exchange.deadline.map_or(Duration::ZERO, |_| self.config.phy.answer_timeout());
        let spent = exchange.deadline.unwrap_or(at).since(exchange.start.max(own.counted_since));
        own.counters.airtime = own.counters.airtime + (spent - waited);
    }

    /// Lets what did not arrive wait to be repeated, or gives it up. Returns how much is given up.
    fn repeat(&mut self, at: Instant, exchange: &Exchange) -> u32 {
        let Party { station, category, flow, .. } = exchange.party;
        let failure = Self::failure(exchange);
        let own = &mut self.stations[station];
        let (failed, given_up) = own.contenders[category].queue.fail(flow, failure, self.config.retries);
        own.counters.failed_mpdus += u64::from(failed);
        self.totals.failed_mpdus += u64::from(failed);
        self.release(at, exchange.party, None);
        given_up
    }

    fn keep_copies(&mut self, party: Party, arrived: u32) {
        if arrived == 0 {
            return;
        }
        let size = Bytes::new(party.load.size.get() * u64::from(arrived) / u64::from(party.load.mpdus.max(1)));
        let own = &mut self.stations[party.station];
        let load = Load { size, mpdus: arrived };
        own.copies[party.category] = Some(Copies { flow: party.flow, load, attempts: 1 });
        own.contenders[party.category].owes = true;
        self.fail_copies(party, arrived);
    }

    /// Copies got no answer again. Returns whether they are given up.
    fn repeat_copies(&mut self, party: Party) -> bool {
        self.fail_copies(party, party.load.mpdus);
        let least = self.config.retries.short;
        let Some(copies) = &mut self.stations[party.station].copies[party.category] else { return true };
        copies.attempts += 1;
        let is_last = copies.attempts >= least;
        if is_last {
            self.drop_copies(party);
        }
        is_last
    }

    fn fail_copies(&mut self, party: Party, mpdus: u32) {
        self.stations[party.station].counters.failed_mpdus += u64::from(mpdus);
        self.totals.failed_mpdus += u64::from(mpdus);
    }

    fn drop_copies(&mut self, party: Party) {
        let own = &mut self.stations[party.station];
        own.copies[party.category] = None;
        own.contenders[party.category].owes = false;
    }

    /// Hands out, a SIFS later, what a station has got across or given up. `heard_by`: who has received what is for everybody.
    pub(super) fn release(&mut self, at: Instant, party: Party, heard_by: Option<&[StationId]>) {
        let from = super::id(party.station);
        let later = at + self.config.phy.sifs();
        let hearers = match (party.to, heard_by) {
            (Destination::Station(to), _) => alloc::vec![to],
            (Destination::Everybody, stations) => stations.unwrap_or_default().to_vec(),
        };
        let own = &mut self.stations[party.station];
        let (counters, outcomes) = (&mut own.counters, &mut self.outcomes);
        own.contenders[party.category].queue.release(party.flow, |frame, dropped| {
            let counted = u64::from(!party.is_management);
            let stations = if dropped.is_some() {
                counters.dropped += counted;
                counters.lost += counted;
                Vec::new()
            } else {
                counters.delivered += counted;
                counters.delivered_bytes += frame.size.get() * counted;
                hearers.clone()
            };
            outcomes.push_back(Reception { outcome: Outcome { at: later, from, frame, dropped }, heard_by: stations });
        });
    }
}
