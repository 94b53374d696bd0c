//! When the packets of a capture file came, and how long they were.
//!
//! Formats: pcap with times in micro- or nanoseconds and either byte order (draft-ietf-opsawg-pcap), and pcapng
//! (draft-ietf-opsawg-pcapng).

use netloom_units::{Bytes, Duration};
use pcap_parser::nom::Err as Stopped;
use pcap_parser::pcap::{LegacyPcapBlock, PcapHeader, parse_pcap_frame, parse_pcap_frame_be, parse_pcap_header};
use pcap_parser::pcapng::{Block, InterfaceDescriptionBlock};
use pcap_parser::{Linktype, PcapBlockOwned, PcapError, PcapNGSlice};

/// The beginning of a pcapng file, the same in both byte orders.
const PCAPNG: [u8; 4] = [0x0a, 0x0d, 0x0d, 0x0a];
const NANOSECONDS: u64 = 1_000_000_000;

/// Nanoseconds of some clock, and the size from the IP header on.
type Record = (u128, Bytes);

/// When each packet came, after the first, and its size from the IP header on.
pub(super) fn packets(file: &[u8]) -> Result<Vec<(Duration, Bytes)>, String> {
    let records = if file.starts_with(&PCAPNG) { pcapng(file)? } else { pcap(file)? };
    let Some((first, _)) = records.first().copied() else { return Err("this file has no packetss".into()) };
    if let Some(place) = records.windows(2).position(|pair| pair[1].0 < pair[0].0) {
        let place = place + 2;
        return Err(format!("packet {place} is earlier than the one before it: `reordercap` puts them in order"));
    }
    let after = |at: u128| u64::try_from(at - first).map_err(|_| "it is longer than 584 years".to_owned());
    records.into_iter().map(|(at, size)| Ok((Duration::from_nanos(after(at)?), size))).collect()
}

fn pcap(file: &[u8]) -> Result<Vec<Record>, String> {
    let no_capture = |_| "this is not a capture file: give a pcap or pcapng file".to_owned();
    let (mut rest, header) = parse_pcap_header(file).map_err(no_capture)?;
    if header.is_modified_format() {
        return Err("this is Kuznetzov's modified pcap format: `editcap -F pcap` writes it as pcap".into());
    }
    let mut records = Vec::new();
    while !rest.is_empty() {
        let parse = if header.is_bigendian() { parse_pcap_frame_be } else { parse_pcap_frame };
        let (behind, block) = parse(rest).map_err(|error| cut_off(records.len() + 1, &error))?;
        records.push(pcap_record(&header, &block).map_err(|wrong| format!("packet {}: {wrong}", records.len() + 1))?);
        rest = behind;
    }
    Ok(records)
}

fn pcap_record(header: &PcapHeader, block: &LegacyPcapBlock<'_>) -> Result<Record, String> {
    let unit = if header.is_nanosecond_precision() { 1 } else { 1_000 };
    let at = u128::from(block.ts_sec) * u128::from(NANOSECONDS) + u128::from(block.ts_usec) * unit;
    Ok((at, size(header.network, block.origlen)?))
}

fn pcapng(file: &[u8]) -> Result<Vec<Record>, String> {
    let blocks = PcapNGSlice::from_slice(file).map_err(|error| cut_off(1, &error))?;
    let (mut interfaces, mut records) = (Vec::new(), Vec::new());
    for block in blocks {
        let number = records.len() + 1;
        let PcapBlockOwned::NG(block) = block.map_err(|error| cut_off(number, &error))? else { continue };
        match block {
            Block::SectionHeader(_) => interfaces.clear(),
            Block::InterfaceDescription(interface) => interfaces.push(interface),
            Block::EnhancedPacket(packet) => {
                let interface = interfaces.get(packet.if_id as usize);
                let interface = interface
                    .ok_or_else(|| format!("packet {number} names an interface that the file does not describe"))?;
                let at = pcapng_time(interface, u64::from(packet.ts_high) << 32 | u64::from(packet.ts_low));
                let record = at.and_then(|at| Ok((at, size(interface.linktype, packet.origlen)?)));
                records.push(record.map_err(|wrong| format!("packet {number}: {wrong}"))?);
            }
            Block::SimplePacket(_) => return Err(format!("packet {number} has no time")),
            _ => {}
        }
    }
    Ok(records)
}

/// In nanoseconds, rounded down where the capture is finer.
fn pcapng_time(interface: &InterfaceDescriptionBlock<'_>, units: u64) -> Result<u128, String> {
    let resolution = interface.ts_resolution().ok_or("the unit of its times is not a power of ten")?;
    let nanos = u128::from(units) * u128::from(NANOSECONDS) / u128::from(resolution);
    let offset = i128::from(interface.ts_offset()) * i128::from(NANOSECONDS);
    nanos.checked_add_signed(offset).ok_or_else(|| "its time is before the beginning of its clock".to_owned())
}

/// What is left of a packet without the header of its link.
fn size(link: Linktype, len: u32) -> Result<Bytes, String> {
    let header = match link {
        Linktype::ETHERNET => 14,
        Linktype::RAW | Linktype::IPV4 | Linktype::IPV6 => 0,
        Linktype::NULL | Linktype::LOOP => 4,
        Linktype::LINUX_SLL => 16,
        Linktype::LINUX_SLL2 => 20,
        Linktype(other) => {
            return Err(format!("it was captured on a link of type {other}, whose headers netloom does not know"));
        }
    };
    let rest =
        len.checked_sub(header).ok_or_else(|| format!("its {len} bytes are fewer than the link's header has"))?;
    Ok(Bytes::new(u64::from(rest)))
}

fn cut_off(number: usize, error: &Stopped<PcapError<&[u8]>>) -> String {
    match error {
        Stopped::Incomplete(_) | Stopped::Error(PcapError::Incomplete(_)) => {
            format!("the file ends within packet {number}")
        }
        _ => format!("packet {number} cannot be read"),
    }
}

#[cfg(test)]
mod tests;
