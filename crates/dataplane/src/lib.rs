//! Drives the fabric in real time: packets come from and go to the interfaces of the lab's own network namespace.
//!
//! One thread moves all packets. It reads them from one packet socket that is bound to every interface, with the
//! kernel's receive timestamps; it asks the fabric what is due, and hands that to the kernel in batches. Between two
//! events it sleeps, and spins for the last microseconds before a packet is due ([`Precision`]).
//!
//! Whoever wants to see the packets adds a tap ([`Engine::add_tap`]).
//!
//! This crate decides nothing about a packet: what is dropped, delayed or cut is the fabric's business. What it loses
//! itself (a full ring, a refused send) is an error of the engine, counted apart.

mod clock;
mod driver;
mod engine;
mod meter;
mod receive;
mod report;
mod ring;
mod send;
mod sys;
mod wait;

pub use engine::{Engine, EngineConfig, EngineError, PortConfig, TapId};
pub use report::{Distribution, EngineReport, PipeReport, Snapshot};
pub use wait::Precision;
