//! Tags of VLANs (IEEE 802.1Q-2022, section 9) in the headers of packets that leave: no byte of the payload moves, and a train gets
//! one for all of its segments.

use netloom_packet::{Head, MAX_HEAD};

/// The length of a tag, in bytes.
pub(super) const TAG: usize = 4;
/// Both Ethernet addresses, behind which a tag stands.
const ADDRESSES: usize = 12;
/// The protocol identifier of tags of customers' VLANs.
const PROTOCOL: [u8; 2] = [0x81, 0x00];

/// Puts the tag of this VLAN into the head that was written for a packet with these bytes. What is too short for Ethernet
/// addresses stays as it is.
#[inline]
pub(super) fn insert(vlan: u16, head: &mut [u8; MAX_HEAD + TAG], written: &mut Head, frame: &[u8]) {
    if written.len == 0 {
        // It leaves as it came: its addresses move into the head.
        let Some(addresses) = frame[written.payload.clone()].first_chunk::<ADDRESSES>() else { return };
        head[..ADDRESSES].copy_from_slice(addresses);
        (written.len, written.payload.start) = (ADDRESSES, written.payload.start + ADDRESSES);
    }
    head.copy_within(ADDRESSES..written.len, ADDRESSES + TAG);
    head[ADDRESSES..ADDRESSES + 2].copy_from_slice(&PROTOCOL);
    head[ADDRESSES + 2..ADDRESSES + TAG].copy_from_slice(&vlan.to_be_bytes());
    written.len += TAG;
    if let Some((start, _)) = &mut written.virtio.checksum {
        *start += TAG as u16;
    }
    if written.virtio.header_len > 0 {
        written.virtio.header_len += TAG as u16;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netloom_packet::{Packet, VirtioHeader};

    /// A frame of so many bytes, each with its number.
    fn frame(len: u8) -> Vec<u8> {
        (0..len).collect()
    }

    fn tagged(packet: &Packet) -> (Vec<u8>, VirtioHeader) {
        let mut head = [0; MAX_HEAD + TAG];
        let mut written = packet.write_head(head.first_chunk_mut().unwrap());
        insert(100, &mut head, &mut written, packet.bytes());
        let Head { virtio, len, payload } = written;
        ([&head[..len], &packet.bytes()[payload]].concat(), virtio)
    }

    #[test]
    fn a_tag_stands_behind_the_addresses() {
        let bytes = frame(60);
        let wanted = [&bytes[..12], &[0x81, 0, 0, 100], &bytes[12..]].concat();
        let (sent, virtio) = tagged(&Packet::from_bytes(bytes.into_boxed_slice()));
        assert_eq!(sent, wanted);
        assert_eq!(virtio, VirtioHeader::COMPLETE);
    }

    #[test]
    fn what_has_no_addresses_gets_no_tag() {
        assert_eq!(tagged(&Packet::from_bytes(frame(11).into_boxed_slice())).0, frame(11));
        assert_eq!(tagged(&Packet::from_bytes(frame(12).into_boxed_slice())).0.len(), 16);
    }

    #[test]
    fn a_head_that_was_written_makes_room_and_what_points_into_it_moves() {
        let mut head = [0; MAX_HEAD + TAG];
        head[..MAX_HEAD].copy_from_slice(&frame(192));
        let virtio = VirtioHeader { checksum: Some((34, 16)), header_len: 54, ..VirtioHeader::COMPLETE };
        let mut written = Head { virtio, len: MAX_HEAD, payload: MAX_HEAD..300 };
        insert(4_094, &mut head, &mut written, &[0; 300]);
        assert_eq!(head[12..18], [0x81, 0, 0x0f, 0xfe, 12, 13]);
        assert_eq!((head[195], written.len, written.payload), (191, MAX_HEAD + TAG, MAX_HEAD..300));
        assert_eq!((written.virtio.checksum, written.virtio.header_len), (Some((38, 16)), 58));
    }
}
