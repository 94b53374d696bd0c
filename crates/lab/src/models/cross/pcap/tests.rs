use super::*;
use proptest::prelude::*;

/// Numbers in one byte order.
fn words(big_endian: bool, values: &[u32]) -> Vec<u8> {
    let bytes = |value: &u32| if big_endian { value.to_be_bytes() } else { value.to_le_bytes() };
    values.iter().flat_map(bytes).collect()
}

/// A pcap file: seconds, fraction and length of each packet, of which four bytes were captured.
fn file(big_endian: bool, magic: u32, link: u32, packets: &[(u32, u32, u32)]) -> Vec<u8> {
    let version = if big_endian { 0x0002_0004 } else { 0x0004_0002 };
    let mut bytes = words(big_endian, &[magic, version, 0, 0, 65_535, link]);
    for (seconds, fraction, len) in packets {
        bytes.extend(words(big_endian, &[*seconds, *fraction, 4, *len, 0]));
    }
    bytes
}

const MICRO: u32 = 0xa1b2_c3d4;
const NANO: u32 = 0xa1b2_3c4d;

fn read(file: &[u8]) -> Vec<(u64, u64)> {
    let packets = packets(file).expect("a capture");
    packets.into_iter().map(|(at, size)| (at.as_nanos(), size.get())).collect()
}

fn wrong(file: &[u8]) -> String {
    packets(file).expect_err("it is wrong")
}

#[test]
fn both_units_and_both_byte_orders_are_read() {
    let recorded = [(9, 999_000, 1_514), (10, 500, 54)];
    for big_endian in [false, true] {
        assert_eq!(read(&file(big_endian, MICRO, 1, &recorded)), [(0, 1_500), (1_500_000, 40)]);
        assert_eq!(read(&file(big_endian, NANO, 1, &recorded)), [(0, 1_500), (999_001_500, 40)]);
    }
}

#[test]
fn the_header_of_the_link_is_not_counted() {
    for (link, header) in [(1, 14), (101, 0), (228, 0), (0, 4), (113, 16), (276, 20)] {
        assert_eq!(read(&file(false, MICRO, link, &[(0, 0, 100 + header)])), [(0, 100)], "link type {link}");
    }
    assert!(
        wrong(&file(false, MICRO, 105, &[(0, 0, 100)])).starts_with("packet 1: it was captured on a link of type 105")
    );
    assert!(wrong(&file(false, MICRO, 1, &[(0, 0, 13)])).starts_with("packet 1: its 13 bytes"));
}

#[test]
fn what_is_no_capture_or_has_no_packets_is_refused() {
    let whole = file(false, MICRO, 1, &[(0, 0, 60), (0, 1, 60)]);
    assert!(wrong(b"time,size\n0,1500\n").starts_with("this is not a capture file"));
    assert!(wrong(b"").starts_with("this is not a capture file"));
    assert_eq!(wrong(&whole[..24]), "this file has no packetss");
    for end in [25, 40, 43] {
        assert_eq!(wrong(&whole[..end]), "the file ends within packet 1", "{end}");
    }
    assert_eq!(wrong(&whole[..whole.len() - 1]), "the file ends within packet 2");
    let backwards = file(false, MICRO, 1, &[(1, 0, 60), (0, 999_999, 60)]);
    assert!(wrong(&backwards).starts_with("packet 2 is earlier than the one before it"));
}

/// A pcapng file of one interface whose times are in 10^-9 s, and one packet per time (draft-ietf-opsawg-pcapng,
/// sections 4.1 to 4.3).
fn pcapng(big_endian: bool, times: &[u32]) -> Vec<u8> {
    let words = |values: &[u32]| words(big_endian, values);
    let version = if big_endian { 0x0001_0000 } else { 1 };
    let mut bytes = words(&[0x0a0d_0d0a, 28, 0x1a2b_3c4d, version, u32::MAX, u32::MAX, 28]);
    // Link type 1 and a reserved half-word; option 9 with one byte, and the end of options.
    let (link, resolution) = if big_endian { (0x0001_0000, 0x0009_0001) } else { (1, 0x0001_0009) };
    bytes.extend(words(&[1, 32, link, 0, resolution]));
    bytes.extend([9, 0, 0, 0]);
    bytes.extend(words(&[0, 32]));
    for time in times {
        bytes.extend(words(&[6, 36, 0, 0, *time, 4, 114, 0, 36]));
    }
    bytes
}

#[test]
fn pcapng_is_read_with_the_unit_of_its_interface() {
    for big_endian in [false, true] {
        assert_eq!(read(&pcapng(big_endian, &[5, 12])), [(0, 100), (7, 100)]);
    }
    assert_eq!(wrong(&pcapng(false, &[])), "this file has no packetss");
    let whole = pcapng(false, &[5]);
    assert_eq!(wrong(&whole[..whole.len() - 1]), "the file ends within packet 1");
}

const FOUR: &[u8] = include_bytes!("../../../../../../tests/golden/pcap/four.pcap");

proptest! {
    /// Whatever happened to a capture file, it is read or refused.
    #[test]
    fn a_damaged_file_is_read_or_refused(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..8),
        len in 0..=FOUR.len(),
        pcapng in any::<bool>(),
    ) {
        let mut file = FOUR.to_vec();
        changes.iter().for_each(|(place, byte)| file[place.index(FOUR.len())] = *byte);
        file.truncate(len);
        if pcapng {
            file.splice(..4.min(len), PCAPNG);
        }
        if let Ok(read) = packets(&file) {
            prop_assert!(!read.is_empty() && read.is_sorted_by_key(|(at, _)| *at));
        }
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = packets(&bytes);
        let _ = packets(&[&PCAPNG[..], &bytes].concat());
    }
}
