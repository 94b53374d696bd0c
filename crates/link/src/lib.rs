//! Models of links: impairments, queues, rates and delays, joined to a [`Pipe`].
//!
//! This crate reads no clock, starts no thread and opens no file: it is `no_std`, and the compiler proves it. Every
//! model takes `now` and draws from its own seeded generator; every model works on trains as it would on their
//! segments alone.
//!
//! The words are those of dummynet (Rizzo 1997, section 2): a packet passes the impairments, waits in a bounded queue,
//! is sent at the pipe's rate, and then travels for the propagation delay.
//!
//! ```
//! use netloom_link::{Pipe, PipeConfig, RateConfig, DropLog};
//! use netloom_packet::{Pool, VirtioHeader};
//! use netloom_units::{Duration, Instant, Seed};
//!
//! // 10 Mbit/s and 20 ms.
//! let rate = RateConfig::Constant("10 Mbit/s".parse()?);
//! let config = PipeConfig { rate, delay: Duration::from_millis(20).into(), ..PipeConfig::default() };
//! let (mut pipe, mut pool, mut drop_log) = (Pipe::new(&config, Duration::ZERO, Seed::new(7)), Pool::default(), DropLog::new());
//! // An Ethernet frame with a packet of 1,500 bytes enters at time zero.
//! pipe.push(Instant::ZERO, pool.packet(VirtioHeader::COMPLETE, &[0; 1_514]), &mut drop_log);
//! // 12,000 bits take 1.2 ms; then it travels.
//! let wake = pipe.next_wake().expect("a packet is inside");
//! assert_eq!(wake, Instant::ZERO + Duration::from_micros(21_200));
//! let departure = pipe.pop(wake, &mut drop_log).expect("it is due");
//! assert_eq!(departure.due, wake);
//! # Ok::<(), netloom_units::ParseError>(())
//! ```
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod air;
mod cause;
mod chance;
mod config;
mod corrupt;
mod counters;
mod cross;
mod delay;
mod departure;
mod drop_log;
mod duplicate;
mod error;
mod fault;
mod fault_gate;
mod filter;
mod hash;
mod held;
mod impairments;
mod internal_events;
mod ledger;
mod line;
mod loss;
mod note;
mod observers;
mod overhead;
mod overtaking;
mod packet_sampler;
mod partition_set;
mod pipe;
mod queue;
mod rate;
mod reorder;
mod schedule;
mod slope;
mod spans;
mod state;
mod subset;
mod transits;
mod transmitter;
mod watched;

pub use air::{
    AirAntenna, AirBeacons, AirConfig, AirManagement, AirMedium, AirMpdu, AirPacket, AirPpdu, AirStation, AirTerminal,
    AirWay, Hearers,
};
pub use cause::Cause;
pub use chance::ChanceConfig;
pub use config::{PipeChange, PipeConfig};
pub use corrupt::CorruptConfig;
pub use counters::{AirCounters, CrossCounters, Drops, PipeCounters, Tally};
pub use cross::{Cross, CrossConfig, OnOff, PacketSize, Replay, Stream, Traffic};
pub use delay::{
    Bins, Correlation, DelayConfig, Distribution, Exponential, Gamma, Histogram, Normal, Order, Pareto, ParetoNormal,
    Samples, Table, TableDelay, Uniform, Values,
};
pub use departure::Departure;
pub use drop_log::{DropLog, Dropped};
pub use duplicate::DuplicateConfig;
pub use error::ConfigError;
pub use fault::{After, DnsCode, DnsFault, FaultAction, FaultGround, PacketFault, ResetEnds, TcpKind};
pub use fault_gate::{Ended, FaultGate, Firing, Verdict};
pub use filter::{Filter, Ports, Prefix, Share};
pub use hash::FlowHash;
pub use loss::{
    EveryConfig, GilbertConfig, GilbertElliottConfig, LossConfig, MarkovConfig, PacketsConfig, SequenceConfig, Then,
};
pub use note::{Attempt, Content, Event, Fate, Note, Outcome, Segments};
pub use overhead::OverheadConfig;
pub use packet_sampler::{SampledPacket, SampledPackets, Sent};
pub use partition_set::{NodeIndex, NodePartition, PartitionKind, PartitionSet};
pub use pipe::{Pipe, PipeSample};
pub use queue::{
    ClassConfig, CodelConfig, CodelControl, DEFAULT_LIMIT, Division, DrrConfig, DualPi2Config, FqCodelConfig, Overload,
    PieConfig, QueueConfig, RedConfig,
};
pub use rate::{
    CellTraceConfig, DeliveryTimes, DeliveryTraceConfig, LightTrains, PeakConfig, RateConfig, SlotsConfig,
    TokenBucketConfig,
};
pub use reorder::ReorderConfig;
pub use schedule::{Interpolation, ScheduleConfig, Step, Timetable};
pub use spans::Spans;
pub use state::{Carrier, FlapConfig, FlapTime, OnTheWire, StateConfig};
pub use subset::{Sender, Subset};
pub use transits::Delays;
pub use watched::Watched;

pub use netloom_radio::{
    AccessCategory, Band, Channel, Control, Coverage, Decibels, GuardInterval, Metres, Mode, Path, Phy, Position,
    RadioConfig, Standard, StationCounters, Width,
};
