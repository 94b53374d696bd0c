//! The machines among which a lab may be divided.

use super::Cpus;
use netloom_units::Bytes;

/// A machine that plays a part of a lab.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MachinePlan {
    /// The line of the lab file that names it; 0 if none does.
    pub line: usize,
    /// Its name in the lab file.
    pub name: String,
    /// The processors that the lab may use; none: it is not said.
    pub cpus: Option<Cpus>,
    /// The memory that the lab may use; none: it is not said.
    pub memory: Option<Bytes>,
    /// The container images that are there; none: any may be.
    pub images: Option<Vec<String>>,
}

impl MachinePlan {
    /// So many are enough for every lab that one file describes.
    pub const MOST: usize = 64;
}

/// The machine that the lab file chooses for a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MachineChoice {
    /// The line of the lab file that says it.
    pub line: usize,
    /// The place of the machine in the plan.
    pub machine: usize,
}
