//! The event scheduler of virtual time: many kernels and one fabric, conservative and reproducible.
//!
//! Kernels run in *windows*. At the start of a window everything is known that they will receive before its end: what the
//! pipes have on their delay lines, and what nothing that a kernel sends from now on can overtake
//! ([`netloom_fabric::Fabric::certain_until`]). They all run at once, on as many cores as there are; then what they sent
//! enters the pipes, in order of lab time. Where the network leaves no room for a window, its instant is played in rounds:
//! frames that enter a link without delay arrive at the same instant, and their receiver runs once more.
//!
//! What happens is a function of the lab and its seed alone. Windows depend on neither wall time nor the number of cores
//! nor on who reports first, and their length changes no result.

mod cpu;
mod machine;
mod member;
mod scheduler;
mod statistics;
#[cfg(test)]
mod tests;

pub use cpu::Paced;
pub use machine::{Device, Machine, MachineError, Passage, Wish};
pub use scheduler::{AgentFrame, Plug, Scheduler, SchedulerError, Stop};
pub use statistics::{MachineStatistics, Statistics};
