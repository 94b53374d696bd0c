//! A journal by spans of time: read once, and then any span of it at once.
//!
//! The file of a journal is packed, and in the order in which fates were certain. A [`Spool`] unpacks it into rows of one length in a temporary file that has
//! no name, with the span of each block of rows; so memory does not grow with the journal, and what happened in a span is found by a few reads.

mod flows;
mod row;

use super::read::{JournalError, JournalReader};
use super::record::{JournalPipe, Record};
use crate::regular;
use flows::Flows;
pub use flows::{FlowTraffic, NO_FLOW};
pub use row::{Columns, NEVER};
use row::{ROW, Row};
use serde::Serialize;
use std::fs::File;
use std::io::{self, BufReader};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

/// Rows of a block.
const BLOCK: usize = 4_096;
/// The most packets that are read in: 1.1 GB of rows.
pub const MOST_PACKETS: u64 = 16 << 20;

/// A journal that is unpacked into a temporary file; see the module.
#[derive(Debug)]
pub struct Spool {
    lab: String,
    pipes: Vec<JournalPipe>,
    rows: File,
    known: RwLock<Known>,
    /// Whether nobody wants the rest any more.
    is_given_up: AtomicBool,
}

/// The progress of reading a journal into its spool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SpoolState {
    /// The journal is being read.
    Reading,
    /// The whole journal has been read.
    Complete,
    /// The journal ends without its end mark: its run goes on, or was cut off.
    Unfinished,
    /// The journal is damaged behind what has been read, or the rows have no room.
    Damaged,
    /// The journal has more packets than are read in.
    #[serde(rename = "too long")]
    TooLong,
}

#[derive(Debug)]
struct Known {
    blocks: Vec<BlockSummary>,
    flows: Flows,
    state: SpoolState,
    problem: Option<String>,
}

/// A block of rows, as an overview shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct BlockSummary {
    /// The instant at which the block's first packet arrived.
    pub from_ns: i64,
    /// The instant at which the last of the block's packets was delivered or dropped, or arrived, if it stayed inside.
    pub to_ns: i64,
    /// The number of packets in the block.
    pub packets: u32,
    /// The number of packets in the block that were dropped.
    pub dropped: u32,
    /// The number of packets in the block that were marked as having experienced congestion.
    pub marked: u32,
    /// Whether some stayed inside, to the end and for ever.
    #[serde(skip)]
    holds: bool,
}

/// An overview of a journal: its pipes, its largest flows, and its packets over time.
#[derive(Clone, Debug, Serialize)]
pub struct Overview {
    /// The lab's name.
    pub lab: String,
    /// How far the journal has been read.
    pub state: SpoolState,
    /// The number of packets that have been read.
    pub packets: u64,
    /// The reason why the journal could not be read beyond these packets, in words; none if there is none.
    pub problem: Option<String>,
    /// The instant at which the first packet arrived; none without packets.
    pub from_ns: Option<i64>,
    /// The instant at which the last packet was delivered or dropped, or arrived, if it stayed inside; none without
    /// packets.
    pub to_ns: Option<i64>,
    /// The journal's pipes, which rows name by their place here.
    pub pipes: Vec<JournalPipe>,
    /// The flows with the most bytes.
    pub flows: Vec<FlowTraffic>,
    /// The number of flows that `flows` leaves out.
    pub flows_left_out: usize,
    /// The packets over time, block by block.
    pub blocks: Vec<BlockSummary>,
}

/// The conditions that select packets of a spool. A packet must meet all of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// The beginning of the span in nanoseconds of lab time: the packet was in a pipe at this instant or later.
    pub from_ns: i64,
    /// The end of the span in nanoseconds of lab time: the packet was in a pipe at this instant or earlier.
    pub to_ns: i64,
    /// The pipes whose packets are selected, by their numbers; empty: all pipes.
    pub pipes: Vec<u32>,
    /// The flows whose packets are selected, by their numbers; empty: all flows.
    pub flows: Vec<u32>,
    /// The events of which at least one must have happened to the packet; empty: whatever happened.
    pub happened: Vec<super::Happened>,
    /// The most packets to return.
    pub limit: usize,
    /// Whether more packets than `limit` are thinned out: every n-th is returned instead of the first ones.
    pub is_thinned: bool,
}

