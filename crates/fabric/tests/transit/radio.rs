//! Radio media: who hears what, what an access point sends on, and that deliveries ahead of time are those that come on time.

use crate::hubs::link;
use crate::network::{all, plain, stream};
use crate::player::{Event, Network, assert_same};
use crate::switches::{EVERYBODY, MS, SEED, frame, switch};
use netloom_fabric::{Delivery, DeviceSpec, Fabric, PipeId, PipeSpec, PortId};
use netloom_link::{AirAntenna, AirBeacons, AirConfig, AirMedium, AirStation, AirTerminal, PipeConfig};
use netloom_packet::{Packet, Pool};
use netloom_radio::{
    Access, AccessPoint, AccessPoints, AntennaPattern, CellConfig, CellSignal, Channel, Decibels, Discipline, Drx,
    HandoverGaps, Interferer, LinkConfig, MediumConfig, Metres, Mode, Path, Phy, PhyConfig, Position, RadioConfig,
    RadioLinkControl, RateControl, RetryLimits, RoamingRule, SlotUse, Source, Standard, Waypoint,
};
use netloom_testing::streams::written;
use netloom_units::{Bytes, Duration, Instant, Probability};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

/// The Ethernet address of a station.
fn address(station: u32) -> [u8; 6] {
    [2, 0, 0, 0, 0, u8::try_from(station).expect("few stations")]
}

fn layer(standard: Standard) -> Phy {
    let channel = Channel::new(if standard == Standard::B { 1 } else { 36 }).expect("there is such a channel");
    Phy::new(&PhyConfig::new(standard, channel)).expect("the description is right")
}

fn mode(standard: Standard, place: u64) -> Mode {
    match standard {
        Standard::B => Mode::kilobits([1_000, 2_000, 5_500, 11_000][(place % 4) as usize]),
        Standard::A | Standard::G => Mode::kilobits([6_000, 12_000, 24_000, 54_000][(place % 4) as usize]),
        _ => Mode::mcs(u8::try_from(place % 8).expect("below 8")),
    }
}

/// A medium with stations at ports from 0 on.
fn air(
    medium: MediumConfig,
    links: &[LinkConfig],
    access_point: Option<usize>,
    radio: Option<RadioConfig>,
) -> PipeSpec {
    let station = |(port, link): (u32, &LinkConfig)| AirStation {
        name: format!("station{port}"),
        port,
        address: address(port),
        link: *link,
        antenna: AirAntenna {
            // 45 m apart: the next but one is not heard.
            path: Position { x: Metres(45.0 * f64::from(port)), y: Metres(0.0), z: Metres(1.5) }.into(),
            power: Decibels(16.0),
            pattern: AntennaPattern::default(),
            rate: RateControl::Ideal,
        },
        terminal: None,
    };
    let stations: Vec<AirStation> = (0..).zip(links).map(station).collect();
    let ports: Vec<PortId> = stations.iter().map(|own| PortId(own.port)).collect();
    let medium = AirMedium::Wifi(medium);
    let interferers = Vec::new();
    let air = AirConfig { medium, stations, access_point, access_points: None, radio, interferers, beacons: None };
    let config = PipeConfig { air: Some(Box::new(air)), ..PipeConfig::default() };
    PipeSpec {
        name: "air".into(),
        config,
        coalesce: Duration::ZERO,
        from: ports[0],
        filter: None,
        to: ports[1],
        medium: ports,
    }
}

fn plain_air(access_point: Option<usize>) -> Fabric {
    let medium = MediumConfig::new(layer(Standard::A));
    let spec = air(medium, &[Mode::kilobits(54_000).into(); 4], access_point, None);
    Fabric::new(SEED, std::slice::from_ref(&spec)).with_devices(&[spec], &[])
}

/// Who hears a frame that `from` sends to this address at 1 ms, and how long after that.
fn heard(fabric: &mut Fabric, from: u32, to: [u8; 6]) -> Vec<(u32, u64)> {
    let now = Instant::ZERO + MS;
    let packet = plain(&mut Pool::default(), &frame(to, address(from)));
    fabric.inject(now, PortId(from), packet).expect("a port of the medium");
    all(fabric).into_iter().map(|(due, port, _)| (port.0, due.since(now).as_nanos())).collect()
}

