use crate::words::words;
use netloom_units::{Bytes, Duration};
use std::fmt;
use std::path::PathBuf;

/// The description of a virtual machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VmPlan {
    /// The line of the lab file that describes it.
    pub line: usize,
    /// The kernel or disk that it boots.
    pub begin: VmBegin,
    /// Its disk, which is never written.
    pub disk: Option<PathBuf>,
    /// The format of the disk's file.
    pub format: DiskFormat,
    /// Its memory.
    pub memory: Bytes,
    /// The number of its processors.
    pub cpus: u32,
    /// How long it may take from its start until it serves the lab.
    pub boot_within: Duration,
    /// The network cards of this machine that it gets whole, by their PCI addresses, like 0000:01:00.0.
    pub passthrough: Vec<String>,
}

/// The kernel or disk that a virtual machine boots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VmBegin {
    /// A kernel with an initial file system.
    Kernel {
        /// A Linux kernel.
        kernel: PathBuf,
        /// The initial file system that it boots with.
        initrd: PathBuf,
        /// Further words of the kernel's command line.
        append: String,
    },
    /// The disk of the machine, which boots by itself.
    Disk {
        /// The firmware that looks for a system on the disk.
        firmware: VmFirmware,
        /// How commands get into the system.
        access: VmAccess,
        /// A file of public keys that may log in by SSH.
        ssh_key: Option<PathBuf>,
    },
}

words! {
    /// The firmware of a virtual machine.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum VmFirmware {
        /// The BIOS of a PC.
        #[default]
        Bios = "bios",
        /// UEFI.
        Uefi = "uefi",
    }
}

words! {
    /// How commands get into a system that boots by itself.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum VmAccess {
        /// Commands get in by netloom's agent, which cloud-init or QEMU's guest agent starts.
        #[default]
        Agent = "agent",
        /// No commands get in: the machine has interfaces and a console.
        None = "none",
    }
}

impl VmPlan {
    /// Whether no commands can run in it.
    pub fn is_closed(&self) -> bool {
        matches!(self.begin, VmBegin::Disk { access: VmAccess::None, .. })
    }

    /// The most interfaces that it can have: its bus has room for 30 devices, of which some are others.
    pub const MOST_INTERFACES: usize = 24;
    /// The default memory of a virtual machine: enough for most distributions to boot.
    pub const MEMORY: Bytes = Bytes::new(512 << 20);
    /// The default of [`VmPlan::boot_within`]: a machine whose processor is translated takes some tens of seconds.
    pub const BOOT_WITHIN: Duration = Duration::from_secs(120);
}

words! {
    /// A format of disks.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum DiskFormat {
        /// The format of QEMU.
        #[default]
        Qcow2 = "qcow2",
        /// The bytes of the disk as they are.
        Raw = "raw",
    }
}

impl fmt::Display for VmPlan {
    /// In a few words.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let processors = if self.cpus == 1 { "processor" } else { "processors" };
        write!(f, "virtual machine, {} {processors}, {}", self.cpus, self.memory)?;
        match &self.begin {
            VmBegin::Kernel { .. } => Ok(()),
            VmBegin::Disk { access: VmAccess::Agent, .. } => f.write_str(", boots its disk"),
            VmBegin::Disk { access: VmAccess::None, .. } => f.write_str(", boots its disk, runs no commands"),
        }
    }
}
