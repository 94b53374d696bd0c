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
pub enum Mode {
    /// The timeline is played, judged, and everything is removed.
    Run,
    /// Network and services stay until `netloom down`, and the network is judged then.
    Up,
}

impl Mode {
    /// The command that asks for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Up => "up",
        }
    }
}

/// The whole of what the guard decided before it forked the lab process.
#[derive(Clone, Debug)]
pub struct Job {
    /// Whether the lab is run to its end, or stays up.
    pub mode: Mode,
    /// The lab, completed by what images and containers say.
    pub plan: Rc<Plan>,
    /// The absolute path of the lab file.
    pub lab_file: PathBuf,
    /// The warnings that the lab's author should look at before the results are trusted.
    pub warnings: Vec<String>,
    /// Where results and logs go.
    pub folder: Folder,
    /// The programs that expressions of captures were translated to, by the captures' places.
    pub filters: Vec<Option<FilterProgram>>,
    /// Whether plots are drawn at the end.
    pub plots: bool,
    /// Whether a page shows the run at the end.
    pub page: bool,
    /// The file that nodes see as `/etc/hosts`.
    pub hosts_file: PathBuf,
    /// Where the control socket is to be.
    pub control_socket: PathBuf,
    /// Where programs of the timeline start: the folder that the user is in.
    pub cwd: PathBuf,
    /// The container images of its nodes.
    pub images: Images,
    /// Its nodes that are containers of others.
    pub containers: Containers,
    /// The kernel that kernel nodes run on; none without such nodes.
    pub kernel: Option<Kernel>,
    /// The QEMU that virtual machines run on; none without them.
    pub qemu: Option<Qemu>,
    /// How the processor counts what programs compute; none if no node asks for it.
    pub counter: Option<Counter>,
    /// Whether kernels take samples of their TCP connections themselves.
    pub kernel_samples: bool,
    /// Where nodes find memory for files of their own; mounted if one needs it.
    pub memory: PathBuf,
    /// Where archives of what nodes keep for the next run are.
    pub keep: PathBuf,
    /// The group for the nodes' CPU shares, or why there is none; none if no node has a share.
    pub cpu_group: Option<Result<LabGroup, Unavailable>>,
    /// The findings of `netloom doctor` about this machine, if it was asked.
    pub examination: Option<Examination>,
    /// When the run is to end, however far it is.
    pub wall_end: Option<Instant>,
    /// Where rules divert traffic to the lab; none if none is.
    pub firewall: Option<Rc<Firewall>>,
    /// A sentence that the verdict is to say of this machine.
    pub machine: Option<String>,
    /// How often the machine's tables of neighbours were full.
    pub overflows: Rc<Overflows>,
    /// The guard's process id, as seen from outside.
    pub guard_pid: i32,
}