#[test]
fn stations_send_to_one_another() {
    // 20 us of preamble, and the bytes with 36 B of headers and 22 bits around them in symbols of 216 bits.
    let bytes = frame(EVERYBODY, address(0)).len() as u64 - 14;
    let span = |bits_per_symbol: u64| 20_000 + 4_000 * ((bytes + 36) * 8 + 22).div_ceil(bits_per_symbol);
    assert_eq!(heard(&mut plain_air(None), 0, address(2)), [(2, span(216))]);
    // At the basic rate of 6 Mbit/s, to everybody and to an address that nobody knows.
    let everybody = [0, 1, 3].map(|port| (port, span(24)));
    assert_eq!(heard(&mut plain_air(None), 2, EVERYBODY), everybody);
    assert_eq!(heard(&mut plain_air(None), 2, [2, 9, 9, 9, 9, 9]), everybody);
}

#[test]
fn an_access_point_sends_on_what_is_for_others() {
    let one_hop = heard(&mut plain_air(None), 0, address(1))[0].1;
    let direct = heard(&mut plain_air(Some(1)), 0, address(1));
    assert_eq!(direct, [(1, one_hop)]);
    // Behind the acknowledgement, a DIFS and a backoff of 0 to 15 slots.
    let [(2, over)] = heard(&mut plain_air(Some(1)), 0, address(2))[..] else { panic!("one station hears it") };
    let rest = over - 2 * one_hop - 16_000 - 28_000 - 34_000;
    assert!(rest.is_multiple_of(9_000) && rest <= 15 * 9_000, "{rest}");
    // All hear what is for everybody when it is repeated, and what is for strangers is for the network behind the access point.
    let ports = |heard: Vec<(u32, u64)>| heard.into_iter().map(|(port, _)| port).collect::<Vec<_>>();
    assert_eq!(ports(heard(&mut plain_air(Some(1)), 0, EVERYBODY)), [1, 2, 3]);
    assert_eq!(ports(heard(&mut plain_air(Some(1)), 0, [2, 9, 9, 9, 9, 9])), [1]);
}

/// Stations at 0, 45, 90 and 135 m, of which each hears its neighbours.
#[test]
fn stations_with_positions_are_heard_by_their_neighbours() {
    let network = |access_point| {
        let medium = MediumConfig::new(layer(Standard::A));
        let links = [Mode::kilobits(54_000).into(); 4];
        let spec = air(medium, &links, access_point, Some(RadioConfig::new(5_180_000_000)));
        Fabric::new(SEED, std::slice::from_ref(&spec)).with_devices(&[spec], &[])
    };
    let ports = |heard: Vec<(u32, u64)>| heard.into_iter().map(|(port, _)| port).collect::<Vec<_>>();
    assert_eq!(ports(heard(&mut network(None), 1, EVERYBODY)), [0, 2]);
    assert_eq!(ports(heard(&mut network(None), 3, EVERYBODY)), [2]);
    assert_eq!(ports(heard(&mut network(None), 0, address(1))), [1]);
    let mut lossy = network(None);
    assert!(heard(&mut lossy, 0, address(3)).is_empty());
    assert_eq!(lossy.counters().next().map(|counters| counters.dropped.air.packets), Some(1));
    // The access point repeats what is for all, which its own end hears then, too.
    assert_eq!(ports(heard(&mut network(Some(1)), 0, EVERYBODY)), [1, 2]);
    assert_eq!(ports(heard(&mut network(Some(1)), 0, address(2))), [2]);
}

