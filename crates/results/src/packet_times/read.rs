//! The TCP segments of a capture file in the format pcapng (draft-ietf-opsawg-pcapng).

use pcap_parser::pcapng::{Block, InterfaceDescriptionBlock, OptionCode};
use pcap_parser::{Linktype, PcapBlockOwned, PcapNGSlice};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

const NANOSECONDS: u64 = 1_000_000_000;
const ETHERNET_HEADER: usize = 14;
const VLAN_TAG: usize = 4;
const TCP: u8 = 6;
const SYN: u8 = 0x02;
const FIN: u8 = 0x01;

/// A TCP segment and where and when it was seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Seen {
    /// The interface's number in the file.
    pub(super) interface: usize,
    pub(super) at_ns: u64,
    pub(super) segment: Segment,
}

/// What its headers say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Segment {
    pub(super) from: SocketAddr,
    pub(super) to: SocketAddr,
    pub(super) sequence: u32,
    pub(super) syn: bool,
    pub(super) fin: bool,
    /// Bytes behind the TCP header.
    pub(super) payload: u32,
    /// Bytes from the IP header on.
    pub(super) size: u32,
}

/// The names of the file's interfaces, and its TCP segments in the order of the file.
pub(super) fn segments(file: &[u8]) -> Result<(Vec<String>, Vec<Seen>), String> {
    let wrong = "this is not a pcapng file: `editcap -F pcapng OLD NEW` converts others";
    let blocks = PcapNGSlice::from_slice(file).map_err(|_| wrong.to_owned())?;
    let (mut interfaces, mut names, mut seen) = (Vec::new(), Vec::new(), Vec::new());
    let mut section = 0;
    for (number, block) in blocks.enumerate() {
        let cut_off = |_| format!("block {} of the file cannot be read: is it complete?", number + 1);
        let PcapBlockOwned::NG(block) = block.map_err(cut_off)? else { continue };
        match block {
            // Each section numbers its interfaces from zero.
            Block::SectionHeader(_) => section = interfaces.len(),
            Block::InterfaceDescription(interface) => {
                names.push(name(&interface, interfaces.len()));
                interfaces.push(interface);
            }
            Block::EnhancedPacket(packet) => {
                let place = section + packet.if_id as usize;
                let interface =
                    interfaces.get(place).ok_or("a packet names an interface that the file does not describe")?;
                if interface.linktype != Linktype::ETHERNET {
                    return Err(format!("interface {} is not an Ethernet", names[place]));
                }
                let at_ns = nanoseconds(interface, u64::from(packet.ts_high) << 32 | u64::from(packet.ts_low))?;
                let kept = packet.data.get(..packet.caplen as usize).unwrap_or(packet.data);
                seen.extend(segment(kept).map(|segment| Seen { interface: place, at_ns, segment }));
            }
            _ => {}
        }
    }
    Ok((names, seen))
}

fn name(interface: &InterfaceDescriptionBlock<'_>, number: usize) -> String {
    let option = interface.options.iter().find(|option| option.code == OptionCode::IfName);
    let text = option.and_then(|option| option.as_str().ok());
    text.map_or_else(|| number.to_string(), |text| text.trim_end_matches('\0').to_owned())
}

fn nanoseconds(interface: &InterfaceDescriptionBlock<'_>, units: u64) -> Result<u64, String> {
    let resolution = interface.ts_resolution().ok_or("the unit of its times is not a power of ten")?;
    let nanos = u128::from(units) * u128::from(NANOSECONDS) / u128::from(resolution);
    u64::try_from(nanos).map_err(|_| "a packet comes more than 584 years after the beginning of time".into())
}

/// The TCP segment in an Ethernet frame, of which the end may have been cut off. RFC 791, RFC 8200, RFC 9293.
fn segment(frame: &[u8]) -> Option<Segment> {
    let mut at = ETHERNET_HEADER;
    let mut ethertype = word(frame, 12)?;
    while matches!(ethertype, 0x8100 | 0x88a8) {
        ethertype = word(frame, at + 2)?;
        at += VLAN_TAG;
    }
    let ip = frame.get(at..)?;
    let (source, destination, header, size) = match ethertype {
        0x0800 => v4(ip)?,
        0x86dd => v6(ip)?,
        _ => return None,
    };
    let tcp = ip.get(header..)?;
    let (flags, offset) = (*tcp.get(13)?, usize::from(*tcp.get(12)? >> 4) * 4);
    let payload = usize::try_from(size).ok()?.checked_sub(header + offset)?;
    Some(Segment {
        from: SocketAddr::new(source, word(tcp, 0)?),
        to: SocketAddr::new(destination, word(tcp, 2)?),
        sequence: u32::from(word(tcp, 4)?) << 16 | u32::from(word(tcp, 6)?),
        syn: flags & SYN != 0,
        fin: flags & FIN != 0,
        payload: u32::try_from(payload).ok()?,
        size,
    })
}

/// Addresses, length of the header, length of the packet.
type Network = (IpAddr, IpAddr, usize, u32);

fn v4(ip: &[u8]) -> Option<Network> {
    let address = |at: usize| Some(Ipv4Addr::from(<[u8; 4]>::try_from(ip.get(at..at + 4)?).ok()?));
    let header = usize::from(ip.first()? & 0x0f) * 4;
    // The fragments of a segment behind the first have no TCP header.
    let is_first = word(ip, 6)? & 0x1fff == 0;
    let is_tcp = *ip.get(9)? == TCP && is_first;
    is_tcp.then_some((address(12)?.into(), address(16)?.into(), header, u32::from(word(ip, 2)?)))
}

fn v6(ip: &[u8]) -> Option<Network> {
    let address = |at: usize| Some(Ipv6Addr::from(<[u8; 16]>::try_from(ip.get(at..at + 16)?).ok()?));
    let is_tcp = *ip.get(6)? == TCP;
    is_tcp.then_some((address(8)?.into(), address(24)?.into(), 40, 40 + u32::from(word(ip, 4)?)))
}

fn word(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes([*bytes.get(at)?, *bytes.get(at + 1)?]))
}
