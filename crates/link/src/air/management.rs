//! Beacons of access points, and the frames that a station and its access point exchange when it comes: their contents, and when they are sent.
//!
//! Source: IEEE 802.11-2020, 9.3.3 (frames), 9.4 (their fields and elements), 11.1.3.2 (beacons), 11.3 (authentication and association); 802.11ax-2021,
//! 9.4.2.248 and 9.4.2.249; Wi-Fi Alliance, WMM specification, 2.2 (its elements).
//! Differs from them: the first beacon of an access point is drawn from the seed and its name; a station asks the access point to which it goes, and no other
//! one; there is no encryption, and so no handshake of four frames; the interval in the frame is cut to whole time units.

use super::{Air, AirConfig, Load, id};
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use netloom_packet::Packet;
use netloom_radio::{AccessCategory, Band, Channel, Destination, Frame, Join, Phy, Standard, Width};
use netloom_units::{Bytes, Duration, Instant, Seed};

/// The nanoseconds of a time unit (IEEE 802.11-2020, 3.1).
const TIME_UNIT_NS: u64 = 1_024_000;
/// The longest name of a network.
const LONGEST_NAME: usize = 32;

/// The beacons of a medium with access points.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AirBeacons {
    /// The time from one beacon of an access point to the next.
    pub interval: Duration,
    /// The name of the network; the first 32 bytes are sent.
    pub network: String,
}

/// The kinds of management frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AirManagement {
    /// A beacon.
    Beacon,
    /// A station asks an access point for what its beacons say.
    ProbeRequest,
    /// The answer to that.
    ProbeResponse,
    /// A station says who it is.
    Authentication,
    /// The access point takes it for that.
    Authenticated,
    /// A station asks to be with an access point.
    AssociationRequest,
    /// A station that was with another access point asks to be with this one.
    ReassociationRequest,
    /// The answer to the first.
    AssociationResponse,
    /// The answer to a station that was with another one.
    ReassociationResponse,
}

impl AirManagement {
    /// Returns the first byte of its header: version, type and subtype.
    pub fn frame_control(self) -> u8 {
        match self {
            Self::AssociationRequest => 0x00,
            Self::AssociationResponse => 0x10,
            Self::ReassociationRequest => 0x20,
            Self::ReassociationResponse => 0x30,
            Self::ProbeRequest => 0x40,
            Self::ProbeResponse => 0x50,
            Self::Beacon => 0x80,
            Self::Authentication | Self::Authenticated => 0xb0,
        }
    }

    /// Says whether its body begins with the time at which it is sent.
    pub fn has_time(self) -> bool {
        matches!(self, Self::Beacon | Self::ProbeResponse)
    }

    /// Says whether an access point sends it.
    fn is_of_point(self) -> bool {
        match self {
            Self::Beacon
            | Self::ProbeResponse
            | Self::Authenticated
            | Self::AssociationResponse
            | Self::ReassociationResponse => true,
            Self::ProbeRequest | Self::Authentication | Self::AssociationRequest | Self::ReassociationRequest => false,
        }
    }

    /// Tells what follows when it has arrived; none behind the last one.
    fn next(self, was_with_another: bool) -> Option<Self> {
        Some(match self {
            Self::ProbeRequest => Self::ProbeResponse,
            Self::ProbeResponse => Self::Authentication,
            Self::Authentication => Self::Authenticated,
            Self::Authenticated if was_with_another => Self::ReassociationRequest,
            Self::Authenticated => Self::AssociationRequest,
            Self::AssociationRequest => Self::AssociationResponse,
            Self::ReassociationRequest => Self::ReassociationResponse,
            Self::Beacon | Self::AssociationResponse | Self::ReassociationResponse => return None,
        })
    }
}

/// An access point.
#[derive(Clone, Debug)]
struct Point {
    station: usize,
    channel: Channel,
    /// How long behind the beginning its first beacon comes.
    first: Duration,
    next: Option<Instant>,
}

/// The state of a medium with beacons.
#[derive(Clone, Debug)]
pub(super) struct Beaconing {
    phy: Phy,
    interval: Duration,
    name: Vec<u8>,
    points: Vec<Point>,
    /// By station: the access point with which it is, and the one before that.
    with: BTreeMap<usize, (usize, Option<usize>)>,
    is_up: bool,
}

