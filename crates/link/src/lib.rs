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

mod config;
mod counters;
mod drop_tail;
mod line;
mod loss;
mod pipe;
mod transmitter;

pub use config::{LossConfig, PipeChange, PipeConfig, QueueConfig};
pub use counters::{Drops, PipeCounters, Tally};
pub use line::Departure;
pub use pipe::{Pipe, Waste};
