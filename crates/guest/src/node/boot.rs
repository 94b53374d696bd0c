use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs::File;
use std::path::PathBuf;
use std::process::Command;
use std::rc::Rc;

use netloom_host::KernelError;
use netloom_host::sealed::{Bare, INIT, OWN_PLACE, Seal, SealedProcess, start};

use crate::disk::Disk;

/// A kernel to be booted.
#[derive(Debug)]
pub struct Boot {
    /// The node's name.
    pub name: String,
    /// The program that is the kernel.
    pub kernel: PathBuf,
    /// The program that is the kernel's first process, `netloom` itself, as an absolute path.
    pub init: PathBuf,
    /// The kernel's memory, in MiB.
    pub memory_mib: u64,
    /// An empty folder, which becomes the kernel's own: the only one that it can write to, in memory.
    pub folder: PathBuf,
    /// The file that takes what its consoles show.
    pub console: PathBuf,
    /// The Unix sockets of its network devices (vhost-user), in order, the control device first. Relative paths count
    /// from `folder`.
    pub devices: Vec<PathBuf>,
    /// The only processor that it may run on. A kernel that moves between processors takes some ten times as long for
    /// each system call of a program.
    pub processor: Option<usize>,
    /// The processors over which the processes of its programs may be spread, so that they and their kernel wait for one another without
    /// sleeping (`kernel/edits/asked.c`); fewer than two: they share the kernel's.
    pub polls: Vec<usize>,
    /// The cgroup that it belongs to.
    pub cgroup: Option<PathBuf>,
    /// The disk that it has; none if it has none.
    pub disk: Option<Rc<Disk>>,
    /// Further arguments of the kernel.
    pub arguments: Vec<String>,
    /// Whether it hears of its devices at its checkpoint, up to which it is like any other of its kind: in virtual time, if the kernel
    /// has a checkpoint ([`Kernel::has_checkpoint`](crate::kernel::Kernel::has_checkpoint)).
    pub late: bool,
    /// How it is confined in a lab without namespaces; none in others.
    pub bare: Option<Rc<Bare>>,
}

/// A kernel could not be booted.
#[derive(Debug)]
pub enum BootError {
    /// The file for its console could not be made.
    Console(PathBuf, std::io::Error),
    /// The arguments are longer than a kernel takes.
    Arguments {
        /// How long, in bytes.
        length: usize,
    },
    /// The machine said no.
    Refused(KernelError),
}

