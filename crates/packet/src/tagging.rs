//! Tags of VLANs (IEEE 802.1Q-2022, section 9) in the headers of packets that leave: no byte of the payload moves, and a train gets
//! one for all of its segments.

use crate::{Head, MAX_HEAD};

/// The length of a tag, in bytes: the room that [`Head::tag`] needs behind the longest head.
pub const TAG_LEN: usize = 4;
/// Both Ethernet addresses, behind which a tag stands.
const ADDRESSES: usize = 12;
/// The protocol identifier of tags of customers' VLANs.
const PROTOCOL: [u8; 2] = [0x81, 0x00];

impl Head {
    /// Puts the tag of a VLAN into `head`, in which this was written for a packet with these bytes. What is too short for Ethernet
    /// addresses stays as it is.
    #[inline]
    pub fn tag(&mut self, vlan: u16, head: &mut [u8; MAX_HEAD + TAG_LEN], frame: &[u8]) {
        if self.len == 0 {
            // It leaves as it came: its addresses move into the head.
            let Some(addresses) = frame[self.payload.clone()].first_chunk::<ADDRESSES>() else { return };
            head[..ADDRESSES].copy_from_slice(addresses);
            (self.len, self.payload.start) = (ADDRESSES, self.payload.start + ADDRESSES);
        }
        head.copy_within(ADDRESSES..self.len, ADDRESSES + TAG_LEN);
        head[ADDRESSES..ADDRESSES + 2].copy_from_slice(&PROTOCOL);
        head[ADDRESSES + 2..ADDRESSES + TAG_LEN].copy_from_slice(&vlan.to_be_bytes());
        self.len += TAG_LEN;
        if let Some((start, _)) = &mut self.virtio.checksum {
            *start += TAG_LEN as u16;
        }
        if self.virtio.header_len > 0 {
            self.virtio.header_len += TAG_LEN as u16;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Packet, VirtioHeader};
    use alloc::vec::Vec;

    /// A frame of so many bytes, each with its number.
    fn frame(len: u8) -> Vec<u8> {
        (0..len).collect()
    }

    fn tagged(packet: &Packet) -> (Vec<u8>, VirtioHeader) {
        let mut head = [0; MAX_HEAD + TAG_LEN];
        let mut written = packet.write_head(head.first_chunk_mut().unwrap());
        written.tag(100, &mut head, packet.bytes());
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
        let mut head = [0; MAX_HEAD + TAG_LEN];
        head[..MAX_HEAD].copy_from_slice(&frame(192));
        let virtio = VirtioHeader { checksum: Some((34, 16)), header_len: 54, ..VirtioHeader::COMPLETE };
        let mut written = Head { virtio, len: MAX_HEAD, payload: MAX_HEAD..300 };
        written.tag(4_094, &mut head, &[0; 300]);
        assert_eq!(head[12..18], [0x81, 0, 0x0f, 0xfe, 12, 13]);
        assert_eq!((head[195], written.len, written.payload), (191, MAX_HEAD + TAG_LEN, MAX_HEAD..300));
        assert_eq!((written.virtio.checksum, written.virtio.header_len), (Some((38, 16)), 58));
    }
}
