//! The buffers of one chain, checked.

use crate::memory::{Memory, Span};
use crate::ring::{DESCRIPTOR, Descriptor, Ring};

const NEXT: u16 = 1;
const WRITE: u16 = 2;
const INDIRECT: u16 = 4;
/// The most buffers that a frame may be spread over, in one chain or several: as many as QEMU takes. Linux needs 17 for
/// 64 KiB, and 45 where one page of each is used. Without this bound, a guest could have us read its whole table for
/// every frame, 32,768 descriptors.
const MOST_BUFFERS: usize = 1_024;

/// Who writes into a chain's buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Writer {
    Guest,
    Device,
}

/// Appends the buffers of the chain at `head` to `spans`, and returns how many bytes they hold together.
///
/// # Errors
/// When the chain is endless, leads outside the table or the memory, mixes directions, or when there are more buffers than
/// a frame may be spread over.
pub(crate) fn collect(
    ring: &Ring,
    memory: &Memory,
    head: u16,
    writer: Writer,
    spans: &mut Vec<Span>,
) -> Result<u64, String> {
    let first = Descriptor::read(ring.descriptors(), head);
    if first.flags & INDIRECT == 0 {
        return walk(ring.descriptors(), ring.size(), ring.size(), first, memory, writer, spans);
    }
    // VIRTIO 1.2, section 2.7.5.3.1: no NEXT together with INDIRECT, and no table in a table.
    let entries = u64::from(first.len) / DESCRIPTOR as u64;
    let whole = u64::from(first.len).is_multiple_of(DESCRIPTOR as u64) && entries > 0;
    let entries = u16::try_from(entries).ok().filter(|_| whole && first.flags & NEXT == 0);
    let entries = entries.ok_or_else(|| format!("an indirect table of {} bytes", first.len))?;
    let table = memory.guest(first.address, u64::from(first.len));
    let table = table.ok_or_else(|| format!("an indirect table at {:#x}, outside its memory", first.address))?;
    let begin = Descriptor::read(table, 0);
    walk(table, entries, entries.min(ring.size()), begin, memory, writer, spans)
}

/// Follows a chain from its first descriptor on, through a table of `entries`, `longest` steps at most.
fn walk(
    table: Span,
    entries: u16,
    longest: u16,
    first: Descriptor,
    memory: &Memory,
    writer: Writer,
    spans: &mut Vec<Span>,
) -> Result<u64, String> {
    let mut descriptor = first;
    let mut bytes = 0;
    for _ in 0..longest {
        let Descriptor { address, len, flags, next } = descriptor;
        if flags & INDIRECT != 0 || (flags & WRITE != 0) != (writer == Writer::Device) {
            return Err(format!("a descriptor with the flags {flags:#x}"));
        }
        if spans.len() == MOST_BUFFERS {
            return Err(format!("a frame in more than {MOST_BUFFERS} buffers"));
        }
        // An empty buffer may be anywhere, and counts like any other.
        let span = if len == 0 { Some(table.from(table.len())) } else { memory.guest(address, u64::from(len)) };
        spans.push(span.ok_or_else(|| format!("{len} bytes at {address:#x}, outside its memory"))?);
        bytes += u64::from(len);
        if flags & NEXT == 0 {
            return Ok(bytes);
        }
        if next >= entries {
            return Err(format!("descriptor {next} of {entries}"));
        }
        descriptor = Descriptor::read(table, next);
    }
    Err(format!("a chain of more than {longest} descriptors"))
}

/// A chain's buffers as one run of bytes, read or written from the front.
#[derive(Debug)]
pub(crate) struct Cursor<'a> {
    spans: std::slice::Iter<'a, Span>,
    current: Option<Span>,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(spans: &'a [Span]) -> Self {
        let mut spans = spans.iter();
        let current = spans.next().copied();
        Self { spans, current }
    }

    /// Goes on by `done` bytes of the current buffer.
    fn skip(&mut self, span: Span, done: usize) {
        self.current = if done < span.len() { Some(span.from(done)) } else { self.spans.next().copied() };
    }

    /// Fills as much of `bytes` as there is, and returns how much that was.
    pub(crate) fn read(&mut self, bytes: &mut [u8]) -> usize {
        let mut at = 0;
        while at < bytes.len() {
            let Some(span) = self.current else { break };
            let done = span.read(&mut bytes[at..]);
            at += done;
            self.skip(span, done);
        }
        at
    }

    /// Writes as much of `bytes` as there is room for, and returns how much that was.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> usize {
        let mut at = 0;
        while at < bytes.len() {
            let Some(span) = self.current else { break };
            let done = span.write(&bytes[at..]);
            at += done;
            self.skip(span, done);
        }
        at
    }
}
