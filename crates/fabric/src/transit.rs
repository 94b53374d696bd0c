//! The transit devices of a fabric: where they are, and what is known of the packets that reach them.

mod answers;

use crate::device::{Device, have_unbounded_loop, owners};
use crate::forwarding::Forwarding;
use crate::tap::Way;
use crate::{DeviceSpec, PipeId, PipeSpec, PortId, RouterCounters, SwitchCounters, SwitchState};
use alloc::collections::{BTreeMap, BinaryHeap};
use alloc::{sync::Arc, vec, vec::Vec};
use core::cmp::Reverse;
use netloom_link::{Carrier, Departure};
use netloom_packet::{Packet, Pool};
use netloom_units::Instant;

/// No device.
const NONE: u32 = u32::MAX;
/// Whoever is at a shared medium.
const SHARED: u32 = u32::MAX - 1;

/// Which Ethernet addresses packets bear that a transit router has passed on, by the port at which they leave: those of
/// the port and of the router before it. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Ethernet(Arc<[Option<[u8; 12]>]>);

impl Ethernet {
    /// Destination and source of a packet that leaves by `port`; none if its own are right, since no router has passed it. What was
    /// sent to a group is for that group on every link.
    #[inline]
    pub fn of(&self, port: PortId, packet: &Packet) -> Option<[u8; 12]> {
        if packet.hops() == 0 {
            return None;
        }
        let mut addresses = (*self.0.get(port.0 as usize)?)?;
        match packet.bytes() {
            [first, rest @ ..] if first & 1 == 1 && rest.len() > 5 => {
                addresses[..6].copy_from_slice(&packet.bytes()[..6]);
            }
            _ => {}
        }
        Some(addresses)
    }

    /// The packet with its addresses of this port in its frame.
    ///
    /// # Errors
    /// Gives the packet back if it has to be copied, and the pool has no buffer for it and may make none.
    #[inline]
    pub fn readdress(&self, port: PortId, packet: Packet, pool: &mut Pool) -> Result<Packet, Packet> {
        match self.of(port, &packet) {
            Some(addresses) => pool.readdress(packet, &addresses),
            None => Ok(packet),
        }
    }
}

/// A packet passed a port of a transit device.
#[derive(Clone, Debug)]
pub struct Pass {
    /// The device's port.
    pub port: PortId,
    /// Into the device (as into a node), or out of it.
    pub way: Way,
    /// When its first segment did.
    pub first: Instant,
    /// When its last segment did.
    pub last: Instant,
    /// The packet.
    pub packet: Packet,
}

/// A port of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    device: u32,
    /// Its place among the device's ports.
    own: u32,
}

impl Place {
    /// Which device there is, if there is one.
    pub(crate) fn device(self) -> usize {
        self.device as usize
    }

    /// Whether there is a device.
    pub(crate) fn is_at_device(self) -> bool {
        self.device != NONE
    }
}

/// The ports of a shared medium, and what is there.
pub(crate) type Ends = Arc<[(PortId, Place)]>;

/// See the module.
#[derive(Clone, Debug)]
pub(crate) struct Transit {
    devices: Vec<Device>,
    /// By pipe: whose packets enter it, and whom they reach.
    entrances: Vec<u32>,
    exits: Vec<Place>,
    /// The pipes that are shared media, with their ports.
    media: BTreeMap<u32, Ends>,
    /// Whether devices are at shared media.
    is_at_media: bool,
    /// Whether devices are at such media other than radio.
    is_at_wires: bool,
    /// The devices at radio media.
    at_radio: Vec<u32>,
    /// Pipes whose packets faults may answer, each with a pipe by which the answers go back.
    answering: Vec<(u32, u32)>,
    /// By device: the pipes that its packets enter.
    leaving: Vec<Vec<u32>>,
    /// By device: the pipes that lead to it and are cut and restored by themselves.
    flapping: Vec<Vec<u32>>,
    /// By pipe: whether whoever is at its end hears of its link by it. Further pipes carry some of the packets only.
    is_own: Vec<bool>,
    ethernet: Ethernet,
    /// Whether a device does something by itself.
    has_clocks: bool,
    /// Before when all packets are known that reach a device, by device; as of the last question.
    known: Vec<Instant>,
    /// Where that is found out.
    reaching: BinaryHeap<Reverse<(Instant, u32)>>,
    /// Packets that ended at a device.
    spent: Vec<Packet>,
    /// Whether passes are written down, and those that were.
    is_watched: bool,
    passes: Vec<Pass>,
}

