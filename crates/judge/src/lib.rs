//! What a run found, and how it is judged. This crate is pure: it opens no file, reads no clock, makes no system call, and
//! knows neither how a lab is run nor where its results are kept.
//!
//! A [`Report`] holds what a run found out, a [`RunError`] why there is none, and an [`ExitCode`] what scripts hear of either.
//! An [`examination::Examination`] says what a machine carries.

#![forbid(unsafe_code)]

mod effects;
mod error;
pub mod examination;
mod exit;
mod punctuality;
pub mod quantity;
mod report;

pub use effects::{Effects, telling_columns};
pub use error::{MissingProgram, RunError};
pub use exit::ExitCode;
pub use punctuality::{Kind, Lateness, Punctuality};
pub use report::{
    Advance, Attempt, CommandRow, Effort, ExpectationRow, Finding, NodeEffort, PipeRow, Plots, PortLoss, Report,
    RouterRow, SchedulerEffort, SimReport, SourceRow, Verdict,
};
