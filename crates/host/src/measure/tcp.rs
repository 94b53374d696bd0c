//! The figures of a TCP connection: where the kernel's messages have them, and their columns.

use std::fmt::Write;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use netlink_packet_core::NlasIterator;
use serde::{Deserialize, Serialize};
use serde_json::Number;

/// Bytes of `inet_diag_msg` of linux/inet_diag.h, and where its parts are.
const MESSAGE: usize = 72;
const PORTS: usize = 4;
const ADDRESSES: [usize; 2] = [8, 24];
const COOKIE: usize = 44;
const INODE: usize = 68;

// Attributes of the same header.
const INET_DIAG_INFO: u16 = 2;
const INET_DIAG_VEGASINFO: u16 = 3;
const INET_DIAG_CONG: u16 = 4;
const INET_DIAG_DCTCPINFO: u16 = 9;
const INET_DIAG_BBRINFO: u16 = 16;

/// A slow-start threshold that was never set (TCP_INFINITE_SSTHRESH of net/tcp.h).
const NO_THRESHOLD: u64 = 0x7fff_ffff;
const NO_U32: u64 = u32::MAX as u64;
const NO_U64: u64 = u64::MAX;

/// Where a figure of `tcp_info` (linux/tcp.h) is, how many bytes it has, what it is multiplied by for its column, and the value that
/// stands for none.
#[derive(Clone, Copy)]
struct Figure {
    column: &'static str,
    offset: usize,
    width: usize,
    factor: u64,
    none: Option<u64>,
}

const fn number(column: &'static str, offset: usize) -> Figure {
    Figure { column, offset, width: 4, factor: 1, none: None }
}

const fn long(column: &'static str, offset: usize) -> Figure {
    Figure { column, offset, width: 8, factor: 1, none: None }
}

const fn unless(none: u64, figure: Figure) -> Figure {
    Figure { none: Some(none), ..figure }
}

/// Of a rate in bytes per second.
const fn in_bits(figure: Figure) -> Figure {
    Figure { factor: 8, ..figure }
}

const FIGURES: [Figure; 27] = [
    number("cwnd_packets", 80),
    unless(NO_THRESHOLD, number("ssthresh_packets", 76)),
    unless(0, number("srtt_us", 68)),
    unless(0, number("rttvar_us", 72)),
    unless(NO_U32, number("min_rtt_us", 148)),
    number("rto_us", 8),
    number("mss_bytes", 16),
    in_bits(long("delivery_rate_bits_per_second", 160)),
    unless(NO_U64, in_bits(long("pacing_rate_bits_per_second", 104))),
    long("bytes_sent", 200),
    long("bytes_acked", 120),
    long("bytes_received", 128),
    long("bytes_retransmitted", 208),
    number("unacked_packets", 24),
    number("sacked_packets", 28),
    number("lost_packets", 32),
    number("retransmitted_in_flight_packets", 36),
    number("retransmissions", 100),
    number("delivered_packets", 192),
    number("delivered_ce_packets", 196),
    number("unsent_bytes", 144),
    number("send_window_bytes", 228),
    number("receive_space_bytes", 96),
    number("reordering_packets", 88),
    long("busy_us", 168),
    long("receiver_limited_us", 176),
    long("buffer_limited_us", 184),
];

/// What an algorithm tells of itself: its attribute, and where each column is in it.
struct Algorithm {
    attribute: u16,
    columns: &'static [(&'static str, Place)],
}

#[derive(Clone, Copy)]
enum Place {
    U16(usize),
    U32(usize),
    /// Bytes per second, as bits.
    Rate(usize),
    /// A 32-bit number in so many parts of one.
    Parts(usize, u32),
}

