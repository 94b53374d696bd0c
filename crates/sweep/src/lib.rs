//! Sweeps: the runs that one lab file describes by `vary` and `repeat`, packed on the processors that are free, and what they
//! show together. This crate runs no lab itself and holds no results of one: each run is a process of its own, and what is
//! known of it is a small file in the sweep's folder.
//!
//! [`check`] reads and plans every point before anything is started. A [`SweepFolder`] is the state of a sweep, and all of
//! it: a run counts when its `run.json` is there, which is written in one go when it has ended. [`run_sweep`] starts the runs that
//! have none. [`write_tables`] makes the tables of what is there.
//!
//! A run gets the text of its point (`netloom run --as-played`) and the process with which it ends (`--parent`).
//! Tables are made of the files of runs alone, so memory does not grow with the number of runs.

#![forbid(unsafe_code)]

mod check;
mod child;
mod error;
mod expectations;
mod folder;
mod join;
mod moments;
mod only;
pub mod page;
mod record;
mod runner;
mod slots;
mod tables;

pub use check::{Checked, check, needs_one_processor};
pub use error::SweepError;
pub use expectations::{RunsRow, RunsValue};
pub use folder::{Played, SweepFolder};
pub use join::Joined;
pub use moments::{Moments, student, welch};
pub use only::Only;
pub use record::{Figure, Outcome, RunRecord};
pub use runner::{Event, How, Outcome as SweepOutcome, Position, Watch, run_sweep};
pub use tables::{LeftOut, PointTable, Tables, write_tables};
