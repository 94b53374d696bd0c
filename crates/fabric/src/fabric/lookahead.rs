//! Deliveries ahead of time: what a scheduler of virtual time may know before it lets nodes run.

use super::Fabric;
use crate::{Delivery, PipeId, PortId};
use alloc::vec::Vec;
use netloom_units::{Duration, Instant};

impl Fabric {
    /// Returns the instant before which all deliveries are known at `now`, no matter what is injected from `now` on; at least
    /// `now`. It holds until a pipe is changed, cut or restored by hand.
    ///
    /// An answer may be earlier than what could be proved, never later. See [`netloom_link::Pipe::lookahead_until`].
    pub fn lookahead_until(&mut self, now: Instant) -> Instant {
        if !self.transit.is_empty() {
            return self.lookahead_beyond_devices(now);
        }
        let mut certain = Instant::MAX;
        for (pipe, number) in self.pipes.iter_mut().zip(0..) {
            certain = certain.min(pipe.lookahead_until(now, self.drop_log.of(number)));
            if certain <= now {
                break;
            }
        }
        certain
    }

    /// Does what the pipes have put off until `now` because nothing leaves by it, so that the counters show it.
    pub fn settle(&mut self, now: Instant) {
        self.let_enter(now);
        for (pipe, number) in self.pipes.iter_mut().zip(0..) {
            pipe.lookahead_until(now, self.drop_log.of(number));
        }
    }

    /// Does what the pipes have put off until `now`, before which all is known that enters and leaves, so that [`Fabric::next_wake`] does not
    /// depend on how far each of them has been asked.
    pub fn do_put_off(&mut self, now: Instant) {
        for number in 0..self.pipes.len() {
            if self.pipes[number].puts_off() {
                let id = PipeId(u32::try_from(number).expect("as many as there are numbers"));
                self.pipes[number].lookahead_until(now, self.drop_log.of(id.0));
                self.reschedule(id);
            }
        }
    }

    /// Returns the instant before which all deliveries of a single pipe are known at `now`; see [`Fabric::lookahead_until`].
    ///
    /// # Panics
    /// If there is no such pipe.
    pub fn pipe_lookahead_until(&mut self, now: Instant, id: PipeId) -> Instant {
        self.pipes[id.0 as usize].lookahead_until(now, self.drop_log.of(id.0))
    }

    /// Delivers everything that is due before `until`, in order of due instants (ties: in order of pipes), with the instants at which it
    /// leaves. To be called
    /// after [`Fabric::advance`] at the `now` of [`Fabric::lookahead_until`], whose answer bounds `until`.
    ///
    /// The entrances of the fabric stay at `now`: what is injected afterwards, at any instant from `now` on, fares as if
    /// all this were delivered on time. Counters have it as departed already; they are right again at `until`.
    pub fn advance_certain(&mut self, until: Instant, mut sink: impl FnMut(Instant, Delivery)) {
        self.is_ahead = true;
        // These have nothing more that leaves before `until`; they may want to be called for something else.
        let mut done: Vec<PipeId> = Vec::new();
        let mut waiting: Vec<usize> = Vec::new();
        while let Some((wake, number)) = self.wakes.first().filter(|(wake, _)| *wake < until) {
            let (index, id) = (number as usize, PipeId(number));
            self.begin_round(wake);
            if let Some(device) = index.checked_sub(self.pipes.len()) {
                // What a device does by itself depends on what has reached it by then.
                if wake < self.transit.known(device) {
                    self.act(wake, device);
                } else {
                    self.wakes.set(number, None);
                    waiting.push(device);
                }
                continue;
            }
            // What reaches a device is in order only as far as all that reaches it is known.
            let limit = until.min(self.transit.known_at_exit(id));
            if wake >= limit {
                self.wakes.set(number, None);
                done.push(id);
                continue;
            }
            let known = self.transit.known_at_entrance(id);
            if known.is_some_and(|known| wake < known) {
                // All is known that enters it: it goes on as it does on time.
                if let Some(departure) = self.pipes[index].pop(wake, self.drop_log.of(id.0)) {
                    self.leave(id, departure, &mut |delivery| sink(wake, delivery));
                }
                self.reschedule(id);
                continue;
            }
            if let Some(known) = known {
                self.pipes[index].lookahead_until(known.min(until), self.drop_log.of(id.0));
            }
            let Some(leave) = self.pipes[index].next_certain().filter(|leave| *leave < limit) else {
                self.wakes.set(number, None);
                done.push(id);
                continue;
            };
            if leave > wake {
                // Among the others it stands where it leaves.
                self.wakes.set(number, Some(leave));
            } else if let Some(departure) = self.pipes[index].pop_certain(leave, self.drop_log.of(id.0)) {
                self.leave(id, departure, &mut |delivery| sink(leave, delivery));
            }
        }
        self.later_round = None;
        self.is_ahead = false;
        done.into_iter().for_each(|id| self.reschedule(id));
        waiting.into_iter().for_each(|device| self.reschedule_device(device));
    }