impl Beaconing {
    /// The beacons of a medium; none if it has none, or no access point.
    pub(super) fn new(config: &AirConfig, seed: Seed) -> Option<Box<Self>> {
        let (beacons, medium) = (config.beacons.as_ref()?, config.medium.wifi()?);
        let usual = medium.phy.channel()?;
        let several = config.access_points.iter().flat_map(|network| &network.points);
        let several = several.map(|point| (point.station, Channel::new(point.channel).unwrap_or(usual)));
        let alone = config.access_point.map(|station| (station, usual));
        let point = |(station, channel): (usize, Channel)| {
            let drawn = seed.derive(&config.stations[station].name).derive("beacons").get();
            let first = Duration::from_nanos(drawn % beacons.interval.as_nanos() / 1_000 * 1_000);
            Point { station, channel, first, next: None }
        };
        let name = beacons.network.as_str();
        let cut = (0..=LONGEST_NAME.min(name.len())).rev().find(|end| name.is_char_boundary(*end)).unwrap_or(0);
        Some(Box::new(Self {
            phy: medium.phy,
            interval: beacons.interval,
            name: name.as_bytes()[..cut].to_vec(),
            points: several.chain(alone).map(point).collect(),
            with: BTreeMap::new(),
            is_up: true,
        }))
    }

    /// Tells when an access point sends its next beacon.
    fn next(&self) -> Option<Instant> {
        self.points.iter().filter_map(|point| point.next).min()
    }

    /// Writes what a frame says behind its header. `point`: the access point that sends it, or to which it goes.
    fn body(&self, kind: AirManagement, station: usize, point: &Point, before: Option<[u8; 6]>) -> Vec<u8> {
        let mut bytes = Vec::new();
        let capabilities = self.capabilities().to_le_bytes();
        match kind {
            AirManagement::Beacon | AirManagement::ProbeResponse => {
                // The time is written when it is sent.
                bytes.extend([0; 8]);
                let units = (self.interval.as_nanos() / TIME_UNIT_NS).max(1);
                bytes.extend(u16::try_from(units).unwrap_or(u16::MAX).to_le_bytes());
                bytes.extend(capabilities);
            }
            AirManagement::ProbeRequest => {}
            // Open system, the first and second frame, success.
            AirManagement::Authentication => return Vec::from([0, 0, 1, 0, 0, 0]),
            AirManagement::Authenticated => return Vec::from([0, 0, 2, 0, 0, 0]),
            AirManagement::AssociationRequest | AirManagement::ReassociationRequest => {
                bytes.extend(capabilities);
                // It listens to every tenth beacon.
                bytes.extend([10, 0]);
                bytes.extend(before.into_iter().flatten());
            }
            AirManagement::AssociationResponse | AirManagement::ReassociationResponse => {
                bytes.extend(capabilities);
                let number = u16::try_from(station + 1).unwrap_or(u16::MAX).min(2_007);
                bytes.extend([0, 0]);
                bytes.extend((0xc000 | number).to_le_bytes());
            }
        }
        self.elements(kind, point, &mut bytes);
        bytes
    }

    /// An access point (ESS), QoS, and at 2.4 GHz short preambles and slots.
    fn capabilities(&self) -> u16 {
        let qos = if self.phy.has_qos() { 0x0200 } else { 0 };
        let is_2_ghz = self.phy.channel().is_some_and(|own| own.band() == Band::Ghz2);
        let slot = if is_2_ghz && self.phy.slot() < Duration::from_micros(20) { 0x0400 } else { 0 };
        let preamble = if is_2_ghz && self.phy.has_short_preamble() { 0x0020 } else { 0 };
        0x0001 | qos | slot | preamble
    }

    fn elements(&self, kind: AirManagement, point: &Point, bytes: &mut Vec<u8>) {
        use AirManagement::{AssociationResponse, Beacon, ReassociationResponse};
        let is_of_point = kind.is_of_point();
        let is_last = matches!(kind, AssociationResponse | ReassociationResponse);
        if !is_last {
            element(bytes, 0, &self.name);
        }
        let standard = self.phy.standard();
        // In units of 500 kbit/s, the basic ones with a bit on top.
        if standard == Some(Standard::B) {
            element(bytes, 1, &[0x82, 0x84, 0x0b, 0x16]);
        } else {
            element(bytes, 1, &[0x8c, 0x12, 0x98, 0x24, 0xb0, 0x48, 0x60, 0x6c]);
        }
        let is_2_ghz = point.channel.band() == Band::Ghz2;
        if is_2_ghz && !is_last {
            element(bytes, 3, &[point.channel.number()]);
        }
        if kind == Beacon {
            // Nothing waits for stations that sleep.
            element(bytes, 5, &[0, 1, 0, 0]);
        }
        if !self.phy.has_qos() {
            return;
        }
        self.high_throughput(is_of_point, point, bytes);
        let is_vht = matches!(standard, Some(Standard::Ac | Standard::Ax)) && !is_2_ghz;
        if is_vht {
            self.very_high_throughput(is_of_point, point, bytes);
        }
        if standard == Some(Standard::Ax) {
            self.high_efficiency(is_of_point, is_2_ghz, bytes);
        }
        wmm(is_of_point, kind, bytes);
    }

