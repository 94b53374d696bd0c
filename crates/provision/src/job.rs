//! What a lab is made of: everything that the guard decided about it before it forked the lab process.

use crate::MachineRoot;
use crate::containers::Containers;
use crate::images::Images;
use netloom_guest::counter::Counter;
use netloom_guest::kernel::Kernel;
use netloom_guest::read_files::ReadFiles;
use netloom_host::cgroup::{LabGroup, Unavailable};
use netloom_lab::Plan;
use netloom_parts::PartRequest;
use netloom_results::Folder;
use netloom_results::capture::FilterProgram;
use netloom_vm::Qemu;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Instant;

/// Whether a lab is run to its end, or stays for an interactive day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// The timeline runs and is judged, and everything is removed.
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

/// The decisions of the guard about a lab, which it made before it forked the lab process.
#[derive(Clone, Debug)]
pub struct Job {
    /// When the command began, from when on its wall time counts.
    pub begun: Instant,
    /// Whether the lab is run to its end, or stays up.
    pub mode: Mode,
    /// The lab, completed by what images and containers say.
    pub plan: Rc<Plan>,
    /// The absolute path of the lab file.
    pub lab_file: PathBuf,
    /// Where results and logs go.
    pub folder: Folder,
    /// The programs that expressions of captures were translated to, by the captures' places.
    pub filters: Vec<Option<FilterProgram>>,
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
    /// Whether kernels in virtual time have a checkpoint, from which they can be copied.
    pub kernel_checkpoint: bool,
    /// Where nodes find memory for files of their own; mounted if one needs it.
    pub memory: PathBuf,
    /// Where archives of what nodes keep for the next run are.
    pub keep: PathBuf,
    /// The group for the nodes' CPU shares, or why there is none; none if no node has a share.
    pub cpu_group: Option<Result<LabGroup, Unavailable>>,
    /// The part of the lab that this process plays; none if it plays all of it.
    pub part: Option<Rc<PartRequest>>,
    /// When the run is to end, however far it is.
    pub wall_end: Option<Instant>,
    /// Takes the names of the machine's files that kernel nodes read; none without such nodes.
    pub read_files: Option<Rc<ReadFiles>>,
    /// The folder that kernel nodes see in the place of this machine's files; none: these.
    pub root: Option<MachineRoot>,
}

impl Job {
    /// Returns the name under which the lab runs on this machine: its own, or that of the part that is played here.
    pub fn own_name(&self) -> &str {
        self.part.as_ref().map_or(&self.plan.name, |part| &part.own_name)
    }

    /// Returns the folder in which programs start if nothing else is said.
    pub fn start_folder(&self) -> &Path {
        self.root.as_ref().map_or(&self.cwd, |root| &root.start)
    }
}
