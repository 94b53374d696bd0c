//! Starts virtual machines.

use crate::agent;
use crate::archive::pad;
use crate::command::{Image, Vm};
use crate::error::VmError;
use crate::monitor::Monitor;
use crate::qemu::Qemu;
use netloom_guest::node::{Channel, KernelNode};
use netloom_guest::shim::{Lapse, Orders, Shim, ShimError};
use netloom_host::node::NodeError;
use netloom_host::sealed::{self, Seal};
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The machine's initial file system, in the folder of its place.
const INITRD: &str = "initrd";

/// What the virtual machines of a lab have in common.
#[derive(Debug)]
pub struct Prepared {
    qemu: Qemu,
    /// The archive with the agent.
    agent: Vec<u8>,
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
        Ok(Self { qemu, agent: agent::archive()?, slowed })
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

/// Starts a virtual machine, which boots while other things are done.
///
/// # Errors
/// What cannot be read or written, or the refusal of this machine's kernel, in words.
pub fn start(prepared: &Prepared, vm: &Vm, place: &Place, channel: Box<dyn Channel>) -> Result<KernelNode, NodeError> {
    let wrong = |error: VmError| NodeError::Kernel { node: vm.name.clone(), what: error.to_string() };
    let (own, initrd, monitor) = (place.folder.join("own"), place.folder.join(INITRD), place.folder.join("q"));
    write_initrd(&vm.image, &prepared.agent, &initrd).map_err(wrong)?;
    let listening =
        Monitor::listen(&monitor, vm.processors).map_err(VmError::file("listen at", &monitor)).map_err(wrong)?;
    let console = File::create(&place.console).map_err(VmError::file("make", &place.console)).map_err(wrong)?;
    // From the folder of its own, which is below.
    let arguments = vm.arguments(&prepared.qemu, Path::new("../initrd"), Path::new("../q")).map_err(wrong)?;
    let mut command = Command::new(&prepared.qemu.program);
    command.args(arguments).env_clear();
    if let Some((shim, orders)) = &prepared.slowed {
        shim.arm(&mut command, orders);
    }
    let init = std::env::current_exe().unwrap_or_else(|_| "/proc/self/exe".into());
    let seal = Seal { folder: own, init, console, processors: place.processors.clone(), cgroup: place.cgroup.clone() };
    let process = sealed::start(command, &seal).map_err(|error| NodeError::Refused { node: vm.name.clone(), error })?;
    KernelNode::attend(&vm.name, process, Box::new(listening), &place.console, channel)
}

/// Gives back what a machine that is up does not read again.
pub fn forget_initrd(place: &Path) {
    // The lab's folder goes with the lab in any case.
    let _ = std::fs::remove_file(place.join(INITRD));
}

/// The machine's initial file system with the agent behind it: the kernel unpacks one after the other.
fn write_initrd(image: &Image, agent: &[u8], path: &Path) -> Result<(), VmError> {
    let mut bytes = std::fs::read(&image.initrd).map_err(VmError::file("read", &image.initrd))?;
    pad(&mut bytes);
    let mut file = File::create(path).map_err(VmError::file("make", path))?;
    file.write_all(&bytes).and_then(|()| file.write_all(agent)).map_err(VmError::file("write", path))
}
