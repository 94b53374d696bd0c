//! A PPDU is over: who has decoded it, and what they do then.

use super::RadioMedium;
use super::signal::{Part, Signal};
use super::state::{Exchange, Reply};
use crate::config::Recovery;
use crate::phy;
use alloc::vec::Vec;
use netloom_units::Instant;

impl<P> RadioMedium<P> {
    /// The stations that decode a PPDU, of those that have received all of it: for others than its destination, its first MPDU counts. Nobody
    /// decodes a burst of an interferer.
    pub(super) fn hearers(&self, signal: &Signal) -> Vec<usize> {
        if signal.part == Part::Foreign {
            return Vec::new();
        }
        let has_received = |station: &usize| self.stations[*station].receives == Some((signal.from, signal.number));
        let decodes = |station: &usize| {
            let mpdus = if signal.to == Some(*station) { signal.mpdus } else { 1 };
            self.decoded(signal, *station, mpdus).into_iter().any(|is_good| is_good)
        };
        (0..self.stations.len()).filter(has_received).filter(decodes).collect()
    }

    /// PPDUs are over that end at one instant: all stations notice the ends of all of them before anyone acts on one.
    pub(super) fn receive(&mut self, at: Instant, ending: &[Signal]) {
        let decoders: Vec<_> = ending.iter().map(|signal| self.hearers(signal)).collect();
        for station in 0..self.stations.len() {
            self.hear_ends(at, station, ending, &decoders);
        }
        for (signal, hearers) in ending.iter().zip(&decoders) {
            self.act(at, signal, hearers);
        }
    }

    /// The stations that have decoded a PPDU act on it, and its sender waits for them.
    fn act(&mut self, at: Instant, signal: &Signal, hearers: &[usize]) {
        let to = signal.to.filter(|to| hearers.contains(to));
        match (signal.part, to) {
            (Part::Request, to) => {
                self.wait(at, signal);
                if let Some(to) = to.filter(|to| self.stations[*to].reserved.is_none()) {
                    self.answer(at, to, signal, Part::Clear);
                }
            }
            (Part::Data, to) => {
                self.decide(signal, hearers);
                self.end_data(at, signal, hearers);
                if let Some(to) = to {
                    self.answer(at, to, signal, Part::Answer);
                }
            }
            (Part::Clear | Part::Answer, to) => self.end_answer(at, signal, to.is_some()),
            (Part::Foreign, _) => {}
        }
    }

    /// A station notices the ends of PPDUs of others. What it decodes of them counts, whatever else ends at that instant.
    fn hear_ends(&mut self, at: Instant, station: usize, ending: &[Signal], hearers: &[Vec<usize>]) {
        let own = &mut self.stations[station];
        if ending.iter().any(|signal| own.receives == Some((signal.from, signal.number))) {
            own.receives = None;
        }
        let decoded = ending.iter().zip(hearers).find(|(_, hearers)| hearers.contains(&station));
        if let Some((signal, _)) = decoded {
            return self.hear_end(at, station, signal);
        }
        let has_missed = ending.iter().any(|signal| signal.is_sensed[station] && signal.part != Part::Foreign);
        if has_missed && self.config.recovery == Recovery::Eifs {
            own.hold_until(at + self.config.phy.extended_wait());
        }
    }

    /// A station has decoded a PPDU that is over.
    fn hear_end(&mut self, at: Instant, station: usize, signal: &Signal) {
        let (sifs, slot) = (self.config.phy.sifs(), self.config.phy.slot());
        let own = &mut self.stations[station];
        own.hold_until(at);
        if signal.to == Some(station) || signal.reserved <= at {
            return;
        }
        own.reserve(signal.reserved);
        if signal.part == Part::Request && own.reserved == Some(signal.reserved) {
            // IEEE 802.11-2020, 10.3.2.4: the reservation ends if nothing follows.
            let clear = phy::ack(&self.config.phy.control(signal.mode));
            own.reset = Some(at + sifs * 2 + clear + slot * 2);
        }
    }

