//! What faults do to packets that enter pipes.
//!
//! A packet meets the partitions in front of a pipe, and then the faults, which look at each segment of a train alone. What a
//! fault sends to the sender of a packet enters, at the same instant, the pipe that leads back; no other fault treats it.

use super::Fabric;
use super::partitions::Partitions;
use crate::{PipeId, PipeSpec, Place, PortId};
use alloc::{boxed::Box, vec::Vec};
use netloom_link::{DnsFault, Ended, FaultAction, FaultGate, FaultGround, Firing, PipeChange, ResetEnds, Verdict};
use netloom_packet::{Packet, ResetTemplate};
use netloom_units::{Instant, Seed};

/// So many firings are kept at most until somebody asks for them.
const MOST_FIRINGS: usize = 100_000;

/// The partitions and faults in front of a pipe.
#[derive(Clone, Debug, Default)]
pub(super) struct Guard {
    pub(super) partitions: Partitions,
    faults: Option<FaultGate>,
}

impl Guard {
    /// The guard of a pipe with this seed, if there ever is one.
    pub(super) fn of(spec: &PipeSpec, seed: Seed) -> Option<Box<Self>> {
        let partitions = spec.config.partition_set.clone();
        let faults = spec.config.faults.map(|ground| FaultGate::new(ground, seed.derive("faults")));
        let is_needed = partitions.is_some() || faults.is_some();
        is_needed.then(|| Box::new(Self { partitions: partitions.map(Partitions::of).unwrap_or_default(), faults }))
    }
}

impl Fabric {
    /// A packet enters a pipe that partitions or faults touch, by `port`. It is given back if it goes on as it is.
    #[cold]
    pub(super) fn guard(&mut self, now: Instant, id: PipeId, port: PortId, packet: Packet) -> Option<Packet> {
        let packet = self.part(now, id, port, packet)?;
        if self.gate(id).is_none_or(|gate| gate.is_idle()) {
            return Some(packet);
        }
        let mut train = packet;
        let mut passing = None;
        while let Some(segment) = train.split_front(1) {
            self.meet_faults(now, id, segment, &mut passing);
        }
        self.meet_faults(now, id, train, &mut passing);
        self.go_on(now, id, &mut passing);
        None
    }

    fn gate(&mut self, id: PipeId) -> Option<&mut FaultGate> {
        self.guards[id.0 as usize].as_mut().and_then(|guard| guard.faults.as_mut())
    }

    /// A segment is treated, or joins those of its train that go on together.
    fn meet_faults(&mut self, now: Instant, id: PipeId, segment: Packet, passing: &mut Option<Packet>) {
        let verdict = self.gate(id).and_then(|gate| gate.judge(now, &segment));
        let Some(verdict) = verdict else {
            match passing {
                Some(before) if before.is_followed_by(&segment) => before.append(&segment),
                _ => {
                    self.go_on(now, id, passing);
                    *passing = Some(segment);
                }
            }
            return;
        };
        self.go_on(now, id, passing);
        self.treat(now, id, segment, verdict);
    }

    fn go_on(&mut self, now: Instant, id: PipeId, passing: &mut Option<Packet>) {
        if let Some(packet) = passing.take() {
            self.pipes[id.0 as usize].push(now, packet, self.drop_log.of(id.0));
        }
    }

    fn treat(&mut self, now: Instant, id: PipeId, segment: Packet, verdict: Verdict) {
        let index = id.0 as usize;
        if verdict.is_told {
            self.tell(Firing::of(id.0, now, &segment, verdict));
        }
        let (to_sender, to_receiver) = match verdict.action {
            FaultAction::Reset(ResetEnds::Both) => (true, true),
            FaultAction::Reset(ResetEnds::Sender) => (true, false),
            FaultAction::Reset(ResetEnds::Receiver) => (false, true),
            _ => (false, false),
        };
        let tcp = segment.tcp().filter(|_| to_sender || to_receiver);
        let along = tcp
            .filter(|_| to_receiver)
            .and_then(|tcp| ResetTemplate::along(&segment).map(|template| template.with_numbers(tcp.sequence, None)));
        // RFC 9293, section 3.10.7.1: the number that its sender expects; without one, what it sent is acknowledged.
        let back = tcp.filter(|_| to_sender).and_then(|tcp| {
            let template = ResetTemplate::against(&segment, self.transit.ethernet().of(self.exits[index], &segment))?;
            Some(match tcp.is_ack() {
                true => template.with_numbers(tcp.acknowledgement, None),
                false => template.with_numbers(0, Some(tcp.end())),
            })
        });
        let (segment, back) = match verdict.action {
            FaultAction::Dns(fault) => self.treat_dns(id, segment, verdict.fault, fault),
            _ => (segment, back),
        };
        self.pipes[index].treat(now, segment, verdict, self.drop_log.of(id.0));
        if let Some(reset) = along {
            self.pipes[index].push(now, reset, self.drop_log.of(id.0));
        }
        if let Some(answer) = back {
            self.answer(now, id, answer);
        }
    }