/// `tcpvegas_info`, `tcp_dctcp_info` and `tcp_bbr_info` of linux/inet_diag.h. Gains of BBR are in 256ths, DCTCP's alpha in 1024ths.
const ALGORITHMS: [Algorithm; 3] = [
    Algorithm {
        attribute: INET_DIAG_VEGASINFO,
        columns: &[
            ("vegas_enabled", Place::U32(0)),
            ("vegas_rtt_count", Place::U32(4)),
            ("vegas_rtt_us", Place::U32(8)),
            ("vegas_min_rtt_us", Place::U32(12)),
        ],
    },
    Algorithm {
        attribute: INET_DIAG_DCTCPINFO,
        columns: &[
            ("dctcp_enabled", Place::U16(0)),
            ("dctcp_ce_state", Place::U16(2)),
            ("dctcp_alpha", Place::Parts(4, 1024)),
            ("dctcp_marked_bytes", Place::U32(8)),
            ("dctcp_acked_bytes", Place::U32(12)),
        ],
    },
    Algorithm {
        attribute: INET_DIAG_BBRINFO,
        columns: &[
            ("bbr_bandwidth_bits_per_second", Place::Rate(0)),
            ("bbr_min_rtt_us", Place::U32(8)),
            ("bbr_pacing_gain", Place::Parts(12, 256)),
            ("bbr_cwnd_gain", Place::Parts(16, 256)),
        ],
    },
];

/// As linux/tcp.h numbers what congestion control does, and net/tcp_states.h the states of connections.
const CA_STATES: [&str; 5] = ["open", "disorder", "cwr", "recovery", "loss"];
const STATES: [&str; 12] = [
    "unknown",
    "established",
    "syn-sent",
    "syn-received",
    "fin-wait-1",
    "fin-wait-2",
    "time-wait",
    "closed",
    "close-wait",
    "last-ack",
    "listening",
    "closing",
];

/// The names of the columns that [`TcpSample::write`] writes, with commas between them.
pub fn columns() -> String {
    let figures = FIGURES.iter().map(|figure| figure.column);
    let own = ALGORITHMS.iter().flat_map(|algorithm| algorithm.columns).map(|(name, _)| *name);
    let first = ["connection", "local", "remote", "congestion", "state", "ca_state", "app_limited"];
    first.into_iter().chain(figures).chain(own).collect::<Vec<_>>().join(",")
}

/// Who is joined by a connection, and how it is controlled.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Connection {
    pub(super) local: SocketAddr,
    pub(super) remote: SocketAddr,
    /// The algorithm's name.
    pub(super) congestion: String,
}

/// A connection at one instant.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Row {
    pub(super) state: u8,
    pub(super) ca_state: u8,
    pub(super) app_limited: bool,
    /// As [`FIGURES`] has them; 0 if there is none, else one more than the value.
    pub(super) figures: Vec<u64>,
    /// Which of [`ALGORITHMS`] reported something; one more than its place.
    pub(super) algorithm: u8,
    /// What it reported, in the order of its columns.
    pub(super) own: Vec<u64>,
}

/// By what a socket is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Socket {
    /// To the kernel.
    pub(super) cookie: u64,
    /// To who looks at a process's files; 0 of one that is none's any more.
    pub(super) inode: u32,
}

/// Reads the message about a connection. None if it lacks something, as it does of a socket that has just been closed.
pub(super) fn read(message: &[u8]) -> Option<(Socket, Connection, Row)> {
    let header = message.get(..MESSAGE)?;
    let address = |at: usize| match i32::from(header[0]) {
        libc::AF_INET => Some(IpAddr::from(Ipv4Addr::from(<[u8; 4]>::try_from(&header[at..at + 4]).ok()?))),
        libc::AF_INET6 => {
            // A socket of IPv6 that carries IPv4.
            Some(Ipv6Addr::from(<[u8; 16]>::try_from(&header[at..at + 16]).ok()?).to_canonical())
        }
        _ => None,
    };
    let port = |at: usize| u16::from_be_bytes([header[at], header[at + 1]]);
    let [local, remote] = ADDRESSES.map(address);
    let mut connection = Connection {
        local: SocketAddr::new(local?, port(PORTS)),
        remote: SocketAddr::new(remote?, port(PORTS + 2)),
        congestion: String::new(),
    };
    let mut row = Row { state: header[1], ..Row::default() };
    for attribute in NlasIterator::new(&message[MESSAGE..]).map_while(Result::ok) {
        let value = attribute.value();
        match attribute.kind() {
            INET_DIAG_INFO => {
                row.ca_state = *value.get(1)?;
                row.app_limited = value.get(7)? & 1 == 1;
                row.figures = FIGURES.iter().map(|figure| figure.read(value)).collect();
            }
            INET_DIAG_CONG => {
                let name = value.split(|byte| *byte == 0).next().unwrap_or_default();
                connection.congestion = String::from_utf8_lossy(name).into_owned();
            }
            kind => row.read_own(kind, value),
        }
    }
    let inode = u32::try_from(at(header, INODE, 4)?).ok()?;
    let socket = Socket { cookie: at(header, COOKIE, 8)?, inode };
    (!row.figures.is_empty()).then_some((socket, connection, row))
}

