//! Where pipes put what their driver is to see.

use crate::Cause;
use crate::note::{Event, Fate, Note, Outcome, Segments};
use crate::observers::Observers;
use crate::packet_sampler::SampledPackets;
use crate::subset::Subset;
use crate::transits::Delays;
use crate::watched::Watched;
use alloc::boxed::Box;
use alloc::vec::{IntoIter, Vec};
use core::ops::{Deref, DerefMut};
use core::slice::Iter;
use netloom_packet::Packet;
use netloom_units::{Duration, Instant};

/// A packet that was dropped: for reports, and so that its buffer can be used again.
#[derive(Debug)]
pub struct Dropped {
    /// The packet; a train if all its segments were dropped at once.
    pub packet: Packet,
    /// When the packet was dropped.
    pub at: Instant,
    /// Why the packet was dropped.
    pub cause: Cause,
}

/// The dropped packets of pipes; and, on request, notes of all that happens to packets, and how long they take.
#[derive(Debug, Default)]
pub struct DropLog {
    dropped: Vec<Dropped>,
    notes: Vec<Note>,
    /// By the number of a pipe: whether notes of it are wanted. Empty while nobody wants any.
    wanted: Vec<bool>,
    /// None while nobody wants to know.
    fates: Option<Vec<Fate>>,
    /// The same.
    observers: Option<Box<Observers>>,
    pipe: u32,
    /// Whether notes of this pipe are wanted.
    is_wanted: bool,
}

impl DropLog {
    /// Creates an empty log that takes no notes.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes notes from now on of the pipes for which `wanted` is true, by their numbers. Notes that are there are thrown away.
    pub fn take_notes(&mut self, wanted: Vec<bool>) {
        self.notes.clear();
        self.is_wanted = false;
        self.wanted = wanted;
    }

    /// Starts or stops recording which packets are dropped or marked.
    pub fn take_fates(&mut self, wanted: bool) {
        match (wanted, &self.fates) {
            (true, None) => self.fates = Some(Vec::new()),
            (false, Some(_)) => self.fates = None,
            _ => {}
        }
    }

