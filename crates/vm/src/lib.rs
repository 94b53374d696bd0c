//! Virtual machines as nodes, run by QEMU.
//!
//! A virtual machine is a node with a kernel of its own, as a kernel node is: the same agent serves the lab inside, its
//! interfaces are vhost-user ports over shared memory, and the process is confined in the same way
//! ([`netloom_host::sealed`]). This crate knows what is different: which QEMU there is and what this processor does for it
//! ([`Qemu`]), its command line ([`Vm`]), how the agent gets into the machine, by
//! its initial file system or on a disk beside its own, and what QEMU tells over QMP.
//!
//! It parses no lab files, makes no namespaces, and moves no packets.
//!
//! Sources: QEMU's manual pages and `qapi/` (QMP); "initramfs buffer format" of Linux
//! (`Documentation/driver-api/early-userspace/buffer-format.rst`).

mod agent;
mod archive;
mod command;
mod disk;
mod error;
mod firmware;
mod guest_agent;
mod iso;
mod machine;
mod monitor;
mod passthrough;
mod qemu;
mod seed;
mod trial;
mod tsc;

pub use command::{Access, Begin, Image, Nic, Vm};
pub use disk::{Disk, Format};
pub use error::VmError;
pub use firmware::Firmware;
pub use machine::{Place, Prepared, forget_initrd, start};
pub use passthrough::{Devices, check_memory};
pub use qemu::{LEAST_VERSION, Qemu};
pub use trial::Acceleration;
