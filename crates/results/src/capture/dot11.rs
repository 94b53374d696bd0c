//! Headers of 802.11 around packets: a data frame (IEEE 802.11-2020, 9.2 and 9.3.2.1), with its checksum; and frames of the network itself (9.3.3).
//!
//! The header has three addresses, or four where a packet comes from behind a station or goes on behind one. There is no encryption.

use netloom_link::{AccessCategory, AirManagement, AirMpdu, AirPacket, AirPpdu, AirWay, Control};
use netloom_units::Duration;

/// Frame control: a data frame, and one with a field for QoS.
const DATA: u8 = 0x08;
const QOS_DATA: u8 = 0x88;
const TO_DS: u8 = 0x01;
const FROM_DS: u8 = 0x02;
const RETRY: u8 = 0x08;
/// QoS control: nobody acknowledges it; it has an A-MSDU.
const NO_ACK: u8 = 0x20;
const AMSDU: u8 = 0x80;
/// A frame that is no data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ControlFrame {
    Rts,
    Cts,
    Ack,
    BlockAck,
}

/// LLC and SNAP in front of an Ethernet type (IEEE 802.2, RFC 1042).
const SNAP: [u8; 6] = [0xaa, 0xaa, 3, 0, 0, 0];
/// A smaller value in the place of the Ethernet type is the length of a frame with a header of LLC.
const LEAST_TYPE: u16 = 0x600;

/// Appends a control frame around data to `bytes` (IEEE 802.11-2020, 9.3.1).
pub(super) fn write_control(ppdu: &AirPpdu, kind: ControlFrame, is_good: bool, bytes: &mut Vec<u8>) {
    let begin = bytes.len();
    let (transmitter, receiver) = (ppdu.transmitter, ppdu.receiver.unwrap_or([0xff; 6]));
    let data = ppdu.end.since(ppdu.start) + ppdu.answer;
    let Control { space, cts, .. } = ppdu.control;
    let reserved = match kind {
        ControlFrame::Rts => space + cts + space + data,
        ControlFrame::Cts => space + data,
        ControlFrame::Ack | ControlFrame::BlockAck => Duration::ZERO,
    };
    let (subtype, addresses): (u8, &[[u8; 6]]) = match kind {
        ControlFrame::BlockAck => (0x94, &[transmitter, receiver]),
        ControlFrame::Rts => (0xb4, &[receiver, transmitter]),
        ControlFrame::Cts => (0xc4, &[transmitter]),
        ControlFrame::Ack => (0xd4, &[transmitter]),
    };
    bytes.extend([subtype, 0]);
    bytes.extend(microseconds(reserved).to_le_bytes());
    addresses.iter().for_each(|address| bytes.extend(address));
    if kind == ControlFrame::BlockAck {
        block_ack(ppdu, bytes);
    }
    let sum = checksum(&bytes[begin..]);
    bytes.extend((if is_good { sum } else { !sum }).to_le_bytes());
}

/// The fields of a compressed BlockAck (9.3.1.8.3): the first sequence number, and which of those from there on were decoded.
fn block_ack(ppdu: &AirPpdu, bytes: &mut Vec<u8>) {
    const COMPRESSED: u16 = 2 << 1;
    /// The fragment number that stands for a bitmap of 256 bits.
    const LONG: u16 = 4;
    let first = ppdu.mpdus.first().map_or(0, |mpdu| mpdu.sequence);
    let is_long = ppdu.control.has_long_bitmap;
    let mut bitmap = vec![0_u8; if is_long { 32 } else { 8 }];
    for mpdu in ppdu.mpdus.iter().filter(|mpdu| mpdu.is_decoded) {
        let place = usize::from(mpdu.sequence.wrapping_sub(first) & 0xfff);
        if let Some(byte) = bitmap.get_mut(place / 8) {
            *byte |= 1 << (place % 8);
        }
    }
    let priority = ppdu.category.map_or(0, priority);
    bytes.extend((COMPRESSED | u16::from(priority) << 12).to_le_bytes());
    bytes.extend((first << 4 | if is_long { LONG } else { 0 }).to_le_bytes());
    bytes.extend(bitmap);
}

