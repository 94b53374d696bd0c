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
//!
//! A started machine is a `netloom_guest::node::KernelNode`, whose network devices are vhost-user ports with
//! interrupts by event counters. What differs stands behind the trait `Machine` of that crate; `monitor` learns by
//! QMP why a machine ended. The agent enters with the initial file system (`agent`): netloom's own program and the
//! libraries that this process has mapped, of each only the loaded parts. There it starts beside process 1 and
//! follows it to its root. A machine that boots its own disk has the agent on another disk (`iso`), from which
//! cloud-init (`seed`) or QEMU's guest agent (`guest_agent`) starts it. A trial machine of three instructions finds
//! out whether KVM works (`trial`). In dilated time the shim of kernel nodes is preloaded into QEMU, which takes all
//! time of a machine from the C library.

mod agent;
mod archive;
mod command;
mod disk;
mod disk_server;
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
