//! Kernel nodes: Linux kernels that run as processes (User-Mode Linux), in real, dilated or virtual time.
//!
//! - `counter`: whether the processor can count what programs compute, for virtual time;
//! - `disk`: the disks of kernel nodes, and what is on them after a crash;
//! - `kernel`: finds, builds and checks kernels;
//! - `read_files`: which of the machine's files kernels read;
//! - `shim`: what is preloaded into a kernel's process: dilated clocks, seeded entropy, virtual time's device backend;
//! - `node`: boots a kernel node and talks to the agent inside;
//! - `schedule`: the event scheduler of virtual time: many kernels and one fabric, conservative and reproducible.
//!
//! A kernel node is a process: a Linux kernel with the *shim* preloaded, which stands between it and the C library.
//! It sees the machine's file system, and can write to a folder in memory only (`netloom_host::sealed`). Its first
//! process is `netloom guest-init`, the same agent as in a namespace node (`netloom_host::guest`). The agent
//! exchanges Ethernet frames with the lab process over the kernel's network device 0, which it hides from the node's
//! programs; device i + 1 is interface i.
//!
//! ```text
//!    real and dilated time                     virtual time
//!  +-------------------------------+         +-------------------------------+
//!  | kernel        agent, programs |         | kernel        agent, programs |
//!  | shim: clocks slowed exactly   |         | shim: the in-guest device     |
//!  |                               |         | backend                       |
//!  +---------------^---------------+         +---------------^---------------+
//!     vhost-user: shared rings                  a mailbox of frames, and turns
//!  +---------------v---------------+         +---------------v---------------+
//!  | packet engine on a slow clock |         | scheduler (schedule)          |
//!  | fabric                        |         | fabric                        |
//!  +-------------------------------+         +-------------------------------+
//! ```
//!
//! In virtual time the shim contains, inside the kernel's own process, both the controller of the kernel's
//! time-travel protocol and the vhost-user devices: what the kernel writes to those sockets never leaves the process.
//! So to advance to the next timer or to receive a frame costs no switch to another process. A train that is handed
//! to a kernel is copied twice, through the shared mailbox: to map the packet pool into every kernel would save one
//! copy and cost all isolation. The C code is tested without a kernel, under sanitizers (`crates/guest/tests`).
//!
//! The cost of computing is counted where programs enter their kernel: in the signal handler of each program's
//! process (`kernel/counter/stub.c`), by single steps or by the processor's counter (`counter`). A kernel hears of
//! most system calls of its programs by notifications of the machine's seccomp, without a signal (`kernel/asked`;
//! `kernel/build/edits/asked.rs` says when the signal remains).
//!
//! A device says in its configuration whether its link has a carrier (VIRTIO_NET_F_STATUS), and interrupts when that changes. In virtual time
//! the change is in the mailbox, in front of the frames of its instant.
//!
//! Network devices of kernels return buffers at once and raise no interrupt for it (`virtio_net.napi_tx=0`): a packet
//! waits in the pipe's queue, not in the node, as it does behind a veth pair. So TCP meets the same network on all
//! clocks. Devices leave the node's network namespace and come back when the kernel's parameters are set, so that
//! they take those of `default` as later interfaces do.

pub mod backend;
pub mod counter;
pub mod disk;
pub mod kernel;
pub mod node;
pub mod process;
pub mod processor;
pub mod read_files;
pub mod schedule;
pub mod shim;
