//! Stations begin to send, and all others hear it.

use super::signal::{self, Part, Signal};
use super::state::{Exchange, Reply};
use super::{RadioMedium, id};
use crate::decibels::Decibels;
use crate::frame::Destination;
use crate::link::Link;
use crate::phy::{self, Mode, Ppdu};
use crate::power::Power;
use crate::rate_control::{Control, Learned};
use crate::transmission::{self, Party, Times};
use alloc::vec;
use alloc::vec::Vec;
use netloom_units::{Bytes, Duration, Instant};

/// The least ratio of signal to noise at which a preamble is found.
const PREAMBLE: Decibels = Decibels(4.0);
/// For so long an earlier frame can lose its receiver to a stronger one.
const CAPTURE_WINDOW: Duration = Duration::from_micros(16);
/// The first number of draws for modes, behind those of MPDUs.
const CHOICES: u32 = 1 << 31;

/// MPDUs that a station puts on the air.
struct Chosen {
    party: Party,
    /// Whether they have arrived before.
    is_copy: bool,
    /// How long their PPDU may take.
    time: Duration,
}

impl<P> RadioMedium<P> {
    /// Whoever has an answer to give or a backoff that is over at `at` begins to send.
    pub(super) fn begin(&mut self, at: Instant) {
        let first = self.signals.len();
        for station in 0..self.stations.len() {
            let begun = self.reply(at, station).or_else(|| self.contend(at, station));
            self.signals.extend(begun);
        }
        let own = self.signals.len();
        self.interfere(at);
        for place in first..own {
            let from = self.signals[place].from;
            let Self { ways, stations, .. } = self;
            let channel = stations[from].channel;
            let is_reached = |to: usize| to != from && stations[to].channel == channel;
            let arrives = |to| if is_reached(to) { ways.power(from, to, at) } else { Power::default() };
            let powers = (0..stations.len()).map(arrives).collect();
            self.signals[place].powers = powers;
            let sender = &mut self.stations[from];
            (sender.is_sending, sender.receives) = (true, None);
        }
        for station in 0..self.stations.len() {
            self.hear(at, station, first);
        }
        self.settle(at);
    }

    fn reply(&mut self, at: Instant, station: usize) -> Option<Signal> {
        let own = &mut self.stations[station];
        let reply = own.reply.take_if(|reply| reply.at == at)?;
        if reply.part == Part::Data {
            return self.send_data(at, station);
        }
        let mode = Mode::kilobits(reply.ppdu.bits_per_second() / 1_000);
        let Reply { part, to, answers, ppdu, size, reserved, .. } = reply;
        let signal = self.signal(at, station, part, Some(to), (mode, &ppdu), (1, size));
        Some(Signal { answers, reserved, ..signal })
    }

    /// A category whose backoff is over gets access; a less urgent one whose backoff is, too, draws another.
    fn contend(&mut self, at: Instant, station: usize) -> Option<Signal> {
        let own = &mut self.stations[station];
        let is_due = own.is_idle && own.contenders.iter().any(|contender| contender.due() == Some(at));
        if !is_due {
            return None;
        }
        let mut sends = None;
        for (category, contender) in own.contenders.iter_mut().enumerate().rev() {
            let is_over = contender.due() == Some(at);
            contender.freeze(at);
            if is_over && sends.is_some() {
                contender.widen_window();
                contender.back_off();
            } else if is_over {
                sends = Some(category);
            }
        }
        own.is_idle = false;
        let limit = own.contenders[sends?].txop();
        let until = (!limit.is_zero()).then(|| at + limit);
        let Chosen { party, is_copy, .. } = self.party(at, station, sends?, None)?;
        self.open(Exchange::new(party, is_copy, at, until));
        if !party.has_rts {
            return self.send_data(at, station);
        }
        let Destination::Station(to) = party.to else { return None };
        let control = self.config.phy.control(party.mode);
        let mode = Mode::kilobits(control.bits_per_second() / 1_000);
        let size = phy::RTS;
        let signal = self.signal(at, station, Part::Request, Some(to.0 as usize), (mode, &control), (1, size));
        Some(Signal { reserved: at + party.times.whole, ..signal })
    }

