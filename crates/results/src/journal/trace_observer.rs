//! What drivers call: notes go to the writer, which follows them in a thread of its own.

use netloom_fabric::{Fabric, PipeId, TraceObserver};
use netloom_link::{Cause, Event, Note};
use netloom_units::{Duration, Instant};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::SyncSender;

/// In real time, so many notes wait for the writer at most, for each thread of the engine: a quarter of a second at 1 Gbit/s,
/// and 8 MB.
pub(super) const RING: usize = 1 << 16;
/// In virtual time, notes go to the writer when there are so many.
const BATCH: usize = 8_192;

/// What a thread of the engine has for the writer.
pub(super) enum Item {
    /// Something that happened.
    Note(Note),
    /// What had left pipes was handed over by this instant.
    HandedOver(Instant),
    /// Notes are missing here.
    Gap,
}

/// In real time: never waits for the writer. What finds no room is counted.
pub(super) struct RealTimeObserver {
    pub(super) wanted: Arc<[bool]>,
    pub(super) wants_attempts: bool,
    pub(super) ring: rtrb::Producer<Item>,
    /// Packets of which notes did not reach the writer.
    pub(super) lost: Arc<AtomicU64>,
    pub(super) has_gap: bool,
    /// That counting began while there was no room, which the writer has to hear.
    pub(super) began: Vec<Note>,
}

impl TraceObserver for RealTimeObserver {
    fn wants(&self, pipe: PipeId) -> bool {
        wants(&self.wanted, pipe)
    }

    fn wants_attempts(&self) -> bool {
        self.wants_attempts
    }

    fn take(&mut self, fabric: &mut Fabric, now: Instant) {
        if fabric.noted() == 0 {
            return;
        }
        if self.has_gap && self.ring.slots() > RING / 2 {
            self.has_gap = self.ring.push(Item::Gap).is_err();
            for note in if self.has_gap { Vec::new() } else { std::mem::take(&mut self.began) } {
                // There is room, and a pipe begins once.
                let _ = self.ring.push(Item::Note(note));
            }
        }
        let mut lost = 0;
        for note in fabric.notes() {
            if self.has_gap || self.ring.push(Item::Note(note)).is_err() {
                self.has_gap = true;
                lost += arrivals(&note);
                self.began.extend(Some(note).filter(|note| note.what == Event::Began));
            }
        }
        if !self.has_gap {
            // The last place: the next one then says what was handed over.
            let _ = self.ring.push(Item::HandedOver(now));
        }
        if lost > 0 {
            self.lost.fetch_add(lost, Ordering::Relaxed);
        }
    }

    fn end(&mut self, fabric: &mut Fabric, now: Instant) {
        fabric.settle(now);
        self.take(fabric, now);
    }
}

/// How many packets the journal lacks if it lacks this note: of those that are inside, the writer knows.
fn arrivals(note: &Note) -> u64 {
    match note.what {
        Event::Entered { .. } | Event::Dropped { cause: Cause::Loss, .. } => u64::from(note.whose.count),
        _ => 0,
    }
}

fn wants(wanted: &[bool], pipe: PipeId) -> bool {
    wanted.get(pipe.0 as usize).is_some_and(|wanted| *wanted)
}

/// Notes of a driver in virtual time; with those before, all that happened before `known`.
pub(super) struct Known {
    pub(super) notes: Vec<Note>,
    pub(super) known: Instant,
}

/// In virtual time: waits for the writer, and loses nothing.
pub(super) struct VirtualTimeObserver {
    pub(super) wanted: Arc<[bool]>,
    pub(super) wants_attempts: bool,
    pub(super) writer: SyncSender<Known>,
}

impl VirtualTimeObserver {
    fn hand_over(&self, fabric: &mut Fabric, now: Instant) {
        // Pipes put off what is not visible, and notes of it.
        if now > Instant::ZERO {
            fabric.settle(now - Duration::from_nanos(1));
        }
        // A writer that has died is noticed when it is waited for.
        let _ = self.writer.send(Known { notes: fabric.notes().collect(), known: now });
    }
}

impl TraceObserver for VirtualTimeObserver {
    fn wants(&self, pipe: PipeId) -> bool {
        wants(&self.wanted, pipe)
    }

    fn wants_attempts(&self) -> bool {
        self.wants_attempts
    }

    fn take(&mut self, fabric: &mut Fabric, now: Instant) {
        if fabric.noted() >= BATCH {
            self.hand_over(fabric, now);
        }
    }

    fn end(&mut self, fabric: &mut Fabric, now: Instant) {
        self.hand_over(fabric, now);
    }
}