    /// Delivers what leaves this pipe before `end`, in order, as far as it is known when everything has entered the pipe
    /// that enters it before `from`; with the instant at which it leaves. Returns the instant before which that is all: `end`
    /// or before.
    ///
    /// Only what meets no transit device.
    ///
    /// # Panics
    /// If there is no such pipe.
    pub fn take_known(
        &mut self,
        id: PipeId,
        from: Instant,
        end: Instant,
        mut sink: impl FnMut(Instant, Delivery),
    ) -> Instant {
        let (pipe, port) = (&mut self.pipes[id.0 as usize], self.exits[id.0 as usize]);
        let is_all = from >= end;
        // What leaves at `from` leaves before anything enters then.
        while let Some(wake) = pipe.next_wake().filter(|wake| if is_all { *wake < end } else { *wake <= from }) {
            if let Some(departure) = pipe.pop(wake, self.drop_log.of(id.0)) {
                sink(wake, Delivery { pipe: id, port, departure });
            }
        }
        let mut until = end;
        if !is_all {
            until = pipe.lookahead_until(from, self.drop_log.of(id.0)).min(end);
            while let Some(leave) = pipe.next_certain().filter(|leave| *leave < until) {
                let Some(departure) = pipe.pop_certain(leave, self.drop_log.of(id.0)) else { break };
                sink(leave, Delivery { pipe: id, port, departure });
            }
        }
        self.reschedule(id);
        until
    }

    /// Returns where each pipe begins and ends, in order of ids; of shared media two of their ports.
    pub fn ends(&self) -> impl Iterator<Item = (PortId, PortId)> {
        self.entrances.iter().copied().zip(self.exits.iter().copied())
    }

    /// Returns when this pipe wants to be called next.
    ///
    /// # Panics
    /// If there is no such pipe.
    pub fn pipe_next_wake(&self, id: PipeId) -> Option<Instant> {
        self.pipes[id.0 as usize].next_wake()
    }

    /// Returns how long whatever enters this pipe is on its way at least; see [`netloom_link::Pipe::lookahead`].
    ///
    /// # Panics
    /// If there is no such pipe.
    pub fn lookahead(&self, id: PipeId) -> Duration {
        self.pipes[id.0 as usize].lookahead()
    }

    /// Whether there are transit devices or shared media.
    pub fn has_devices(&self) -> bool {
        !self.transit.is_empty()
    }

    /// Lets what is inside the fabric go on until `now` when everything is injected that enters before, and everything
    /// was delivered by [`Fabric::advance_certain`]: what transit devices still have to pass on, they pass on, so that a
    /// pipe that is changed next has what was in it by then.
    pub fn catch_up(&mut self, now: Instant) {
        if !self.transit.is_empty() {
            self.advance(now, |_| unreachable!("what leaves was delivered ahead of time"));
        }
    }
}
