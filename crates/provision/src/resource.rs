//! What all kinds of resources have in common that a lab is made of: how they are checked, opened, made, described and released.

use crate::Event;
use crate::guard_link::GuardLink;
use crate::node::LabNode;
use crate::setup_error::SetupError;
use netloom_dataplane::PortConfig;
use netloom_figures::TunnelReport;
use netloom_host::node::NodeConfig;
use netloom_judge::RunError;
use netloom_lab::Plan;
use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

/// How long the kernel may take to notice that both ends of its pairs are up; it takes some milliseconds.
pub(crate) const RUNNING_WITHIN: Duration = Duration::from_secs(10);

/// A kind of resource that a lab may be made of: images, tunnels, interfaces of the machine. A kind is one file that implements this, and
/// does nothing for a plan that wants none of it. [`crate::resources`] lists all kinds, and says in what order they come within a step.
pub(crate) trait Resource {
    /// Checks whether this machine has what a plan wants of the kind, and makes nothing. Returns in words what it has, if that is worth
    /// telling; else all problems, each with file, line and key.
    fn check(&self, _plan: &Plan, _lab_file: &Path) -> Result<Option<String>, Vec<String>> {
        Ok(None)
    }

    /// Finds what the plan names, before anything is made, and completes the plan by what that says of itself.
    fn find(&mut self, plan: Rc<Plan>, _lab_file: &Path, _sink: &mut dyn FnMut(&Event)) -> Result<Rc<Plan>, RunError> {
        Ok(plan)
    }

    /// Opens what belongs to the machine: in the guard, before the lab is forked, which inherits it.
    fn open(&mut self, _opening: Opening, _ground: &Ground<'_>) -> Result<(), RunError> {
        Ok(())
    }

    /// Makes its part of the lab, in the lab's process.
    fn make(&mut self, _making: Making, _site: &mut Site<'_>) -> Result<(), SetupError> {
        Ok(())
    }

    /// Describes for the verdict what that cannot judge, since the plan has something of the kind.
    fn describe(&self, _plan: &Plan, _tunnels: &[TunnelReport]) -> Option<String> {
        None
    }

    /// Closes what is open in this process: the other one has it, or nobody needs it any more. What the machine has lent stays so.
    fn let_go(&mut self) {}

    /// Releases what the machine has lent: in the guard, when the lab has ended. Where the guard is killed, what was lent has somebody of
    /// its own who sees to that.
    fn release(&mut self, _releasing: Releasing) -> Result<(), RunError> {
        Ok(())
    }
}

/// When something is opened, before the lab is forked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opening {
    /// Before anything of the lab is there: processes that are forked now hold nothing of it.
    First,
    /// When the lab has its runtime folder.
    Outside,
    /// When what belongs to the machine is open: what nodes with kernels of their own run on is looked for.
    Stacks,
    /// When the lab has its results folder: the last that can be refused.
    Last,
}

/// When something is released, after the lab has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Releasing {
    /// Before anything else of the lab is removed.
    Ended,
    /// When the report is written: what was opened first.
    Last,
}

/// The ground on which something is opened.
#[derive(Clone, Copy, Debug)]
pub struct Ground<'a> {
    /// The lab.
    pub plan: &'a Plan,
    /// The path of the lab file.
    pub lab_file: &'a Path,
    /// The kernel for kernel nodes, if not the one that would be found.
    pub kernel: Option<&'a Path>,
    /// Where all labs of the user have their folders; none before there is one of this lab.
    pub folder_of_labs: Option<&'a Path>,
}

/// When something is made, in the lab's process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Making {
    /// Nodes on this machine's kernel are there.
    Nodes,
    /// The interfaces of links are there, which nobody has configured.
    Links,
    /// Nodes are configured, and have not looked yet for what programs change.
    Configured,
    /// Nodes take packets for their addresses.
    Settled,
    /// All that is inside of the machine is joined.
    Joined,
    /// The engine runs, and kernel nodes have not booted.
    Running,
    /// All nodes run.
    Begun,
}

/// A lab that is being made.
pub(crate) struct Site<'a> {
    pub(crate) plan: &'a Plan,
    /// The absolute path of the lab file.
    pub(crate) lab_file: &'a Path,
    /// The nodes that are there, at their places in the plan.
    pub(crate) nodes: &'a mut [Option<Box<dyn LabNode>>],
    /// The ports of the engine, until it starts.
    pub(crate) ports: &'a mut Vec<PortConfig>,
    /// Sentences that the verdict is to say.
    pub(crate) notes: &'a mut Vec<String>,
    pub(crate) guard: &'a mut GuardLink,
    /// What the node at a place is to be.
    pub(crate) config: &'a dyn Fn(usize) -> Option<NodeConfig>,
}

/// Reports that there are no problems, and nothing to tell, or these problems.
pub(crate) fn if_none(problems: impl IntoIterator<Item = String>) -> Result<Option<String>, Vec<String>> {
    let problems: Vec<String> = problems.into_iter().collect();
    if problems.is_empty() { Ok(None) } else { Err(problems) }
}
