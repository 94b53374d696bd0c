//! What a run or a simulation is asked to do.

use netloom_lab::Plan;
use netloom_parts::PartRequest;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// A lab to run or to bring up.
#[derive(Clone, Debug)]
pub struct RunRequest {
    /// When the command began, from when on its wall time counts.
    pub begun: Instant,
    /// The lab; shared, since the plan of a large one takes tens of megabytes, in whose page tables every node has a part.
    pub plan: Rc<Plan>,
    /// The path of the lab file.
    pub lab_file: PathBuf,
    /// The text of the lab file, which is kept with the results.
    pub lab_text: String,
    /// The warnings that the lab's author should look at before the results are trusted.
    pub warnings: Vec<String>,
    /// The folder that holds the results of all labs.
    pub results: PathBuf,
    /// The command line, for the provenance.
    pub command_line: Vec<String>,
    /// Whether plots are drawn at the end.
    pub plots: bool,
    /// Whether a page shows the run at the end: `report.html`.
    pub page: bool,
    /// After how much wall time the run is to end, however far it is.
    pub wall_limit: Option<Duration>,
    /// Where lab time is to be held, counted from time zero, until a client lets it go on; only in virtual time.
    pub stop_at: Option<netloom_units::Duration>,
    /// Where a run that is a part of a lab over several machines waits for the other parts, before time zero and at the end.
    pub gate: Option<PathBuf>,
    /// The part of a lab in virtual time that is played here; none: all of it.
    pub part: Option<Rc<PartRequest>>,
    /// Whether a run is of a lab that stays up until it is asked to end, which its timeline has no part in.
    pub stays: bool,
    /// The kernel for kernel nodes, if not the one that would be found.
    pub kernel: Option<PathBuf>,
    /// The process with which a lab that was brought up ends.
    pub parent: Option<i32>,
    /// The folder that kernel nodes see in the place of this machine's files; none: these.
    pub root: Option<MachineRoot>,
}

impl RunRequest {
    /// Returns the name under which the lab runs on this machine: its own, or that of the part that is played here.
    pub fn own_name(&self) -> &str {
        self.part.as_ref().map_or(&self.plan.name, |part| &part.own_name)
    }
}

/// A folder that kernel nodes see as the root of the machine's file system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MachineRoot {
    /// The absolute path of the folder.
    pub folder: PathBuf,
    /// Where programs start, as they see it.
    pub start: PathBuf,
}
