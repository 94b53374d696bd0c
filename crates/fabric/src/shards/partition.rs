//! Which shard computes which pipe.
//!
//! Nodes do not tie links together: what a node receives and what it sends are different packets for the fabric. Transit
//! devices do, since they pass a packet on at once. So the parts that are shared out are links between nodes, and devices
//! with all pipes that their packets enter. Between two devices a pipe may be cut if packets take some time in it: the
//! longer, the more time the thread of the other side has.

use super::weight::weight;
use crate::{DeviceSpec, PipeId, PipeSpec, PortId};
use alloc::collections::BTreeMap;
use alloc::{vec, vec::Vec};
use core::cmp::Reverse;

/// Whether links between transit devices may be cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cuts {
    /// Whatever transit devices tie together stays together.
    Never,
    /// If the work cannot be shared out fairly without, pipes with a delay between transit devices are cut; those with
    /// the longest delays first, and of equal ones those that carry least.
    WhereDelayed,
}

/// See the module. The same for the same pipes, on every machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partition {
    of_pipes: Vec<usize>,
    of_devices: Vec<usize>,
    weights: Vec<u64>,
}

impl Partition {
    /// Shares pipes and devices out over at most `most` shards, so that each has about the same work. There are fewer if there
    /// are fewer independent parts; none is empty. They are numbered in the order of their first pipes. `is_idle`: which pipes
    /// will carry nothing, so that they are no work.
    pub fn new(
        pipes: &[PipeSpec],
        devices: &[DeviceSpec],
        most: usize,
        cuts: Cuts,
        is_idle: impl Fn(PipeId) -> bool,
    ) -> Self {
        Self::keeping(pipes, devices, most, cuts, is_idle, &[])
    }

    /// The same, where the ports of each list are in one shard, as something outside serves them together.
    ///
    /// # Panics
    /// If there is no such port.
    pub fn keeping(
        pipes: &[PipeSpec],
        devices: &[DeviceSpec],
        most: usize,
        cuts: Cuts,
        is_idle: impl Fn(PipeId) -> bool,
        together: &[Vec<PortId>],
    ) -> Self {
        let mut parts = Parts::new(pipes, devices, cuts, is_idle);
        for pair in together.iter().flat_map(|ports| ports.windows(2)) {
            parts.join(pair[0].0 as usize, pair[1].0 as usize);
        }
        let total: u64 = parts.weights.iter().sum();
        let fair = total.div_ceil(most.max(1) as u64);
        parts.join_up_to(fair);
        parts.share_out(pipes, devices, most.max(1), fair)
    }

    /// How many shards there are, at least one.
    pub fn count(&self) -> usize {
        self.weights.len()
    }

    /// Which shard computes a pipe.
    ///
    /// # Panics
    /// If there is no such pipe.
    pub fn of_pipe(&self, pipe: PipeId) -> usize {
        self.of_pipes[pipe.0 as usize]
    }

    /// Which shard computes the device at this place.
    ///
    /// # Panics
    /// If there is no such device.
    pub fn of_device(&self, device: usize) -> usize {
        self.of_devices[device]
    }

    /// An estimate of each shard's work. Its unit means nothing; only the proportions do.
    pub fn weights(&self) -> &[u64] {
        &self.weights
    }
}

/// A pipe that may be cut, between two ports of different devices.
struct Bond {
    /// Bits of the least delay: pipes whose delays are alike are told apart by what they carry.
    delay: u32,
    weight: u64,
    ends: [usize; 2],
}

/// What stays together: ports, in sets that are joined further and further.
struct Parts {
    /// By port: another one of its set, or itself.
    parents: Vec<usize>,
    /// By the port that stands for a set: what its pipes cost.
    weights: Vec<u64>,
    bonds: Vec<Bond>,
}

impl Parts {
    fn new(pipes: &[PipeSpec], devices: &[DeviceSpec], cuts: Cuts, is_idle: impl Fn(PipeId) -> bool) -> Self {
        let ports = pipes.iter().map(|pipe| pipe.last_port().0 as usize + 1).max().unwrap_or(0);
        let mut this = Self { parents: (0..ports).collect(), weights: vec![0; ports], bonds: Vec::new() };
        let mut is_inside = vec![false; ports];
        let mut is_at_switch = vec![false; ports];
        for device in devices {
            let own: Vec<usize> = device.ports().into_iter().map(|port| port.0 as usize).collect();
            own.iter().for_each(|port| (is_inside[*port], is_at_switch[*port]) = (true, device.is_switch()));
            own.windows(2).for_each(|pair| this.join(pair[0], pair[1]));
        }
        for (pipe, id) in pipes.iter().zip(0..) {
            let ends = [pipe.from, pipe.to].map(|port| port.0 as usize);
            let all = if pipe.medium.is_empty() { &[pipe.from, pipe.to][..] } else { &pipe.medium };
            let interfaces = all.iter().filter(|port| !is_inside[port.0 as usize]).count() as u64;
            let delay = pipe.config.least_delay().as_nanos();
            let weight = if is_idle(PipeId(id)) { 0 } else { weight(pipe, interfaces) };
            // A switch notices cuts of the links at it, but not those that a pipe in another shard makes by itself.
            let is_watched = pipe.config.state.flap.is_some() && is_at_switch[ends[1]];
            // What a fault answers goes back by the opposite pipe at that instant.
            let is_answered = pipe.config.faults.is_some_and(|ground| ground.answers || ground.tracks);
            // A shared medium is one pipe, and in one piece.
            all.windows(2)
                .filter(|_| !pipe.medium.is_empty())
                .for_each(|two| this.join(two[0].0 as usize, two[1].0 as usize));
            if interfaces == 0 && delay > 0 && !is_watched && !is_answered && cuts == Cuts::WhereDelayed {
                this.bonds.push(Bond { delay: delay.ilog2(), weight, ends });
            } else {
                this.join(ends[0], ends[1]);
            }
            let root = this.root(ends[0]);
            this.weights[root] += weight;
        }
        this
    }