impl Row {
    /// The state's name.
    pub(super) fn state(&self) -> &'static str {
        STATES.get(usize::from(self.state)).unwrap_or(&"unknown")
    }

    /// The name of what congestion control does.
    pub(super) fn ca_state(&self) -> &'static str {
        CA_STATES.get(usize::from(self.ca_state)).unwrap_or(&"unknown")
    }

    /// What there is of all columns behind the texts, with their names.
    pub(super) fn figures(&self) -> impl Iterator<Item = (&'static str, Number)> + '_ {
        let figures = FIGURES.iter().zip(&self.figures);
        let common = figures.filter_map(|(figure, value)| Some((figure.column, value.checked_sub(1)?.into())));
        let algorithm = usize::from(self.algorithm).checked_sub(1).and_then(|place| ALGORITHMS.get(place));
        let columns = algorithm.map_or(&[][..], |algorithm| algorithm.columns);
        let own = columns.iter().zip(&self.own);
        common.chain(own.filter_map(|((column, kind), value)| Some((*column, kind.number(*value)?))))
    }

    fn read_own(&mut self, attribute: u16, value: &[u8]) {
        let Some(place) = ALGORITHMS.iter().position(|algorithm| algorithm.attribute == attribute) else { return };
        let read = |(_, kind): &(&str, Place)| match *kind {
            Place::U16(offset) => at(value, offset, 2),
            Place::U32(offset) | Place::Parts(offset, _) => at(value, offset, 4),
            Place::Rate(offset) => at(value, offset, 8),
        };
        if let Some(own) = ALGORITHMS[place].columns.iter().map(read).collect() {
            self.algorithm = u8::try_from(place + 1).expect("a few algorithms");
            self.own = own;
        }
    }
}

impl Figure {
    /// Older kernels tell less.
    fn read(&self, info: &[u8]) -> u64 {
        let value = at(info, self.offset, self.width).filter(|value| Some(*value) != self.none);
        value.map_or(0, |value| value.saturating_mul(self.factor).saturating_add(1))
    }
}

/// The number of so many bytes at this place.
fn at(bytes: &[u8], offset: usize, width: usize) -> Option<u64> {
    let mut number = [0; 8];
    number[..width].copy_from_slice(bytes.get(offset..offset + width)?);
    Some(u64::from_le_bytes(number))
}

/// How many figures a row has, and how many an algorithm of this place tells.
pub(super) const FIGURES_OF_ROW: usize = FIGURES.len();
pub(super) fn figures_of(algorithm: u8) -> Option<usize> {
    match algorithm {
        0 => Some(0),
        place => ALGORITHMS.get(usize::from(place) - 1).map(|known| known.columns.len()),
    }
}

/// A connection at the instant of a sample.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TcpSample<'a> {
    /// When, by the node's clock, in nanoseconds.
    pub time_ns: u64,
    /// The connection's number in its node, in the order in which they were seen first.
    pub number: u64,
    pub(super) connection: &'a Connection,
    pub(super) row: &'a Row,
}

impl TcpSample<'_> {
    /// The value of a column; none of what it does not have, and of columns that are no figures of all connections.
    pub fn value(&self, column: &str) -> Option<u64> {
        let place = FIGURES.iter().position(|figure| figure.column == column)?;
        self.row.figures.get(place)?.checked_sub(1)
    }

    /// Appends the values of all columns, with commas between them. What there is none of is empty.
    pub fn write(&self, text: &mut String) {
        let Self { number, connection, row, .. } = self;
        let Connection { local, remote, congestion } = connection;
        let (state, ca_state) = (row.state(), row.ca_state());
        write!(text, "{number},{local},{remote},{congestion},{state},{ca_state},{}", u8::from(row.app_limited))
            .expect("writing to a string");
        for figure in &row.figures {
            text.push(',');
            if let Some(value) = figure.checked_sub(1) {
                write!(text, "{value}").expect("writing to a string");
            }
        }
        for (place, algorithm) in (1..).zip(&ALGORITHMS) {
            for (column, (_, kind)) in algorithm.columns.iter().enumerate() {
                text.push(',');
                if row.algorithm == place {
                    write_own(text, *kind, row.own.get(column).copied().unwrap_or_default());
                }
            }
        }
    }
}

