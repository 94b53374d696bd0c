//! A journal of a lab that runs.

use super::file::JournalWriter;
use super::record::JournalPipe;
use super::trace_observer::{RING, RealTimeObserver, VirtualTimeObserver};
use super::tracker::{Tracker, Wanted};
use super::writer::{End, Ring, Source, Writer};
use super::{JOURNAL, Written};
use crate::Folder;
use crate::WriteError;
use crate::capture::Pace;
use netloom_fabric::TraceObserver;
use netloom_judge::JournalRow;
use netloom_lab::{JournalPlan, Plan};
use netloom_units::Instant;
use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::sync_channel;
use std::thread::JoinHandle;

/// In virtual time, so many batches of notes wait for the writer at most: some 10 MB.
const BATCHES: usize = 8;

/// A journal that is being written.
pub struct Journal {
    path: PathBuf,
    end: Arc<End>,
    lost: Arc<AtomicU64>,
    writer: JoinHandle<io::Result<Written>>,
}

/// What a driver's threads call, one each.
type TraceObservers = Vec<Box<dyn TraceObserver + Send>>;

impl Journal {
    /// Starts the journal that the plan wants, if it wants one. The trace observers are for the driver's threads; `own` says of each
    /// which pipes are its own, by number.
    ///
    /// # Errors
    /// A file that cannot be written, and a thread that cannot be started.
    pub fn start(
        plan: &Plan,
        folder: &Folder,
        pace: Pace,
        own: &[Vec<bool>],
    ) -> Result<Option<(Self, TraceObservers)>, WriteError> {
        let Some(wanted) = &plan.journal else { return Ok(None) };
        let path = folder.path().join(JOURNAL);
        let file = folder.file(JOURNAL)?;
        let begun = Self::begin_file(plan, wanted, file, pace, own, path.clone());
        begun.map(Some).map_err(WriteError::file(&path))
    }

    fn begin_file(
        plan: &Plan,
        wanted: &JournalPlan,
        file: File,
        pace: Pace,
        own: &[Vec<bool>],
        path: PathBuf,
    ) -> io::Result<(Self, TraceObservers)> {
        let (pipes, tracked) = pipes_of(plan, wanted);
        let flags: Vec<bool> = tracked.iter().map(Option::is_some).collect();
        let file = JournalWriter::begin_with(file, &plan.name, &pipes, (wanted.limit, wanted.attempts))?;
        let (end, lost) = (Arc::new(End::new()), Arc::new(AtomicU64::new(0)));
        let writer = Writer::new(Arc::clone(&end), Arc::clone(&lost), Tracker::new(tracked), file);
        let (source, trace_observers) = match pace {
            Pace::Real => rings((&flags, wanted.attempts), own, &lost),
            Pace::Virtual => batches(&flags, wanted.attempts),
        };
        let thread = std::thread::Builder::new().name("netloom-journal".into());
        let writer = thread.spawn(move || writer.run(source))?;
        Ok((Self { path, end, lost, writer }, trace_observers))
    }

    /// The end of the run: what happens later is not written down. `at` belongs to the run.
    pub fn end(&self, at: Instant) {
        self.end.set(at);
    }

    /// Waits until all is written, after the trace observers have gone.
    ///
    /// # Errors
    /// What could not be written.
    pub fn finish(self) -> Result<JournalRow, WriteError> {
        let written = self.writer.join().map_err(|_| WriteError::Panicked("the writer of the journal stopped"))?;
        let written = written.map_err(WriteError::file(&self.path))?;
        Ok(JournalRow {
            file: JOURNAL.into(),
            packets: written.records - written.attempts,
            attempts: Some(written.attempts).filter(|attempts| *attempts > 0),
            bytes: written.bytes,
            left_out_packets: written.left_out,
            lost_packets: self.lost.load(Ordering::Relaxed),
        })
    }
}

/// The pipes of the journal, and what is wanted of each of the plan's.
fn pipes_of(plan: &Plan, wanted: &JournalPlan) -> (Vec<JournalPipe>, Vec<Option<Wanted>>) {
    let mut pipes = Vec::new();
    let tracked = plan.pipes().zip(JournalPipe::all(plan)).map(|(pipe, named)| {
        wanted.wants(pipe.link, pipe.direction).then(|| {
            let place = u32::try_from(pipes.len()).expect("pipes are numbered so");
            pipes.push(named);
            let ends = plan.links[pipe.link].ends.iter().filter(|_| wanted.attempts);
            let stations = ends.map(|end| plan.nodes[end.node].name.clone()).collect();
            Wanted { place, filter: wanted.filter.clone(), stations }
        })
    });
    let tracked = tracked.collect();
    (pipes, tracked)
}

fn rings(
    (wanted, wants_attempts): (&[bool], bool),
    own: &[Vec<bool>],
    lost: &Arc<AtomicU64>,
) -> (Source, TraceObservers) {
    let mut all = (Vec::new(), TraceObservers::new());
    for flags in own {
        let (ring, items) = rtrb::RingBuffer::new(RING);
        all.0.push(Ring::new(items, flags.as_slice().into()));
        all.1.push(Box::new(RealTimeObserver {
            wanted: wanted.into(),
            wants_attempts,
            ring,
            lost: Arc::clone(lost),
            has_gap: false,
            began: Vec::new(),
        }));
    }
    (Source::Rings(all.0), all.1)
}

fn batches(wanted: &[bool], wants_attempts: bool) -> (Source, TraceObservers) {
    let (writer, batches) = sync_channel(BATCHES);
    (Source::Batches(batches), vec![Box::new(VirtualTimeObserver { wanted: wanted.into(), wants_attempts, writer })])
}
