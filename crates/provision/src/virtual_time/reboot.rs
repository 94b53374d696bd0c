//! Kernels that crash in virtual time, and others that boot in their places.

use super::boot::{Booted, boot_of, machine, new_kernel, wall_clock_ns, watch};
use super::world::VirtualTime;
use crate::booting::{Booting, settle_disk};
use crate::job::Job;
use crate::kernels::{Kernels, chance, folder_in, is_kernel};
use crate::setup_error::SetupError;
use netloom_guest::disk::{Crashed, JournalEntry, Keep};
use netloom_guest::node::{KernelNode, Late};
use netloom_guest::shim::Orders;
use netloom_host::node::{Identity, NodeConfig};
use netloom_judge::RunError;
use netloom_lab::Plan;
use netloom_units::{Bytes, Instant};
use std::collections::BTreeMap;
use std::os::fd::OwnedFd;

/// The nodes of a lab with kernels, and what it takes to boot these anew.
pub struct KernelReboots {
    kernels: Kernels,
    time: VirtualTime,
    doorbell: OwnedFd,
    /// By their places in the plan.
    nodes: BTreeMap<usize, Rebooting>,
}

/// A node with a kernel.
struct Rebooting {
    /// Its place among the kernels.
    machine: usize,
    processor: Option<usize>,
    /// How often it has crashed.
    crashes: u64,
    /// When its kernel has booted.
    booted: Instant,
}

impl KernelReboots {
    /// Takes over the kernels of a lab that has booted; returns its nodes and its time, too.
    pub(crate) fn of(plan: &Plan, kernels: Kernels, booted: Booted) -> (Vec<Option<KernelNode>>, VirtualTime, Self) {
        let Booted { nodes, time, doorbell, processors } = booted;
        let places = (0..plan.nodes.len()).filter(|place| is_kernel(&plan.nodes[*place]));
        let all = places.zip(processors).enumerate();
        let all = all.map(|(machine, (place, processor))| {
            (place, Rebooting { machine, processor, crashes: 0, booted: Instant::ZERO })
        });
        let this = Self { kernels, time: time.clone(), doorbell, nodes: all.collect() };
        (nodes, time, this)
    }

    /// Takes the kernel of a node out of the schedule, before it is ended: nothing reaches it any more.
    ///
    /// # Errors
    /// When another kernel cannot go on to that instant.
    ///
    /// # Panics
    /// If it has no kernel.
    pub fn remove(&self, node: usize) -> Result<(), RunError> {
        Ok(self.time.remove(self.nodes.get(&node).expect("only kernels crash").machine)?)
    }

    /// The kernel of a node is gone by now: its disk has what the rule says. Returns what has become of the writes that no flush had made
    /// durable; none if it has no disk.
    ///
    /// # Errors
    /// When its disk cannot be read or written.
    ///
    /// # Panics
    /// If it has no kernel.
    pub fn crash(&mut self, job: &Job, node: usize, keep: Keep) -> Result<Option<Crashed>, RunError> {
        let own = self.nodes.get_mut(&node).expect("only kernels crash");
        own.crashes += 1;
        let (crashes, kernels) = (own.crashes, &self.kernels);
        let settle = || Ok(written(settle_disk(kernels, &job.plan, (node, crashes), keep)?));
        let found = self.time.known_of(own.machine, settle)?;
        read(&found).ok_or_else(|| RunError::Died("another part says of a disk what cannot be understood".into()))
    }

    /// Takes the requests to a node's disk that its journal has, each with the instant at which it came. Those of a kernel that has crashed
    /// are taken before another boots.
    ///
    /// # Errors
    /// When the journal cannot be read.
    pub fn take_journal(&self, plan: &Plan, node: usize) -> Result<Vec<(Instant, JournalEntry)>, RunError> {
        let (Some(own), Some(disk)) = (self.nodes.get(&node), self.kernels.disk(node)) else { return Ok(Vec::new()) };
        let name = &plan.nodes[node].name;
        let failed = |error| RunError::Machine(format!("node {name}: the journal of its disk: {error}"));
        let entries = disk.take_journal().map_err(failed)?;
        Ok(entries.into_iter().map(|entry| (own.booted + entry.came, entry)).collect())
    }