/// The packets of a span that were found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Found {
    /// The number of packets in the span.
    pub found: u64,
    /// The packets that are returned, `limit` at most.
    pub columns: Columns,
    /// Whether the journal had not been read to its end yet.
    pub is_partial: bool,
}

impl Spool {
    /// Begins to read the journal at `path`: what is read so far can be asked for at once. The caller passes the reader
    /// to [`Spool::fill`].
    ///
    /// # Errors
    /// A file that cannot be read, or that is no journal, or no room for a temporary file.
    pub fn begin(path: &Path) -> Result<(Arc<Self>, JournalReader<BufReader<File>>), JournalError> {
        let file = regular::open(path).map_err(JournalError::Io)?;
        let reader = JournalReader::new(BufReader::with_capacity(1 << 20, file))?;
        let known = Known { blocks: Vec::new(), flows: Flows::default(), state: SpoolState::Reading, problem: None };
        let spool = Self {
            lab: reader.lab().to_owned(),
            pipes: reader.pipes().to_vec(),
            rows: tempfile::tempfile().map_err(JournalError::Io)?,
            known: RwLock::new(known),
            is_given_up: AtomicBool::new(false),
        };
        Ok((Arc::new(spool), reader))
    }

    /// Reads all that `reader` has into the spool; it takes about a second per million packets.
    pub fn fill(&self, reader: JournalReader<BufReader<File>>) {
        let mut block = Vec::with_capacity(BLOCK);
        let mut number = 0_u64;
        let mut end = (SpoolState::Complete, None);
        for record in reader {
            match record {
                Ok(_) if number == MOST_PACKETS => {
                    end = (SpoolState::TooLong, Some(format!("only the first {MOST_PACKETS} packets are here")));
                    break;
                }
                Ok(record) => {
                    block.push(record);
                    number += 1;
                }
                Err(error @ JournalError::Unfinished { .. }) => end = (SpoolState::Unfinished, Some(error.to_string())),
                Err(error) => end = (SpoolState::Damaged, Some(error.to_string())),
            }
            if block.len() == BLOCK {
                if let Err(error) = self.put(&mut block) {
                    end = (SpoolState::Damaged, Some(no_room(&error)));
                    break;
                }
                if self.is_given_up.load(Ordering::Relaxed) {
                    return;
                }
            }
        }
        if let Err(error) = self.put(&mut block) {
            end = (SpoolState::Damaged, Some(no_room(&error)));
        }
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        (known.state, known.problem) = end;
    }

    /// Lets [`Spool::fill`] stop: nobody wants the rest any more.
    pub fn give_up(&self) {
        self.is_given_up.store(true, Ordering::Relaxed);
    }

    /// Returns how far the journal has been read.
    pub fn state(&self) -> SpoolState {
        self.known().state.clone()
    }

    /// Returns an overview of the journal, with at most `most_flows` flows.
    pub fn overview(&self, most_flows: usize) -> Overview {
        let known = self.known();
        let (flows, flows_left_out) = known.flows.largest(most_flows);
        Overview {
            lab: self.lab.clone(),
            state: known.state.clone(),
            packets: known.blocks.iter().map(|block| u64::from(block.packets)).sum(),
            problem: known.problem.clone(),
            from_ns: known.blocks.iter().map(|block| block.from_ns).min(),
            to_ns: known.blocks.iter().map(|block| block.to_ns).max(),
            pipes: self.pipes.clone(),
            flows,
            flows_left_out,
            blocks: known.blocks.clone(),
        }
    }

