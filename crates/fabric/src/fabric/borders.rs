//! What crosses to and from other shards.

use super::Fabric;
use crate::{Delivery, PipeId, PortId};
use netloom_link::Departure;
use netloom_units::{Duration, Instant};

impl Fabric {
    /// Takes over a packet from another shard, where it has left the pipe that this inlet stands for. It goes on at the instant
    /// at which it was due there, or as soon as possible if this shard is already beyond that.
    ///
    /// # Panics
    /// If there is no such pipe.
    pub fn cross(&mut self, inlet: PipeId, departure: Departure) {
        self.pipes[inlet.0 as usize].forward(departure, self.drop_log.of(inlet.0));
        self.reschedule(inlet);
    }

    /// This inlet stands for a further pipe of a link: whoever is at its end does not notice whether that is up.
    pub(crate) fn overhear(&mut self, inlet: PipeId) {
        self.transit.overhear(inlet);
    }

    /// Returns when the next packet leaves this pipe, as far as that is known now; nothing leaves it before.
    ///
    /// # Panics
    /// If there is no such pipe.
    pub fn next_known(&self, pipe: PipeId) -> Option<Instant> {
        self.pipes[pipe.0 as usize].next_known()
    }

    /// Returns the pipes whose packets are handed out at this port, other than shared media.
    pub fn pipes_to(&self, port: PortId) -> impl Iterator<Item = PipeId> {
        let ends_here = move |index: &usize| self.exits[*index] == port;
        let ids =
            (0..self.pipes.len()).filter(ends_here).map(|index| PipeId(u32::try_from(index).expect("checked in new")));
        ids.filter(|id| self.transit.at_exit(*id).is_none() && self.transit.medium(*id).is_none())
    }

    /// Returns when the first packet of this pipe can be taken by [`Fabric::take_ahead`] so long before it is due; none if none
    /// is on its way or on the transmitter.
    ///
    /// # Panics
    /// If there is no such pipe.
    pub fn next_ahead(&self, pipe: PipeId, ahead: Duration) -> Option<Instant> {
        self.pipes[pipe.0 as usize].next_ahead(ahead)
    }

    /// Delivers, ahead of time, what has left the transmitter of this pipe at `now` and is due before `end`. What happens to the
    /// pipe afterwards has no effect on it any more.
    ///
    /// # Panics
    /// If there is no such pipe.
    pub fn take_ahead(&mut self, now: Instant, id: PipeId, end: Instant, mut sink: impl FnMut(Delivery)) {
        let index = id.0 as usize;
        // What happens until now happens first.
        self.pipes[index].lookahead_until(now, self.drop_log.of(id.0));
        while let Some(leave) = self.pipes[index].next_certain().filter(|leave| *leave < end) {
            let Some(departure) = self.pipes[index].pop_certain(leave, self.drop_log.of(id.0)) else { break };
            sink(Delivery { pipe: id, port: self.exits[index], departure });
        }
        self.reschedule(id);
    }

    /// Delivers, ahead of time, what leaves this pipe for certain whatever enters it from `now` on, as far as that is before
    /// `end`, and returns the instant before which that is all. Everything that enters it before `now` must have entered it.
    ///
    /// # Panics
    /// If there is no such pipe.
    pub fn take_certain(&mut self, now: Instant, id: PipeId, end: Instant, mut sink: impl FnMut(Delivery)) -> Instant {
        let index = id.0 as usize;
        let until = self.pipes[index].lookahead_until(now, self.drop_log.of(id.0)).min(end);
        while let Some(leave) = self.pipes[index].next_certain().filter(|leave| *leave < until) {
            let Some(departure) = self.pipes[index].pop_certain(leave, self.drop_log.of(id.0)) else { break };
            sink(Delivery { pipe: id, port: self.exits[index], departure });
        }
        self.reschedule(id);
        until
    }
}