impl Place {
    /// The column's value, as [`write_own`] writes it.
    fn number(self, value: u64) -> Option<Number> {
        match self {
            Self::U16(_) | Self::U32(_) => Some(value.into()),
            Self::Rate(_) => Some(value.saturating_mul(8).into()),
            Self::Parts(_, parts) => Number::from_f64((value as f64 / f64::from(parts) * 1e3).round() / 1e3),
        }
    }
}

fn write_own(text: &mut String, kind: Place, value: u64) {
    match kind {
        Place::U16(_) | Place::U32(_) => write!(text, "{value}"),
        Place::Rate(_) => write!(text, "{}", value.saturating_mul(8)),
        Place::Parts(_, parts) => write!(text, "{:.3}", value as f64 / f64::from(parts)),
    }
    .expect("writing to a string");
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    fn attribute(kind: u16, value: &[u8]) -> Vec<u8> {
        let length = u16::try_from(4 + value.len()).unwrap();
        let mut bytes = [&length.to_ne_bytes()[..], &kind.to_ne_bytes(), value].concat();
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes
    }

    /// A message about a connection from 10.0.0.1 to 10.0.0.2 with this window, which BBR controls.
    pub(crate) fn message(cookie: u64, cwnd: u32) -> Vec<u8> {
        let mut header = vec![0; MESSAGE];
        header[0] = u8::try_from(libc::AF_INET).unwrap();
        header[1] = 1;
        header[4..8].copy_from_slice(&[0x9c, 0x40, 0x14, 0x51]);
        header[8..12].copy_from_slice(&[10, 0, 0, 1]);
        header[24..28].copy_from_slice(&[10, 0, 0, 2]);
        header[44..52].copy_from_slice(&cookie.to_le_bytes());
        let mut info = vec![0; 232];
        info[7] = 1;
        info[76..80].copy_from_slice(&0x7fff_ffff_u32.to_le_bytes());
        info[80..84].copy_from_slice(&cwnd.to_le_bytes());
        info[104..112].copy_from_slice(&1_250_000_u64.to_le_bytes());
        let mut bbr = vec![0; 20];
        bbr[0..4].copy_from_slice(&125_000_u32.to_le_bytes());
        bbr[8..12].copy_from_slice(&20_000_u32.to_le_bytes());
        bbr[12..16].copy_from_slice(&739_u32.to_le_bytes());
        let attributes = [(INET_DIAG_INFO, info), (INET_DIAG_CONG, b"bbr\0".to_vec()), (INET_DIAG_BBRINFO, bbr)];
        attributes.iter().fold(header, |all, (kind, value)| [all, attribute(*kind, value)].concat())
    }

    #[test]
    fn a_message_becomes_a_row() {
        let (socket, connection, row) = read(&message(7, 10)).unwrap();
        assert_eq!((socket.cookie, connection.local.to_string().as_str()), (7, "10.0.0.1:40000"));
        let mut text = String::new();
        TcpSample { time_ns: 0, number: 3, connection: &connection, row: &row }.write(&mut text);
        let (columns, values) = (columns(), text.split(',').collect::<Vec<_>>());
        assert_eq!(columns.split(',').count(), values.len());
        let value = |name: &str| values[columns.split(',').position(|column| column == name).unwrap()];
        assert_eq!((value("connection"), value("remote")), ("3", "10.0.0.2:5201"));
        assert_eq!((value("congestion"), value("state"), value("ca_state")), ("bbr", "established", "open"));
        assert_eq!((value("cwnd_packets"), value("ssthresh_packets"), value("srtt_us")), ("10", "", ""));
        assert_eq!((value("pacing_rate_bits_per_second"), value("app_limited")), ("10000000", "1"));
        assert_eq!((value("bbr_bandwidth_bits_per_second"), value("bbr_pacing_gain")), ("1000000", "2.887"));
        assert_eq!((value("vegas_rtt_us"), value("dctcp_alpha")), ("", ""));
    }

    #[test]
    fn what_is_cut_off_is_not_read() {
        let whole = message(7, 10);
        for length in 0..whole.len() {
            read(&whole[..length]);
        }
    }
}
