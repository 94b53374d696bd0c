//! Kernel nodes: Linux kernels that run as processes (User-Mode Linux), in real, dilated or virtual time.
//!
//! - `counter`: whether the processor can count what programs compute, for virtual time;
//! - `kernel`: finds, builds and checks kernels;
//! - `shim`: what is preloaded into a kernel's process: dilated clocks, seeded entropy, virtual time's deputy;
//! - `node`: boots a kernel node and talks to the agent inside;
//! - `schedule`: the event scheduler of virtual time: many kernels and one fabric, conservative and reproducible.

pub mod counter;
pub mod deputy;
pub mod kernel;
pub mod node;
pub mod schedule;
pub mod shim;
