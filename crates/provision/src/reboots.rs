//! Nodes that crash: kernels in virtual time; kernels and virtual machines in real and dilated time. Others boot in their places.

pub use crate::booting::Booting;
use crate::booting::settle_disk;
use crate::job::Job;
use crate::kernels::{Kernels, folder_in, up_within};
use crate::virtual_time::KernelReboots;
use netloom_guest::disk::{Crashed, JournalEntry, Keep};
use netloom_guest::node::Rejoiner;
use netloom_host::node::{Identity, NodeConfig};
use netloom_judge::RunError;
use netloom_lab::{Plan, Stack};
use netloom_units::Duration;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Instant;

/// The nodes of a lab that can crash, and what it takes to boot these anew.
pub enum Reboots {
    /// Kernels in virtual time.
    Kernels(KernelReboots),
    /// Kernels and virtual machines in real and dilated time.
    Machines(MachineReboots),
}

impl Reboots {
    /// Returns how often a kernel that boots is to be asked how far it is. In virtual time, time goes on only while somebody waits.
    pub fn look(&self) -> Duration {
        match self {
            Self::Kernels(_) => Duration::from_millis(1),
            Self::Machines(_) => Duration::from_millis(20),
        }
    }

    /// Takes the kernel of a node out of the schedule, before it is ended: nothing reaches it any more.
    ///
    /// # Errors
    /// When another kernel cannot go on to that instant.
    pub fn remove(&self, node: usize) -> Result<(), RunError> {
        match self {
            Self::Kernels(kernels) => kernels.remove(node),
            Self::Machines(_) => Ok(()),
        }
    }

    /// The kernel of a node is gone by now: its disk has what the rule says. Returns what has become of the writes that no flush had made
    /// durable; none if it has no disk.
    ///
    /// # Errors
    /// When its disk cannot be read or written.
    pub fn crash(&mut self, job: &Job, node: usize, keep: Keep) -> Result<Option<Crashed>, RunError> {
        match self {
            Self::Kernels(kernels) => kernels.crash(job, node, keep),
            Self::Machines(machines) => machines.crash(job, node, keep),
        }
    }

    /// Takes the requests to a node's disk that its journal has, each with the instant at which it came. Those of a kernel that has crashed
    /// are taken before another boots.
    ///
    /// # Errors
    /// When the journal cannot be read.
    pub fn take_journal(
        &self,
        plan: &Plan,
        node: usize,
    ) -> Result<Vec<(netloom_units::Instant, JournalEntry)>, RunError> {
        match self {
            Self::Kernels(kernels) => kernels.take_journal(plan, node),
            Self::Machines(_) => Ok(Vec::new()),
        }
    }

    /// Boots a kernel for a node that has crashed, which is to be this again.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn boot(&mut self, job: &Job, node: usize, config: &NodeConfig) -> Result<Booting, RunError> {
        match self {
            Self::Kernels(kernels) => kernels.boot(job, node, config),
            Self::Machines(machines) => machines.boot(job, node, config),
        }
    }
}

/// The virtual machines of a lab, and what it takes to boot these anew.
pub struct MachineReboots {
    kernels: Kernels,
    rejoiner: Rejoiner,
    /// By the nodes' places in the plan.
    cgroups: Vec<Option<PathBuf>>,
    /// How often each node has crashed.
    crashes: BTreeMap<usize, u64>,
}

impl MachineReboots {
    /// Takes over the kernels of a lab that has booted, whose agents are reached by what the rejoiner joins.
    pub(crate) fn of(kernels: Kernels, rejoiner: Rejoiner, cgroups: Vec<Option<PathBuf>>) -> Self {
        Self { kernels, rejoiner, cgroups, crashes: BTreeMap::new() }
    }

    fn crash(&mut self, job: &Job, node: usize, keep: Keep) -> Result<Option<Crashed>, RunError> {
        let crashes = self.crashes.entry(node).or_default();
        *crashes += 1;
        settle_disk(&self.kernels, &job.plan, (node, *crashes), keep)
    }

    fn boot(&self, job: &Job, node: usize, config: &NodeConfig) -> Result<Booting, RunError> {
        let described = &job.plan.nodes[node];
        let folder = self.kernels.folder(node).expect("only machines crash").to_owned();
        let place = (0..node).filter(|other| self.kernels.folder(*other).is_some()).count();
        let end = self.rejoiner.rejoin(place);
        let end = end.map_err(|error| RunError::Machine(format!("node {}: {error}", described.name)))?;
        let of_machine = NodeConfig { cgroup: self.cgroups[node].clone(), ..config.clone() };
        let crashes = self.crashes.get(&node).copied().unwrap_or_default();
        let machine = if described.stack == Stack::Vm {
            self.kernels.start_vm(job, (node, crashes), &of_machine, &folder, end)?
        } else {
            self.kernels.start_own(job, (node, crashes), &of_machine, &folder, end)?
        };
        let config = NodeConfig { cgroup: None, processors: Vec::new(), ..config.clone() };
        let booting = Booting::new(machine, Identity { config, cwd: folder_in(job, node).to_owned() });
        let (lab, wall) = up_within(described, job.plan.clock);
        Ok(booting.within(Instant::now() + wall, lab, folder))
    }
}
