//! The access of stations to a radio medium, in place of queue and transmitter of a pipe.
//!
//! The computation is `netloom_radio`'s [`Medium`], its [`RadioMedium`] where stations have positions, or its [`CellMedium`] of a mobile network, whose
//! base station is an access point here; here are the packets: whose they are, for whom they are, and what an access point does with
//! those that one station sends to another. With an access point, stations send to it alone, and it sends on to the station, or to everybody what is
//! for a group (IEEE 802.11-2020, 4.3.2 and 10.3.6). Without one they send to one another (an independent network, 4.3.1).
//! Differs from the standard: the access point's own end hears what a station sends to a group when the access point repeats it.

mod channel;
mod frames;
mod management;
mod roaming;

use crate::AirCounters;
use alloc::boxed::Box;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::string::String;
use alloc::vec::Vec;
use channel::Channel;
use frames::Records;
pub use frames::{AirMpdu, AirPacket, AirPpdu, AirWay};
use management::Beaconing;
pub use management::{AirBeacons, AirManagement};
use netloom_packet::Packet;
use netloom_radio::{
    AccessCategory, AccessPoints, AntennaPattern, Associated, Cause, CellConfig, CellSignal, ConfigError, Decibels,
    Destination, Frame, HandoverGaps, Interferer, LinkConfig, MediumConfig, Path, RadioConfig, RateControl,
    StationCounters, StationId,
};
use netloom_units::{Duration, Instant, Seed};

/// At most so many addresses are known that are behind stations.
const MOST_ADDRESSES: usize = 65_536;

/// The description of a radio medium.
#[derive(Clone, Debug, PartialEq)]
pub struct AirConfig {
    /// The physical layer, and how stations get access.
    pub medium: AirMedium,
    /// The stations, access points among them.
    pub stations: Vec<AirStation>,
    /// The place of the access point among the stations; none: stations send to one another.
    pub access_point: Option<usize>,
    /// The access points of a network with several ones, between which stations choose; none if there is one at most.
    pub access_points: Option<AccessPoints>,
    /// The signals between positions; none: all stations hear one another.
    pub radio: Option<RadioConfig>,
    /// The interferers where all stations hear one another; those with signals are part of these.
    pub interferers: Vec<Interferer>,
    /// The beacons of access points, and with them the frames with which stations come to one; none: neither takes any time.
    pub beacons: Option<AirBeacons>,
}

/// A kind of radio media, with its parameters.
#[derive(Clone, Debug, PartialEq)]
pub enum AirMedium {
    /// A channel of IEEE 802.11.
    Wifi(MediumConfig),
    /// A cell of a mobile network.
    Cell(Box<CellConfig>),
}

impl AirMedium {
    /// Returns the parameters of a channel of 802.11; none of another kind.
    pub fn wifi(&self) -> Option<&MediumConfig> {
        match self {
            Self::Wifi(medium) => Some(medium),
            Self::Cell(_) => None,
        }
    }

    /// Returns the parameters of a cell; none of another kind.
    pub fn cell(&self) -> Option<&CellConfig> {
        match self {
            Self::Wifi(_) => None,
            Self::Cell(cell) => Some(cell),
        }
    }
}

/// The properties of a terminal in a cell.
#[derive(Clone, Debug, PartialEq)]
pub struct AirTerminal {
    /// How well it and the base station hear each other.
    pub signal: CellSignal,
    /// Its handovers at given times, if it has any.
    pub handovers: Option<HandoverGaps>,
    /// The site at which it stays; none: the strongest one, with handovers.
    pub site: Option<usize>,
}

impl AirTerminal {
    /// Whether its signals follow from where it is.
    pub fn has_position(&self) -> bool {
        self.signal == CellSignal::Positions
    }
}

/// A station of a radio medium.
#[derive(Clone, Debug, PartialEq)]
pub struct AirStation {
    /// The unique name, from which its random generators are derived.
    pub name: String,
    /// The number of its port.
    pub port: u32,
    /// Its Ethernet address.
    pub address: [u8; 6],
    /// The rate of what it sends; and of what the access point sends to it, if there is one.
    pub link: LinkConfig,
    /// Where it is and how it sends, if there are signals.
    pub antenna: AirAntenna,
    /// The properties of a terminal in a cell; none of a base station, or of a station of 802.11.
    pub terminal: Option<AirTerminal>,
}

