//! Flips one of the bits of a packet that a checksum certainly covers.

use crate::flow::{UDP, UDP_LITE, payload};
use crate::headers::ETHERNET_HEADER;
use core::ops::Range;

/// Flips bit number `pick`, modulo their number, of those that the receiver's checksum covers.
pub(crate) fn flip(frame: &mut [u8], pick: u64) {
    let covered = covered(frame);
    let bytes = covered.iter().map(Range::len).sum::<usize>();
    if bytes == 0 {
        return;
    }
    let bit = usize::try_from(pick % (bytes as u64 * 8)).expect("within a packet");
    let (mut at, mask) = (bit / 8, 1 << (bit % 8));
    for range in covered {
        if at < range.len() {
            frame[range.start + at] ^= mask;
            return;
        }
        at -= range.len();
    }
}

/// The bytes in which any flipped bit makes the checksum fail, whatever the packet says.
///
/// They are those above IP: behind the options of IPv4 and the extension headers of IPv6, and before what a short frame
/// was padded with. What has no checksum that we know (no IP, nothing above it) gives all bytes behind its first header.
fn covered(frame: &[u8]) -> [Range<usize>; 2] {
    let Some((payload, protocol)) = payload(frame).filter(|(payload, _)| !payload.is_empty()) else {
        return [ETHERNET_HEADER.min(frame.len())..frame.len(), 0..0];
    };
    match protocol {
        Some(UDP | UDP_LITE) if payload.len() >= 8 => datagram(frame, payload),
        _ => [payload, 0..0],
    }
}

/// A datagram without its length and its checksum: another length covers other bytes, whose sum may happen to be right,
/// and a UDP checksum whose only bit is flipped to zero says that there is none. RFC 768; RFC 3828, section 3.1.
fn datagram(frame: &[u8], payload: Range<usize>) -> [Range<usize>; 2] {
    let at = payload.start;
    let len = usize::from(u16::from_be_bytes([frame[at + 4], frame[at + 5]]));
    // Zero: all of it, in a jumbogram (RFC 2675, section 4) and in UDP-Lite.
    let end = if len < 8 { payload.end } else { payload.end.min(at + len) };
    [at..at + 4, at + 8..end]
}
