//! Faults of single packets: which packet of many is treated, and what becomes of it.
//!
//! A fault chooses by a filter, by what a packet is, and by its ordinal among those that are like that. Everything is counted from the
//! instant at which the fault begins. The segments of a train are packets of their own.

use crate::Filter;
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;
use netloom_units::{Bytes, Duration, Probability};

/// A fault of packets that enter a pipe.
#[derive(Clone, Debug, PartialEq)]
pub struct PacketFault {
    /// A number by which firings tell of the fault.
    pub id: u32,
    /// The filter of the packets. Those that end connections at once match it in either direction.
    pub filter: Filter,
    /// The kinds of TCP segments of which a packet is one; empty: any packet.
    pub kinds: Vec<TcpKind>,
    /// The name about which a packet asks DNS, or answers: it, or one below it. None: any packet.
    pub question: Option<Box<str>>,
    /// The size from the IP header on that a packet exceeds.
    pub longer: Option<Bytes>,
    /// Behind which part of its connection a packet is.
    pub after: After,
    /// Whether the packets of each flow are counted for themselves.
    pub is_by_flow: bool,
    /// The ordinal of the first packet that is treated, from 1.
    pub nth: u64,
    /// How many packets are treated from then on; none: all.
    pub count: Option<u64>,
    /// The probability with which each of these is treated.
    pub probability: Probability,
    /// How long the fault lasts; none: as long as the pipe.
    pub lasts: Option<Duration>,
    /// The treatment.
    pub action: FaultAction,
}

/// A kind of TCP segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TcpKind {
    /// Opens a connection or accepts one (SYN).
    Syn,
    /// Has payload.
    Data,
    /// Acknowledges, and does nothing else.
    Ack,
    /// Is the last one of its sender (FIN).
    Fin,
    /// Resets its connection (RST).
    Rst,
}

/// The part of a TCP connection that is spared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum After {
    /// No part.
    #[default]
    Nothing,
    /// The handshake: SYN, SYN with ACK, and the ACK without payload that follows a SYN (RFC 9293, section 3.5); or the reset that refuses it.
    Handshake,
    /// So much payload in the direction of the pipe; what was sent again does not count twice.
    Payload(Bytes),
}

/// The treatment of a packet by a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultAction {
    /// The packet is dropped.
    Drop,
    /// The packet is held for this time in front of the pipe.
    Hold(Duration),
    /// The packet is followed by a copy.
    Duplicate,
    /// A bit of the packet is flipped, as [`CorruptConfig`](crate::CorruptConfig) does; or all bits of the byte of this number, from
    /// zero at the IP header.
    Corrupt(Option<u32>),
    /// The packet gets the mark of congestion, if its sender is capable of it.
    Mark,
    /// The packet loses its mark of congestion.
    Unmark,
    /// The segment of TCP is dropped, and resets go to its ends.
    Reset(ResetEnds),
    /// The message of DNS in a datagram of UDP is answered, or says something else.
    Dns(DnsFault),
    /// All connections that match end at once: each gets a reset at the end of the pipe.
    EndConnections,
}

/// The treatment of a message of DNS (RFC 1035) that a datagram of UDP carries from or to port 53.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DnsFault {
    /// The query is dropped, and its sender gets a response with this code.
    Answer(DnsCode),
    /// The addresses in the response are in the opposite order.
    Reverse,
    /// The response says what the first one to the same question said since the fault began.
    Stale,
}

/// The code of a response of DNS (RFC 1035, section 4.1.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DnsCode {
    /// No error, and no record: the name has none of the type (RFC 2308, section 2.2).
    Empty = 0,
    /// The server was unable to answer.
    ServerFailure = 2,
    /// The name does not exist.
    NoName = 3,
    /// The server does not want to answer.
    Refused = 5,
}

impl DnsFault {
    fn word(self) -> &'static str {
        match self {
            Self::Answer(DnsCode::Empty) => "empty",
            Self::Answer(DnsCode::ServerFailure) => "servfail",
            Self::Answer(DnsCode::NoName) => "nxdomain",
            Self::Answer(DnsCode::Refused) => "refused",
            Self::Reverse => "reverse",
            Self::Stale => "stale",
        }
    }
}

/// The ends of a connection that get a reset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResetEnds {
    /// Both.
    Both,
    /// The one that sent the packet.
    Sender,
    /// The one for which the packet is.
    Receiver,
}

impl FaultAction {
    /// Whether a packet may be answered to its sender.
    pub fn answers(self) -> bool {
        matches!(
            self,
            Self::Reset(ResetEnds::Both | ResetEnds::Sender) | Self::EndConnections | Self::Dns(DnsFault::Answer(_))
        )
    }
}

impl fmt::Display for FaultAction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Drop => f.write_str("drop"),
            Self::Hold(span) => write!(f, "{{hold: {span}}}"),
            Self::Duplicate => f.write_str("duplicate"),
            Self::Corrupt(None) => f.write_str("corrupt"),
            Self::Corrupt(Some(byte)) => write!(f, "{{corrupt: {byte}}}"),
            Self::Mark => f.write_str("mark"),
            Self::Unmark => f.write_str("unmark"),
            Self::Reset(ResetEnds::Both) => f.write_str("reset"),
            Self::Reset(ResetEnds::Sender) => f.write_str("{reset: sender}"),
            Self::Reset(ResetEnds::Receiver) => f.write_str("{reset: receiver}"),
            Self::Dns(fault) => write!(f, "{{dns: {}}}", fault.word()),
            Self::EndConnections => f.write_str("reset connections"),
        }
    }
}

/// The needs of a pipe from the beginning for the faults of its timeline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FaultGround {
    /// Whether packets may be answered to their senders.
    pub answers: bool,
    /// Whether TCP connections are tracked, so that they can be ended.
    pub tracks: bool,
}
