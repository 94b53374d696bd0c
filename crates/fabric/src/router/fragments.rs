//! Packets of IPv4 that are too large for the next link, cut into fragments (RFC 791, sections 2.3 and 3.2).

use super::wire::{ETHERNET, Network, complete, word};
use crate::checksum::sum;
use alloc::vec::Vec;
use netloom_packet::Packet;
use netloom_units::Bytes;

/// The bits beside the offset of a fragment: its sender does not want it cut; more fragments follow.
const WHOLE: u16 = 0x4000;
const MORE: u16 = 0x2000;
const OFFSET: u16 = 0x1fff;
/// Offsets count so many bytes.
const UNIT: usize = 8;

/// What a link of this MTU can carry of a packet, in order: its segments, each whole or in fragments. None if its sender does not
/// want it cut, or it is not IPv4, or the link carries no fragment of it.
#[cold]
pub(super) fn fragments(packet: &Packet, mtu: Bytes) -> Option<Vec<Packet>> {
    let Network::V4(ip) = Network::of(packet.bytes())? else { return None };
    if word(ip, 6) & WHOLE > 0 {
        return None;
    }
    let mtu = usize::try_from(mtu.get()).unwrap_or(usize::MAX);
    let mut left = packet.duplicate();
    let mut cut = Vec::new();
    loop {
        let first = left.split_front(1);
        cut_one(&complete(first.as_ref().unwrap_or(&left)), mtu, &mut cut)?;
        if first.is_none() {
            return Some(cut);
        }
    }
}

/// A frame as the wire carries it.
fn cut_one(frame: &[u8], mtu: usize, cut: &mut Vec<Packet>) -> Option<()> {
    let ip = frame.get(ETHERNET..)?;
    let (header_len, end) = (usize::from(ip[0] & 0x0f) * 4, usize::from(word(ip, 2)));
    let (header, payload) = (ip.get(..header_len)?, ip.get(header_len..end)?);
    let room = mtu.checked_sub(header_len)? / UNIT * UNIT;
    let (offset, more) = (usize::from(word(ip, 6) & OFFSET) * UNIT, word(ip, 6) & MORE > 0);
    if end <= mtu {
        cut.push(Packet::from_bytes(frame[..ETHERNET + end].into()));
        return Some(());
    }
    if room == 0 || (offset + payload.len()) / UNIT > usize::from(OFFSET) {
        return None;
    }
    let of_others = copied(header);
    let mut at = 0;
    while at < payload.len() {
        let head = if at == 0 { header } else { &of_others[..] };
        // Where the header is shorter, there is room for more.
        let most = (mtu - head.len()) / UNIT * UNIT;
        let piece = &payload[at..payload.len().min(at + most)];
        let is_last = at + piece.len() == payload.len();
        let place = u16::try_from((offset + at) / UNIT).ok()? | if is_last && !more { 0 } else { MORE };
        cut.push(Packet::from_bytes(fragment(&frame[..ETHERNET], head, place, piece)?.into_boxed_slice()));
        at += piece.len();
    }
    Some(())
}

fn fragment(ethernet: &[u8], header: &[u8], place: u16, piece: &[u8]) -> Option<Vec<u8>> {
    let mut own = header.to_vec();
    own[0] = 0x40 | u8::try_from(header.len() / 4).ok()?;
    own[2..4].copy_from_slice(&u16::try_from(header.len() + piece.len()).ok()?.to_be_bytes());
    own[6..8].copy_from_slice(&place.to_be_bytes());
    own[10..12].fill(0);
    let checksum = !sum(0, &own);
    own[10..12].copy_from_slice(&checksum.to_be_bytes());
    Some([ethernet, &own, piece].concat())
}

/// The header of all fragments but the first: with those options alone that say they are for all (RFC 791, section 3.1).
fn copied(header: &[u8]) -> Vec<u8> {
    const FIXED: usize = super::wire::V4_HEADER;
    let mut own = header[..FIXED].to_vec();
    let mut options = &header[FIXED..];
    while let [kind, rest @ ..] = options {
        let len = match (kind, rest.first()) {
            (0, _) => break,
            (1, _) => 1,
            (_, Some(len)) if (2..=options.len()).contains(&usize::from(*len)) => usize::from(*len),
            _ => break,
        };
        if kind & 0x80 > 0 {
            own.extend(&options[..len]);
        }
        options = &options[len..];
    }
    own.resize(own.len().next_multiple_of(4), 0);
    own
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Router alert is for all fragments, a timestamp for the first alone; between them nothing.
    #[test]
    fn options_are_copied_that_say_so() {
        let options = [0x94, 4, 0, 0, 1, 0x44, 4, 5, 0, 0x83, 3, 4, 0, 0, 0, 0];
        let header = [&[0x49; 20][..], &options].concat();
        assert_eq!(copied(&header)[20..], [0x94, 4, 0, 0, 0x83, 3, 4, 0]);
        for broken in [&[0x94, 0, 0, 0][..], &[0x94, 9, 0, 0], &[0x94]] {
            assert_eq!(copied(&[&[0x46; 20][..], broken].concat()).len(), 20);
        }
    }
}
