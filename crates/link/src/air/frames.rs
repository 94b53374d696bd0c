//! PPDUs of a radio medium with the packets that they carried, for captures.

use super::{Air, Load};
use alloc::vec::Vec;
use netloom_packet::Packet;
use netloom_radio::{AccessCategory, Aired, Control, Destination, Mode, StationId};
use netloom_units::{Duration, Instant};

/// A PPDU with data that was on the air of a radio medium.
#[derive(Clone, Debug)]
pub struct AirPpdu {
    /// The number of the pipe, as in a [`Note`](crate::Note).
    pub pipe: u32,
    /// The way of the data through the network (IEEE 802.11-2020, table 9-30).
    pub way: AirWay,
    /// The Ethernet address of the station that sent it.
    pub transmitter: [u8; 6],
    /// The Ethernet address of the station for which it was; none: everybody.
    pub receiver: Option<[u8; 6]>,
    /// The Ethernet address of the access point, or of the first station where there is none.
    pub network: [u8; 6],
    /// The category of the packets; none without QoS.
    pub category: Option<AccessCategory>,
    /// The mode of the data.
    pub mode: Mode,
    /// Where the first MPDU begins, behind preamble and header, and where the last one ends.
    pub data: (Instant, Instant),
    /// When the PPDU began, behind RTS and CTS.
    pub start: Instant,
    /// When the PPDU ended.
    pub end: Instant,
    /// How long the answer takes from there on, with the space in front of it; zero if none is asked for.
    pub answer: Duration,
    /// The power in thousandths of a dBm with which it arrives at its destination, where that is known.
    pub signal: Option<i32>,
    /// The control frames around it.
    pub control: Control,
    /// The MPDUs, in their order; none: an RTS that nobody answered.
    pub mpdus: Vec<AirMpdu>,
}

/// The way of data on a radio medium.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AirWay {
    /// From one station to another, without an access point.
    Direct,
    /// To the access point.
    ToAccessPoint,
    /// From the access point.
    FromAccessPoint,
}

/// An MPDU of a PPDU.
#[derive(Clone, Debug)]
pub struct AirMpdu {
    /// The sequence number: below 4,096.
    pub sequence: u16,
    /// Whether it was on the air before.
    pub is_retry: bool,
    /// Whether its destination decoded it; of a PPDU to everybody, anybody.
    pub is_decoded: bool,
    /// The packets that it carried: one, or several of an A-MSDU.
    pub packets: Vec<AirPacket>,
}

/// A packet that an MPDU carried.
#[derive(Clone, Debug)]
pub struct AirPacket {
    /// The packet, a single segment.
    pub packet: Packet,
    /// The Ethernet address of its destination on this medium.
    pub destination: [u8; 6],
    /// The Ethernet address from which it comes on this medium.
    pub source: [u8; 6],
}

const BROADCAST: [u8; 6] = [0xff; 6];

impl Air {
    /// Starts or stops recording what PPDUs carry.
    pub(crate) fn record_frames(&mut self, wanted: bool) {
        if wanted != self.channel.is_recording() {
            let copy: fn(&Load) -> Load = |load| Load { packet: load.packet.duplicate(), ..*load };
            self.channel.record_frames(wanted.then_some(copy));
        }
    }

    /// Hands out the records of PPDUs that ended since the last call, in order.
    pub(crate) fn frames(&mut self, pipe: u32, mut sink: impl FnMut(AirPpdu)) {
        let records = self.channel.frames();
        records.into_iter().for_each(|aired| sink(self.ppdu(pipe, aired)));
    }

    fn ppdu(&self, pipe: u32, aired: Aired<Load>) -> AirPpdu {
        let place = |station: StationId| station.0 as usize;
        let to = if let Destination::Station(to) = aired.to { Some(place(to)) } else { None };
        // With several access points, whoever does not send to one is one.
        let point = match to {
            _ if !self.is_roaming => self.access_point,
            Some(to) if self.channel.access_point(to) == Some(to) => Some(to),
            _ => Some(place(aired.from)),
        };
        let way = match point {
            Some(point) if point == place(aired.from) => AirWay::FromAccessPoint,
            Some(point) if to == Some(point) => AirWay::ToAccessPoint,
            _ => AirWay::Direct,
        };
        let mpdus = aired.mpdus.into_iter().map(|mpdu| AirMpdu {
            sequence: mpdu.sequence,
            is_retry: mpdu.is_retry,
            is_decoded: mpdu.is_decoded,
            packets: mpdu.payloads.into_iter().map(|load| self.addressed(load)).collect(),
        });
        AirPpdu {
            pipe,
            way,
            transmitter: self.macs[place(aired.from)],
            receiver: to.map(|to| self.macs[to]),
            network: self.macs[point.unwrap_or(0)],
            category: aired.category,
            mode: aired.mode,
            data: aired.data,
            start: aired.start,
            end: aired.end,
            answer: aired.answer,
            signal: aired.signal,
            control: aired.control,
            mpdus: mpdus.collect(),
        }
    }

    /// The addresses of a packet; if a router passed it on, they are those of the ends of the medium.
    fn addressed(&self, load: Load) -> AirPacket {
        let bytes = load.packet.bytes();
        let of_port = |port: u32| self.place(port).map(|place| self.macs[place]);
        let written = |from: usize| bytes.get(from..from + 6).and_then(|bytes| bytes.first_chunk::<6>()).copied();
        let (destination, source) = if load.packet.hops() == 0 {
            (written(0), written(6))
        } else {
            (load.packet.target().and_then(of_port).or(written(0)), of_port(load.packet.origin()))
        };
        let (destination, source) = (destination.unwrap_or(BROADCAST), source.unwrap_or_default());
        AirPacket { packet: load.packet, destination, source }
    }
}