    /// The elements of 802.11n (9.4.2.55, 9.4.2.56).
    fn high_throughput(&self, is_of_point: bool, point: &Point, bytes: &mut Vec<u8>) {
        let is_wide = self.phy.width() > Width::Mhz20;
        // No power save; 40 MHz; short guard intervals.
        let mut own = [0; 26];
        own[0] = 0x2c | if is_wide { 0x42 } else { 0 };
        own[2] = 0x17;
        own[3..7].fill(0xff);
        element(bytes, 45, &own);
        if is_of_point {
            let mut operation = [0; 22];
            operation[0] = point.channel.number();
            operation[1] = if is_wide { 0x04 | if is_below(point.channel) { 3 } else { 1 } } else { 0 };
            element(bytes, 61, &operation);
        }
    }

    /// The elements of 802.11ac (9.4.2.157, 9.4.2.158).
    fn very_high_throughput(&self, is_of_point: bool, point: &Point, bytes: &mut Vec<u8>) {
        let width = self.phy.width();
        let wide: u32 = if width == Width::Mhz160 { 0x0000_0044 } else { 0 };
        // MPDUs of 11,454 bytes, A-MPDUs as long as there are; short guard intervals.
        let about = 0x0380_0022 | wide;
        let mut own = Vec::from(about.to_le_bytes());
        own.extend([0xaa, 0xaa, 0, 0, 0xaa, 0xaa, 0, 0]);
        element(bytes, 191, &own);
        if is_of_point {
            let (one, other) = centres(point.channel.number(), width);
            let kind = u8::from(width >= Width::Mhz80);
            element(bytes, 192, &[kind, one, other, 0xfc, 0xff]);
        }
    }

    /// The elements of 802.11ax.
    fn high_efficiency(&self, is_of_point: bool, is_2_ghz: bool, bytes: &mut Vec<u8>) {
        const EXTENSION: u8 = 255;
        let width = self.phy.width();
        let mut own = Vec::from([35_u8]);
        own.extend([0; 6]);
        let of_phy = match width {
            Width::Mhz160 => 0x0c,
            _ if is_2_ghz => 0x02,
            _ => 0x04,
        };
        own.push(of_phy);
        own.extend([0; 10]);
        let maps = if width == Width::Mhz160 { 4 } else { 2 };
        own.extend(core::iter::repeat_n([0xaa, 0xaa], maps).flatten());
        element(bytes, EXTENSION, &own);
        if is_of_point {
            element(bytes, EXTENSION, &[36, 0xf4, 0x3f, 0, 1, 0xfc, 0xff]);
        }
    }
}

fn element(bytes: &mut Vec<u8>, number: u8, content: &[u8]) {
    bytes.push(number);
    bytes.push(u8::try_from(content.len()).unwrap_or(u8::MAX));
    bytes.extend_from_slice(content);
}

/// The categories that a station of WMM knows, or the windows and limits that an access point gives them.
fn wmm(is_of_point: bool, kind: AirManagement, bytes: &mut Vec<u8>) {
    const OUI: [u8; 4] = [0x00, 0x50, 0xf2, 2];
    if is_of_point {
        let windows = [[0x03, 0xa4, 0, 0], [0x27, 0xa4, 0, 0], [0x42, 0x43, 0x80, 0], [0x62, 0x32, 0x41, 0]];
        element(bytes, 221, &[&OUI[..], &[1, 1, 0, 0], windows.as_flattened()].concat());
    } else if kind != AirManagement::ProbeRequest {
        element(bytes, 221, &[&OUI[..], &[0, 1, 0]].concat());
    }
}

/// The first channel of the block of channels in which a wider one lies.
fn block(number: u8) -> u8 {
    match number {
        0..=99 => 36,
        100..=148 => 100,
        _ => 149,
    }
}

