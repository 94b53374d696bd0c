//! What is too large for a link.

use netloom_packet::Packet;
use netloom_units::Bytes;

/// Whether a link of this MTU cannot carry it, or a segment of it. Tags of VLANs do not count. What nobody but the receiver
/// can cut is taken to fit.
#[inline]
pub(crate) fn is_above(packet: &Packet, mtu: Bytes) -> bool {
    packet.size() > mtu && is_each_above(packet, mtu)
}

fn is_each_above(packet: &Packet, mtu: Bytes) -> bool {
    let mtu = Bytes::new(mtu.get() + packet.tags_size().get());
    packet.segment_size(0) > mtu && !packet.is_uncuttable()
}