/// Two access points on one channel, 90 m apart, with a station at each and one that goes from the first to the second in 100 ms: whoever is with one hears what that sends, and what a
/// station sends to one of another access point is for the network behind its own.
#[test]
fn access_points_have_their_own_stations() {
    let mut spec = air(MediumConfig::new(layer(Standard::A)), &[Mode::kilobits(54_000).into(); 5], None, None);
    let Some(own) = &mut spec.config.air else { panic!("a radio medium") };
    own.radio = Some(RadioConfig::new(5_180_000_000));
    let place = |x: f64| Position { x: Metres(x), y: Metres(0.0), z: Metres(1.5) };
    for (station, x) in own.stations.iter_mut().zip([0.0, 90.0, 5.0, 85.0, 0.0]) {
        station.antenna.path = place(x).into();
    }
    let way = [(0, 10.0), (100, 80.0)].map(|(at, x)| Waypoint { at: MS * at, position: place(x) });
    own.stations[4].antenna.path = Path::through(&way, None).expect("a path");
    let points = [0, 1].map(|station| AccessPoint { station, channel: 36 }).to_vec();
    let rule = RoamingRule { beacon: MS, trigger: MS * 2, lost_after: 9, gap: MS, ..RoamingRule::default() };
    own.access_points = Some(AccessPoints { points, rule, kept: Vec::new() });
    let mut fabric = Fabric::new(SEED, std::slice::from_ref(&spec)).with_devices(&[spec], &[]);
    fabric.begin_counting(Instant::ZERO);
    let send = |network: &mut Fabric, at: u64, from: u32, to: [u8; 6]| {
        let packet = plain(&mut Pool::default(), &frame(to, address(from)));
        network.inject(Instant::ZERO + MS * at, PortId(from), packet).expect("a port of the medium");
        // Beacons come without end.
        let until = Instant::ZERO + MS * (at + 3);
        let mut ports: Vec<u32> = Vec::new();
        while let Some(wake) = network.next_wake().filter(|wake| *wake <= until) {
            network.advance(wake, |delivery| ports.push(delivery.port.0));
        }
        ports.sort_unstable();
        ports
    };
    // Each access point first learns who is there.
    assert_eq!(send(&mut fabric, 1, 2, address(4)), [0, 0, 1, 4]);
    assert_eq!(send(&mut fabric, 5, 0, EVERYBODY), [2, 4]);
    assert_eq!(send(&mut fabric, 9, 2, address(3)), [0]);
    assert_eq!(send(&mut fabric, 13, 3, EVERYBODY), [1]);
    assert!(send(&mut fabric, 17, 1, address(4)).is_empty());
    // It has gone, which the second access point has learned.
    assert_eq!(send(&mut fabric, 110, 1, address(4)), [1, 4]);
    assert!(send(&mut fabric, 114, 0, address(4)).is_empty());
    assert_eq!(send(&mut fabric, 118, 4, [2, 9, 9, 9, 9, 9]), [1]);
    let counters = *fabric.counters().next().expect("a pipe");
    assert_eq!((counters.dropped.air.packets, counters.in_flight()), (2, 0));
    assert!(counters.balance());
}

/// A base station at port 1: what terminals send to one another goes by it, and each way takes 1 ms for a slot and 3 ms to decode it.
#[test]
fn a_base_station_sends_on_what_is_for_others() {
    let links = [Mode::mcs(0).into(); 4];
    let mut spec = air(MediumConfig::new(layer(Standard::Ax)), &links, Some(1), None);
    let cell = CellConfig { errors: Probability::ZERO, request: Duration::ZERO, ..CellConfig::default() };
    if let Some(own) = &mut spec.config.air {
        own.medium = AirMedium::Cell(Box::new(cell));
    }
    let network = || Fabric::new(SEED, std::slice::from_ref(&spec)).with_devices(std::slice::from_ref(&spec), &[]);
    let once = MS * 4;
    assert_eq!(heard(&mut network(), 0, address(1)), [(1, once.as_nanos())]);
    assert_eq!(heard(&mut network(), 1, address(2)), [(2, once.as_nanos())]);
    assert_eq!(heard(&mut network(), 0, address(2)), [(2, 2 * once.as_nanos())]);
    let all = [1, 2, 3].map(|port| (port, 2 * once.as_nanos()));
    assert_eq!(heard(&mut network(), 0, EVERYBODY), all);
    assert_eq!(heard(&mut network(), 0, [2, 9, 9, 9, 9, 9]), [(1, once.as_nanos())]);
}

#[test]
fn what_is_behind_a_station_is_learned() {
    let mut fabric = plain_air(None);
    let stranger = [2, 9, 9, 9, 9, 9];
    let packet = |to, from| plain(&mut Pool::default(), &frame(to, from));
    fabric.inject(Instant::ZERO + MS, PortId(3), packet(EVERYBODY, stranger)).expect("a port of the medium");
    assert_eq!(all(&mut fabric).len(), 3);
    fabric.inject(Instant::ZERO + MS * 10, PortId(0), packet(stranger, address(0))).expect("a port of the medium");
    assert_eq!(all(&mut fabric).iter().map(|(_, port, _)| port.0).collect::<Vec<_>>(), [3]);
}

