//! All kinds of resources, each a `Resource`: whoever adds one adds a file and its lines in [`Resources`].

use crate::Event;
use crate::bridges::KernelBridges;
use crate::containers::JoinedContainers;
use crate::diversion::Diversions;
use crate::exposed::ExposedPorts;
use crate::external::Wires;
use crate::images::Images;
use crate::kernels::NodeKernels;
use crate::preflight::Labels;
use crate::request::RunRequest;
use crate::resource::{Ground, Making, Opening, Releasing, Resource, Site};
use crate::setup_error::SetupError;
use crate::tunnel::Tunnels;
use crate::vms::Machines;
use crate::way_out::LabWayOut;
use netloom_figures::TunnelReport;
use netloom_judge::RunError;
use netloom_lab::Plan;
use netloom_parts::OtherParts;
use std::path::Path;
use std::rc::Rc;

/// The resources of a lab. Guard and lab both have them: the lab has a copy of what was opened before it was forked.
///
/// The lab never drops its copy: what the machine has lent is given back by the guard.
#[derive(Default)]
pub struct Resources {
    /// The container images of nodes.
    pub images: Images,
    /// The nodes that are containers of others.
    pub containers: JoinedContainers,
    /// The way into the machine's network.
    pub way_out: LabWayOut,
    /// The traffic of the machine that goes through the lab.
    pub diversions: Diversions,
    /// The ports of the machine that lead into nodes.
    pub exposed: ExposedPorts,
    /// The kernel of kernel nodes.
    pub kernels: NodeKernels,
    /// The QEMU of virtual machines.
    pub vms: Machines,
    /// The processes that play the other parts of the lab.
    pub parts: OtherParts,
    labels: Labels,
    pub(crate) tunnels: Tunnels,
    pub(crate) wires: Wires,
    pub(crate) bridges: KernelBridges,
}

impl Resources {
    /// All kinds, in the order in which they come within each step.
    fn all(&mut self) -> [&mut dyn Resource; 10] {
        [
            &mut self.images,
            &mut self.way_out,
            &mut self.exposed,
            &mut self.tunnels,
            &mut self.wires,
            &mut self.diversions,
            &mut self.bridges,
            &mut self.kernels,
            &mut self.vms,
            &mut self.containers,
        ]
    }

    /// Finds what the plan of a request names, and completes the plan by what that says of itself.
    ///
    /// # Errors
    /// What there is not, with file, line and key.
    pub fn find(&mut self, request: &RunRequest, sink: &mut dyn FnMut(&Event)) -> Result<Rc<Plan>, RunError> {
        let plan = Rc::clone(&request.plan);
        self.all().into_iter().try_fold(plan, |plan, kind| kind.find(plan, &request.lab_file, sink))
    }

    /// Opens what belongs to the machine, in the guard.
    ///
    /// # Errors
    /// What cannot be opened, with file, line and key.
    pub fn open(&mut self, opening: Opening, ground: &Ground<'_>) -> Result<(), RunError> {
        self.all().into_iter().try_for_each(|kind| kind.open(opening, ground))
    }

    /// Makes what belongs to this step, in the lab.
    pub(crate) fn make(&mut self, making: Making, site: &mut Site<'_>) -> Result<(), SetupError> {
        self.all().into_iter().try_for_each(|kind| kind.make(making, site))
    }

    /// Closes what is open in this process, and the other one has or nobody needs.
    pub fn let_go(&mut self) {
        self.parts.let_go();
        self.all().into_iter().for_each(Resource::let_go);
    }

    /// Releases what the machine has lent, in the guard: what was opened last comes first.
    ///
    /// # Errors
    /// What could not be put back first. All else is.
    pub fn release(&mut self, releasing: Releasing) -> Result<(), RunError> {
        self.let_go();
        let each = self.all().into_iter().rev().map(|kind| kind.release(releasing));
        each.fold(Ok(()), Result::and)
    }

    /// The kinds about which something can be reported, in the order in which it is.
    fn told(&self) -> [&dyn Resource; 7] {
        [&self.images, &self.containers, &self.labels, &self.wires, &self.way_out, &self.tunnels, &self.vms]
    }
}

/// Describes for the verdict what that cannot judge of the resources of a plan.
pub fn describe(plan: &Plan, tunnels: &[TunnelReport]) -> Vec<String> {
    Resources::default().told().into_iter().filter_map(|kind| kind.describe(plan, tunnels)).collect()
}

/// The findings of a check whether this machine has what a plan wants of it.
#[derive(Clone, Debug, Default)]
pub struct Checked {
    /// The problems, each with file, line and key.
    pub problems: Vec<String>,
    /// The means by which the way out leads, in words, if there is one.
    pub way_out: Option<String>,
    /// The QEMU of virtual machines, in words, if there are some.
    pub vms: Option<String>,
}

/// Checks whether this machine has what a plan wants of it. Nothing is made.
pub fn check(plan: &Plan, lab_file: &Path) -> Checked {
    let mut problems = Vec::new();
    let resources = Resources::default();
    let here = resources.told().map(|kind| {
        let checked = kind.check(plan, lab_file);
        checked.unwrap_or_else(|wrong| {
            problems.extend(wrong);
            None
        })
    });
    let [_, _, _, _, way_out, _, vms] = here;
    Checked { problems, way_out, vms }
}
