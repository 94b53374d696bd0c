//! Tags of VLANs (IEEE 802.1Q-2022, section 9).

use crate::headers::{ETHERNET_HEADER, MAX_HEAD, ethernet};
use crate::{Frame, Packet, VirtioHeader};
use alloc::sync::Arc;
use alloc::vec::Vec;
use netloom_units::Bytes;

/// Both Ethernet addresses, behind which a tag stands.
const ADDRESSES: usize = 12;
/// A tag: its protocol identifier, then what it says.
const TAG: usize = 4;
/// The protocol identifier of tags of customers' VLANs.
const PROTOCOL: [u8; 2] = [0x81, 0x00];

impl Packet {
    /// Returns the tag control information of the first tag, if there is one: three bits of priority, the drop eligible
    /// indicator, and twelve bits of VLAN identifier.
    #[inline]
    pub fn vlan_tag(&self) -> Option<u16> {
        let [high, low] = *self.bytes().get(ADDRESSES..ADDRESSES + TAG)?.strip_prefix(&PROTOCOL)?.first_chunk()?;
        Some(u16::from_be_bytes([high, low]))
    }

    /// Returns how many bytes of tags each segment has, which count as a part of its size. No link's MTU includes them.
    pub fn tags_size(&self) -> Bytes {
        ethernet(self.bytes()).map_or(Bytes::default(), |(at, _)| Bytes::new((at - ETHERNET_HEADER) as u64))
    }

    /// Returns the same segments with a tag of this content in front of those that they have. Their bytes are copied. None if the
    /// packet is too short for an Ethernet header, or has too many headers.
    pub fn with_vlan_tag(&self, says: u16) -> Option<Self> {
        let [high, low] = says.to_be_bytes();
        self.with_tags(0, &[PROTOCOL[0], PROTOCOL[1], high, low])
    }

    /// Returns the same segments without their first tag. Their bytes are copied. None if there is none.
    pub fn without_vlan_tag(&self) -> Option<Self> {
        self.vlan_tag().and_then(|_| self.with_tags(TAG, &[]))
    }

    /// A copy with these bytes in the place of so many behind the addresses.
    fn with_tags(&self, removed: usize, added: &[u8]) -> Option<Self> {
        let mut head = [0; MAX_HEAD];
        let written = self.write_head(&mut head);
        let mut bytes = Vec::with_capacity(written.len + written.payload.len() + added.len());
        bytes.extend_from_slice(&head[..written.len]);
        bytes.extend_from_slice(&self.bytes()[written.payload]);
        if bytes.len() < ADDRESSES + removed + 2 {
            return None;
        }
        bytes.splice(ADDRESSES..ADDRESSES + removed, added.iter().copied());
        let moved =
            |at: u16| at.checked_sub(u16::try_from(removed).ok()?)?.checked_add(u16::try_from(added.len()).ok()?);
        let virtio = written.virtio;
        let virtio = VirtioHeader {
            checksum: match virtio.checksum {
                Some((start, offset)) => Some((moved(start)?, offset)),
                None => None,
            },
            header_len: if virtio.header_len == 0 { 0 } else { moved(virtio.header_len)? },
            ..virtio
        };
        let mut frame = Frame::complete(bytes.into_boxed_slice());
        frame.assign(frame.bytes().len(), virtio);
        frame.set_source(self.source());
        Some(Self::whole(Arc::new(frame)))
    }
}
