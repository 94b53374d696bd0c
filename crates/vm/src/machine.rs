//! Starts virtual machines.

use crate::agent::Agent;
use crate::archive::pad;
use crate::command::{Access, Begin, Made, Vm};
use crate::disk_server::DiskServer;
use crate::error::VmError;
use crate::guest_agent::GuestAgent;
use crate::monitor::Monitor;
use crate::qemu::Qemu;
use crate::seed;
use netloom_guest::disk::Disk;
use netloom_guest::node::{Channel, KernelNode};
use netloom_guest::shim::{Lapse, Orders, Shim, ShimError};
use netloom_host::node::NodeError;
use netloom_host::sealed::{self, Seal};
use netloom_units::Dilation;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::unistd::pipe2;
use std::fs::File;
use std::io::Write;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The machine's initial file system, in the folder of its place.
const INITRD: &str = "initrd";
/// The longest initial file system, in bytes: its bytes are read at once.
const LONGEST_INITRD: u64 = 4 << 30;
/// The disk for cloud-init, there, too.
const SEED: &str = "seed";
/// The disk with the agent, in the folder above, which all machines of a lab have.
const AGENT: &str = "agent";

/// The parts that the virtual machines of a lab have in common.
#[derive(Debug)]
pub struct Prepared {
    qemu: Qemu,
    agent: Agent,
    /// Slows all clocks that QEMU reads; none in real time.
    slowed: Option<(Shim, Orders)>,
}

impl Prepared {
    /// Packs the agent. Machines have the time of `lapse`, or that of this machine if there is none.
    ///
    /// # Errors
    /// When a file of it cannot be read.
    pub fn new(qemu: Qemu, lapse: Option<Lapse>) -> Result<Self, VmError> {
        let with_shim = |orders| Ok((Shim::in_memory()?, orders));
        let orders = lapse.map(|_| Orders { lapse, seed: None, machine: true });
        let slowed = orders.map(with_shim).transpose();
        let slowed = slowed.map_err(|error: ShimError| VmError::Wrong(error.to_string()))?;
        Ok(Self { qemu, agent: Agent::pack()?, slowed })
    }

    /// How much slower than this machine's their time is.
    fn dilation(&self) -> Dilation {
        let lapse = self.slowed.as_ref().and_then(|(_, orders)| orders.lapse.as_ref());
        lapse.map_or(Dilation::ONE, |lapse| lapse.dilation)
    }
}

/// Where a virtual machine is.
#[derive(Debug)]
pub struct Place {
    /// A folder of its own, which takes sockets and its initial file system.
    pub folder: PathBuf,
    /// The file that takes what its serial console shows, and what QEMU says.
    pub console: PathBuf,
    /// The processors that all its threads run on; any if there are none.
    pub processors: Vec<usize>,
    /// The cgroup that it belongs to.
    pub cgroup: Option<PathBuf>,
}