    /// Returns the packets of a span, in the order of the journal.
    ///
    /// # Errors
    /// When the rows cannot be read.
    pub fn find(&self, span: &Span) -> io::Result<Found> {
        let (blocks, is_partial) = {
            let known = self.known();
            let touched = known.blocks.iter().enumerate().filter(|(_, block)| block.touches(span));
            let touched: Vec<(usize, BlockSummary)> = touched.map(|(number, block)| (number, *block)).collect();
            (touched, known.state == SpoolState::Reading)
        };
        let mut counted = None;
        if span.is_thinned {
            counted = Some(self.count(&blocks, span)?);
        }
        let step = counted.map_or(1, |count| count.div_ceil(span.limit.max(1) as u64).max(1));
        let mut found = Found { found: 0, columns: Columns::default(), is_partial };
        for (number, summary) in &blocks {
            // Those behind the last that is taken are only counted.
            if found.columns.len() == span.limit && summary.is_whole(span) {
                found.found += u64::from(summary.packets);
                continue;
            }
            self.each(*number, summary, |number, row| {
                if row.is_in(span) {
                    if found.found.is_multiple_of(step) && found.columns.len() < span.limit {
                        found.columns.push(number, row);
                    }
                    found.found += 1;
                }
            })?;
        }
        Ok(found)
    }

    fn count(&self, blocks: &[(usize, BlockSummary)], span: &Span) -> io::Result<u64> {
        let mut count = 0;
        for (number, summary) in blocks {
            if summary.is_whole(span) {
                count += u64::from(summary.packets);
            } else {
                self.each(*number, summary, |_, row| count += u64::from(row.is_in(span)))?;
            }
        }
        Ok(count)
    }

    /// Calls `seen` with each row of a block and its number in the journal.
    fn each(&self, number: usize, summary: &BlockSummary, mut seen: impl FnMut(u32, &Row)) -> io::Result<()> {
        let mut bytes = vec![0; summary.packets as usize * ROW];
        self.rows.read_exact_at(&mut bytes, (number * BLOCK * ROW) as u64)?;
        let first = number * BLOCK;
        for (place, row) in bytes.chunks_exact(ROW).enumerate() {
            seen(u32::try_from(first + place).unwrap_or(u32::MAX), &Row::read(row));
        }
        Ok(())
    }

    /// Writes the rows of a block, of which all but the last are full.
    fn put(&self, records: &mut Vec<Record>) -> io::Result<()> {
        if records.is_empty() {
            return Ok(());
        }
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        let rows: Vec<Row> = records.drain(..).map(|record| Row::of(&record, known.flows.number(&record))).collect();
        let place = known.blocks.len() * BLOCK * ROW;
        drop(known);
        let bytes: Vec<u8> = rows.iter().flat_map(Row::bytes).collect();
        self.rows.write_all_at(&bytes, place as u64)?;
        let summary = BlockSummary::of(&rows);
        self.known.write().unwrap_or_else(PoisonError::into_inner).blocks.push(summary);
        Ok(())
    }

    fn known(&self) -> RwLockReadGuard<'_, Known> {
        self.known.read().unwrap_or_else(PoisonError::into_inner)
    }
}

fn no_room(error: &io::Error) -> String {
    format!("the journal was not read to its end, since a temporary file could not be written: {error}")
}

impl BlockSummary {
    fn of(rows: &[Row]) -> Self {
        let ends = rows.iter().map(|row| if row.ended_ns == NEVER { row.arrived_ns } else { row.ended_ns });
        let count = |matches: fn(&&Row) -> bool| u32::try_from(rows.iter().filter(matches).count()).unwrap_or(u32::MAX);
        Self {
            from_ns: rows.iter().map(|row| row.arrived_ns).min().unwrap_or(0),
            to_ns: ends.max().unwrap_or(0),
            packets: count(|_| true),
            dropped: count(|row| row.is_dropped()),
            marked: count(|row| row.marked_ns != NEVER),
            holds: rows.iter().any(|row| row.ended_ns == NEVER),
        }
    }

    /// Whether packets of it may have been in a pipe then.
    fn touches(&self, span: &Span) -> bool {
        self.from_ns <= span.to_ns && (self.to_ns >= span.from_ns || self.holds)
    }

    /// Whether all its packets are wanted.
    fn is_whole(&self, span: &Span) -> bool {
        let is_inside = self.from_ns >= span.from_ns && self.to_ns <= span.to_ns;
        is_inside && span.pipes.is_empty() && span.flows.is_empty() && span.happened.is_empty()
    }
}

#[cfg(test)]
mod tests;
