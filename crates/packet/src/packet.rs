//! A run of segments of one frame.

use crate::headers::{ETHERNET_HEADER, MAX_HEAD};
use crate::{Frame, VirtioHeader};
use alloc::sync::Arc;
use core::ops::Range;
use netloom_units::Bytes;

/// One packet, or a train of segments that travel together; see the crate's documentation.
///
/// Cloning is not offered: a packet is at one place of the fabric at a time.
#[derive(Debug)]
pub struct Packet {
    frame: Arc<Frame>,
    span: Span,
}

/// Which segments of a frame: the first and how many, in one number. A packet is then two machine words, which move in
/// registers; as three fields it goes through memory at every call, and costs twice as much.
#[derive(Clone, Copy, Debug)]
struct Span(u32);

impl Span {
    fn new(first: u16, count: u16) -> Self {
        Self(u32::from(first) << 16 | u32::from(count))
    }

    fn first(self) -> u16 {
        u16::try_from(self.0 >> 16).expect("the upper half of a u32")
    }

    fn count(self) -> u16 {
        u16::try_from(self.0 & 0xffff).expect("the lower half of a u32")
    }

    fn range(self) -> Range<u16> {
        self.first()..self.first() + self.count()
    }
}

/// The bytes to send for a packet: headers of its own, and a piece of the shared payload.
#[derive(Debug, PartialEq, Eq)]
pub struct Head {
    /// What the receiver's kernel has still to do.
    pub virtio: VirtioHeader,
    /// How many bytes of headers were written.
    pub len: usize,
    /// Where in [`Packet::bytes`] the payload lies.
    pub payload: Range<usize>,
}

impl Packet {
    pub(crate) fn whole(frame: Arc<Frame>) -> Self {
        let span = Span::new(0, frame.segments());
        Self { frame, span }
    }

    pub(crate) fn into_frame(self) -> Arc<Frame> {
        self.frame
    }

    /// How many segments travel together, at least one.
    pub fn segments(&self) -> u32 {
        u32::from(self.span.count())
    }

    /// All bytes of the frame that this packet is or was cut from.
    pub fn bytes(&self) -> &[u8] {
        self.frame.bytes()
    }

    /// Length of segment `index` of this packet from the IP header on, which is what links are charged by default.
    ///
    /// # Panics
    /// If there is no such segment.
    pub fn segment_size(&self, index: u32) -> Bytes {
        assert!(index < self.segments(), "segment {index} of {}", self.segments());
        let len = match self.frame.layout() {
            None => self.frame.bytes().len(),
            Some(layout) => {
                let at = self.span.first() + u16::try_from(index).expect("below a u16");
                layout.head_len() + layout.payload(at..at + 1, self.frame.bytes().len()).len()
            }
        };
        Bytes::new(len.saturating_sub(ETHERNET_HEADER) as u64)
    }

    /// Length of all segments from their IP headers on.
    pub fn size(&self) -> Bytes {
        let len = match self.frame.layout() {
            None => self.frame.bytes().len().saturating_sub(ETHERNET_HEADER),
            Some(layout) => {
                let payload = layout.payload(self.span.range(), self.frame.bytes().len()).len();
                payload + usize::from(self.span.count()) * (layout.head_len() - ETHERNET_HEADER)
            }
        };
        Bytes::new(len as u64)
    }

    /// Cuts the first `segments` off; none if that would leave nothing, and `self` is then the whole.
    pub fn split_front(&mut self, segments: u32) -> Option<Self> {
        let (first, whole) = (self.span.first(), self.span.count());
        let count = u16::try_from(segments).ok().filter(|&count| count > 0 && count < whole)?;
        let front = Self { frame: Arc::clone(&self.frame), span: Span::new(first, count) };
        self.span = Span::new(first + count, whole - count);
        Some(front)
    }

    /// Whether `next` continues this packet: the segments behind it, of the same frame.
    pub fn is_followed_by(&self, next: &Self) -> bool {
        self.span.range().end == next.span.first() && Arc::ptr_eq(&self.frame, &next.frame)
    }

    /// Joins `next` to the end of this packet.
    ///
    /// # Panics
    /// If `next` does not follow.
    pub fn append(&mut self, next: &Self) {
        assert!(self.is_followed_by(next), "only neighbours of one frame can be joined");
        self.span = Span::new(self.span.first(), self.span.count() + next.span.count());
    }

    /// Writes the headers that this packet needs into `head`, and says what follows them.
    ///
    /// An uncut packet is sent as it came, with no new headers.
    pub fn write_head(&self, head: &mut [u8; MAX_HEAD]) -> Head {
        let frame = &*self.frame;
        match frame.layout() {
            Some(layout) if self.span.count() < frame.segments() => {
                let range = self.span.range();
                let payload = layout.payload(range.clone(), frame.bytes().len());
                let virtio = layout.write(frame.bytes(), frame.virtio(), range, payload.len(), frame.segments(), head);
                Head { virtio, len: layout.head_len(), payload }
            }
            _ => Head { virtio: *frame.virtio(), len: 0, payload: 0..frame.bytes().len() },
        }
    }
}
