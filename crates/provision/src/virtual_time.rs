//! The lab in virtual time: the scheduler of its kernels and links ([`VirtualTime`]), how its kernels boot, and how the session speaks with
//! their agents.

mod boot;
mod channel;
mod connections;
mod gauge;
mod inbox;
mod sampling;
mod stall;
mod world;

pub(crate) use boot::boot;
pub use sampling::TcpSampling;
pub use world::{EndOfTime, IMPATIENCE, StopReason, VirtualTime};
