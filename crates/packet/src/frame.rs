//! The buffer that the segments of a train share.

use crate::headers::{ETHERNET_HEADER, Layout};
use crate::{Segmentation, VirtioHeader};
use alloc::{boxed::Box, vec};
use core::ops::Range;

/// No port has this number.
const NO_PORT: u32 = u32::MAX;

/// A received super-packet or packet: its bytes from the Ethernet header on, and how it may be cut.
#[derive(Debug)]
pub struct Frame {
    buffer: Box<[u8]>,
    /// How many bytes it counts as, from the Ethernet header on.
    len: usize,
    /// How many of them are in the buffer.
    here: usize,
    virtio: VirtioHeader,
    /// How to cut; none when the frame is one packet.
    layout: Option<Layout>,
    segments: u16,
    phantom: bool,
    /// The last argument of [`Frame::set_origin`].
    origin: u32,
    /// The argument of [`Frame::set_source`] since it was filled.
    source: u32,
    /// The argument of [`Frame::set_target`] since it was filled.
    target: u32,
}

impl Frame {
    /// An empty frame with room for `capacity` bytes, all of them touched, so that no page fault comes later.
    pub(crate) fn with_capacity(capacity: usize) -> Self {
        let mut buffer = vec![0; capacity].into_boxed_slice();
        // Zeroed memory may be mapped lazily; writing to every page maps it now.
        for byte in buffer.iter_mut().step_by(4096) {
            *byte = core::hint::black_box(1);
        }
        Self {
            buffer,
            len: 0,
            here: 0,
            virtio: VirtioHeader::COMPLETE,
            layout: None,
            segments: 1,
            phantom: false,
            origin: 0,
            source: NO_PORT,
            target: NO_PORT,
        }
    }

    /// A frame that is complete as it stands.
    pub(crate) fn complete(bytes: Box<[u8]>) -> Self {
        let len = bytes.len();
        Self {
            buffer: bytes,
            len,
            here: len,
            virtio: VirtioHeader::COMPLETE,
            layout: None,
            segments: 1,
            phantom: false,
            origin: 0,
            source: NO_PORT,
            target: NO_PORT,
        }
    }

    /// A frame of which only the headers exist; it counts as `len` bytes.
    pub(crate) fn phantom(headers: Box<[u8]>, len: usize) -> Self {
        let here = len.min(headers.len());
        Self { len, here, phantom: true, ..Self::complete(headers) }
    }

    /// Whether it takes room and time like any other, but is never delivered.
    pub(crate) fn is_phantom(&self) -> bool {
        self.phantom
    }

    /// Length of these segments from their IP headers on.
    pub(crate) fn size(&self, segments: Range<u16>) -> u64 {
        match &self.layout {
            None => self.len.saturating_sub(ETHERNET_HEADER) as u64,
            Some(layout) => layout.size(segments, self.len),
        }
    }

    pub(crate) fn capacity(&self) -> usize {
        self.buffer.len()
    }

    pub(crate) fn buffer_mut(&mut self) -> &mut [u8] {
        &mut self.buffer
    }

    /// Takes the first `len` bytes of the buffer as a packet with this header.
    // Inlined, since a header that was just written in pieces stalls the processor if it is then copied as a whole.
    #[inline(always)]
    pub(crate) fn assign(&mut self, len: usize, virtio: VirtioHeader) {
        self.len = len.min(self.buffer.len());
        self.here = self.len;
        self.virtio = virtio;
        self.phantom = false;
        (self.source, self.target) = (NO_PORT, NO_PORT);
        self.layout = match virtio.segmentation {
            Segmentation::None | Segmentation::Other(_) => None,
            _ => Layout::find(&self.buffer[..self.len], &virtio),
        };
        self.segments = self.layout.as_ref().map_or(1, |layout| layout.segments(self.len));
    }

    /// Takes the first `here` bytes of the buffer as those of a packet of `len` bytes.
    pub(crate) fn assign_head(&mut self, here: usize, len: usize) {
        self.assign(here, VirtioHeader::COMPLETE);
        self.len = len.max(self.here);
    }

    /// Returns all bytes, from the Ethernet header on; of a phantom, and of a packet that is elsewhere, only its headers.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        &self.buffer[..self.here]
    }

    /// Returns the virtio-net header, which says what the sender's kernel left undone.
    #[inline]
    pub fn virtio(&self) -> &VirtioHeader {
        &self.virtio
    }

    /// Where it entered the shared medium that it is on; without meaning elsewhere.
    pub(crate) fn origin(&self) -> u32 {
        self.origin
    }

    pub(crate) fn set_origin(&mut self, origin: u32) {
        self.origin = origin;
    }

    /// By which port it came into the fabric, if that is known.
    pub(crate) fn source(&self) -> Option<u32> {
        Some(self.source).filter(|source| *source != NO_PORT)
    }

    pub(crate) fn set_source(&mut self, source: Option<u32>) {
        self.source = source.unwrap_or(NO_PORT);
    }

    /// By which port it is to leave the shared medium that it is on, if whoever sent it knows that.
    pub(crate) fn target(&self) -> Option<u32> {
        Some(self.target).filter(|target| *target != NO_PORT)
    }

    pub(crate) fn set_target(&mut self, target: Option<u32>) {
        self.target = target.unwrap_or(NO_PORT);
    }

    pub(crate) fn layout(&self) -> Option<&Layout> {
        self.layout.as_ref()
    }

    /// Into how many segments the frame can be cut.
    #[inline]
    pub fn segments(&self) -> u16 {
        self.segments
    }
}
