//! What may stand where pipes meet: a device that is given packets and says where they go on. It takes no time.
//!
//! A new kind is a file with its description and its state, a variant of [`DeviceSpec`] and of [`Device`], and an arm of
//! [`Device::take`].
//!
//! A pipe that ends at a transit device hands nothing out. The fabric passes the packet to the device at its due
//! instant, and puts what follows into the next pipes at the same instant, within the same `advance`. A packet that
//! goes on at several ports is one buffer with several owners; it is copied when one of them changes a byte. In
//! virtual time, the lookahead adds up what is certain along paths. Devices that repeat packets must form no loop of
//! links without a rate: in other loops, no more packets go round than the links let pass.
//!
//! A device that acts by itself (the spanning tree, the querier of multicast) reports when it is due. It stands among
//! the wakes of pipes, behind all of them, and acts at that instant. Ahead of time it acts only before everything is
//! known that reaches it, so the lookahead follows from pipes alone.
//!
//! A *shared medium* is no device but a pipe with more than one entrance and exit (`PipeSpec::medium`). The packet's
//! frame holds the port by which the packet entered, and is copied if others hold it, too; the packet goes out at all
//! other ports. With a transit device at a medium there is no lookahead, since the device takes turns with all other
//! ends.

use crate::forwarding::Forwarding;
use crate::hub::{Hub, HubSpec};
use crate::router::{Router, RouterCounters, RouterSpec};
use crate::switch::{Switch, SwitchSpec};
use crate::{PipeSpec, PortId};
use alloc::{vec, vec::Vec};
use netloom_link::{AirConfig, Carrier};
use netloom_packet::Packet;
use netloom_units::Instant;

/// A transit device: a part of the fabric, where no program runs.
#[derive(Clone, Debug)]
pub enum DeviceSpec {
    /// Forwards packets by their destinations.
    Router(RouterSpec),
    /// Repeats packets at all other ports.
    Hub(HubSpec),
    /// Forwards frames by Ethernet addresses that it learns.
    Switch(SwitchSpec),
}

impl DeviceSpec {
    /// Its ports, in order.
    pub fn ports(&self) -> Vec<PortId> {
        match self {
            Self::Router(router) => router.interfaces.iter().map(|interface| interface.port).collect(),
            Self::Hub(hub) => hub.ports.clone(),
            Self::Switch(switch) => switch.ports.iter().map(|port| port.port).collect(),
        }
    }

    pub(crate) fn router(&self) -> Option<&RouterSpec> {
        if let Self::Router(router) = self { Some(router) } else { None }
    }

    pub(crate) fn is_switch(&self) -> bool {
        matches!(self, Self::Switch(_))
    }

    /// Whether it passes packets on to more than one port, whatever they are.
    fn floods(&self) -> bool {
        match self {
            Self::Router(_) => false,
            Self::Hub(_) => true,
            Self::Switch(switch) => switch.vlans.is_empty(),
        }
    }
}

/// A device at work.
#[derive(Clone, Debug)]
pub(crate) enum Device {
    Router(Router),
    Hub(Hub),
    Switch(Switch),
}

impl Device {
    pub(crate) fn new(spec: &DeviceSpec) -> Self {
        match spec {
            DeviceSpec::Router(spec) => Self::Router(Router::new(spec)),
            DeviceSpec::Hub(spec) => Self::Hub(Hub::new(spec)),
            DeviceSpec::Switch(spec) => Self::Switch(Switch::new(spec)),
        }
    }

    /// A packet reaches the device at `now`, at `port`, which is at this place among its ports.
    #[inline]
    pub(crate) fn take(&mut self, now: Instant, place: usize, port: PortId, packet: Packet) -> Forwarding {
        match self {
            Self::Router(router) => router.take(now, place, packet),
            Self::Hub(hub) => hub.take(port, packet),
            Self::Switch(switch) => switch.take(now, place, packet),
        }
    }