impl Transit {
    pub(crate) fn new(pipes: &[PipeSpec], devices: &[DeviceSpec]) -> Self {
        let is_bounded = !have_unbounded_loop(pipes, devices, &owners(pipes, devices));
        assert!(is_bounded, "what hubs and switches repeat would come back for ever, and multiply");
        let ports = pipes.iter().map(|pipe| pipe.last_port().0 as usize + 1).max().unwrap_or(0);
        let mut places = vec![Place { device: NONE, own: 0 }; ports];
        // What leaves by a port: the Ethernet addresses that it bears.
        let mut bear = vec![None; if devices.is_empty() { 0 } else { ports }];
        for (spec, device) in devices.iter().zip(0..) {
            for (port, own) in spec.ports().into_iter().zip(0..) {
                places[port.0 as usize] = Place { device, own };
            }
            for interface in spec.router().iter().flat_map(|router| &router.interfaces) {
                bear[interface.port.0 as usize] = interface.ethernet();
            }
        }
        let mut ethernet = vec![None; bear.len()];
        let mut leaving = vec![Vec::new(); devices.len()];
        let mut media: BTreeMap<u32, Ends> = BTreeMap::new();
        for (pipe, number) in pipes.iter().zip(0..) {
            let Place { device, .. } = places[pipe.from.0 as usize];
            if !pipe.medium.is_empty() {
                media.insert(number, pipe.medium.iter().map(|port| (*port, places[port.0 as usize])).collect());
            } else if device != NONE {
                leaving[device as usize].push(number);
                ethernet[pipe.to.0 as usize] = bear[pipe.from.0 as usize];
            }
        }
        let end = |pipe: &PipeSpec, port: PortId| {
            if pipe.medium.is_empty() { places[port.0 as usize] } else { Place { device: SHARED, own: 0 } }
        };
        let exits: Vec<Place> = pipes.iter().map(|pipe| end(pipe, pipe.to)).collect();
        let is_at_media = media.values().any(|ends| ends.iter().any(|(_, place)| place.is_at_device()));
        let at_media = |is_radio: bool| {
            let meant = media.iter().filter(move |(pipe, _)| pipes[**pipe as usize].config.air.is_some() == is_radio);
            meant.flat_map(|(_, ends)| ends.iter()).filter(|(_, place)| place.is_at_device())
        };
        let (is_at_wires, at_radio) =
            (at_media(false).next().is_some(), at_media(true).map(|(_, place)| place.device).collect());
        let devices: Vec<Device> = devices.iter().map(Device::new).collect();
        let mut this = Self {
            has_clocks: devices.iter().any(|device| device.due().is_some()),
            // Whatever enters a medium may come from a node.
            entrances: pipes
                .iter()
                .map(|pipe| if pipe.medium.is_empty() { places[pipe.from.0 as usize].device } else { NONE })
                .collect(),
            exits,
            answering: answering(pipes),
            media,
            is_at_media,
            is_at_wires,
            at_radio,
            leaving,
            flapping: vec![Vec::new(); devices.len()],
            is_own: pipes.iter().map(|pipe| pipe.filter.is_none()).collect(),
            ethernet: Ethernet(ethernet.into()),
            known: vec![Instant::ZERO; devices.len()],
            devices,
            reaching: BinaryHeap::new(),
            spent: Vec::new(),
            is_watched: false,
            passes: Vec::new(),
        };
        pipes.iter().zip(0..).for_each(|(pipe, id)| this.set_flapping(PipeId(id), pipe.config.state.flap.is_some()));
        this
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.devices.is_empty() && self.media.is_empty()
    }

    /// What is at the end of this pipe, if it is more than the port of a node.
    #[inline]
    pub(crate) fn at_exit(&self, pipe: PipeId) -> Option<Place> {
        Some(self.exits[pipe.0 as usize]).filter(|place| place.device != NONE)
    }

    /// Whether this pipe leads from a port to a device.
    pub(crate) fn leads_in(&self, pipe: PipeId) -> bool {
        let pipe = pipe.0 as usize;
        self.entrances[pipe] == NONE && (self.exits[pipe].device as usize) < self.devices.len()
    }

    /// The ports of a shared medium, if this pipe is one.
    #[inline]
    pub(crate) fn medium(&self, pipe: PipeId) -> Option<&Ends> {
        if self.exits[pipe.0 as usize].device == SHARED { self.media.get(&pipe.0) } else { None }
    }