#[test]
fn a_cut_ends_what_is_on_the_air() {
    let mut fabric = plain_air(None);
    let packet = || plain(&mut Pool::default(), &frame(address(1), address(0)));
    (0..3).for_each(|_| fabric.inject(Instant::ZERO + MS, PortId(0), packet()).expect("a port of the medium"));
    let cut = Instant::ZERO + MS + Duration::from_micros(5);
    fabric.set_up(cut, PipeId(0), false);
    assert!(all(&mut fabric).is_empty());
    let counters = *fabric.counters().next().expect("a pipe");
    assert_eq!((counters.dropped.down.packets, counters.in_flight()), (3, 0));
    assert!(counters.balance());
    fabric.set_up(cut + MS, PipeId(0), true);
    fabric.inject(cut + MS * 2, PortId(0), packet()).expect("a port of the medium");
    assert_eq!(all(&mut fabric).len(), 1);
}

/// A random medium; with a switch at its first station, a delay of the link from there to a host.
#[derive(Clone, Debug)]
struct Air(PipeSpec, Option<Duration>);

impl Air {
    /// The switch and the host have the ports behind those of stations.
    fn behind(&self) -> [u32; 2] {
        let first = u32::try_from(self.0.medium.len()).expect("few stations");
        [first, first + 1]
    }
}

/// From which station to which address, and how much payload.
#[derive(Clone, Debug)]
struct Load(u32, [u8; 6], usize);

impl Network for Air {
    type Load = Load;
    type Record = (u32, Vec<u8>, u32, Instant, Instant);
    const HAS_BOOKS: bool = false;

    fn fabric(&self) -> Fabric {
        let own = std::slice::from_ref(&self.0);
        let mut made = if let Some(delay) = self.1 {
            let [host, port] = self.behind();
            let pipes = [own, &link([host, port], delay)].concat();
            let device = DeviceSpec::Switch(switch([0, port].map(PortId)));
            Fabric::new(SEED, &pipes).with_devices(&pipes, &[device])
        } else {
            Fabric::new(SEED, own).with_devices(own, &[])
        };
        // Interferers send from here on.
        made.begin_counting(Instant::ZERO);
        made
    }

    fn packet(&self, pool: &mut Pool, number: usize, Load(from, to, payload): &Load) -> (PortId, Packet) {
        let (virtio, mut bytes) =
            stream(false, u16::try_from(number * 100).expect("few events"), *payload).super_packet();
        bytes[..6].copy_from_slice(to);
        bytes[6..12].copy_from_slice(&address(*from));
        // Who would be a switch is the host behind it.
        let from = if self.1.is_some() && *from == 0 { self.behind()[0] } else { *from };
        // Its DSCP: best effort, background, video or voice.
        bytes[15] = [0, 8, 34, 46][number % 4] << 2;
        (PortId(from), pool.packet(virtio, &bytes))
    }

    fn record(delivery: &Delivery) -> Self::Record {
        let departure = &delivery.departure;
        let packet = &departure.packet;
        (delivery.port.0, written(packet).1, packet.segments(), departure.due, departure.first_due)
    }
}

