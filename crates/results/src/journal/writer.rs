//! The thread that writes a journal.

use super::file::{JournalWriter, Written};
use super::order::Order;
use super::record::{Fate, Record};
use super::trace_observer::{Item, Known};
use super::tracker::{Fated, Tracker, nanos};
use netloom_units::{Duration, Instant};
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::Receiver;
use std::time;

/// A writer that sleeps until there is something would have to be woken by the engine, which costs the engine microseconds.
const NAP: time::Duration = time::Duration::from_millis(5);
/// In real time records are on the disk after so long, if they are not before: a kill of the lab costs no more.
const FLUSHED_WITHIN: time::Duration = time::Duration::from_millis(500);
/// In real time, how long a packet waits for earlier ones, in lab time.
const HOLD: Duration = Duration::from_millis(100);
/// So many notes of one thread are taken in a row.
const TURN: usize = 4_096;

/// What the lab's session tells the writer: the end of the run, which belongs to it, in nanoseconds of the driver's time. When it
/// begins, the notes themselves say.
#[derive(Debug)]
pub(super) struct End(AtomicU64);

impl End {
    pub(super) fn new() -> Self {
        Self(AtomicU64::new(u64::MAX))
    }

    pub(super) fn set(&self, at: Instant) {
        self.0.store(at.as_nanos(), Ordering::Release);
    }

    fn at(&self) -> Instant {
        Instant::from_nanos(self.0.load(Ordering::Acquire))
    }
}

/// Where notes come from.
pub(super) enum Source {
    /// From the threads of an engine, which do not wait; by thread, which pipes are its own.
    Rings(Vec<Ring>),
    /// From a driver in virtual time.
    Batches(Receiver<Known>),
}

/// From a thread of an engine.
pub(super) struct Ring {
    pub(super) items: rtrb::Consumer<Item>,
    /// By pipe: whether it is this thread's.
    pub(super) own: Arc<[bool]>,
    /// What has left pipes and may not have been handed over.
    leaving: Vec<Fated>,
}

impl Ring {
    pub(super) fn new(items: rtrb::Consumer<Item>, own: Arc<[bool]>) -> Self {
        Self { items, own, leaving: Vec::new() }
    }
}

/// See the module.
pub(super) struct Writer<W> {
    pub(super) end: Arc<End>,
    pub(super) lost: Arc<AtomicU64>,
    pub(super) tracker: Tracker,
    order: Order,
    file: JournalWriter<W>,
    /// Why it cannot be written any more.
    failed: Option<io::Error>,
}

impl<W: Write> Writer<W> {
    pub(super) fn new(end: Arc<End>, lost: Arc<AtomicU64>, tracker: Tracker, file: JournalWriter<W>) -> Self {
        Self { end, lost, tracker, order: Order::default(), file, failed: None }
    }

    /// Writes until the driver's trace observers are gone.
    pub(super) fn run(mut self, source: Source) -> io::Result<Written> {
        match source {
            Source::Rings(rings) => self.follow(rings),
            Source::Batches(batches) => {
                for Known { notes, known } in batches {
                    let Self { tracker, order, .. } = &mut self;
                    notes.iter().for_each(|note| tracker.take(note, &mut |fated| order.push(fated)));
                    self.write(known);
                }
            }
        }
        self.finish()
    }

    /// Takes what an engine's threads have, until they are gone.
    fn follow(&mut self, mut rings: Vec<Ring>) {
        let (mut flushed, mut came) = (time::Instant::now(), time::Instant::now());
        while !rings.is_empty() {
            let mut count = 0;
            for ring in &mut rings {
                count += self.turn(ring);
            }
            let now = time::Instant::now();
            if count > 0 {
                came = now;
                self.write(self.order.newest() - HOLD);
            }
            if now - flushed >= FLUSHED_WITHIN {
                if now - came >= FLUSHED_WITHIN {
                    self.write(Instant::MAX);
                }
                self.flush();
                flushed = now;
            }
            let Self { order, .. } = self;
            rings.retain_mut(|ring| {
                let is_over = ring.items.is_abandoned() && ring.items.is_empty();
                if is_over {
                    ring.leaving.drain(..).for_each(|fated| order.push(fated));
                }
                !is_over
            });
            if count == 0 && !rings.is_empty() {
                std::thread::sleep(NAP);
            }
        }
    }