/// The place and the sender of a station.
#[derive(Clone, Debug, PartialEq)]
pub struct AirAntenna {
    /// Where it is at each time since counting began.
    pub path: Path,
    /// The power in dBm with which it sends, without the gain of its antenna.
    pub power: Decibels,
    /// The gain of its antenna by direction.
    pub pattern: AntennaPattern,
    /// How the rates are chosen of what it sends; and of what the access point sends to it, if there is one.
    pub rate: RateControl,
}

impl AirConfig {
    /// Checks that the parameters agree with one another and with the standard.
    ///
    /// # Errors
    /// The key of the parameter that is wrong, and why.
    pub fn check(&self) -> Result<(), ConfigError> {
        Channel::<Load>::new(self, Seed::new(0)).map(|_| ())
    }

    /// Returns which stations are with which access points of several until a time behind the beginning: all stations at zero, then each change. `seed`: that of
    /// the pipe. Nothing of a medium with one access point or none, or if the parameters are wrong.
    pub fn associations(&self, seed: Seed, until: Duration) -> Vec<Associated> {
        match Channel::<()>::new(self, seed) {
            Ok(Channel::Radio(medium)) if self.access_points.is_some() => medium.associations(until),
            _ => Vec::new(),
        }
    }
}

/// A packet on the medium.
#[derive(Clone, Debug)]
struct Load {
    packet: Packet,
    /// The station that sends it.
    from: usize,
    /// The station that it is for in the end; none: everybody.
    to: Option<usize>,
    /// Whether it is on its way from the access point, or needs none.
    is_last_hop: bool,
    /// Whether it was told ahead of time that it arrives.
    is_foreseen: bool,
    /// The kind of a frame of the network itself, whose body stands in the place of a packet.
    management: Option<AirManagement>,
}

/// The fate of a packet.
#[derive(Debug)]
pub(crate) enum OffAir {
    /// The packet arrives, and was foreseen or not.
    Arrives { packet: Packet, is_foreseen: bool },
    /// The packet is dropped.
    Dropped { packet: Packet, cause: crate::Cause },
    /// The network behind an access point learns by this packet, which nobody has sent, where a station is.
    Announced { at: Instant, packet: Packet },
}

/// See the module.
#[derive(Clone, Debug)]
pub(crate) struct Air {
    channel: Channel<Load>,
    ports: Vec<u32>,
    /// The Ethernet addresses of the stations.
    macs: Vec<[u8; 6]>,
    /// The stations behind which Ethernet addresses are.
    addresses: BTreeMap<[u8; 6], usize>,
    access_point: Option<usize>,
    /// Whether there are several access points.
    is_roaming: bool,
    /// Packets that are dropped at once, since whoever has them or is to get them is with no access point.
    refused: Vec<Packet>,
    refused_at: Instant,
    /// So many of the channel's arrivals were told ahead of time.
    told: usize,
    /// Who hears what is for everybody, by when it arrives and the port where it came from, where that differs; with several access points, who hears each packet.
    groups: VecDeque<(Instant, u32, Vec<u32>)>,
    /// The beacons, if there are any.
    beaconing: Option<Box<Beaconing>>,
    records: Records,
}

/// The ports at which a packet is heard that has come through.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hearers {
    /// All but its own.
    All,
    /// One alone.
    Only(u32),
    /// These.
    Some(Vec<u32>),
}

impl Hearers {
    /// Whether it is heard at this port.
    pub fn has(&self, port: u32) -> bool {
        match self {
            Self::All => true,
            Self::Only(only) => *only == port,
            Self::Some(ports) => ports.contains(&port),
        }
    }
}

fn id(place: usize) -> StationId {
    StationId(u32::try_from(place).expect("stations are numbered so"))
}

impl Air {
    /// Creates an idle medium.
    ///
    /// # Panics
    /// If the description was not checked, and is wrong.
    pub(crate) fn new(config: &AirConfig, seed: Seed) -> Box<Self> {
        Box::new(Self {
            channel: Channel::new(config, seed).unwrap_or_else(|wrong| panic!("{wrong}")),
            ports: config.stations.iter().map(|station| station.port).collect(),
            macs: config.stations.iter().map(|station| station.address).collect(),
            addresses: config.stations.iter().zip(0..).map(|(station, place)| (station.address, place)).collect(),
            access_point: config.access_point,
            is_roaming: config.access_points.is_some(),
            refused: Vec::new(),
            refused_at: Instant::ZERO,
            told: 0,
            groups: VecDeque::new(),
            beaconing: Beaconing::new(config, seed),
            records: Records::new(config),
        })
    }