/// A time as the duration field has it.
fn microseconds(time: Duration) -> u16 {
    u16::try_from(time.as_nanos().div_ceil(1_000)).unwrap_or(u16::MAX).min(0x7fff)
}

/// Appends an MPDU to `bytes`, whose first bit is on the air at `began_ns`. `scratch` is room for a packet.
pub(super) fn write(ppdu: &AirPpdu, mpdu: &AirMpdu, began_ns: u64, bytes: &mut Vec<u8>, scratch: &mut Vec<u8>) {
    if let Some(kind) = ppdu.management {
        return write_management(ppdu, (kind, mpdu), began_ns, bytes);
    }
    let begin = bytes.len();
    header(ppdu, mpdu, bytes);
    let is_amsdu = mpdu.packets.len() > 1;
    for (place, own) in mpdu.packets.iter().enumerate() {
        own.packet.complete(scratch);
        if is_amsdu {
            bytes.resize(bytes.len() + subframe_padding(bytes.len(), begin, place, ppdu), 0);
            bytes.extend(own.destination);
            bytes.extend(own.source);
            let length = bytes.len();
            bytes.extend([0; 2]);
            body(scratch, bytes);
            let body = u16::try_from(bytes.len() - length - 2).unwrap_or(u16::MAX);
            bytes[length..length + 2].copy_from_slice(&body.to_be_bytes());
        } else {
            body(scratch, bytes);
        }
    }
    let sum = checksum(&bytes[begin..]);
    // What was not decoded has a wrong checksum.
    bytes.extend((if mpdu.is_decoded { sum } else { !sum }).to_le_bytes());
}

/// Appends a frame of the network itself (9.3.3.1).
fn write_management(ppdu: &AirPpdu, (kind, mpdu): (AirManagement, &AirMpdu), began_ns: u64, bytes: &mut Vec<u8>) {
    let begin = bytes.len();
    bytes.extend([kind.frame_control(), if mpdu.is_retry { RETRY } else { 0 }]);
    bytes.extend(microseconds(ppdu.answer).to_le_bytes());
    let addresses = [ppdu.receiver.unwrap_or([0xff; 6]), ppdu.transmitter, ppdu.network];
    addresses.into_iter().for_each(|address| bytes.extend(address));
    bytes.extend((mpdu.sequence << 4).to_le_bytes());
    let content = bytes.len();
    mpdu.packets.iter().for_each(|own| bytes.extend(own.packet.bytes()));
    if kind.has_time()
        && let Some(time) = bytes[content..].first_chunk_mut::<8>()
    {
        *time = (began_ns / 1_000).to_le_bytes();
    }
    let sum = checksum(&bytes[begin..]);
    bytes.extend((if mpdu.is_decoded { sum } else { !sum }).to_le_bytes());
}

/// Subframes begin at multiples of four bytes behind the header.
fn subframe_padding(at: usize, begin: usize, place: usize, ppdu: &AirPpdu) -> usize {
    // A header with three addresses: those of packets are in the subframes.
    let header = 24 + if ppdu.category.is_some() { 2 } else { 0 };
    let behind = (at - begin).saturating_sub(header);
    if place == 0 { 0 } else { behind.next_multiple_of(4) - behind }
}

fn header(ppdu: &AirPpdu, mpdu: &AirMpdu, bytes: &mut Vec<u8>) {
    let Addresses { way, first, second, third, fourth } = addresses(ppdu, mpdu);
    bytes.push(if ppdu.category.is_some() { QOS_DATA } else { DATA });
    bytes.push(way | if mpdu.is_retry { RETRY } else { 0 });
    bytes.extend(microseconds(ppdu.answer).to_le_bytes());
    [first, second, third].into_iter().for_each(|address| bytes.extend(address));
    bytes.extend((mpdu.sequence << 4).to_le_bytes());
    fourth.into_iter().for_each(|address| bytes.extend(address));
    if let Some(category) = ppdu.category {
        let ack = if ppdu.receiver.is_none() { NO_ACK } else { 0 };
        let amsdu = if mpdu.packets.len() > 1 { AMSDU } else { 0 };
        bytes.extend([priority(category) | ack | amsdu, 0]);
    }
}

