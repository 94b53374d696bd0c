//! Everything that Netloom asks of the Linux kernel on behalf of a lab: namespaces, network devices, control groups,
//! mounts, processes and terminals.
//!
//! It is the only crate that touches these. It knows nothing of lab files, of what links do to packets, or of time.
//! Whatever works as root works as an ordinary user, too, where the kernel allows user namespaces.

pub mod archive;
pub mod bridges;
pub mod capabilities;
pub mod cgroup;
mod ethtool;
pub mod expose;
pub mod facts;
pub mod fds;
pub mod firewall;
pub mod guest;
pub mod jsonl;
mod kernel_views;
pub mod lab;
pub mod measure;
pub mod memory;
pub mod neighbors;
pub mod netlink;
pub mod node;
pub mod processors;
pub mod programs;
pub mod runtime;
pub mod sealed;
pub mod shortage;
pub mod signals;
pub mod sysctl;
pub mod terminal;
pub mod uplink;
pub mod users;
pub mod watcher;
pub mod wires;

mod clone;
mod error;
mod files;
mod locked;
mod mount;
mod runtime_folder;
mod tables;

pub use error::KernelError;
pub use nix::unistd::Pid;
