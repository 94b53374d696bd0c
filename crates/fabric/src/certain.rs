//! Hand-outs ahead of time: what a scheduler of virtual time may know before it lets nodes run.

use crate::{Fabric, Handout, PipeId};
use alloc::vec::Vec;
use netloom_units::Instant;

impl Fabric {
    /// The instant before which all hand-outs are known at `now`, no matter what is injected from `now` on; at least
    /// `now`. It holds until a pipe is changed, cut or joined by hand.
    ///
    /// An answer may be earlier than what could be proved, never later. See [`netloom_link::Pipe::certain_until`].
    pub fn certain_until(&mut self, now: Instant) -> Instant {
        if !self.transit.is_empty() {
            return self.certain_beyond_routers(now);
        }
        let mut certain = Instant::MAX;
        for pipe in &mut self.pipes {
            certain = certain.min(pipe.certain_until(now, &mut self.waste));
            if certain <= now {
                break;
            }
        }
        certain
    }

    /// Does what the pipes have put off until `now` because nothing leaves by it, so that the counters show it.
    pub fn settle(&mut self, now: Instant) {
        for pipe in &mut self.pipes {
            pipe.certain_until(now, &mut self.waste);
        }
    }

    /// The same of a single pipe.
    ///
    /// # Panics
    /// If there is no such pipe.
    pub fn pipe_certain_until(&mut self, now: Instant, id: PipeId) -> Instant {
        self.pipes[id.0 as usize].certain_until(now, &mut self.waste)
    }

    /// Hands out everything that is due before `until`, in order of due instants (ties: in order of pipes). To be called
    /// after [`Fabric::advance`] at the `now` of [`Fabric::certain_until`], whose answer bounds `until`.
    ///
    /// The entrances of the fabric stay at `now`: what is injected afterwards, at any instant from `now` on, fares as if
    /// all this were handed out on time. Counters have it as departed already; they are right again at `until`.
    pub fn advance_certain(&mut self, until: Instant, mut sink: impl FnMut(Handout)) {
        // These have nothing more that leaves before `until`; they may want to be called for something else.
        let mut done: Vec<PipeId> = Vec::new();
        while let Some((wake, id)) = self.wakes.first().filter(|(wake, _)| *wake < until) {
            let index = id.0 as usize;
            // What reaches a router is in order only as far as all that reaches it is known.
            let limit = until.min(self.transit.known_at_exit(id));
            if wake >= limit {
                self.wakes.set(id, None);
                done.push(id);
                continue;
            }
            let known = self.transit.known_at_entrance(id);
            if known.is_some_and(|known| wake < known) {
                // All is known that enters it: it goes on as it does on time.
                if let Some(departure) = self.pipes[index].pop(wake, &mut self.waste) {
                    self.leave(id, departure, &mut sink);
                }
                self.reschedule(id);
                continue;
            }
            if let Some(known) = known {
                self.pipes[index].certain_until(known.min(until), &mut self.waste);
            }
            let Some(leave) = self.pipes[index].next_certain().filter(|leave| *leave < limit) else {
                self.wakes.set(id, None);
                done.push(id);
                continue;
            };
            if leave > wake {
                // Among the others it stands where it leaves.
                self.wakes.set(id, Some(leave));
            } else if let Some(departure) = self.pipes[index].pop_certain(leave, &mut self.waste) {
                self.leave(id, departure, &mut sink);
            }
        }
        done.into_iter().for_each(|id| self.reschedule(id));
    }

    /// Lets what is inside the fabric go on until `now` when everything is injected that enters before, and everything
    /// was handed out by [`Fabric::advance_certain`]: what transit routers still have to pass on, they pass on, so that a
    /// pipe that is changed next has what was in it by then.
    pub fn catch_up(&mut self, now: Instant) {
        if !self.transit.is_empty() {
            self.advance(now, |_| unreachable!("what leaves was handed out ahead of time"));
        }
    }
}