    /// How the link is from which the port at this place hears; only switches mind. What is sent then, and where.
    pub(crate) fn hears(&mut self, now: Instant, place: usize, carrier: Carrier) -> Vec<(PortId, Packet)> {
        if let Self::Switch(switch) = self { switch.hears(now, place, carrier) } else { Vec::new() }
    }

    /// When it does something by itself next.
    pub(crate) fn due(&self) -> Option<Instant> {
        self.switch().and_then(Switch::due)
    }

    /// Does what is due at `now`; what it sends, and where.
    pub(crate) fn act(&mut self, now: Instant) -> Vec<(PortId, Packet)> {
        if let Self::Switch(switch) = self { switch.act(now) } else { Vec::new() }
    }

    /// What was counted before is forgotten; what was learned is not.
    pub(crate) fn begin_counting(&mut self) {
        match self {
            Self::Router(router) => router.counters = RouterCounters::default(),
            Self::Switch(switch) => switch.begin_counting(),
            Self::Hub(_) => {}
        }
    }

    pub(crate) fn router(&self) -> Option<&Router> {
        if let Self::Router(router) = self { Some(router) } else { None }
    }

    pub(crate) fn switch(&self) -> Option<&Switch> {
        if let Self::Switch(switch) = self { Some(switch) } else { None }
    }
}

/// Whether a packet could come back to a device over devices that flood and links without a rate, and so be multiplied
/// without bound. In any other loop there are never more packets than a link with a rate lets pass. What loops there are in VLANs
/// whoever describes them has to find out. `owners`: by port, the device that it belongs to, if any.
pub(crate) fn have_unbounded_loop(pipes: &[PipeSpec], devices: &[DeviceSpec], owners: &[Option<usize>]) -> bool {
    let floods = |port: PortId| owners[port.0 as usize].filter(|device| devices[*device].floods());
    // Both directions and all pipes between two ports are one link, which has a rate if all of them have one. A shared medium
    // joins all its devices.
    let link = |one: PortId, other: PortId| {
        let (first, second) = (one.min(other), one.max(other));
        Some((floods(first)?, floods(second)?, first, second))
    };
    let of_pipe = |pipe: &PipeSpec| {
        let joined: Vec<PortId> = joined(pipe).filter(|port| floods(*port).is_some()).collect();
        let along: Vec<_> = joined.windows(2).filter_map(|pair| link(pair[0], pair[1])).collect();
        if pipe.medium.is_empty() { link(pipe.from, pipe.to).into_iter().collect() } else { along }
    };
    let unlimited = pipes.iter().filter(|pipe| pipe.config.rate.nominal().is_none());
    let mut links: Vec<_> = unlimited.flat_map(of_pipe).collect();
    links.sort_unstable();
    links.dedup();
    let mut sets: Vec<usize> = (0..devices.len()).collect();
    links.into_iter().any(|(one, other, ..)| {
        let (one, other) = (sets[one], sets[other]);
        sets.iter_mut().filter(|set| **set == other).for_each(|set| *set = one);
        one == other
    })
}

/// The ports of a shared medium that hear one another: of the access points of one network, which do not, the first stands for all.
fn joined(pipe: &PipeSpec) -> impl Iterator<Item = PortId> + '_ {
    let air = pipe.config.air.as_deref();
    let points = air.and_then(|own| own.access_points.as_ref()).map_or(&[][..], |network| &network.points);
    let ports = |own: &AirConfig, station: usize| own.stations[station].port;
    let is_other = move |port: &PortId| {
        points.iter().skip(1).any(|point| air.is_some_and(|own| ports(own, point.station) == port.0))
    };
    pipe.medium.iter().copied().filter(move |port| !is_other(port))
}

/// Which device each port belongs to, if any.
pub(crate) fn owners(pipes: &[PipeSpec], devices: &[DeviceSpec]) -> Vec<Option<usize>> {
    let ports = pipes.iter().map(|pipe| pipe.last_port().0 as usize + 1).max().unwrap_or(0);
    let mut owners = vec![None; ports];
    for (number, device) in devices.iter().enumerate() {
        device.ports().into_iter().for_each(|port| owners[port.0 as usize] = Some(number));
    }
    owners
}
