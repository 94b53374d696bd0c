//! Models of links: loss, queue, rate and delay, joined to a [`Pipe`].
//!
//! This crate reads no clock, starts no thread and opens no file: it is `no_std`, and the compiler proves it. Every
//! model takes `now` and draws from its own seeded generator; every model works on trains as it would on their
//! segments alone.
//!
//! The words are those of dummynet (Rizzo 1997, section 2): a packet passes the impairments, waits in a bounded queue,
//! is sent at the pipe's rate, and then travels for the propagation delay.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod chance;
mod clockwork;
mod config;
mod corrupt;
mod counters;
mod cross;
mod delay;
mod duplicate;
mod impairments;
mod ledger;
mod line;
mod loss;
mod overhead;
mod pipe;
mod queue;
mod rate;
mod reorder;
mod schedule;
mod spans;
mod state;
mod transmitter;

pub use chance::ChanceConfig;
pub use config::{ConfigError, PipeChange, PipeConfig};
pub use corrupt::CorruptConfig;
pub use counters::{CrossCounters, Drops, PipeCounters, Tally};
pub use cross::{Cross, CrossConfig, OnOff, PacketSize, Replay, Stream, Traffic};
pub use delay::{DelayConfig, Distribution, Order};
pub use duplicate::DuplicateConfig;
pub use ledger::{Cause, Dropped, Waste};
pub use line::Departure;
pub use loss::LossConfig;
pub use overhead::OverheadConfig;
pub use pipe::Pipe;
pub use queue::{DEFAULT_LIMIT, QueueConfig};
pub use rate::RateConfig;
pub use reorder::ReorderConfig;
pub use schedule::ScheduleConfig;
pub use state::{FlapConfig, FlapTime, OnTheWire, StateConfig};
