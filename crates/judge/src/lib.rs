//! What a run found, and whether it was as described. This crate is pure: it opens no file, reads no clock, makes no system
//! call, and knows neither how a lab is run nor where its results are kept.
//!
//! From what was counted and measured follow the rows of a report ([`measure`], [`losses`]), whether expectations hold
//! ([`expectations`]), and whether the network did what was described ([`verdict`]). A [`Report`] holds all of it, a
//! [`RunError`] says why there is none, and an [`ExitCode`] tells scripts either. An
//! [`examination::Examination`] says the capacity of a machine.

#![forbid(unsafe_code)]

pub mod attempts;
mod effects;
mod error;
pub mod examination;
mod exit;
pub mod expectations;
mod interventions;
mod link_name;
pub mod losses;
pub mod measure;
mod pipe_state;
mod punctuality;
mod report;
mod spent;
pub mod verdict;

pub use effects::{Effects, telling_columns};
pub use error::{MissingProgram, RunError};
pub use exit::ExitCode;
pub use interventions::Interventions;
pub use link_name::LinkName;
pub use netloom_units::quantity;
pub use pipe_state::{PipePlace, PipeState};
pub use punctuality::{Kind, Lateness, Punctuality};
pub use report::{
    Advance, Attempt, CommandRow, Effort, ExerciseReport, ExpectationRow, FigureRow, Finding, GroupRow, JournalRow,
    Judgement, NodeEffort, NodeSampleReport, Phases, PipeRow, Plots, PortLoss, Report, RouterRow, SampleReport,
    SchedulerEffort, SimEffort, SimReport, SnoopingRow, SourceRow, StationRow, SwitchRow, TaskRow, TcpReport, TreeRow,
    TunnelRow, Verdict,
};
pub use spent::{Spent, ThreadSpent};
