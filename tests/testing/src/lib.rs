//! What the tests of several crates share: the packets and pipes that they are played with, how they wait, and how they look at processes.
//!
//! No program that users run depends on this crate. What the tests of one crate alone need stays beside them.

#[cfg(feature = "cases")]
pub mod cases;
pub mod chance;
pub mod loads;
#[cfg(feature = "models")]
pub mod models;
pub mod processes;
pub mod programs;
pub mod streams;
pub mod wait;