/// Whether the other half of a channel of 40 MHz lies below.
fn is_below(channel: Channel) -> bool {
    let number = channel.number();
    if number <= 14 { number > 7 } else { number.saturating_sub(block(number)) / 4 % 2 == 1 }
}

/// The channel numbers in the middle of 80 MHz and of 160 MHz; zero where the channel is narrower.
fn centres(number: u8, width: Width) -> (u8, u8) {
    let first = block(number);
    let place = number.saturating_sub(first) / 4;
    let of_80 = first + place / 4 * 16 + 6;
    match width {
        Width::Mhz80 => (of_80, 0),
        Width::Mhz160 => (of_80, first + place / 8 * 32 + 14),
        _ => (0, 0),
    }
}

impl Air {
    /// Access points begin to send beacons.
    pub(super) fn begin_beacons(&mut self, now: Instant) {
        let points = self.beaconing.iter_mut().flat_map(|own| &mut own.points);
        points.for_each(|point| point.next = Some(now + point.first));
    }

    /// Says whether the medium is there at all; while it is not, nothing is sent.
    pub(crate) fn set_up(&mut self, is_up: bool) {
        self.beaconing.iter_mut().for_each(|own| own.is_up = is_up);
    }

    /// When an access point sends its next beacon.
    pub(super) fn next_beacon(&self) -> Option<Instant> {
        self.beaconing.as_ref().and_then(|own| own.next())
    }

    /// Access points whose time it is send beacons.
    pub(super) fn send_beacons(&mut self, now: Instant) {
        let Some(mut own) = self.beaconing.take() else { return };
        for place in 0..own.points.len() {
            while let Some(at) = own.points[place].next.filter(|at| *at <= now) {
                own.points[place].next = Some(at + own.interval);
                if own.is_up {
                    let point = &own.points[place];
                    let body = own.body(AirManagement::Beacon, 0, point, None);
                    self.enqueue_management(at, (point.station, None), AirManagement::Beacon, body);
                }
            }
        }
        self.beaconing = Some(own);
    }

    /// A station has come to an access point, and asks it what its beacons say.
    pub(super) fn meet(&mut self, now: Instant, join: &Join) {
        let (station, point) = (join.station.0 as usize, join.point.0 as usize);
        let Some(own) = &mut self.beaconing else { return };
        let before = own.with.get(&station).map(|(with, _)| *with);
        own.with.insert(station, (point, before));
        if join.was_away {
            self.exchange(now, AirManagement::ProbeRequest, station, point);
        }
    }

    /// A management frame has arrived: whoever received it sends the next one, if the station is still there.
    pub(super) fn answer(&mut self, now: Instant, kind: AirManagement, from: usize, to: Option<usize>) {
        let (Some(to), Some(own)) = (to, &self.beaconing) else { return };
        let (station, point) =
            if own.points.iter().any(|point| point.station == from) { (to, from) } else { (from, to) };
        let was_with_another = own.with.get(&station).is_some_and(|(_, before)| before.is_some());
        if let Some(next) = kind.next(was_with_another).filter(|_| self.is_with(station, point)) {
            self.exchange(now, next, station, point);
        }
    }

    /// A station and its access point exchange a frame.
    fn exchange(&mut self, now: Instant, kind: AirManagement, station: usize, point: usize) {
        let Some(own) = self.beaconing.as_ref().filter(|own| own.is_up) else { return };
        let Some(place) = own.points.iter().position(|other| other.station == point) else { return };
        let before = own.with.get(&station).and_then(|(_, before)| *before).map(|before| self.macs[before]);
        let before = before.filter(|_| kind == AirManagement::ReassociationRequest);
        let body = own.body(kind, station, &own.points[place], before);
        let ways = if kind.is_of_point() { (point, Some(station)) } else { (station, Some(point)) };
        self.enqueue_management(now, ways, kind, body);
    }

    fn enqueue_management(
        &mut self,
        now: Instant,
        (from, to): (usize, Option<usize>),
        kind: AirManagement,
        body: Vec<u8>,
    ) {
        let size = Bytes::new(body.len() as u64);
        let packet = Packet::from_bytes(body.into_boxed_slice());
        let load = Load { packet, from, to, is_last_hop: true, is_foreseen: false, management: Some(kind) };
        let to = to.map_or(Destination::Everybody, |place| Destination::Station(id(place)));
        let frame = Frame { to, size, category: AccessCategory::Voice, payload: load };
        self.channel.enqueue_management(now, id(from), frame);
    }
}