/// Starts a virtual machine, which boots while other things are done. `disk`: the one that the lab gives it.
///
/// # Errors
/// What cannot be read or written, or the refusal of this machine's kernel, in words.
pub fn start(
    prepared: &Prepared,
    (vm, disk): (&Vm, Option<&Disk>),
    place: &Place,
    channel: Box<dyn Channel>,
) -> Result<KernelNode, NodeError> {
    let wrong = |error: VmError| NodeError::Kernel { node: vm.name.clone(), what: error.to_string() };
    let own = place.folder.join("own");
    write_files(prepared, vm, &place.folder).map_err(wrong)?;
    let [monitor, guest_agent, served] = ["q", "g", "d"].map(|name| place.folder.join(name));
    for left in [&monitor, &guest_agent, &served] {
        // Of a boot before this one.
        let _ = std::fs::remove_file(left);
    }
    // Nobody who types waits for the machine to read.
    let (input, typed) = console_pipe().map_err(wrong)?;
    let mut listening =
        Monitor::listen(&monitor, vm.processors, typed).map_err(VmError::file("listen at", &monitor)).map_err(wrong)?;
    if let Begin::Disk(_, Access::Agent { .. }) = &vm.image.begin {
        let order = seed::start("the guest agent of QEMU", &prepared.qemu.acceleration);
        let asked = GuestAgent::listen(&guest_agent, order).map_err(VmError::file("listen at", &guest_agent));
        listening = listening.with(asked.map_err(wrong)?);
    }
    if let Some(disk) = disk {
        let server = DiskServer::start(disk, &served, prepared.dilation());
        listening = listening.with_disk(server.map_err(VmError::file("listen at", &served)).map_err(wrong)?);
    }
    let console = File::create(&place.console).map_err(VmError::file("make", &place.console)).map_err(wrong)?;
    // From the folder of its own, which is below.
    let below = |name: &str| Path::new("..").join(name);
    let made = Made {
        initrd: below(INITRD),
        seed: below(SEED),
        agent: below("..").join(AGENT),
        monitor: below("q"),
        guest_agent: below("g"),
        disk: disk.map(|_| below("d")),
    };
    let arguments = vm.arguments(&prepared.qemu, &made, prepared.slowed.is_some()).map_err(wrong)?;
    let mut command = Command::new(&prepared.qemu.program);
    command.args(arguments).env_clear();
    if let Some((shim, orders)) = &prepared.slowed {
        shim.arm(&mut command, orders);
    }
    let init = std::env::current_exe().unwrap_or_else(|_| "/proc/self/exe".into());
    let seal = Seal {
        folder: own,
        init,
        input: Some(input),
        console,
        processors: place.processors.clone(),
        cgroup: place.cgroup.clone(),
        bare: None,
    };
    let process = sealed::start(command, &seal).map_err(|error| NodeError::Refused { node: vm.name.clone(), error })?;
    KernelNode::attend(&vm.name, process, Box::new(listening), &place.console, channel)
}

/// Gives back what a machine that is up does not read again.
pub fn forget_initrd(place: &Path) {
    // The lab's folder goes with the lab in any case.
    let _ = std::fs::remove_file(place.join(INITRD));
}

/// What a machine reads at its console, and where that is typed.
fn console_pipe() -> Result<(OwnedFd, OwnedFd), VmError> {
    let made = pipe2(OFlag::O_CLOEXEC).and_then(|(input, typed)| {
        fcntl(&typed, FcntlArg::F_SETFL(OFlag::O_WRONLY | OFlag::O_NONBLOCK))?;
        Ok((input, typed))
    });
    made.map_err(|errno| VmError::File("make a pipe for the console".to_owned(), errno.into()))
}

/// What the agent comes with: the machine's initial file system with the agent behind it, since the kernel unpacks one after the other,
/// or disks.
fn write_files(prepared: &Prepared, vm: &Vm, folder: &Path) -> Result<(), VmError> {
    let write = |path: &Path, parts: &[&[u8]]| {
        let mut file = File::create(path).map_err(VmError::file("make", path))?;
        parts.iter().try_for_each(|part| file.write_all(part)).map_err(VmError::file("write", path))
    };
    match &vm.image.begin {
        Begin::Kernel { initrd, .. } => {
            let mut bytes = netloom_regular::read(initrd, LONGEST_INITRD).map_err(VmError::file("read", initrd))?;
            pad(&mut bytes);
            write(&folder.join(INITRD), &[&bytes, &prepared.agent.archive()])
        }
        Begin::Disk(_, Access::Agent { ssh_keys }) => {
            let agent = folder.with_file_name(AGENT);
            if !agent.exists() {
                write(&agent, &[&prepared.agent.disk()])?;
            }
            write(&folder.join(SEED), &[&seed::seed(&vm.name, ssh_keys, &prepared.qemu.acceleration)])
        }
        Begin::Disk(_, Access::None) => Ok(()),
    }
}
