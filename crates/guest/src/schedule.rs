//! The event scheduler of virtual time: many kernels and one fabric, conservative and reproducible.
//!
//! Kernels run in *windows*. At the start of a window everything is known that a kernel will receive before its end: what
//! the pipes to it have on their delay lines, and what nothing that is sent from now on can overtake
//! ([`netloom_fabric::Fabric::take_known`]). Each has windows of its own, as far as its neighbours are known; so they run on
//! as many cores as there are, and no group waits for one that cannot reach it. When a window is over, what was sent in
//! it enters the pipes, in order of lab time. Kernels that a link without lookahead joins are a *group* and share their
//! windows. Where the network leaves no room for one, its instant is computed in rounds: frames that enter a link without
//! delay arrive at the same instant, and their receiver runs once more.
//!
//! At the end of each *synchronization round* all have reached the same instant: there agents are served, and taps are
//! shown what has happened, in order.
//!
//! A lab may be played in several *parts*, each with a scheduler of its own: see [`Wire`].
//!
//! What happens is a function of the lab and its seed alone. The length of windows, and who is ahead of whom, depends on wall
//! time, on the number of cores and on who reports first, and changes no result. Stretches depend on the lab alone.

mod cpu;
mod division;
mod machine;
mod member;
mod parts;
mod scheduler;
mod statistics;
#[cfg(test)]
mod tests;

pub use cpu::Paced;
pub use machine::{Device, Machine, MachineError, NextWake, TimedFrame};
pub use parts::{Begun, Parted, Reported, Stated, Told, Wire};
pub use scheduler::{AgentFrame, DevicePort, Scheduler, SchedulerError, Stop};
pub use statistics::{MachineStatistics, Statistics};
