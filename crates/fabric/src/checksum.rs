//! The checksum of the Internet (RFC 1071).

use core::net::IpAddr;

/// The sum of all 16-bit words, folded, not inverted; `sum`: what was summed before. Over bytes with a right checksum it is 0xffff.
pub(crate) fn sum(sum: u16, bytes: &[u8]) -> u16 {
    let words = bytes.chunks(2).map(|pair| u32::from(u16::from_be_bytes([pair[0], pair.get(1).copied().unwrap_or(0)])));
    let total = u32::from(sum) + words.sum::<u32>();
    let once = (total & 0xffff) + (total >> 16);
    u16::try_from((once & 0xffff) + (once >> 16)).expect("two folds leave 16 bits")
}

/// The sum of what the checksum of a message above IPv6 covers beside it (RFC 8200, section 8.1); zero above IPv4.
pub(crate) fn pseudo(source: IpAddr, destination: IpAddr, len: usize, protocol: u8) -> u16 {
    let (IpAddr::V6(source), IpAddr::V6(destination)) = (source, destination) else { return 0 };
    let length = u16::try_from(len).expect("shorter than a packet").to_be_bytes();
    let rest = [length[0], length[1], 0, protocol];
    [&source.octets()[..], &destination.octets(), &rest].into_iter().fold(0, sum)
}

/// Writes the checksum of `message` into it, at `place`.
pub(crate) fn complete(message: &mut [u8], place: usize, pseudo: u16) {
    message[place..place + 2].fill(0);
    let checksum = !sum(pseudo, message);
    message[place..place + 2].copy_from_slice(&checksum.to_be_bytes());
}
