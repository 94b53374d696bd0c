//! The figures that the packet engine measures and the verdict judges: reports of pipes, ports, tunnels and threads, and
//! distributions of durations. This crate measures and judges nothing itself: it reads no clock, opens no file and makes no
//! system call.

#![forbid(unsafe_code)]

mod distribution;
mod histogram;
mod report;

pub use distribution::Distribution;
pub use histogram::Histogram;
pub use report::{
    EngineReport, PipeReport, Policy, PortReport, SlowReceiver, Snapshot, ThreadReport, TunnelClocks, TunnelReport,
};