    fn root(&mut self, mut port: usize) -> usize {
        while self.parents[port] != port {
            // Half the way is saved the next time.
            self.parents[port] = self.parents[self.parents[port]];
            port = self.parents[port];
        }
        port
    }

    fn join(&mut self, one: usize, other: usize) {
        let (one, other) = (self.root(one), self.root(other));
        if one != other {
            // The lowest port stands for the set, however it came together.
            let (first, second) = (one.min(other), one.max(other));
            self.parents[second] = first;
            self.weights[first] += core::mem::take(&mut self.weights[second]);
        }
    }

    /// Joins neighbours as long as what they cost together is within `fair`: first those with the shortest delays between
    /// them, and of these those with most traffic.
    fn join_up_to(&mut self, fair: u64) {
        let mut bonds = core::mem::take(&mut self.bonds);
        bonds.sort_by_key(|bond| (bond.delay, Reverse(bond.weight), bond.ends));
        for Bond { ends, .. } in &bonds {
            let [one, other] = ends.map(|port| self.root(port));
            if one != other && self.weights[one] + self.weights[other] <= fair {
                self.join(one, other);
            }
        }
        self.bonds = bonds;
    }

    /// Heavy parts first, each to its neighbours if there is room, else to the shard that has least to do.
    fn share_out(mut self, pipes: &[PipeSpec], devices: &[DeviceSpec], most: usize, fair: u64) -> Partition {
        let roots: Vec<usize> = pipes.iter().map(|pipe| self.root(pipe.from.0 as usize)).collect();
        let neighbors = self.neighbors();
        let mut parts: Vec<usize> = roots.clone();
        parts.sort_unstable();
        parts.dedup();
        parts.sort_by_key(|part| (Reverse(self.weights[*part]), *part));
        let mut loads = vec![0; most];
        let mut shards: BTreeMap<usize, usize> = BTreeMap::new();
        for part in parts {
            let weight = self.weights[part];
            let mut traffic = vec![0; most];
            for (other, carried) in neighbors.get(&part).into_iter().flatten() {
                if let Some(shard) = shards.get(other) {
                    traffic[*shard] += carried;
                }
            }
            let at_home = (0..most).filter(|shard| traffic[*shard] > 0 && loads[*shard] + weight <= fair);
            let home = at_home.max_by_key(|shard| (traffic[*shard], Reverse(*shard)));
            let emptiest = || (0..most).min_by_key(|shard| loads[*shard]);
            // A part without work needs no shard of its own.
            let shard = if weight == 0 { 0 } else { home.or_else(emptiest).unwrap_or(0) };
            loads[shard] += weight;
            shards.insert(part, shard);
        }
        let of_devices = devices.iter().map(|device| {
            let port = device.ports().first().map(|port| self.root(port.0 as usize));
            port.and_then(|root| shards.get(&root).copied()).unwrap_or(0)
        });
        let of_devices: Vec<usize> = of_devices.collect();
        numbered(roots.iter().map(|root| shards[root]).collect(), of_devices, &loads)
    }

    /// The neighbours of every part, and how much lies between them.
    fn neighbors(&mut self) -> BTreeMap<usize, BTreeMap<usize, u64>> {
        let mut neighbors: BTreeMap<usize, BTreeMap<usize, u64>> = BTreeMap::new();
        for Bond { ends, weight, .. } in core::mem::take(&mut self.bonds) {
            let [one, other] = ends.map(|port| self.root(port));
            for (here, there) in [(one, other), (other, one)] {
                if one != other {
                    *neighbors.entry(here).or_default().entry(there).or_default() += weight;
                }
            }
        }
        neighbors
    }
}

/// Numbers shards in the order of their first pipes, and leaves empty ones out.
fn numbered(of_pipes: Vec<usize>, of_devices: Vec<usize>, loads: &[u64]) -> Partition {
    let mut order: Vec<usize> = Vec::new();
    for shard in &of_pipes {
        if !order.contains(shard) {
            order.push(*shard);
        }
    }
    if order.is_empty() {
        order.push(0);
    }
    let number = |shard: usize| order.iter().position(|other| *other == shard).unwrap_or(0);
    Partition {
        of_pipes: of_pipes.into_iter().map(number).collect(),
        of_devices: of_devices.into_iter().map(number).collect(),
        weights: order.iter().map(|shard| loads[*shard]).collect(),
    }
}

#[cfg(test)]
mod tests;
