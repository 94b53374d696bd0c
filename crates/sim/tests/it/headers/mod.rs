//! Headers that routers take.

/// Gives the IPv4 header of an Ethernet frame its checksum (RFC 1071), without which routers drop the packet.
pub(crate) fn complete(frame: &mut [u8]) {
    frame[24..26].fill(0);
    let words = frame[14..34].chunks(2).map(|pair| u32::from(u16::from_be_bytes([pair[0], pair[1]])));
    let sum = words.sum::<u32>();
    let checksum = !u16::try_from((sum & 0xffff) + (sum >> 16)).expect("ten words carry a little");
    frame[24..26].copy_from_slice(&checksum.to_be_bytes());
}