    /// An exchange begins with the next PPDU of its sender.
    fn open(&mut self, exchange: Exchange) {
        let Party { station, load, ppdu, .. } = exchange.party;
        let sender = &mut self.stations[station];
        sender.counters.attempt(load.mpdus, ppdu.bits_per_second());
        sender.exchange = Some(Exchange { number: sender.sent, ..exchange });
        self.totals.attempts += 1;
    }

    /// Whoever has sent with success goes on behind a SIFS, if it has something for which its TXOP has time left. Returns whether it does.
    pub(super) fn continue_txop(&mut self, at: Instant, before: &Exchange) -> bool {
        let Party { station, category, .. } = before.party;
        let start = at + self.config.phy.sifs();
        let own = &self.stations[station];
        let has_more = own.reply.is_none() && !own.contenders[category].has_nothing();
        let Some(until) = before.until.filter(|_| has_more) else { return false };
        let Some(chosen) = self.party(start, station, category, Some(until)) else { return false };
        let Chosen { party, is_copy, time } = chosen;
        if party.ppdu.duration(party.load.size) > time {
            if !is_copy {
                self.stations[station].contenders[category].queue.unload(party.flow);
            }
            return false;
        }
        self.open(Exchange::new(party, is_copy, at, Some(until)));
        self.stations[station].reply = Some(self.data(start, station));
        true
    }

    /// Data that a station sends without contending for it again: behind a CTS, or within its TXOP.
    pub(super) fn data(&self, at: Instant, to: usize) -> Reply {
        let (ppdu, size) = (self.config.phy.basic(), Bytes::new(0));
        Reply { at, part: Part::Data, to, answers: 0, ppdu, size, reserved: at }
    }

    /// Puts MPDUs of a category on the air; copies of what has arrived come first. `until`: when its TXOP ends, if that has begun already.
    fn party(&mut self, at: Instant, station: usize, category: usize, until: Option<Instant>) -> Option<Chosen> {
        let copies = self.stations[station].copies[category];
        let queue = &mut self.stations[station].contenders[category].queue;
        let (flow, to) = match copies {
            Some(copies) => (copies.flow, queue.destination(copies.flow)),
            None => queue.pick()?,
        };
        let is_management = queue.is_management(flow);
        let link = if is_management { self.modes.basic() } else { self.link(station, to, at) };
        let Self { config, limits, stations, .. } = self;
        let contender = &mut stations[station].contenders[category];
        let answer = transmission::answer(config, &link, limits.has_aggregates());
        let left = match (until, contender.txop()) {
            (Some(until), _) => until.since(at + answer),
            (None, Duration::ZERO) => config.longest_ppdu,
            (None, limit) => limit - transmission::request(config, &link) - answer,
        };
        let time = left.min(config.longest_ppdu);
        let load = match copies {
            Some(copies) => copies.load,
            None => contender.queue.load(flow, limits, &link.ppdu, time),
        };
        let is_answered = to != Destination::Everybody;
        let has_rts =
            until.is_none() && is_answered && !is_management && config.rts_above.is_some_and(|above| load.size > above);
        let times = Times::new(config, &link, load, to, has_rts);
        let (mode, ppdu) = (link.mode, link.ppdu);
        let party = Party { station, category, flow, to, mode, ppdu, load, has_rts, is_management, times };
        Some(Chosen { party, is_copy: copies.is_some(), time })
    }

    /// The link to a destination at an instant.
    fn link(&mut self, from: usize, to: Destination, at: Instant) -> Link {
        let Destination::Station(to) = to else { return self.modes.basic() };
        let control = self.controls.get(&(id(from).0, to.0)).copied().unwrap_or(self.stations[from].control);
        match control {
            Control::Fixed(link) => link,
            Control::Ideal => self.modes.choose(self.ways.power(from, to.0 as usize, at).over(self.receiver.noise)),
            Control::Learns(learner) => {
                let to = to.0 as usize;
                let (seeds, number) = ((self.stations[from].seed, self.stations[to].seed), self.stations[from].sent);
                let modes = &self.modes;
                let own = self.learned.entry((from, to)).or_insert_with(|| Learned::new(learner, at, modes));
                own.choose(at, modes, |part| signal::draw(seeds, number, CHOICES + part))
            }
        }
    }