    /// Boots a kernel for a node that has crashed, which is to be this again.
    ///
    /// # Errors
    /// When it cannot be started.
    ///
    /// # Panics
    /// If the node has no kernel.
    pub fn boot(&mut self, job: &Job, node: usize, config: &NodeConfig) -> Result<Booting, RunError> {
        let own = self.nodes.get_mut(&node).expect("only kernels crash");
        own.booted = self.time.now();
        let (kernel, ends) = new_kernel(&job.plan, node, self.time.now(), wall_clock_ns(job)).map_err(machine)?;
        let processor = self.time.replace(own.machine, kernel).map_err(machine)?.or(own.processor);
        let without_processors = NodeConfig { cgroup: None, processors: Vec::new(), ..config.clone() };
        let identity = Identity { config: without_processors, cwd: folder_in(job, node).to_owned() };
        let channel = Box::new(self.time.channel(own.machine).map_err(machine)?);
        if self.time.is_elsewhere(own.machine) {
            let name = &job.plan.nodes[node].name;
            let there = KernelNode::elsewhere(name, channel).map_err(SetupError::Node)?;
            return Ok(Booting::new(there, identity));
        }
        let mut boot = boot_of(job, &self.kernels, node, config, processor);
        boot.console.set_file_name(format!("console-{}-{}.log", job.plan.nodes[node].name, own.crashes));
        let seed = chance(&job.plan, "kernel", node, own.crashes).get();
        let late = Late { seed, ends: &ends, doorbell: &self.doorbell };
        let orders = Orders { seed: Some(seed), ..Orders::default() };
        let booting = self.kernels.start(&boot, channel, &orders, |command| late.give(&boot, command))?;
        watch(&self.time, own.machine, &booting, boot.console);
        Ok(Booting::new(booting, identity))
    }
}

/// Writes for other parts what has become of a disk: numbers of eight bytes, and nothing of a node without a disk.
fn written(crashed: Option<Crashed>) -> Vec<u8> {
    let numbers = |Crashed { cached, lost, lost_bytes, is_torn }| [cached, lost, lost_bytes.get(), u64::from(is_torn)];
    crashed.map(numbers).into_iter().flatten().flat_map(u64::to_le_bytes).collect()
}

/// Reads that; none if it is nothing of the kind.
fn read(bytes: &[u8]) -> Option<Option<Crashed>> {
    if bytes.is_empty() {
        return Some(None);
    }
    let (numbers, rest) = bytes.as_chunks::<8>();
    let numbers: [u64; 4] =
        numbers.iter().map(|number| u64::from_le_bytes(*number)).collect::<Vec<_>>().try_into().ok()?;
    let [cached, lost, lost_bytes, is_torn] = numbers;
    let crashed = Crashed { cached, lost, lost_bytes: Bytes::new(lost_bytes), is_torn: is_torn != 0 };
    rest.is_empty().then_some(Some(crashed))
}

#[cfg(test)]
mod tests {
    use super::{read, written};
    use netloom_guest::disk::Crashed;
    use netloom_units::Bytes;

    #[test]
    fn what_has_become_of_a_disk_is_read_as_it_was_written() {
        let crashed = Crashed { cached: 7, lost: 3, lost_bytes: Bytes::new(4096), is_torn: true };
        for outcome in [None, Some(crashed), Some(Crashed::default())] {
            assert_eq!(read(&written(outcome)), Some(outcome));
        }
        assert_eq!(read(&[1, 2, 3]), None);
        assert_eq!(read(&[0; 40]), None);
    }
}