    /// The devices that hear what leaves this pipe, each with the place of the port at which it does.
    fn hearers(&self, pipe: PipeId) -> Vec<Place> {
        let all = self.medium(pipe).map_or_else(
            || Vec::from([self.exits[pipe.0 as usize]]),
            |ends| ends.iter().map(|(_, place)| *place).collect(),
        );
        all.into_iter().filter(|place| place.is_at_device()).collect()
    }

    /// Before when everything is known that reaches the device at the end of this pipe; without end if there is none.
    pub(crate) fn known_at_exit(&self, pipe: PipeId) -> Instant {
        self.known.get(self.exits[pipe.0 as usize].device as usize).copied().unwrap_or(Instant::MAX)
    }

    /// Before when everything is known that enters this pipe, if that comes from a device.
    pub(crate) fn known_at_entrance(&self, pipe: PipeId) -> Option<Instant> {
        self.known.get(self.entrances[pipe.0 as usize] as usize).copied()
    }

    /// Whether faults may answer the packets of any pipe.
    pub(crate) fn may_answer(&self, pipe: PipeId) -> bool {
        self.answering.iter().any(|(forward, _)| *forward == pipe.0)
    }

    /// The device at the end of a pipe does not notice whether that is up.
    pub(crate) fn overhear(&mut self, pipe: PipeId) {
        self.is_own[pipe.0 as usize] = false;
    }

    /// Whether a pipe is cut and restored by itself from now on.
    pub(crate) fn set_flapping(&mut self, pipe: PipeId, is_flapping: bool) {
        if !self.is_own[pipe.0 as usize] {
            return;
        }
        for Place { device, .. } in self.hearers(pipe) {
            let own = &mut self.flapping[device as usize];
            own.retain(|other| *other != pipe.0);
            own.extend(is_flapping.then_some(pipe.0));
        }
    }

    /// The pipe at this place among those that lead to a device and are cut and restored by themselves.
    #[inline]
    pub(crate) fn flapping(&self, device: usize, place: usize) -> Option<PipeId> {
        self.flapping[device].get(place).copied().map(PipeId)
    }

    /// The devices at the end of a pipe notice whether that is up; what each sends then, and where.
    pub(crate) fn hears(
        &mut self,
        now: Instant,
        pipe: PipeId,
        carrier: Carrier,
    ) -> Vec<(usize, Vec<(PortId, Packet)>)> {
        if !self.is_own[pipe.0 as usize] {
            return Vec::new();
        }
        let hearers = self.hearers(pipe);
        let hear =
            |place: Place| (place.device(), self.devices[place.device()].hears(now, place.own as usize, carrier));
        hearers.into_iter().map(hear).collect()
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.devices.len()
    }

    /// Whether any of them does something by itself.
    pub(crate) fn has_clocks(&self) -> bool {
        self.has_clocks
    }

    /// When a device does something by itself next.
    pub(crate) fn due(&self, device: usize) -> Option<Instant> {
        self.devices[device].due()
    }

    /// A device does what is due at `now`; what it sends, and where.
    pub(crate) fn act(&mut self, now: Instant, device: usize) -> Vec<(PortId, Packet)> {
        self.devices[device].act(now)
    }

    /// Before when everything is known that reaches a device.
    pub(crate) fn known(&self, device: usize) -> Instant {
        self.known[device]
    }

    pub(crate) fn recycle(&mut self, pool: &mut Pool) {
        self.spent.drain(..).for_each(|packet| pool.recycle(packet));
    }

    /// What was counted before is forgotten.
    pub(crate) fn begin_counting(&mut self) {
        self.devices.iter_mut().for_each(Device::begin_counting);
    }

    /// What each router has counted, in their order.
    pub(crate) fn counters(&self) -> impl Iterator<Item = &RouterCounters> {
        self.devices.iter().filter_map(Device::router).map(|router| &router.counters)
    }

    /// What each switch has counted at each of its ports, in their order.
    pub(crate) fn switch_counters(&self) -> impl Iterator<Item = &[SwitchCounters]> {
        self.devices.iter().filter_map(Device::switch).map(|switch| &switch.counters[..])
    }

    /// What each switch has counted and knows at `now`, in their order.
    pub(crate) fn switch_states(&self, now: Instant) -> impl Iterator<Item = SwitchState> {
        self.devices.iter().filter_map(Device::switch).map(move |switch| switch.state(now))
    }

    pub(crate) fn ethernet(&self) -> &Ethernet {
        &self.ethernet
    }

    pub(crate) fn watch(&mut self, is_watched: bool) {
        self.is_watched = is_watched;
    }