    fn place(&self, port: u32) -> Option<usize> {
        self.ports.iter().position(|own| *own == port)
    }

    /// The station that a packet of another one is for; none: everybody.
    fn destination(&self, from: usize, packet: &Packet) -> Option<usize> {
        let known = match (packet.target(), packet.bytes()) {
            (Some(port), _) => self.place(port),
            (None, [first, ..]) if first & 1 == 1 => return None,
            (None, bytes) => bytes.first_chunk::<6>().and_then(|address| self.addresses.get(address).copied()),
        };
        // What an access point does not know is behind it.
        known.or(self.access_point).filter(|to| *to != from)
    }

    /// Tells once where a packet is heard that has come through at this instant.
    pub(crate) fn hearers(&mut self, packet: &Packet, at: Instant) -> Hearers {
        let Some(from) = self.place(packet.origin()) else { return Hearers::All };
        if let Some(to) = self.destination(from, packet).filter(|_| !self.is_roaming) {
            return Hearers::Only(self.ports[to]);
        }
        // Segments that arrive together leave as one train, which asks once.
        if self.is_roaming {
            self.groups.retain(|(due, ..)| *due >= at);
        }
        let known = self.groups.iter().position(|(due, origin, _)| (*due, *origin) == (at, packet.origin()));
        known.and_then(|place| self.groups.remove(place)).map_or(Hearers::All, |(.., ports)| Hearers::Some(ports))
    }

    /// A packet comes to its station to be sent, a single segment.
    pub(crate) fn push(&mut self, now: Instant, packet: Packet) {
        // Whatever enters does so by one of the ports.
        let from = self.place(packet.origin()).unwrap_or_default();
        if self.is_roaming {
            return self.push_roaming(now, from, packet);
        }
        self.learn(from, &packet);
        let to = self.destination(from, &packet);
        let is_last_hop = self.access_point.is_none_or(|point| point == from || to == Some(point));
        self.enqueue(now, Load { packet, from, to, is_last_hop, is_foreseen: false, management: None });
    }

    /// Where the packet comes from is behind this station.
    fn learn(&mut self, from: usize, packet: &Packet) {
        if let Some(address) = packet.bytes().get(6..12).and_then(|source| source.first_chunk::<6>())
            && packet.target().is_none()
            && address[0] & 1 == 0
            && (self.addresses.len() < MOST_ADDRESSES || self.addresses.contains_key(address))
        {
            self.addresses.insert(*address, from);
        }
    }

    fn enqueue(&mut self, now: Instant, load: Load) {
        let from = load.from;
        let next = if load.is_last_hop { load.to } else { self.point_of(from) };
        let to = next.map_or(Destination::Everybody, |place| Destination::Station(id(place)));
        let category = load.packet.flow().map_or(AccessCategory::BestEffort, |flow| AccessCategory::of_dscp(flow.dscp));
        self.channel.enqueue(now, id(from), Frame { to, size: load.packet.size(), category, payload: load });
    }

    /// When something happens next that is to be looked at.
    pub(crate) fn next_wake(&self) -> Option<Instant> {
        let refused = (!self.refused.is_empty()).then_some(self.refused_at);
        self.channel.next_wake().into_iter().chain(refused).chain(self.next_beacon()).min()
    }

