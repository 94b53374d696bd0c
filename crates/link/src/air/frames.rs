//! PPDUs of a radio medium with the packets that they carried, for captures.

use super::{Air, AirConfig, AirManagement, Load};
use crate::Attempt;
use alloc::vec::Vec;
use core::mem;
use netloom_packet::Packet;
use netloom_radio::{AccessCategory, AccessPoint, Aired, Channel, Control, Destination, Mode, Phy, StationId};
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
    /// The category of the packets; none without QoS, and of a frame of the network itself.
    pub category: Option<AccessCategory>,
    /// The kind of a frame of the network itself, whose body stands in the place of a packet.
    pub management: Option<AirManagement>,
    /// The channel on which it was sent; none of a layer without channels.
    pub channel: Option<Channel>,
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

fn short(station: StationId) -> u16 {
    u16::try_from(station.0).unwrap_or(u16::MAX)
}

/// Tells which records of PPDUs are wanted, and by whom.
#[derive(Clone, Debug)]
pub(super) struct Records {
    wants_frames: bool,
    wants_attempts: bool,
    phy: Option<Phy>,
    /// The channels of access points of several.
    channels: Vec<(usize, Channel)>,
    /// The frames that nobody has taken yet.
    frames: Vec<Aired<Load>>,
}

impl Records {
    pub(super) fn new(config: &AirConfig) -> Self {
        let phy = config.medium.wifi().map(|medium| medium.phy);
        let points = config.access_points.iter().flat_map(|network| &network.points);
        let channel = |point: &AccessPoint| Some((point.station, Channel::new(point.channel).ok()?));
        let channels = points.filter_map(channel).collect();
        Self { wants_frames: false, wants_attempts: false, phy, channels, frames: Vec::new() }
    }
}

impl Air {
    /// Starts or stops recording what PPDUs carry.
    pub(crate) fn record_frames(&mut self, wanted: bool) {
        self.records.wants_frames = wanted;
        if !wanted {
            self.records.frames.clear();
        }
        self.record();
    }

    /// Starts or stops recording attempts to send packets.
    pub(crate) fn record_attempts(&mut self, wanted: bool) {
        self.records.wants_attempts = wanted;
        self.record();
    }

    fn record(&mut self) {
        let is_wanted = self.records.wants_frames || self.records.wants_attempts;
        if is_wanted != self.channel.is_recording() {
            let copy: fn(&Load) -> Load = |load| Load { packet: load.packet.duplicate(), ..*load };
            self.channel.record_frames(is_wanted.then_some(copy));
        }
    }

    /// Shows the attempts to send packets that are over, in order of their ends, if they are recorded.
    pub(crate) fn attempts(&mut self, mut sink: impl FnMut(&Packet, Attempt)) {
        if !self.records.wants_attempts {
            return;
        }
        for aired in self.channel.frames() {
            let Some(ppdu) = self.records.phy.and_then(|phy| phy.ppdu(aired.mode).ok()) else { continue };
            let kilobits = ppdu.bits_per_second() / 1_000;
            for mpdu in &aired.mpdus {
                let attempt = Attempt {
                    start: aired.start,
                    end: aired.end,
                    kilobits_per_second: u32::try_from(kilobits).unwrap_or(u32::MAX),
                    number: mpdu.sent + 1,
                    is_decoded: mpdu.is_decoded,
                    from: short(aired.from),
                    to: if let Destination::Station(to) = aired.to { Some(short(to)) } else { None },
                };
                let packets = mpdu.payloads.iter().filter(|load| load.management.is_none());
                packets.for_each(|load| sink(&load.packet, attempt));
            }
            if self.records.wants_frames {
                self.records.frames.push(aired);
            }
        }
    }

    /// Hands out the records of PPDUs that ended since the last call, in order.
    pub(crate) fn frames(&mut self, pipe: u32, mut sink: impl FnMut(AirPpdu)) {
        if !self.records.wants_frames {
            return;
        }
        let mut records = mem::take(&mut self.records.frames);
        if !self.records.wants_attempts {
            records.extend(self.channel.frames());
        }
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
        let channels = &self.records.channels;
        let own = point.and_then(|point| channels.iter().find(|(station, _)| *station == point));
        let channel = own.map(|(_, channel)| *channel).or(self.records.phy.and_then(|phy| phy.channel()));
        let first = aired.mpdus.first().and_then(|mpdu| mpdu.payloads.first());
        let management = first.and_then(|load| load.management);
        let mpdus = aired.mpdus.into_iter().map(|mpdu| AirMpdu {
            sequence: mpdu.sequence,
            is_retry: mpdu.sent > 0,
            is_decoded: mpdu.is_decoded,
            packets: mpdu.payloads.into_iter().map(|load| self.addressed(load)).collect(),
        });
        AirPpdu {
            pipe,
            way,
            transmitter: self.macs[place(aired.from)],
            receiver: to.map(|to| self.macs[to]),
            network: self.macs[point.unwrap_or(0)],
            category: aired.category.filter(|_| management.is_none()),
            management,
            channel,
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
