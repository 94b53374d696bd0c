//! Kernels that boot in the places of those that have crashed, and what is on their disks then.

use crate::kernels::{Kernels, chance};
use crate::setup_error::SetupError;
use netloom_guest::disk::{Crashed, Keep};
use netloom_guest::node::KernelNode;
use netloom_host::node::{AgentClient, Identity};
use netloom_judge::RunError;
use netloom_lab::Plan;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Decides what is on the disk of a node that has crashed so often.
pub(crate) fn settle_disk(
    kernels: &Kernels,
    plan: &Plan,
    (node, crashes): (usize, u64),
    keep: Keep,
) -> Result<Option<Crashed>, RunError> {
    let name = &plan.nodes[node].name;
    let seed = chance(plan, "crash", node, crashes);
    let crashed = kernels.disk(node).map(|disk| disk.crash(keep, seed)).transpose();
    crashed.map_err(|error| RunError::Machine(format!("node {name}: its disk after the crash: {error}")))
}

/// A kernel that boots in the place of one that has crashed.
#[derive(Debug)]
pub struct Booting {
    kernel: KernelNode,
    step: BootStep,
    /// None in virtual time.
    limit: Option<Limit>,
}

/// How long it may take until it is up.
#[derive(Debug)]
struct Limit {
    end: Instant,
    /// In lab time.
    within: Duration,
    /// The folder with files that it needs until then.
    folder: PathBuf,
}

/// The answer that is awaited from a kernel that boots.
#[derive(Debug)]
enum BootStep {
    /// The word that it is up; then it is told what it is to be.
    Comes(Box<Option<Identity>>),
    /// The word that it has become it.
    Becomes,
    /// The word that its network is configured.
    Configures,
    /// No answer: it is complete.
    Done,
}

impl Booting {
    pub(crate) fn new(kernel: KernelNode, identity: Identity) -> Self {
        Self { kernel, step: BootStep::Comes(Box::new(Some(identity))), limit: None }
    }

    /// The same, which has to be up by `end`, so much lab time after it began, and then needs what this folder has no more.
    pub(crate) fn within(self, end: Instant, within: Duration, folder: PathBuf) -> Self {
        Self { limit: Some(Limit { end, within, folder }), ..self }
    }

    /// Goes on as far as the kernel has answered, without waiting. Returns whether it is a node with all that the plan says.
    ///
    /// # Errors
    /// When it does not come up.
    pub fn go_on(&mut self) -> Result<bool, RunError> {
        loop {
            match &mut self.step {
                BootStep::Comes(_) if !self.kernel.is_up().map_err(SetupError::Node)? => return self.is_late(),
                BootStep::Comes(identity) => {
                    let told = identity.take().map_or(Ok(()), |identity| self.kernel.begin_become(identity));
                    told.map_err(SetupError::Node)?;
                    self.step = BootStep::Becomes;
                }
                BootStep::Becomes | BootStep::Configures if !self.kernel.has_answered() => return Ok(false),
                BootStep::Becomes => {
                    self.kernel.finish_become().map_err(SetupError::Node)?;
                    self.kernel.begin_configure().map_err(SetupError::Node)?;
                    self.step = BootStep::Configures;
                }
                BootStep::Configures => {
                    self.kernel.finish_configure().map_err(SetupError::Node)?;
                    self.step = BootStep::Done;
                }
                BootStep::Done => return Ok(true),
            }
        }
    }

    /// Fails if it should be up by now.
    fn is_late(&self) -> Result<bool, RunError> {
        match &self.limit {
            Some(limit) if Instant::now() >= limit.end => {
                Err(SetupError::Node(self.kernel.lateness(limit.within)).into())
            }
            _ => Ok(false),
        }
    }

    /// Returns the node that it has become.
    pub fn into_node(self) -> KernelNode {
        self.limit.iter().for_each(|limit| netloom_vm::forget_initrd(&limit.folder));
        self.kernel
    }
}