    /// Shows what became of packets until `now`. To be called at each of its wakes, since what an access point sends on, it sends then.
    pub(crate) fn advance(&mut self, now: Instant, mut sink: impl FnMut(OffAir)) {
        self.send_beacons(now);
        self.announce(now, &mut sink);
        let (mut onward, mut answered) = (Vec::new(), Vec::new());
        let Self { channel, ports, groups, access_point, is_roaming, .. } = self;
        channel.advance(now, |outcome, heard_by| {
            let load = outcome.frame.payload;
            if let Some(kind) = load.management {
                answered.extend(outcome.dropped.is_none().then_some((kind, load.from, load.to)));
                return;
            }
            match outcome.dropped {
                None if load.is_last_hop => {
                    if !load.is_foreseen {
                        let hub = if *is_roaming { Some(load.from) } else { *access_point };
                        note_hearers(groups, (ports, hub, *is_roaming), outcome.at, &load, heard_by);
                    }
                    sink(OffAir::Arrives { packet: load.packet, is_foreseen: load.is_foreseen });
                }
                None => onward.push((outcome.frame.to, load)),
                Some(Cause::Full) => sink(OffAir::Dropped { packet: load.packet, cause: crate::Cause::Full }),
                Some(Cause::Retries | Cause::Collision | Cause::Left) => {
                    sink(OffAir::Dropped { packet: load.packet, cause: crate::Cause::Air });
                }
            }
        });
        onward.into_iter().for_each(|(to, load)| self.send_on(now, to, load));
        answered.into_iter().for_each(|(kind, from, to)| self.answer(now, kind, from, to));
        self.refused.drain(..).for_each(|packet| sink(OffAir::Dropped { packet, cause: crate::Cause::Air }));
    }

    /// When something happens next though nothing is inside: stations come and go between several access points, or somebody wants to see beacons.
    pub(crate) fn own_wake(&self) -> Option<Instant> {
        let is_seen = self.beaconing.is_some() && self.channel.is_recording();
        self.next_wake().filter(|_| self.is_roaming || is_seen)
    }

    /// Returns the instant before which all is known that arrives, whatever comes from `now` on.
    pub(crate) fn lookahead_until(&mut self, now: Instant) -> Instant {
        self.channel.lookahead_until(now)
    }

    /// How long whatever enters is on its way at least.
    pub(crate) fn lookahead(&self) -> Duration {
        self.channel.lookahead()
    }

    /// Tells which packets arrive, and when, that were not foreseen before.
    pub(crate) fn foresee(&mut self, mut sink: impl FnMut(Instant, Packet)) {
        let Self { channel, ports, groups, access_point, is_roaming, .. } = self;
        channel.foresee(|at, frame, heard_by| {
            let load = &mut frame.payload;
            if load.is_last_hop && !load.is_foreseen && load.management.is_none() {
                load.is_foreseen = true;
                let hub = if *is_roaming { Some(load.from) } else { *access_point };
                note_hearers(groups, (ports, hub, *is_roaming), at, load, heard_by);
                sink(at, load.packet.duplicate());
            }
        });
    }

    /// Ends what is on the air, and shows all packets that had not arrived and were not foreseen.
    pub(crate) fn clear(&mut self, now: Instant, mut sink: impl FnMut(Packet)) {
        self.groups.clear();
        self.refused.drain(..).for_each(&mut sink);
        self.channel.clear(now, |frame| {
            if !frame.payload.is_foreseen && frame.payload.management.is_none() {
                sink(frame.payload.packet);
            }
        });
    }

    pub(crate) fn begin_counting(&mut self, now: Instant) {
        self.channel.begin_counting(now);
        self.begin_beacons(now);
    }

    pub(crate) fn counters(&self) -> AirCounters {
        let totals = self.channel.totals();
        AirCounters {
            attempts: totals.attempts,
            collisions: totals.collisions,
            retries: totals.failed_mpdus,
            busy: totals.busy,
            collided: totals.collided,
        }
    }

    /// The counters of each station, in order of ends.
    pub(crate) fn stations(&self) -> Vec<StationCounters> {
        let mut all = self.channel.counters();
        let others = all.len().saturating_sub(1) as u64;
        if let Some(point) = self.access_point.and_then(|point| all.get_mut(point)) {
            point.clients = others;
        }
        all
    }
}

/// Notes who hears what is for everybody, where that are not all; `notes_all`: also what is for one. `hub`: the access point that sends it, if there is one.
fn note_hearers(
    groups: &mut VecDeque<(Instant, u32, Vec<u32>)>,
    (ports, hub, notes_all): (&[u32], Option<usize>, bool),
    at: Instant,
    load: &Load,
    heard_by: Option<&[StationId]>,
) {
    if let (None, Some(heard_by)) = (load.to, heard_by) {
        // The access point hears what it repeats.
        let places = heard_by.iter().map(|station| station.0 as usize).chain(hub);
        let heard = places.map(|place| ports[place]).collect();
        groups.push_back((at, load.packet.origin(), heard));
    } else if let (Some(to), true) = (load.to, notes_all) {
        groups.push_back((at, load.packet.origin(), Vec::from([ports[to]])));
    }
}
