//! A look into the future of a fabric: what it delivers if nothing more enters it.

use super::Fabric;
use crate::{Delivery, ForwardingRule, PipeId, PortId};
use alloc::vec::Vec;
use netloom_link::DropLog;
use netloom_units::Instant;

impl Fabric {
    /// Returns the instant before which all deliveries are known at `now`, as [`Fabric::lookahead_until`] does, but for answers: what
    /// the device at the other end of a port's link sends back to that port, where `is_left_out` is true for the port.
    ///
    /// What is delivered before that instant is what [`Fabric::preview`] delivers, to each port until something is sent there that is
    /// answered: what others send reaches it later. Devices behave as if packets had reached them in order.
    pub fn lookahead_but_answers(&mut self, now: Instant, is_left_out: impl Fn(PortId) -> bool) -> Instant {
        let Self { transit, pipes, drop_log, entrances, exits, .. } = self;
        let ends = |pipe: usize| (entrances[pipe], exits[pipe]);
        transit.certain_but_answers(now, ends, is_left_out, |pipe, known| match known {
            None => pipes[pipe].lookahead_until(now, drop_log.of(u32::try_from(pipe).expect("pipes are numbered so"))),
            Some(known) => pipes[pipe].lookahead_behind(now, known),
        })
    }

    /// Delivers what a copy of the fabric delivers before `until` if nothing enters it, with the instants at which that leaves. The
    /// fabric itself stays as it is.
    pub fn preview(&self, until: Instant, mut sink: impl FnMut(Instant, Delivery)) {
        let mut copy = Self {
            pipes: self.pipes.clone(),
            entrances: self.entrances.clone(),
            exits: self.exits.clone(),
            entries: self.entries.clone(),
            guards: self.guards.clone(),
            // Nothing begins in it that draws.
            seeds: Vec::new(),
            firings: Vec::new(),
            wakes: self.wakes.clone(),
            drop_log: DropLog::new(),
            places: None,
            transit: self.transit.clone(),
            are_rounds_apart: self.are_rounds_apart,
            later_round: None,
            deferred: self.deferred.clone(),
            is_ahead: false,
        };
        copy.transit.watch(false);
        copy.play_until(until, &mut sink);
    }

    /// Delivers everything that is due before `until`, in order, with the instants at which it leaves.
    pub fn play_until(&mut self, until: Instant, mut sink: impl FnMut(Instant, Delivery)) {
        while let Some((wake, _)) = self.wakes.first().filter(|(wake, _)| *wake < until) {
            self.advance(wake, |delivery| sink(wake, delivery));
        }
    }

    /// Returns what the router at the other end of this port's link passes on without an answer; none if there is no router.
    pub fn rule(&self, port: PortId) -> Option<ForwardingRule> {
        let mut pipes = self.pipes_from(port);
        if self.pipes_from(port).any(|pipe| self.may_answer(pipe)) {
            return None;
        }
        let rule = self.transit.rule(pipes.next()?)?;
        pipes.all(|other| self.transit.rule(other).as_ref() == Some(&rule)).then_some(rule)
    }

    /// Returns whether the device at the other end of this port's link sends nothing back to it, ever.
    pub fn is_never_answered(&self, port: PortId) -> bool {
        self.pipes_from(port).all(|pipe| self.transit.never_answers(pipe) && !self.may_answer(pipe))
            && self.pipes_from(port).next().is_some()
    }

    /// Returns whether the packets that entered at this port leave its link when they would if nothing else entered; see
    /// [`netloom_link::Pipe::is_settled`].
    pub fn is_settled_at(&self, port: PortId) -> bool {
        self.pipes_from(port).all(|pipe| self.pipes[pipe.0 as usize].is_settled())
    }

    fn pipes_from(&self, port: PortId) -> impl Iterator<Item = PipeId> + '_ {
        let begins_here =
            move |pipe: &PipeId| self.entrances[pipe.0 as usize] == port && self.transit.medium(*pipe).is_none();
        (0..).map(PipeId).take(self.pipes.len()).filter(begins_here)
    }
}