fn media() -> impl Strategy<Value = PipeSpec> {
    let standards = prop_oneof![Just(Standard::A), Just(Standard::B), Just(Standard::N), Just(Standard::Ax)];
    let access = prop_oneof![4 => Just(Access::Dcf), 1 => Just(Access::Ideal)];
    let retries = (1..5_u32, 1..5_u32).prop_map(|(short, long)| RetryLimits { short, long });
    let rest = (any::<bool>(), any::<bool>(), 1..40_u32, 0..4_000_u64);
    let links = vec((any::<u64>(), prop_oneof![Just(0), 0..900_000_000_000_u64]), 2..6);
    (standards, access, retries, rest, links, any::<u32>()).prop_map(
        |(standard, access, retries, (has_rts, is_fair, queue, amsdu), links, point)| {
            let phy = layer(standard);
            let mut medium = MediumConfig {
                access,
                retries,
                queue,
                rts_above: has_rts.then_some(Bytes::new(600)),
                discipline: if is_fair { Discipline::AirtimeFq } else { Discipline::Fifo },
                ..MediumConfig::new(phy)
            };
            if phy.has_qos() {
                medium.aggregation.amsdu = Bytes::new(amsdu);
            }
            let link = |(place, error): &(u64, u64)| LinkConfig {
                mode: mode(standard, *place),
                error: Probability::from_parts_per_trillion(*error).expect("a share"),
            };
            let links: Vec<LinkConfig> = links.iter().map(link).collect();
            let (place, point) = (point / 16, point as usize % (links.len() * 2));
            // Of every three media one has signals, and another one interferers.
            let radio = place.is_multiple_of(3).then(|| RadioConfig::new(5_180_000_000));
            let mut spec = air(medium, &links, Some(point).filter(|point| *point < links.len()), radio);
            if let Some(own) = spec.config.air.as_mut().filter(|_| place % 3 == 1 && access == Access::Dcf) {
                own.interferers = vec![interferer("upstairs", 300), interferer("downstairs", 4_000)];
            }
            // Of those with signals, one of two has several access points.
            if place.is_multiple_of(6) {
                let_roam(&mut spec, place / 6);
            }
            // Every other one has beacons, so often that stations meet them.
            if let Some(own) = spec.config.air.as_mut().filter(|_| (place / 12).is_multiple_of(2)) {
                let interval = Duration::from_micros(1_024 * u64::from(1 + place / 24 % 4));
                own.beacons = Some(AirBeacons { interval, network: "network".into() });
            }
            spec
        },
    )
}

/// Access points at both ends of a medium, and stations that go to and fro between them in 40 ms, with a beacon each millisecond.
fn let_roam(spec: &mut PipeSpec, number: u32) {
    let Some(own) = &mut spec.config.air else { return };
    let last = own.stations.len() - 1;
    let waypoint = |(at, x): (u64, f64)| Waypoint {
        at: MS * at,
        position: Position { x: Metres(x), y: Metres(2.0), z: Metres(1.5) },
    };
    let far = 45.0 * last as f64;
    for (place, station) in own.stations.iter_mut().enumerate().skip(1).take(last.saturating_sub(1)) {
        let (from, to) = if place % 2 == 0 { (0.0, far) } else { (far, 0.0) };
        let way = [(0, from), (20, to), (40, from)].map(waypoint);
        station.antenna.path = Path::through(&way, Some(MS * 40)).expect("a path");
    }
    let channels = [36, if number.is_multiple_of(2) { 36 } else { 40 }];
    let points = [0, last].into_iter().zip(channels).map(|(station, channel)| AccessPoint { station, channel });
    let rule = RoamingRule {
        below: Decibels(0.0),
        hysteresis: Decibels(3.0),
        trigger: MS,
        beacon: MS,
        lost_after: 2,
        gap: Duration::from_micros(u64::from(number / 2 % 3) * 700),
    };
    own.access_point = None;
    own.access_points = Some(AccessPoints { points: points.collect(), rule, kept: Vec::new() });
}

/// An interferer that has the medium for an eighth of the time, so many microseconds each time.
fn interferer(name: &str, micros: u64) -> Interferer {
    Interferer {
        name: name.into(),
        source: Source::Sensed,
        has_preamble: true,
        duty: Probability::from_parts_per_trillion(125_000_000_000).expect("an eighth"),
        burst: Duration::from_micros(micros),
    }
}

