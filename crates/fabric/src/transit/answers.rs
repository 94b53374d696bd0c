//! What is known if nobody is answered at once by the device that it is joined to.

use super::{NONE, SHARED, Transit};
use crate::device::Device;
use crate::{ForwardingRule, PipeId, PortId};
use alloc::collections::BinaryHeap;
use alloc::{vec, vec::Vec};
use core::cmp::Reverse;
use netloom_units::Instant;

/// The instants before which packets are known that reach a device from ports directly, for the first two ports.
#[derive(Clone, Copy, Debug)]
struct Direct([(Instant, Option<PortId>); 2]);

impl Direct {
    const NOTHING: Self = Self([(Instant::MAX, None); 2]);

    fn add(&mut self, known: Instant, port: PortId) {
        let [first, second] = &mut self.0;
        if first.1 == Some(port) {
            first.0 = first.0.min(known);
        } else if known < first.0 {
            *second = *first;
            *first = (known, Some(port));
        } else if known < second.0 {
            *second = (known, Some(port));
        }
    }

    /// Before when all is known that comes from other ports than this one.
    fn but(&self, port: PortId) -> Instant {
        let [first, second] = self.0;
        if first.1 == Some(port) { second.0 } else { first.0 }
    }
}

impl Transit {
    /// Before when all is known that leaves the pipes without meeting another device, as [`Transit::certain`] finds it, but for what
    /// the first device on the way of a port's packets sends back to that port, where `is_left_out` is true. `ends`: the ports of
    /// each pipe.
    pub(crate) fn certain_but_answers(
        &self,
        now: Instant,
        ends: impl Fn(usize) -> (PortId, PortId),
        is_left_out: impl Fn(PortId) -> bool,
        mut until: impl FnMut(usize, Option<Instant>) -> Instant,
    ) -> Instant {
        // A fault may answer at once, whatever a device does.
        if self.is_at_media || !self.answering.is_empty() {
            return now;
        }
        let mut certain = Instant::MAX;
        let mut direct = vec![Direct::NOTHING; self.devices.len()];
        for pipe in (0..self.entrances.len()).filter(|pipe| self.entrances[*pipe] == NONE) {
            let known = until(pipe, None);
            match direct.get_mut(self.exits[pipe].device as usize) {
                Some(there) => there.add(known, ends(pipe).0),
                None => certain = certain.min(known),
            }
        }
        let beyond = self.beyond(&direct, &mut until);
        for (device, leaving) in self.leaving.iter().enumerate() {
            for pipe in leaving.iter().map(|pipe| *pipe as usize) {
                let port = ends(pipe).1;
                let known = match self.exits[pipe].device {
                    NONE if is_left_out(port) => direct[device].but(port),
                    NONE | SHARED => direct[device].0[0].0,
                    _ => continue,
                };
                let known = known.min(beyond[device]);
                if known < Instant::MAX {
                    certain = certain.min(until(pipe, Some(known)));
                }
            }
        }
        certain
    }

    /// Before when all is known that reaches each device from other devices: Dijkstra's algorithm.
    fn beyond(&self, direct: &[Direct], until: &mut impl FnMut(usize, Option<Instant>) -> Instant) -> Vec<Instant> {
        let mut beyond = vec![Instant::MAX; direct.len()];
        let mut reaching: BinaryHeap<Reverse<(Instant, usize)>> =
            direct.iter().enumerate().map(|(device, first)| Reverse((first.0[0].0, device))).collect();
        while let Some(Reverse((known, device))) = reaching.pop() {
            if known == Instant::MAX || known > beyond[device].min(direct[device].0[0].0) {
                continue;
            }
            for pipe in self.leaving[device].iter().map(|pipe| *pipe as usize) {
                let next = self.exits[pipe].device as usize;
                if next >= beyond.len() {
                    continue;
                }
                let there = until(pipe, Some(known));
                let before = beyond[next].min(direct[next].0[0].0);
                beyond[next] = beyond[next].min(there);
                if there < before {
                    reaching.push(Reverse((there, next)));
                }
            }
        }
        beyond
    }

    /// Whether what comes by this pipe, straight from a port, meets a device that sends nothing back there, ever.
    pub(crate) fn never_answers(&self, pipe: PipeId) -> bool {
        let device = self.devices.get(self.exits[pipe.0 as usize].device as usize);
        matches!(device, Some(Device::Hub(_)))
    }

    /// Returns what the router at the end of this pipe passes on; none if there is no router.
    pub(crate) fn rule(&self, pipe: PipeId) -> Option<ForwardingRule> {
        let place = self.exits[pipe.0 as usize];
        let router = self.devices.get(place.device as usize)?.router()?;
        Some(router.rule(place.own as usize))
    }
}
