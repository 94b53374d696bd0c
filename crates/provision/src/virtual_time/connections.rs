//! TCP connections of kernels in virtual time, which hand over their state themselves: it takes no lab time, and wakes nobody.

use super::sampling::TcpSampling;
use super::world::{VirtualTime, World};
use netloom_host::measure::TcpState;
use netloom_units::{Duration, Instant};

impl World {
    /// Time zero is now.
    pub(super) fn begin_samples(&mut self, now: Instant) {
        for (place, TcpSampling { step, owners, log }) in std::mem::take(&mut self.sampling) {
            if let Some(kernel) = self.scheduler.machines().nth(place) {
                kernel.machine().sample_tcp(now, step, owners, log);
            }
        }
    }
}

impl VirtualTime {
    /// From time zero on, the kernel of this node hands over the state of its connections.
    pub fn sample_tcp(&self, node: &str, sampling: TcpSampling) {
        let world = &mut *self.0.borrow_mut();
        let place = world.names.iter().position(|name| name == node);
        world.sampling.extend(place.map(|place| (place, sampling)));
    }

    /// Ends the samples of this node's kernel; why they are not whole, if something went wrong.
    pub fn end_samples(&self, node: &str) -> Option<String> {
        let world = &mut *self.0.borrow_mut();
        let now = world.scheduler.now();
        let place = world.names.iter().position(|name| name == node)?;
        world.scheduler.machines().nth(place)?.machine().end_samples(now)?.end()
    }

    /// From now on the connections of this node can be looked at, in a state that is at most a step old, unless the lab measures them less often;
    /// or they need not be any more.
    pub fn watch_tcp(&self, node: &str, step: Option<Duration>) {
        let world = &mut *self.0.borrow_mut();
        let now = world.scheduler.now();
        let place = world.names.iter().position(|name| name == node);
        if let Some(kernel) = place.and_then(|place| world.scheduler.machines().nth(place)) {
            kernel.machine().watch_tcp(now, step);
        }
    }

    /// The connections of this node, with the instant at which they were so; none before the first sample.
    pub fn connections(&self, node: &str) -> Option<(Instant, TcpState)> {
        let world = &mut *self.0.borrow_mut();
        let place = world.names.iter().position(|name| name == node)?;
        world.scheduler.machines().nth(place)?.machine().last_tcp()
    }
}
