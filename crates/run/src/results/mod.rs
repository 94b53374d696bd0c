//! The results folder: `results/<lab>/<time>-<id>/`, provenance first.

mod events;
mod files;
mod folder;
mod provenance;
mod shelf;
mod tables;

pub(crate) use events::EventLog;
pub(crate) use files::NamedFile;
pub(crate) use folder::Folder;
pub(crate) use provenance::{Origin, Provenance};
pub use shelf::{PruneRequest, Results, ResultsState, list_results, prune_results};
pub(crate) use tables::write_pipe_table;