    /// The sender of a PPDU waits for what it asks for.
    fn wait(&mut self, at: Instant, signal: &Signal) {
        let is_disturbed = self.is_disturbed(signal);
        let deadline = at + self.config.phy.answer_timeout();
        if let Some(exchange) = &mut self.stations[signal.from].exchange
            && exchange.number == signal.number
        {
            (exchange.deadline, exchange.is_disturbed) = (Some(deadline), is_disturbed);
        }
    }

    /// A station prepares what it sends a SIFS later, unless it has something else to send then.
    fn answer(&mut self, at: Instant, station: usize, signal: &Signal, part: Part) {
        let ppdu = self.config.phy.control(signal.mode);
        let size = match part {
            Part::Answer if signal.mpdus > 1 => phy::block_ack_size(self.config.aggregation.window),
            _ => phy::ACK,
        };
        let later = at + self.config.phy.sifs();
        let reserved = if part == Part::Clear { signal.reserved } else { later + ppdu.duration(size) };
        let own = &mut self.stations[station];
        if own.reply.is_none() {
            own.reply = Some(Reply { at: later, part, to: signal.from, answers: signal.number, ppdu, size, reserved });
        }
    }

    /// Decides which MPDUs of a PPDU arrive, once.
    pub(super) fn decide(&mut self, signal: &Signal, hearers: &[usize]) {
        let exchange = self.stations[signal.from].exchange;
        let is_open = |open: &Exchange| open.number == signal.number && open.arrived.is_none();
        let Some(exchange) = exchange.filter(is_open) else { return };
        let is_good = match signal.to {
            None => [!self.audience(signal, hearers).is_empty() || self.is_alone(signal.from)].to_vec(),
            Some(to) if hearers.contains(&to) => self.decoded(signal, to, signal.mpdus),
            Some(_) => Vec::new(),
        };
        let own = &mut self.stations[signal.from];
        if !exchange.is_copy {
            let mut decided = is_good.iter().copied();
            let queue = &mut own.contenders[exchange.party.category].queue;
            queue.decide(exchange.party.flow, || decided.next().unwrap_or(false));
        }
        let arrived = u32::try_from(is_good.iter().filter(|is_good| **is_good).count()).unwrap_or(u32::MAX);
        own.exchange = Some(Exchange { arrived: Some(arrived), ..exchange });
    }

    /// Hands out what has arrived; what is for everybody needs no answer.
    fn end_data(&mut self, at: Instant, signal: &Signal, hearers: &[usize]) {
        let open = self.stations[signal.from].exchange;
        let Some(exchange) = open.filter(|exchange| exchange.number == signal.number) else { return };
        let party = exchange.party;
        if !exchange.is_copy {
            self.show(signal, &exchange);
            let heard_by = self.audience(signal, hearers);
            let own = &mut self.stations[signal.from];
            own.contenders[party.category].queue.receive(party.flow);
            self.release(at, party, Some(&heard_by));
        }
        self.wait(at, signal);
        if signal.to.is_none() {
            if exchange.arrived.unwrap_or(0) > 0 {
                self.succeed(at, signal.from);
            } else {
                self.give_up(at, signal.from);
            }
        }
    }

    /// The answer to a PPDU is over: the one who asked goes on, or has waited in vain.
    fn end_answer(&mut self, at: Instant, signal: &Signal, is_decoded: bool) {
        let Some(to) = signal.to else { return };
        let own = &mut self.stations[to];
        let Some(exchange) = own.exchange.filter(|exchange| exchange.number == signal.answers) else { return };
        match (is_decoded, signal.part) {
            (true, Part::Clear) if own.reply.is_none() => {
                self.stations[to].reply = Some(self.data(at + self.config.phy.sifs(), signal.from));
            }
            (true, Part::Answer) => self.succeed(at, to),
            // Whoever did not hear it begin goes on waiting.
            _ if exchange.deadline.is_none() => self.give_up(at, to),
            _ => {}
        }
    }
}