/// Cells with short slots and many errors.
fn cells() -> impl Strategy<Value = PipeSpec> {
    let share =
        || (0..900_000_000_000_u64).prop_map(|parts| Probability::from_parts_per_trillion(parts).expect("a share"));
    let modes = prop_oneof![Just(RadioLinkControl::Acknowledged), Just(RadioLinkControl::Unacknowledged)];
    let micros = |range: std::ops::Range<u64>| range.prop_map(Duration::from_micros);
    let times = (micros(0..2_000), micros(0..2_000), micros(100..9_000));
    let patterns = prop_oneof![Just(Vec::new()), Just(vec![SlotUse::Downlink, SlotUse::Special, SlotUse::Uplink])];
    let drx = Drx { inactivity: MS, cycle: MS * 5, on: MS };
    let rest = (any::<bool>(), 1..4_u32, 1..4_u32, 1..40_u32, vec(1..16_u8, 2..6), any::<u32>());
    ((share(), share()), modes, times, patterns, rest).prop_map(
        move |((errors, repeat_errors), rlc, (request, grant, reordering), pattern, rest)| {
            let (sleeps, attempts, rounds, queue, cqi, point) = rest;
            let slot = Duration::from_micros(125);
            let (processing, harq) = (slot * 2, slot * 5);
            let (drx, blocks) = (sleeps.then_some(drx), 25);
            let timed = CellConfig { slot, processing, harq, reordering, request, grant, drx, ..CellConfig::default() };
            let cell = CellConfig { errors, repeat_errors, rlc, pattern, attempts, rounds, queue, blocks, ..timed };
            let links = vec![Mode::mcs(0).into(); cqi.len()];
            let point = point as usize % cqi.len();
            let mut spec = air(MediumConfig::new(layer(Standard::Ax)), &links, Some(point), None);
            if let Some(own) = &mut spec.config.air {
                own.medium = AirMedium::Cell(Box::new(cell));
                let terminal = |own_cqi: &u8| AirTerminal {
                    signal: CellSignal::Fixed(*own_cqi, *own_cqi),
                    handovers: own_cqi.is_multiple_of(2).then_some(HandoverGaps { every: MS * 7, gap: MS * 2 }),
                    site: None,
                };
                own.stations.iter_mut().zip(&cqi).for_each(|(station, cqi)| station.terminal = Some(terminal(cqi)));
            }
            spec
        },
    )
}

fn cases() -> impl Strategy<Value = (Air, Vec<(Instant, Event<Load>)>)> {
    let happening = prop_oneof![
        20 => (any::<u32>(), any::<u32>(), 1..9_000_usize).prop_map(|(from, to, payload)| {
            Event::Send(Load(from, [0, 0, 0, 0, 0, u8::try_from(to % 8).expect("below 8")], payload))
        }),
        1 => Just(Event::Change(PipeId(0), Box::default())),
        1 => any::<bool>().prop_map(|up| Event::Up(PipeId(0), up)),
    ];
    let pause = prop_oneof![Just(0), 1..20_000_u64, 1..2_000_000_u64];
    let delay = prop_oneof![Just(None), (0..2_000_u64).prop_map(|micros| Some(Duration::from_micros(micros)))];
    (prop_oneof![3 => media(), 1 => cells()], delay, vec((pause, happening), 1..40)).prop_map(
        |(spec, delay, events)| {
            let stations = u32::try_from(spec.medium.len()).expect("few stations");
            let mut now = Instant::ZERO;
            let place = |(gap, event)| {
                now = now + Duration::from_nanos(gap);
                match event {
                    Event::Send(Load(from, [.., to], payload)) => {
                        // To a station, to everybody, or to somebody whom nobody knows.
                        let to = match u32::from(to) {
                            6 => EVERYBODY,
                            7 => [2, 9, 9, 9, 9, 9],
                            station => address(station % stations),
                        };
                        (now, Event::Send(Load(from % stations, to, payload)))
                    }
                    other => (now, other),
                }
            };
            (Air(spec, delay), events.into_iter().map(place).collect())
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(7),
        ..ProptestConfig::default()
    })]

    #[test]
    fn ahead_of_time_is_on_time((air, events) in cases()) {
        assert_same(&air, &events, MS * 300);
    }
}

/// A switch sends something to its host, ahead of time, while what it sends to the medium waits: a station that sends before that comes first.
#[test]
fn what_waits_for_the_medium_waits_while_others_pass() {
    let medium = MediumConfig {
        access: Access::Ideal,
        discipline: Discipline::AirtimeFq,
        ..MediumConfig::new(layer(Standard::A))
    };
    let link = |place| LinkConfig { mode: mode(Standard::A, place), error: Probability::ZERO };
    let spec = air(medium, &[0, 0, 1].map(link), None, None);
    let send = |at, from, to, payload| {
        (Instant::ZERO + Duration::from_nanos(at), Event::Send(Load(from, address(to), payload)))
    };
    let events = [
        send(0, 1, 2, 1),
        send(637, 0, 0, 1),
        send(637, 2, 0, 2_594),
        send(637, 0, 1, 1),
        send(164_000, 0, 0, 1),
        send(164_000, 1, 0, 1),
    ];
    assert_same(&Air(spec, Some(Duration::from_micros(854))), &events, MS * 300);
}
