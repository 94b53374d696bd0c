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
mod filter;
mod hash;
mod impairments;
mod ledger;
mod line;
mod loss;
mod overhead;
mod overtaking;
mod pipe;
mod queue;
mod rate;
mod reorder;
mod schedule;
mod slope;
mod spans;
mod state;
mod transmitter;

pub use chance::ChanceConfig;
pub use config::{ConfigError, PipeChange, PipeConfig};
pub use corrupt::CorruptConfig;
pub use counters::{CrossCounters, Drops, PipeCounters, Tally};
pub use cross::{Cross, CrossConfig, OnOff, PacketSize, Replay, Stream, Traffic};
pub use delay::{
    Bins, Correlation, DelayConfig, Distribution, Exponential, Gamma, Histogram, Normal, Order, Pareto, ParetoNormal,
    Samples, Table, TableDelay, Uniform, Values,
};
pub use duplicate::DuplicateConfig;
pub use filter::{Filter, Ports, Prefix};
pub use ledger::{Cause, Dropped, Waste};
pub use line::Departure;
pub use loss::{
    EveryConfig, GilbertConfig, GilbertElliottConfig, LossConfig, MarkovConfig, PacketsConfig, SequenceConfig, Then,
};
pub use overhead::OverheadConfig;
pub use pipe::Pipe;
pub use queue::{
    ClassConfig, CodelConfig, CodelControl, DEFAULT_LIMIT, Division, DrrConfig, DualPi2Config, FqCodelConfig,
    PieConfig, QueueConfig, RedConfig,
};
pub use rate::{DeliveryTimes, DeliveryTraceConfig, PeakConfig, RateConfig, TokenBucketConfig};
pub use reorder::ReorderConfig;
pub use schedule::{Interpolation, ScheduleConfig, Step, Timetable};
pub use state::{FlapConfig, FlapTime, OnTheWire, StateConfig};
