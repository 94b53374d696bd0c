//! What the lab process is to do: everything that the guard decided before it forked.

use crate::containers::Containers;
use crate::images::Images;
use netloom_guest::counter::Counter;
use netloom_guest::kernel::Kernel;
use netloom_host::cgroup::{LabGroup, Unavailable};
use netloom_host::firewall::Firewall;
use netloom_host::neighbors::Overflows;
use netloom_judge::examination::Examination;
use netloom_lab::Plan;
use netloom_results::Folder;
use netloom_results::capture::FilterProgram;
use netloom_vm::Qemu;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Instant;

/// Whether a lab is run to its end, or stays for an interactive day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// The timeline is played, judged, and everything is removed.
    Run,
    /// Network and services stay until `netloom down`, and the network is judged then.
    Up,
}

impl Mode {
    /// The command that asks for it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Up => "up",
        }
    }
}

/// See the module.
#[derive(Clone, Debug)]
pub(crate) struct Job {
    pub(crate) mode: Mode,
    pub(crate) plan: Rc<Plan>,
    pub(crate) lab_file: PathBuf,
    pub(crate) warnings: Vec<String>,
    /// Where results and logs go.
    pub(crate) folder: Folder,
    /// What the expressions of captures were translated to.
    pub(crate) filters: Vec<Option<FilterProgram>>,
    /// Whether plots are drawn at the end.
    pub(crate) plots: bool,
    /// Whether a page shows the run at the end.
    pub(crate) page: bool,
    /// What nodes see as `/etc/hosts`.
    pub(crate) hosts_file: PathBuf,
    /// Where the control socket is to be.
    pub(crate) control_socket: PathBuf,
    /// Where programs of the timeline start: the folder that the user is in.
    pub(crate) cwd: PathBuf,
    /// The container images of its nodes.
    pub(crate) images: Images,
    /// Its nodes that are containers of others.
    pub(crate) containers: Containers,
    /// What kernel nodes run on; none without such nodes.
    pub(crate) kernel: Option<Kernel>,
    /// What virtual machines run on; none without them.
    pub(crate) qemu: Option<Qemu>,
    /// How the processor counts what programs compute; none if no node asks for it.
    pub(crate) counter: Option<Counter>,
    /// Whether kernels take samples of their TCP connections themselves.
    pub(crate) kernel_samples: bool,
    /// Where nodes find memory for files of their own; mounted if one needs it.
    pub(crate) memory: PathBuf,
    /// Where archives of what nodes keep for the next run are.
    pub(crate) keep: PathBuf,
    /// The group for the nodes' CPU shares, or why there is none; none if no node has a share.
    pub(crate) cpu_group: Option<Result<LabGroup, Unavailable>>,
    /// What `netloom doctor` found out about this machine, if it was asked.
    pub(crate) examination: Option<Examination>,
    /// When the run is to end, however far it is.
    pub(crate) wall_end: Option<Instant>,
    /// Where rules divert traffic to the lab; none if none is.
    pub(crate) firewall: Option<Rc<Firewall>>,
    /// What the verdict is to say of this machine.
    pub(crate) machine: Option<String>,
    /// How often the machine's tables of neighbours were full.
    pub(crate) overflows: Rc<Overflows>,
    /// The guard's process id, as seen from outside.
    pub(crate) guard_pid: i32,
}
