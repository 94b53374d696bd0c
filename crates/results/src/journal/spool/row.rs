//! A packet as a row of one length, and rows as columns.

use super::Span;
use super::flows::NO_FLOW;
use crate::journal::Happened;
use crate::journal::record::{Fate, Record};
use netloom_link::Cause;

/// The value that stands for an instant that never came.
pub const NEVER: i64 = i64::MIN;
/// Bytes of a row.
pub(super) const ROW: usize = 6 * 8 + 4 * 4 + 2;

const DELIVERED: u8 = 0;
const INSIDE: u8 = 1;
/// The fate of the first cause; the others follow in this order.
const DROPPED: u8 = 2;
const CAUSES: [Cause; 7] =
    [Cause::Loss, Cause::Full, Cause::Early, Cause::Down, Cause::Partition, Cause::Fault, Cause::Air];
/// That it has a sequence number.
const HAS_SEQUENCE: u8 = 1;

/// A packet in a pipe. Instants are nanoseconds of lab time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) arrived_ns: i64,
    started_ns: i64,
    sent_ns: i64,
    due_ns: i64,
    pub(super) ended_ns: i64,
    pub(super) marked_ns: i64,
    pipe: u32,
    flow: u32,
    size_bytes: u32,
    sequence: u32,
    fate: u8,
    flags: u8,
}

impl Row {
    pub(super) fn of(record: &Record, flow: u32) -> Self {
        let fate = match record.fate {
            Fate::Delivered { .. } => DELIVERED,
            Fate::Inside => INSIDE,
            Fate::Dropped { cause, .. } => {
                DROPPED + u8::try_from(CAUSES.iter().position(|own| *own == cause).unwrap_or(0)).unwrap_or(0)
            }
        };
        Self {
            arrived_ns: record.arrived_ns,
            started_ns: record.started_ns.unwrap_or(NEVER),
            sent_ns: record.sent_ns.unwrap_or(NEVER),
            due_ns: record.due_ns.unwrap_or(NEVER),
            ended_ns: record.ended_ns().unwrap_or(NEVER),
            marked_ns: record.marked_ns.unwrap_or(NEVER),
            pipe: record.pipe,
            flow,
            size_bytes: record.size_bytes,
            sequence: record.sequence.unwrap_or(0),
            fate,
            flags: if record.sequence.is_some() { HAS_SEQUENCE } else { 0 },
        }
    }

    pub(super) fn bytes(&self) -> [u8; ROW] {
        let mut bytes = [0; ROW];
        let instants = [self.arrived_ns, self.started_ns, self.sent_ns, self.due_ns, self.ended_ns, self.marked_ns];
        for (place, instant) in bytes.chunks_exact_mut(8).zip(instants) {
            place.copy_from_slice(&instant.to_le_bytes());
        }
        for (place, number) in
            bytes[48..].chunks_exact_mut(4).zip([self.pipe, self.flow, self.size_bytes, self.sequence])
        {
            place.copy_from_slice(&number.to_le_bytes());
        }
        bytes[64..].copy_from_slice(&[self.fate, self.flags]);
        bytes
    }

    /// The row in `bytes`, which are as many as [`ROW`].
    pub(super) fn read(bytes: &[u8]) -> Self {
        let instant = |place: usize| i64::from_le_bytes(bytes[place * 8..][..8].try_into().expect("eight bytes"));
        let number = |place: usize| u32::from_le_bytes(bytes[48 + place * 4..][..4].try_into().expect("four bytes"));
        Self {
            arrived_ns: instant(0),
            started_ns: instant(1),
            sent_ns: instant(2),
            due_ns: instant(3),
            ended_ns: instant(4),
            marked_ns: instant(5),
            pipe: number(0),
            flow: number(1),
            size_bytes: number(2),
            sequence: number(3),
            fate: bytes[64],
            flags: bytes[65],
        }
    }

    pub(super) fn is_dropped(&self) -> bool {
        self.fate >= DROPPED
    }

    /// Whether it is wanted.
    pub(super) fn is_in(&self, span: &Span) -> bool {
        let is_there = self.arrived_ns <= span.to_ns && (self.ended_ns == NEVER || self.ended_ns >= span.from_ns);
        is_there
            && (span.pipes.is_empty() || span.pipes.contains(&self.pipe))
            && (span.flows.is_empty() || self.flow != NO_FLOW && span.flows.contains(&self.flow))
            && (span.happened.is_empty() || span.happened.iter().any(|what| self.is(*what)))
    }

    fn is(&self, what: Happened) -> bool {
        match what {
            Happened::Delivered => self.fate == DELIVERED,
            Happened::Dropped => self.is_dropped(),
            Happened::Marked => self.marked_ns != NEVER,
            Happened::Inside => self.fate == INSIDE,
        }
    }
}

/// Packets, column by column: what page and program exchange. Instants are [`NEVER`] of what never happened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Columns {
    /// The instants at which the packets arrived, at which their transmissions began and ended, and at which they were
    /// due, delivered or dropped, and marked.
    pub instants_ns: [Vec<i64>; 6],
    /// The packets' numbers in the journal, from 0; their pipes, flows, sizes, and sequence numbers.
    pub numbers: [Vec<u32>; 5],
    /// The packets' fates: 0 delivered, 1 inside, from 2 on dropped by loss, by the queue, early, by a link that was
    /// down.
    pub fates: Vec<u8>,
    /// The packets' flags; 1: the packet has a sequence number.
    pub flags: Vec<u8>,
}

impl Columns {
    /// Returns the number of packets.
    pub fn len(&self) -> usize {
        self.fates.len()
    }

    /// Whether there are no packets.
    pub fn is_empty(&self) -> bool {
        self.fates.is_empty()
    }

    pub(super) fn push(&mut self, number: u32, row: &Row) {
        let instants = [row.arrived_ns, row.started_ns, row.sent_ns, row.due_ns, row.ended_ns, row.marked_ns];
        for (column, instant) in self.instants_ns.iter_mut().zip(instants) {
            column.push(instant);
        }
        for (column, value) in self.numbers.iter_mut().zip([number, row.pipe, row.flow, row.size_bytes, row.sequence]) {
            column.push(value);
        }
        self.fates.push(row.fate);
        self.flags.push(row.flags);
    }
}