    fn send_data(&mut self, at: Instant, station: usize) -> Option<Signal> {
        let exchange = self.stations[station].exchange?;
        let Party { to, mode, load, times, has_rts, .. } = exchange.party;
        let (to, ppdu) = match to {
            Destination::Everybody => (None, self.modes.basic().ppdu),
            Destination::Station(to) => (Some(to.0 as usize), self.config.phy.ppdu(mode).ok()?),
        };
        let size = Bytes::new(load.size.get() / u64::from(load.mpdus.max(1)));
        let signal = self.signal(at, station, Part::Data, to, (mode, &ppdu), (load.mpdus.max(1), size));
        let start = signal.start + ppdu.preamble;
        // The length of all MPDUs together.
        let end = at + ppdu.duration(load.size);
        let before = if has_rts { times.data - ppdu.duration(load.size) } else { Duration::ZERO };
        if let Some(own) = &mut self.stations[station].exchange {
            (own.part, own.number, own.deadline) = (Part::Data, signal.number, None);
        }
        let data = (start, end - ppdu.extension);
        Some(Signal { end, data, reserved: at + (times.whole - before), ..signal })
    }

    /// A PPDU of this many MPDUs with these bytes each, still without what arrives of it.
    fn signal(
        &mut self,
        start: Instant,
        from: usize,
        part: Part,
        to: Option<usize>,
        (mode, ppdu): (Mode, &Ppdu),
        (mpdus, size): (u32, Bytes),
    ) -> Signal {
        let own = &mut self.stations[from];
        let number = own.sent;
        own.sent += 1;
        let end = start + ppdu.duration(size);
        let data = (start + ppdu.preamble, end - ppdu.extension);
        let stations = self.stations.len();
        Signal {
            from,
            number,
            answers: 0,
            part,
            to,
            mode,
            mpdus,
            size,
            start,
            end,
            data,
            reserved: end,
            powers: Vec::new(),
            is_sensed: vec![false; stations],
            is_over: false,
        }
    }

    /// A station hears what begins: it finds preambles, and receives the strongest of them that it can.
    fn hear(&mut self, at: Instant, station: usize, first: usize) {
        if self.stations[station].is_sending {
            return;
        }
        let heard: Power =
            self.signals.iter().filter(|signal| !signal.is_over).map(|signal| signal.powers[station]).sum();
        let mut best: Option<usize> = None;
        for place in first..self.signals.len() {
            let power = self.signals[place].powers[station];
            if power < self.receiver.sensitivity || !self.has_preamble(&self.signals[place]) {
                continue;
            }
            self.signals[place].is_sensed[station] = true;
            self.stations[station].reset = None;
            let others = self.receiver.noise + (heard - power);
            let is_stronger = best.is_none_or(|best| self.signals[best].powers[station] < power);
            if is_stronger && power.over(others).0 >= PREAMBLE.0 {
                best = Some(place);
            }
        }
        if let Some(best) = best.filter(|best| self.can_take(at, station, *best)) {
            self.take(station, best);
        }
    }

    /// Whether a station is free to receive a PPDU, or that is so much stronger than what it receives.
    fn can_take(&self, at: Instant, station: usize, place: usize) -> bool {
        let Some(earlier) = self.stations[station].receives else { return true };
        let earlier = self.signals.iter().find(|signal| !signal.is_over && (signal.from, signal.number) == earlier);
        let is_weaker = |other: &Signal| {
            let margin = self.signals[place].powers[station].over(other.powers[station]);
            at.since(other.start) < CAPTURE_WINDOW && self.receiver.capture.is_some_and(|capture| margin.0 >= capture.0)
        };
        earlier.is_none_or(is_weaker)
    }

    fn take(&mut self, station: usize, place: usize) {
        let Signal { from, number, part, to, answers, .. } = self.signals[place];
        let own = &mut self.stations[station];
        own.receives = Some((from, number));
        // The answer for which it waits has begun.
        if let Some(exchange) = &mut own.exchange
            && matches!(part, Part::Clear | Part::Answer)
            && to == Some(station)
            && answers == exchange.number
        {
            exchange.deadline = None;
        }
    }
}