    /// Returns the drops and marks that were recorded since the last call, in the order of each pipe.
    pub fn fates(&mut self) -> impl Iterator<Item = Fate> + '_ {
        self.fates.iter_mut().flat_map(|fates| fates.drain(..))
    }

    /// Starts or stops measuring how long packets take through pipes. What is inside when it begins is left out.
    pub fn measure_delays(&mut self, wanted: bool) {
        self.observe(|observers| observers.measure_delays(wanted));
    }

    /// Starts sampling packets of each pipe that come in at least `step` apart, and records what becomes of them; none stops
    /// sampling. What was sampled before is forgotten.
    pub fn sample_packets(&mut self, step: Option<Duration>) {
        self.observe(|observers| observers.sample_packets(step));
    }

    /// Returns the records of [sampled](Self::sample_packets) packets since the last call. Something may be missing that pipes put off.
    pub fn sampled_packets(&mut self) -> SampledPackets {
        self.observers.as_mut().map(|observers| observers.take_packets()).unwrap_or_default()
    }

    fn observe(&mut self, change: impl FnOnce(&mut Observers)) {
        let mut observers = self.observers.take().unwrap_or_default();
        change(&mut observers);
        self.observers = Some(observers).filter(|observers| !observers.is_empty());
    }

    /// Selects the pipe of this number, to which what is noted next belongs, and returns the same log.
    #[inline]
    #[must_use]
    pub fn of(&mut self, pipe: u32) -> &mut Self {
        self.pipe = pipe;
        if !self.wanted.is_empty() {
            self.is_wanted = self.wanted.get(pipe as usize).is_some_and(|wanted| *wanted);
        }
        self
    }

    /// Returns how many notes there are.
    #[inline]
    pub fn noted(&self) -> usize {
        self.notes.len()
    }

    /// Returns the notes since the last call. Those of one pipe are in the order in which things happened.
    pub fn notes(&mut self) -> impl Iterator<Item = Note> + '_ {
        self.notes.drain(..)
    }

    /// Notes what happens to a packet. Cross traffic is nobody's, and is not noted.
    #[inline]
    pub(crate) fn note(&mut self, at: Instant, packet: &Packet, what: impl FnOnce() -> Event) {
        if self.is_wanted && !packet.is_phantom() {
            self.notes.push(what().noted(self.pipe, at, packet));
        }
    }

    /// Counts these packets of the pipe of this number separately from now on.
    pub fn watch(&mut self, pipe: u32, subset: Subset) {
        self.observe(|observers| observers.watched.add(pipe, subset));
    }

    /// Returns the packets of this pipe that are counted separately, in the order in which that was asked for.
    pub fn watched(&self, pipe: u32) -> &[Watched] {
        self.observers.as_ref().map_or(&[], |observers| observers.watched.of(pipe))
    }

    /// Counting begins in this pipe.
    pub(crate) fn begin(&mut self, at: Instant) {
        if let Some(observers) = &mut self.observers {
            observers.watched.begin(self.pipe);
        }
        if self.is_wanted {
            let whose = Segments { frame: 0, first: 0, count: 0 };
            self.notes.push(Note { pipe: self.pipe, at, whose, what: Event::Began });
        }
    }

    /// A packet is dropped or marked.
    #[inline]
    pub(crate) fn seal(&mut self, at: Instant, packet: &Packet, outcome: Outcome) {
        if let Some(fates) = &mut self.fates
            && !packet.is_phantom()
        {
            fates.push(Fate { pipe: self.pipe, at, whose: Segments::of(packet), outcome });
        }
    }

    /// It comes to the entrance of the pipe.
    #[inline]
    pub(crate) fn arrive(&mut self, now: Instant, packet: &Packet) {
        if let Some((observers, pipe)) = self.observers_of(packet) {
            observers.arrive(pipe, now, packet);
        }
    }

    /// It has come in, and the impairments have let it through.
    #[inline]
    pub(crate) fn enter(&mut self, now: Instant, packet: &Packet) {
        if let Some((observers, pipe)) = self.observers_of(packet) {
            observers.enter(pipe, now, packet);
        }
    }

    /// It has been sent to its end: its transmission began at `start` and ended at `end`.
    #[inline]
    pub(crate) fn send(&mut self, start: Instant, end: Instant, packet: &Packet, due: impl Fn() -> Instant) {
        if let Some((observers, pipe)) = self.observers_of(packet) {
            observers.send(pipe, packet, start, end, due);
        }
    }

    /// It is dropped.
    #[inline]
    pub(crate) fn drop(&mut self, at: Instant, packet: &Packet, cause: Cause) {
        if let Some((observers, pipe)) = self.observers_of(packet) {
            observers.drop(pipe, at, packet, cause);
        }
    }

    /// It was made beside what came in.
    #[inline]
    pub(crate) fn duplicate(&mut self, packet: &Packet) {
        if let Some((observers, pipe)) = self.observers_of(packet) {
            observers.watched.duplicate(pipe, packet);
        }
    }

    /// It is marked.
    #[inline]
    pub(crate) fn mark(&mut self, packet: &Packet) {
        if let Some((observers, pipe)) = self.observers_of(packet) {
            observers.watched.mark(pipe, packet);
        }
    }

    /// It leaves the pipe.
    #[inline]
    pub(crate) fn depart(&mut self, packet: &Packet) {
        if let Some((observers, pipe)) = self.observers_of(packet) {
            observers.watched.depart(pipe, packet);
        }
    }

    /// It is taken off the transmitter or the line, to be dropped.
    #[inline]
    pub(crate) fn lose(&mut self, at: Instant, packet: &Packet, cause: Cause) {
        if let Some((observers, pipe)) = self.observers_of(packet) {
            observers.lose(pipe, at, packet, cause);
        }
    }

    /// How long those took that arrived in the pipe since this was asked last, until `now`.
    pub(crate) fn take_delays(&mut self, now: Instant) -> Option<Delays> {
        self.observers.as_mut()?.take_delays(self.pipe, now)
    }

    /// Cross traffic arrives nowhere.
    #[inline]
    fn observers_of(&mut self, packet: &Packet) -> Option<(&mut Observers, u32)> {
        self.observers.as_deref_mut().filter(|_| !packet.is_phantom()).map(|observers| (observers, self.pipe))
    }
}

impl Deref for DropLog {
    type Target = Vec<Dropped>;

    fn deref(&self) -> &Self::Target {
        &self.dropped
    }
}

impl DerefMut for DropLog {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.dropped
    }
}

impl IntoIterator for DropLog {
    type Item = Dropped;
    type IntoIter = IntoIter<Dropped>;

    fn into_iter(self) -> Self::IntoIter {
        self.dropped.into_iter()
    }
}

impl<'a> IntoIterator for &'a DropLog {
    type Item = &'a Dropped;
    type IntoIter = Iter<'a, Dropped>;

    fn into_iter(self) -> Self::IntoIter {
        self.dropped.iter()
    }
}
