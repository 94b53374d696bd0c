//! Copies of single segments in which something is other than their sender wrote it.

use super::{HOPS, MARK, Packet, Span};
use crate::flip::flip;
use crate::flow::{self, clear_congested};
use crate::headers::ethernet;
use crate::{Ecn, Frame};
use alloc::{sync::Arc, vec::Vec};

impl Packet {
    /// This segment with all checksums complete and then one bit flipped, so that they fail at the receiver. None if it
    /// is a super-packet that cannot be cut: its checksums are made when it is, and would be right again.
    ///
    /// The bit is number `pick`, modulo their number, of those whose flipping a checksum cannot miss: of TCP and ICMP all,
    /// of UDP all but length and checksum, and nothing of the IP header. Where there is no such checksum, it is one
    /// of all bits behind the Ethernet header; a datagram of UDP over IPv4 may say that it has none.
    ///
    /// # Panics
    /// If this is a train, or a phantom.
    #[must_use]
    pub fn with_flipped_bit(&self, pick: u64) -> Option<Self> {
        self.rewritten(|bytes| flip(bytes, pick))
    }

    /// This segment with all checksums complete and then all bits of one byte flipped. `byte`: its number, counted from zero at the
    /// IP header, or behind the Ethernet header of what is not IP. None if the segment has no such byte, or if it is a super-packet
    /// that cannot be cut.
    ///
    /// # Panics
    /// If this is a train, or a phantom.
    #[must_use]
    pub fn with_flipped_byte(&self, byte: usize) -> Option<Self> {
        let place = ethernet(self.bytes()).map_or(0, |(at, _)| at) + byte;
        let mut is_there = false;
        let flipped = self.rewritten(|bytes| {
            if let Some(found) = bytes.get_mut(place) {
                *found ^= 0xff;
                is_there = true;
            }
        });
        flipped.filter(|_| is_there)
    }

    /// This segment without the mark of congestion, as its sender wrote it if a link of the fabric has set the mark, and else as
    /// capable of it (ECT(0); RFC 3168, section 5). None if it has no mark, or if it is a super-packet that cannot be cut.
    ///
    /// # Panics
    /// If this is a train, or a phantom.
    #[must_use]
    pub fn without_congestion(&self) -> Option<Self> {
        if self.ecn() != Some(Ecn::Congested) {
            return None;
        }
        if flow::ecn(self.bytes()) == Some(Ecn::Congested) {
            return Self { span: Span(self.span.0 & !MARK), ..self.duplicate() }.rewritten(clear_congested);
        }
        Some(Self { span: Span(self.span.0 & !MARK), ..self.duplicate() })
    }

    /// This segment, complete, with a change of its bytes, in a frame of its own. None if it is a super-packet that cannot be cut.
    fn rewritten(&self, change: impl FnOnce(&mut [u8])) -> Option<Self> {
        assert!(self.segments() == 1 && !self.is_phantom(), "single segments of real bytes are rewritten");
        if self.is_uncuttable() {
            return None;
        }
        let mut bytes = Vec::new();
        // Its hops are still to be counted, so that it is known to have left the link whose addresses it bears.
        Self { span: Span(self.span.0 & !HOPS), ..self.duplicate() }.complete(&mut bytes);
        change(&mut bytes);
        let mut frame = Frame::complete(bytes.into_boxed_slice());
        frame.set_origin(self.origin());
        frame.set_source(self.source());
        let mut rewritten = Self::whole(Arc::new(frame));
        rewritten.span = Span(rewritten.span.0 | self.span.0 & HOPS);
        Some(rewritten)
    }
}
