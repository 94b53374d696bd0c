//! Journals: what happened to each packet in each pipe, one row per packet.
//!
//! A journal is one file per run in the streaming format of Arrow IPC, which pandas, polars and DuckDB read directly (see the
//! manual, `docs/journal.md`, for its columns). [`JournalWriter`] writes records to it, [`JournalReader`] reads it again in bounded
//! memory, whoever has damaged it.
//!
//! The format was chosen over Parquet because a stream that was cut off anywhere can be read up to there, and over CSV for its size.
//!
//! Pipes note what happens to packets in the fabric's drop log, for the pipes that a trace observer wants; without an
//! observer, nothing is noted. Drivers let the observer take the notes: each thread of the engine after it has handed
//! packets over, through a ring that nobody waits for; the scheduler and the simulation at instants until which
//! everything is known. A thread puts the notes of a packet together by its frame and segment (`tracker`), orders
//! packets by when their fates were certain (`order`), and writes columns (`file`). In virtual time a packet is
//! written when everything before it is known, so the file does not depend on who noted first.

mod columns;
mod file;
mod mahimahi;
mod order;
mod read;
mod record;
mod rows;
mod select;
mod spool;
mod start;
mod summary;
#[cfg(test)]
mod tests;
mod trace_observer;
mod tracker;
mod writer;

pub use file::{JournalWriter, Written};
pub use mahimahi::write_mahimahi;
pub use read::{JournalError, JournalReader};
pub use record::{AirAttempt, Fate, JournalPipe, Record, cause_name};
pub use rows::{attempts_heading, csv_heading, csv_row, json_row};
pub use select::{Happened, Selection, Selector};
pub use spool::{
    BlockSummary, Columns, FlowTraffic, Found, MOST_PACKETS, NEVER, NO_FLOW, Overview, Span, Spool, SpoolState,
};
pub use start::Journal;
pub use summary::{PipeSummary, Spread, Summary};

/// The file in the folder of the results. Streams of Arrow IPC have this extension.
pub const JOURNAL: &str = "journal.arrows";
