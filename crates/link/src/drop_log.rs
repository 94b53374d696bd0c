//! Where pipes put what their driver is to see.

use crate::Cause;
use crate::note::{Event, Note};
use alloc::vec::{IntoIter, Vec};
use core::ops::{Deref, DerefMut};
use core::slice::Iter;
use netloom_packet::Packet;
use netloom_units::Instant;

/// A packet that was dropped: for reports, and so that its buffer can be used again.
#[derive(Debug)]
pub struct Dropped {
    /// The packet; a train if all its segments were dropped at once.
    pub packet: Packet,
    /// When.
    pub at: Instant,
    /// Why.
    pub cause: Cause,
}

/// Where dropped packets go; and, if somebody wants to know, notes of all that happens to packets.
#[derive(Debug, Default)]
pub struct DropLog {
    dropped: Vec<Dropped>,
    /// None while nobody wants them.
    notes: Option<Vec<Note>>,
    pipe: u32,
}

impl DropLog {
    /// An empty one that takes no notes.
    pub fn new() -> Self {
        Self::default()
    }

    /// From now on notes are taken, or none any more.
    pub fn take_notes(&mut self, wanted: bool) {
        match (wanted, &self.notes) {
            (true, None) => self.notes = Some(Vec::new()),
            (false, Some(_)) => self.notes = None,
            _ => {}
        }
    }

    /// The same for the pipe of this number, which what is noted next belongs to.
    #[inline]
    #[must_use]
    pub fn of(&mut self, pipe: u32) -> &mut Self {
        self.pipe = pipe;
        self
    }

    /// The notes since this was asked last. Those of one pipe are in the order in which things happened.
    pub fn notes(&mut self) -> impl Iterator<Item = Note> + '_ {
        self.notes.iter_mut().flat_map(|notes| notes.drain(..))
    }

    /// Notes what happens to a packet. Cross traffic is nobody's, and is not noted.
    #[inline]
    pub(crate) fn note(&mut self, at: Instant, packet: &Packet, what: impl FnOnce() -> Event) {
        if let Some(notes) = &mut self.notes
            && !packet.is_phantom()
        {
            notes.push(what().noted(self.pipe, at, packet));
        }
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
