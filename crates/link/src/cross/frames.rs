//! The packets of a source: one phantom per size, made once, so that sending one allocates nothing.

use alloc::vec::Vec;
use netloom_packet::Packet;
use netloom_units::Bytes;

/// Where IPv4 begins, behind Ethernet; where UDP begins, behind IPv4 without options; and where that ends.
const IPV4: usize = 14;
const UDP: usize = IPV4 + 20;
const PAYLOAD: usize = UDP + 8;
/// TEST-NET-1 and TEST-NET-2 (RFC 5737, section 3): addresses that no node can have by mistake.
const FROM: [u8; 3] = [192, 0, 2];
const TO: [u8; 3] = [198, 51, 100];
/// Host numbers of such a network, without the network's own address and the broadcast address.
const HOSTS: usize = 254;
/// The first of the ports that nobody owns, and how many there are (RFC 6335, section 6).
const FIRST_PORT: usize = 49_152;
const PORTS: usize = 16_384;
/// The discard service (RFC 863).
const DISCARD: u16 = 9;

/// See the module.
#[derive(Clone, Debug)]
pub(super) struct Frames(Vec<(Bytes, Packet)>);

impl Frames {
    /// The packets of source `number` of a pipe, which are the flow of this number, in all their sizes.
    pub(super) fn new(number: usize, sizes: impl IntoIterator<Item = Bytes>) -> Self {
        let mut sizes: Vec<Bytes> = sizes.into_iter().collect();
        sizes.sort_unstable();
        sizes.dedup();
        let frame = |size: Bytes| (size, Packet::phantom(&headers(number, size), size));
        Self(sizes.into_iter().map(frame).collect())
    }

    /// The packet of this size.
    ///
    /// # Panics
    /// If the source was not made for it.
    pub(super) fn of(&self, size: Bytes) -> Packet {
        let place = self.0.binary_search_by_key(&size, |frame| frame.0).expect("sources say all their sizes at first");
        self.0[place].1.duplicate()
    }
}

/// Headers by which queues and filters know the source's packets as a flow of its own; congestion notification is
/// off. Nobody receives the packet, and so its checksums and hardware addresses stay zero.
fn headers(number: usize, size: Bytes) -> [u8; PAYLOAD] {
    let host = u8::try_from(number % HOSTS + 1).expect("at most 254");
    let port = u16::try_from(FIRST_PORT + number % PORTS).expect("at most 65,535");
    let len = u16::try_from(size.get()).unwrap_or(u16::MAX);
    let mut bytes = [0; PAYLOAD];
    bytes[12..14].copy_from_slice(&[0x08, 0x00]);
    // Version 4 and five words of header; length; time to live; protocol UDP (RFC 791, section 3.1).
    bytes[IPV4] = 0x45;
    bytes[IPV4 + 2..IPV4 + 4].copy_from_slice(&len.to_be_bytes());
    bytes[IPV4 + 8] = 64;
    bytes[IPV4 + 9] = 17;
    bytes[IPV4 + 12..IPV4 + 16].copy_from_slice(&[FROM[0], FROM[1], FROM[2], host]);
    bytes[IPV4 + 16..IPV4 + 20].copy_from_slice(&[TO[0], TO[1], TO[2], host]);
    bytes[UDP..UDP + 2].copy_from_slice(&port.to_be_bytes());
    bytes[UDP + 2..UDP + 4].copy_from_slice(&DISCARD.to_be_bytes());
    bytes[UDP + 4..UDP + 6].copy_from_slice(&len.saturating_sub(20).to_be_bytes());
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::net::Ipv4Addr;
    use netloom_packet::Ecn;

    #[test]
    fn each_source_is_a_flow_of_its_own() {
        let size = Bytes::new(40);
        let packet = |number| Frames::new(number, [size]).of(size);
        let flow = packet(299).flow().expect("an IP packet");
        assert_eq!(flow.source, Ipv4Addr::new(192, 0, 2, 46));
        assert_eq!(flow.destination, Ipv4Addr::new(198, 51, 100, 46));
        assert_eq!((flow.protocol, flow.source_port, flow.destination_port, flow.dscp), (17, 49_451, 9, 0));
        assert_ne!(packet(45).flow(), packet(299).flow());
        assert_eq!(packet(0).ecn(), Some(Ecn::NotCapable));
    }

    #[test]
    fn a_packet_counts_as_many_bytes_as_it_was_told() {
        let frames = Frames::new(0, [1_500, 40, 40, 576].map(Bytes::new));
        for size in [40, 576, 1_500] {
            let packet = frames.of(Bytes::new(size));
            assert!(packet.is_phantom());
            assert_eq!((packet.size().get(), packet.segments()), (size, 1));
        }
    }
}