impl fmt::Display for BootError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Console(path, error) => write!(f, "make {}: {error}", path.display()),
            Self::Arguments { length } => write!(
                f,
                "its kernel would need a command line of {length} bytes, and {LONGEST_COMMAND_LINE} is the most: give \
                 the node fewer interfaces, or the lab a shorter folder (XDG_RUNTIME_DIR)"
            ),
            Self::Refused(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for BootError {}

/// COMMAND_LINE_SIZE of our kernels, with some room for what they add by themselves. Others take 4096 bytes, and say so.
const LONGEST_COMMAND_LINE: usize = 65_536 - 64;

/// Devices for which each kernel has room that hears of them late.
const LEAST_ROOM: usize = 16;

/// Arguments that every kernel node has.
const COMMON: &[&str] = &[
    "root=/dev/root",
    "rootfstype=hostfs",
    "rootflags=/",
    "ro",
    // All consoles go to standard output, and nothing is typed there.
    "con=null",
    "ssl=null",
    "con0=null,fd:1",
    "console=tty0",
    "quiet",
    // The loop that measures the processor's speed would take as many times longer as time is dilated.
    "lpj=4000000",
    // Without a source of entropy that the kernel trusts, it would be 15 s old before programs get random numbers.
    "random.trust_cpu=on",
    // Interfaces that the lab file does not describe.
    "fb_tunnels=none",
    "bonding.max_bonds=0",
    "dummy.numdummies=0",
    "ifb.numifbs=0",
    // A packet that was sent waits in the pipe's queue, not in the node, as behind a veth pair.
    "virtio_net.napi_tx=0",
    // Programs start and stop several times as fast as with ptrace. Kernels that do not know it ignore it.
    "seccomp=on",
];

impl Boot {
    /// The arguments of the kernel's program.
    ///
    /// # Errors
    /// [`BootError::Arguments`].
    pub fn arguments(&self) -> Result<Vec<OsString>, BootError> {
        self.arguments_for(OsStr::new(OWN_PLACE), OsStr::new(INIT))
    }

    /// The same for a kernel that is not confined, and so finds its own place and its first process where they are.
    ///
    /// # Errors
    /// [`BootError::Arguments`].
    pub(crate) fn arguments_for(&self, place: &OsStr, init: &OsStr) -> Result<Vec<OsString>, BootError> {
        let mut all: Vec<OsString> = COMMON.iter().map(OsString::from).collect();
        all.push(format!("mem={}M", self.memory_mib).into());
        // Its control socket, which is not used, gets a place of its own. That its programs can read this command
        // line is why nothing in it depends on where things are on this machine.
        all.extend([joined(&["uml_dir=".as_ref(), place, "/".as_ref()]), "umid=node".into()]);
        all.extend(self.arguments.iter().map(OsString::from));
        if self.late {
            // In steps, so that kernels with about as many devices are of one kind.
            all.push(format!("netloom.room={}", self.devices.len().next_power_of_two().max(LEAST_ROOM)).into());
        } else {
            all.extend(self.device_arguments());
        }
        all.extend([joined(&["init=".as_ref(), init]), "--".into(), "guest-init".into()]);
        let late = if self.late { self.rest().len() } else { 0 };
        let length = late + all.iter().map(|argument| argument.len() + 1).sum::<usize>();
        if length > LONGEST_COMMAND_LINE { Err(BootError::Arguments { length }) } else { Ok(all) }
    }

    /// The arguments that name its devices.
    fn device_arguments(&self) -> impl Iterator<Item = OsString> {
        let number = ":1".as_ref(); // VIRTIO_ID_NET
        let device = move |device: &PathBuf| joined(&["virtio_uml.device=".as_ref(), device.as_os_str(), number]);
        self.devices.iter().map(device).chain(self.disk.as_ref().map(|disk| disk.argument().into()))
    }

    /// Returns what a kernel gets of its command line at its checkpoint.
    pub(super) fn rest(&self) -> OsString {
        self.device_arguments().collect::<Vec<_>>().join(OsStr::new(" "))
    }

    /// Returns what kernels have in common if they are of one kind: up to their checkpoint, they come to the same state.
    ///
    /// # Errors
    /// [`BootError::Arguments`].
    pub fn kind(&self) -> Result<Vec<OsString>, BootError> {
        let mut all = self.arguments()?;
        all.extend([self.kernel.clone().into(), self.init.clone().into()]);
        Ok(all)
    }

    /// Starts it. `prepare` gives the command its shim and whatever else belongs to the lab's clock.
    ///
    /// # Errors
    /// See [`BootError`].
    pub(super) fn start(&self, prepare: &mut dyn FnMut(&mut Command)) -> Result<SealedProcess, BootError> {
        let console = File::create(&self.console).map_err(|error| BootError::Console(self.console.clone(), error))?;
        let mut command = Command::new(&self.kernel);
        command.args(self.arguments()?).env_clear();
        if self.polls.len() > 1 {
            let numbers: Vec<String> = self.polls.iter().map(usize::to_string).collect();
            command.env("NETLOOM_POLL", numbers.join(","));
        }
        let given = self.disk.as_ref().map_or(Ok(()), |disk| disk.give(&mut command));
        given.map_err(|error| BootError::Refused(KernelError::from_io("give a kernel its disk", &error)))?;
        prepare(&mut command);
        let (processors, cgroup) = (self.processor.into_iter().collect(), self.cgroup.clone());
        let (folder, init) = (self.folder.clone(), self.init.clone());
        let seal = Seal { folder, init, input: None, console, processors, cgroup, bare: self.bare.clone() };
        start(command, &seal).map_err(BootError::Refused)
    }
}

fn joined(parts: &[&OsStr]) -> OsString {
    parts.iter().copied().collect()
}
