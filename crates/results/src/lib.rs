//! What a run leaves behind, as files: the results folder `results/<lab>/<time>-<id>/`, provenance first. This crate reads and
//! writes files, and knows no lab that runs: its callers report what happened, and it draws and prints from what is in the folder.
//!
//! A [`Folder`] is written as the run goes on: an [`EventLog`], samples of every pipe ([`Sampler`]), packets ([`capture`]), and
//! in the end the report and its tables. From a folder that is there, [`plots`] and [`packet_times`] draw, [`Logs`] read
//! what programs wrote, and [`list_results`] says what there is. [`render`] puts a report into words for a terminal.
//!
//! A run locks its results folder for as long as it lives ([`Folder`]), so that `netloom results prune` knows what
//! still goes on. Plots are drawn from `samples.csv`, `events.jsonl` and the plan alone, by the same code at the end
//! of a run, at the end of a simulation, and by `netloom results plot`; pictures of labs are drawn from the plan
//! alone (`graph`).

#![forbid(unsafe_code)]

mod attempts;
pub mod capture;
pub mod chart;
pub mod ci;
pub mod delays;
mod disks;
mod error;
mod events;
mod files;
mod folder;
mod follow;
pub mod graph;
mod index;
pub mod joined;
pub mod journal;
mod logs;
mod mahimahi;
mod nodes;
pub mod packet_times;
pub mod page;
pub mod plots;
mod provenance;
pub mod read_files;
mod regular;
pub mod render;
mod rows;
mod sampler;
mod tables;
mod tail;
mod tcp;

pub use attempts::put_side_by_side;
pub use disks::{DiskRow, flushes, write_disks};
pub use error::{IndexError, ReadError, WriteError};
pub use events::{EventLog, LoggedEvent};
pub use files::{NamedFile, keep_files};
pub use folder::{Folder, is_going_on};
pub use follow::{Follow, Piece, Unfinished};
pub use index::{PruneRequest, Results, ResultsState, is_results, list_results, prune_results};
pub use logs::{COMMANDS, GrownLog, LOG_TIMES, LogLine, Logs, Stream};
pub use mahimahi::{MahimahiLog, MahimahiLogs};
pub use nodes::NodeTable;
pub use provenance::{ImageOrigin, NodeKernel, Origin, ProgramOrigin, Provenance, QemuOrigin, host_name};
pub use regular::read as read_document;
pub use sampler::{Busiest, INTERVAL, SampleSettings, Sampler, interval_within};
pub use tables::write_pipe_table;
pub use tail::last_lines;
pub use tcp::TcpTable;
