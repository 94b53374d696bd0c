//! Drives the fabric in real or dilated time: packets come from and go to the interfaces of the lab's own network
//! namespace, and the network devices of kernels that run as processes.
//!
//! One thread moves all packets of a fabric. It reads those of interfaces from one packet socket that is bound to every interface,
//! with the kernel's receive timestamps, those of kernels from memory that is shared with them, and those of programs that send
//! frames themselves from Unix sockets; it asks the fabric what is due, and delivers that in batches. All kinds of
//! ports ([`PortConfig`]) meet one interface, in the module `ports`. Between two events it sleeps, and spins for the
//! last microseconds before a packet is due ([`Precision`]).
//!
//! Several shards ([`Engine::start_shards`]) have a thread each, with sockets and ports of its own; packets pass from one to
//! another only where a pipe between two transit routers was cut.
//!
//! In dilated time only the clock differs: it shows an instant of the lab for every instant of wall time. Sleeps, margins and
//! whatever else has to do with this machine are spans of wall time ([`std::time::Duration`]); instants and spans of
//! the lab are those of `netloom_units`. The two types keep them apart.
//!
//! To see the packets, add a tap ([`Engine::add_tap`]). To change pipes at instants that are known ahead of time, schedule
//! events ([`Engine::plan`]).
//!
//! This crate decides nothing about a packet: what is dropped, delayed or cut is the fabric's business. What it loses
//! itself (a full ring, a refused send) is an error of the engine, counted apart. Its reports are types of the crate `netloom_figures`.

mod clock;
mod doorbell;
mod driver;
mod edge;
mod engine;
mod event_queue;
mod mailbox;
mod memory;
mod merge;
mod meter;
mod placement;
mod ports;
mod priority;
pub mod probe;
mod series;
mod sync;
mod sys;
mod taps;
mod wait;
mod waker;
mod worker;

pub use engine::{Engine, EngineConfig, EngineError};
pub use event_queue::{Act, EventQueue, ExecutedEvent, IfLate, ScheduledEvent, Task};
pub use meter::Meters;
pub use ports::{
    Diverted, External, NetfilterQueue, Owners, PortConfig, RawSockets, Refusal, Tracker, TunnelEnd, TunnelKey,
    TunnelSettings, WireSockets, tunnel_path_least,
};
pub use series::{Sampled, Sampling, Series};
pub use wait::Precision;