    /// What has passed while it was watched, in order.
    pub(crate) fn passes(&mut self) -> impl Iterator<Item = Pass> + '_ {
        self.passes.drain(..)
    }

    /// A packet reaches the device at this place, which is at `port`.
    pub(crate) fn take(&mut self, Place { device, own }: Place, port: PortId, departure: Departure) -> Forwarding {
        let Departure { packet, due, first_due, .. } = departure;
        self.note(port, Way::ToNode, first_due, due, &packet);
        self.devices[device as usize].take(due, own as usize, port, packet)
    }

    /// A device sends a packet.
    pub(crate) fn sends(&mut self, at: Instant, port: PortId, packet: &Packet) {
        self.note(port, Way::FromNode, at, at, packet);
    }

    /// A packet ended at a device.
    pub(crate) fn spend(&mut self, packet: Packet) {
        self.spent.push(packet);
    }

    fn note(&mut self, port: PortId, way: Way, first: Instant, last: Instant, packet: &Packet) {
        if self.is_watched {
            self.passes.push(Pass { port, way, first, last, packet: packet.duplicate() });
        }
    }

    /// Before when all is known that leaves the pipes without meeting another device. `until` says of a pipe before when
    /// that is known which leaves it, given before when that is known which enters it; none: it comes from no device.
    ///
    /// What leaves a pipe behind a device is known for as long as all that reaches the device, and then for the least time
    /// that the pipe takes: paths add up.
    ///
    /// Of a shared medium several take turns. A device at one cannot be ahead of the others there, and neither can anybody else; but of a
    /// radio medium it is known before when whatever enters cannot leave, and what a device sends there waits for its instant.
    pub(crate) fn certain(
        &mut self,
        now: Instant,
        mut until: impl FnMut(usize, Option<Instant>) -> Instant,
    ) -> Instant {
        let mut certain = Instant::MAX;
        // Whoever is answered by a fault takes turns with those from whom the answer would come.
        if self.is_at_wires || !self.answering.is_empty() {
            return now;
        }
        self.known.fill(Instant::MAX);
        self.reaching.clear();
        for pipe in 0..self.entrances.len() {
            if self.entrances[pipe] == NONE {
                let known = until(pipe, None);
                self.reaches(pipe, known, &mut certain);
                self.reaches_over_radio(pipe, known);
            }
        }
        // Dijkstra's algorithm: of all that reach a device, the first that is unknown counts.
        while let Some(Reverse((known, device))) = self.reaching.pop() {
            if self.known[device as usize] < known {
                continue;
            }
            for place in 0..self.leaving[device as usize].len() {
                let pipe = self.leaving[device as usize][place] as usize;
                self.reaches(pipe, until(pipe, Some(known)), &mut certain);
            }
        }
        self.at_radio.iter().map(|device| self.known[*device as usize]).fold(certain, Instant::min)
    }

    /// Notes before when everything is known that reaches the devices at a radio medium.
    fn reaches_over_radio(&mut self, pipe: usize, until: Instant) {
        if self.at_radio.is_empty() || self.exits[pipe].device != SHARED {
            return;
        }
        for place in self.hearers(PipeId(u32::try_from(pipe).expect("pipes are numbered so"))) {
            let known = &mut self.known[place.device()];
            if until < *known {
                *known = until;
                self.reaching.push(Reverse((until, place.device)));
            }
        }
    }

    /// What leaves a pipe is known before `until`.
    fn reaches(&mut self, pipe: usize, until: Instant, certain: &mut Instant) {
        let device = self.exits[pipe].device;
        match self.known.get_mut(device as usize) {
            None => *certain = until.min(*certain),
            Some(known) if until < *known => {
                *known = until;
                self.reaching.push(Reverse((until, device)));
            }
            Some(_) => {}
        }
    }
}

/// Pipes whose packets faults may answer, with those that lead back between the same ports.
fn answering(pipes: &[PipeSpec]) -> Vec<(u32, u32)> {
    let may_answer = |pipe: &&(u32, &PipeSpec)| {
        pipe.1.medium.is_empty() && pipe.1.config.faults.is_some_and(|ground| ground.answers)
    };
    let all: Vec<(u32, &PipeSpec)> = (0..).zip(pipes).collect();
    let back = |(number, forward): &(u32, &PipeSpec)| {
        let (number, ends) = (*number, (forward.to, forward.from));
        let opposite: Vec<(u32, u32)> =
            all.iter().filter(|(_, other)| (other.from, other.to) == ends).map(|(other, _)| (number, *other)).collect();
        opposite
    };
    all.iter().filter(may_answer).flat_map(back).collect()
}
