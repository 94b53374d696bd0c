//! Kernel nodes from inside: process 1 of a Linux kernel that runs as a process, and what it and the lab process say to
//! each other.
//!
//! No descriptor can be passed into another kernel, so programs get pipes or a terminal in there, and what they read and
//! write travels as messages. A message is one or several Ethernet frames of an EtherType of its own on the kernel's
//! first network device, which the agent hides from the node.

mod agent;
pub(crate) mod cores;
mod devices;
mod disk;
pub mod frames;
mod init;
mod input;
mod launch;
pub mod message;
mod modules;
mod output;
mod root;
mod socket;
mod stdio;
pub mod vm;

pub use disk::SERIAL as DISK_SERIAL;
pub use init::{TRIAL, TRIAL_PASSED, main};