    /// Returns the packet that goes on, and the one that goes back to the sender of a message of DNS.
    fn treat_dns(&mut self, id: PipeId, segment: Packet, number: u32, fault: DnsFault) -> (Packet, Option<Packet>) {
        let exit = self.exits[id.0 as usize];
        let said = match fault {
            DnsFault::Answer(code) => {
                let answer = segment.dns().map(|query| query.answered(code as u8));
                let addresses = self.transit.ethernet().of(exit, &segment);
                let back = answer.and_then(|answer| segment.dns_answer(&answer, addresses));
                return (segment, back);
            }
            DnsFault::Reverse => segment.dns().and_then(|answer| answer.reversed()),
            DnsFault::Stale => self.gate(id).and_then(|gate| gate.stale_answer(number, &segment)),
        };
        let changed = said.and_then(|message| segment.with_dns(&message));
        (changed.unwrap_or(segment), None)
    }

    /// An answer goes back to where the packets of this pipe come from.
    fn answer(&mut self, now: Instant, id: PipeId, answer: Packet) {
        let port = self.exits[id.0 as usize];
        let may_answer = self.gate(id).is_some_and(|gate| gate.answers());
        let entry = self.entries.get_mut(port.0 as usize).filter(|_| may_answer);
        let Some(back) = entry.and_then(|entry| entry.pipe_for(&answer)) else { return self.transit.spend(answer) };
        let answer = self.mark(port, answer);
        if let Some(answer) = self.part(now, back, port, answer) {
            self.pipes[back.0 as usize].push(now, answer, self.drop_log.of(back.0));
        }
        self.reschedule(back);
    }

    /// Puts the faults of a change in force at a pipe.
    pub(super) fn begin_faults(&mut self, now: Instant, id: PipeId, change: &PipeChange) {
        if change.faults.is_empty() {
            return;
        }
        let guard = self.guards[id.0 as usize].get_or_insert_default();
        // Where nothing was known of them ahead, they come by hand: then no packet is answered.
        let seed = self.seeds[id.0 as usize];
        let gate = guard.faults.get_or_insert_with(|| FaultGate::new(FaultGround::default(), seed.derive("faults")));
        for ended in gate.begin(now, &change.faults) {
            self.end_connection(now, id, ended);
        }
    }

    /// A connection ends: a reset goes to the end of this pipe, and what comes back from there is answered.
    fn end_connection(&mut self, now: Instant, id: PipeId, ended: Ended) {
        let (from, to) = (self.entrances[id.0 as usize], self.exits[id.0 as usize]);
        for back in 0..self.pipes.len() {
            if let (true, Some(guard)) =
                ((self.entrances[back], self.exits[back]) == (to, from), &mut self.guards[back])
                && let Some(gate) = &mut guard.faults
            {
                gate.doom(&ended);
            }
        }
        self.tell(Firing::of_connection(id.0, now, &ended));
        if let Some(reset) = ended.reset {
            self.pipes[id.0 as usize].push(now, reset, self.drop_log.of(id.0));
        }
    }

    fn tell(&mut self, firing: Firing) {
        if self.firings.len() < MOST_FIRINGS {
            self.firings.push(firing);
        }
    }

    /// Returns what faults have done to packets since the last call, in order; pipes are numbered as those of [`Fabric::notes`].
    pub fn take_firings(&mut self) -> Vec<Firing> {
        let mut all = core::mem::take(&mut self.firings);
        if let Some(places) = &self.places {
            all.iter_mut().for_each(|firing| {
                let (Place::Own(pipe) | Place::Inlet(pipe)) = places[firing.pipe as usize];
                firing.pipe = pipe.0;
            });
        }
        all
    }

    /// Returns whether faults may answer packets of this pipe to their senders: at the instant at which they enter it.
    pub fn may_answer(&self, id: PipeId) -> bool {
        self.transit.may_answer(id)
    }
}
