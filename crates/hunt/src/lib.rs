//! Hunts: many runs of one lab in virtual time, each with other faults, until something that must hold does not; and the few faults that
//! are enough for it. This crate runs no lab itself: each run is a process of its own (`netloom run --as-played`).
//!
//! A run is a sequence of integers ([`Choices`]): drawn from a seed, or replayed. [`draw_faults`] turns choices into faults, each a few
//! ordinary entries of the timeline. So shrinking works on integers ([`shrink`](mod@shrink)) and knows no kind of fault, and a kind that is new
//! needs a generator and nothing else.
//!
//! A [`HuntFolder`] is the state of a hunt, and all of it: a line for each run, and a folder for each finding, which appears in one go.

#![forbid(unsafe_code)]

mod assertions;
mod behaviours;
mod branches;
mod cause;
mod checker;
mod child;
mod choices;
mod corpus;
mod error;
mod failure;
mod faults;
mod finding;
mod folder;
mod histories;
mod hunter;
mod instants;
mod judge;
mod judged;
mod pool;
mod record;
mod seat;
pub mod shrink;
mod swarm;
mod systematic;
mod tally;
mod target;
mod templates;
mod workload;
mod workload_programs;

pub use branches::Branches;
pub use cause::Difference;
pub use choices::{Choice, Choices, Role, Sequence};
pub use corpus::add_to_corpus;
pub use error::HuntError;
pub use failure::Failure;
pub use faults::{Fault, Ground, draw_faults};
pub use folder::{HuntFolder, RunLine, Search};
pub use hunter::{Event, How, Position, Regressed, Summary, Watch, run_hunt};
pub use instants::Instants;
pub use record::{Cause, FindingRecord};
pub use swarm::Swarm;
pub use systematic::{Covered, Grid};
pub use tally::Reached;
pub use target::Target;
pub use workload::{Course, Workload};