/// The addresses of a header, and the bits that say which they are.
struct Addresses {
    way: u8,
    first: [u8; 6],
    second: [u8; 6],
    third: [u8; 6],
    fourth: Option<[u8; 6]>,
}

/// IEEE 802.11-2020, table 9-30. In an A-MSDU the subframes have the addresses of packets.
fn addresses(ppdu: &AirPpdu, mpdu: &AirMpdu) -> Addresses {
    let AirPpdu { transmitter, network, way, .. } = *ppdu;
    let of_packet = mpdu.packets.first().filter(|_| mpdu.packets.len() == 1);
    let (destination, source) = match of_packet {
        Some(AirPacket { destination, source, .. }) => (*destination, *source),
        None => (ppdu.receiver.unwrap_or([0xff; 6]), transmitter),
    };
    let receiver = ppdu.receiver.unwrap_or(destination);
    let three = |bits, third| Addresses { way: bits, first: receiver, second: transmitter, third, fourth: None };
    match way {
        AirWay::ToAccessPoint if source == transmitter => three(TO_DS, destination),
        AirWay::FromAccessPoint if destination == receiver => three(FROM_DS, source),
        AirWay::Direct if source == transmitter && destination == receiver => three(0, network),
        _ => Addresses { fourth: Some(source), ..three(TO_DS | FROM_DS, destination) },
    }
}

/// The user priority that stands for a category (IEEE 802.11-2020, table 10-1).
fn priority(category: AccessCategory) -> u8 {
    match category {
        AccessCategory::Background => 1,
        AccessCategory::BestEffort => 0,
        AccessCategory::Video => 5,
        AccessCategory::Voice => 6,
    }
}

/// Appends what follows the addresses of an Ethernet frame, with a header of LLC.
fn body(ethernet: &[u8], bytes: &mut Vec<u8>) {
    let Some((kind, payload)) = ethernet.get(12..).and_then(<[u8]>::split_first_chunk::<2>) else { return };
    let value = u16::from_be_bytes(*kind);
    if value >= LEAST_TYPE {
        bytes.extend(SNAP);
        bytes.extend(kind);
        bytes.extend_from_slice(payload);
    } else {
        bytes.extend_from_slice(&payload[..payload.len().min(usize::from(value))]);
    }
}

/// The CRC-32 of 802.3 and 802.11 (IEEE 802.11-2020, 9.2.4.8).
fn checksum(bytes: &[u8]) -> u32 {
    const POLYNOMIAL: u32 = 0xedb8_8320;
    let step = |crc: u32| if crc & 1 == 1 { crc >> 1 ^ POLYNOMIAL } else { crc >> 1 };
    !bytes.iter().fold(u32::MAX, |crc, byte| (0..8).fold(crc ^ u32::from(*byte), |crc, _| step(crc)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_has_its_check_value() {
        assert_eq!(checksum(b"123456789"), 0xcbf4_3926);
    }

    #[test]
    fn a_frame_with_a_length_keeps_its_own_header() {
        let mut bytes = Vec::new();
        body(&[&[1; 12][..], &[0, 3, 0x42, 0x42, 3, 9, 9, 9]].concat(), &mut bytes);
        assert_eq!(bytes, [0x42, 0x42, 3]);
        bytes.clear();
        body(&[&[1; 12][..], &[8, 0, 0x45]].concat(), &mut bytes);
        assert_eq!(bytes, [0xaa, 0xaa, 3, 0, 0, 0, 8, 0, 0x45]);
        bytes.clear();
        // What is shorter than an Ethernet header has nothing behind it.
        body(&[1; 13], &mut bytes);
        assert!(bytes.is_empty());
    }
}
