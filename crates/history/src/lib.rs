//! Histories of operations on a system under test, and the checkers that judge them. This crate is pure: it opens no file, reads no
//! clock, and knows neither labs nor networks.
//!
//! [`History::read`] pairs the events of Jepsen's form, one JSON object a line. [`check`] says whether a [`Model`] explains them: an
//! [`Outcome`] with its [`Verdict`], and of each [`Contradiction`] the few operations that suffice for it. [`picture`] draws one as SVG,
//! [`convert`] writes what other checkers read.
//!
//! An operation without a definite end (`info`, or no completion at all) may take effect at any time after its invocation, or never.
//! All checkers treat it so: a history contradicts a model only if no fate of its indeterminate operations explains it.

#![forbid(unsafe_code)]

mod append;
mod check;
pub mod convert;
mod error;
mod event;
mod history;
mod limits;
mod linear;
mod model;
mod outcome;
mod picture;
mod plain;
mod read;
mod values;

pub use check::check;
pub use error::WrongHistory;
pub use history::{History, Operation, Status};
pub use limits::Limits;
pub use model::{Isolation, Model};
pub use outcome::{Arrow, Contradiction, Outcome, Verdict};
pub use picture::picture;
pub use read::{Order, Source};
