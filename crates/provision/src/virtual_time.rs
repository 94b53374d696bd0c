//! The lab in virtual time: the scheduler of its kernels and links ([`VirtualTime`]), how its kernels boot, and how the session speaks with
//! their agents.

mod boot;
mod channel;
mod connections;
mod division;
mod end_of_time;
mod faults;
mod gauge;
mod inbox;
mod reboot;
mod sampling;
mod stall;
mod standstill;
mod templates;
mod world;

pub(crate) use boot::boot;
pub use end_of_time::EndOfTime;
pub use reboot::KernelReboots;
pub use sampling::TcpSampling;
pub use world::{IMPATIENCE, StopReason, VirtualTime};