    /// Takes some of what a thread has; how much.
    fn turn(&mut self, ring: &mut Ring) -> usize {
        let Self { tracker, order, .. } = self;
        let Ring { items, own, leaving } = ring;
        for count in 0..TURN {
            match items.pop() {
                Ok(Item::Note(note)) => tracker.take(&note, &mut |fated| match fated.record.fate {
                    Fate::Delivered { .. } => leaving.push(fated),
                    _ => order.push(fated),
                }),
                Ok(Item::HandedOver(now)) => {
                    for mut fated in leaving.drain(..) {
                        // What leaves for another thread or machine leaves ahead of time.
                        fated.end = fated.end.max(now);
                        fated.record.fate = Fate::Delivered { at_ns: nanos(fated.end) };
                        order.push(fated);
                    }
                }
                Ok(Item::Gap) => {
                    let lost = tracker.forget(|pipe| own.get(pipe as usize).is_some_and(|own| *own));
                    self.lost.fetch_add(lost, Ordering::Relaxed);
                }
                Err(_) => return count,
            }
        }
        TURN
    }

    /// Writes the packets whose fate was certain before `known`.
    fn write(&mut self, known: Instant) {
        // The tracker tells nothing before.
        let Some(zero) = self.tracker.zero() else { return };
        let end = self.end.at();
        while let Some((at, record)) = self.order.pop(known) {
            let Some(record) = within(record, at, zero, end) else { continue };
            put(&mut self.file, &mut self.failed, &record);
        }
    }

    fn flush(&mut self) {
        if self.failed.is_none() {
            self.failed = self.file.flush().err();
        }
    }

    fn finish(mut self) -> io::Result<Written> {
        self.write(Instant::MAX);
        if let Some(zero) = self.tracker.zero() {
            let end = self.end.at();
            for fated in self.tracker.inside() {
                if let Some(record) = within(&fated.record, Instant::MAX, zero, end) {
                    put(&mut self.file, &mut self.failed, &record);
                }
            }
        }
        match self.failed {
            Some(error) => Err(error),
            None => self.file.finish(),
        }
    }
}

fn put<W: Write>(file: &mut JournalWriter<W>, failed: &mut Option<io::Error>, record: &Record) {
    if failed.is_none() {
        *failed = file.push(record).err();
    }
}

/// A record of the driver's time as one of lab time. What came in after the end is no part of the run, and of what happened
/// after it, nothing is known.
fn within(record: &Record, at: Instant, zero: Instant, end: Instant) -> Option<Record> {
    let (zero_ns, end_ns) = (nanos(zero), nanos(end));
    // What began before counting did is no attempt of the run, nor what was not over at its end.
    let is_outside = record.attempt.is_some() && (at > end || record.arrived_ns < zero_ns);
    if record.arrived_ns > end_ns || is_outside {
        return None;
    }
    let past = |ns: Option<i64>| ns.filter(|ns| *ns <= end_ns);
    let sent_ns = past(record.sent_ns);
    let fate = match record.fate {
        _ if at > end => Fate::Inside,
        Fate::Delivered { at_ns } => Fate::Delivered { at_ns: at_ns - zero_ns },
        Fate::Dropped { at_ns, cause } => Fate::Dropped { at_ns: at_ns - zero_ns, cause },
        Fate::Inside => Fate::Inside,
    };
    Some(Record {
        arrived_ns: record.arrived_ns - zero_ns,
        started_ns: past(record.started_ns).map(|ns| ns - zero_ns),
        sent_ns: sent_ns.map(|ns| ns - zero_ns),
        due_ns: record.due_ns.filter(|_| sent_ns.is_some()).map(|ns| ns - zero_ns),
        marked_ns: past(record.marked_ns).map(|ns| ns - zero_ns),
        fate,
        ..record.clone()
    })
}
