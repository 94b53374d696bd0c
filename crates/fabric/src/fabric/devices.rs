//! What the fabric does at its transit devices.

use super::Fabric;
use crate::forwarding::Forwarding;
use crate::transit::{Ends, Place, Transit};
use crate::wakes::Wakes;
use crate::{
    Delivery, DeviceSpec, Ethernet, Pass, PipeId, PipeSpec, PortId, RouterCounters, SwitchCounters, SwitchState,
};
use alloc::vec::Vec;
use netloom_link::Departure;
use netloom_packet::{Packet, Pool};
use netloom_units::{Duration, Instant};

/// As far ahead certainty reaches where devices do something by themselves.
const HORIZON: Duration = Duration::from_secs(10);

impl Fabric {
    /// Returns the same fabric with these transit devices, each at the ends of its pipes. What leaves a pipe there is not handed
    /// out, but passed on at the same instant.
    ///
    /// # Panics
    /// If a device has a port that no pipe has, a route leads to no neighbour, a router has several neighbours on a link
    /// that is not shared, or hubs and switches are joined in a loop over links of which not all have a rate.
    #[must_use]
    pub fn with_devices(mut self, pipes: &[PipeSpec], devices: &[DeviceSpec]) -> Self {
        self.transit = Transit::new(pipes, devices);
        self.wakes = Wakes::new(self.pipes.len() + self.transit.count());
        (0..).zip(pipes).for_each(|(pipe, _)| self.reschedule(PipeId(pipe)));
        (0..self.transit.count()).for_each(|device| self.reschedule_device(device));
        self
    }

    /// Returns the counters of each transit router, in the order of the routers.
    pub fn router_counters(&self) -> impl Iterator<Item = &RouterCounters> {
        self.transit.counters()
    }

    /// Returns the counters of each switch at each of its ports, in the order of the switches.
    pub fn switch_counters(&self) -> impl Iterator<Item = &[SwitchCounters]> {
        self.transit.switch_counters()
    }

    /// Returns the counters of each switch, and what it knows of groups at `now`, in the order of the switches.
    pub fn switch_states(&self, now: Instant) -> impl Iterator<Item = SwitchState> {
        self.transit.switch_states(now)
    }

    /// Returns the Ethernet addresses that packets bear when they leave the fabric.
    pub fn ethernet(&self) -> &Ethernet {
        self.transit.ethernet()
    }

    /// Starts or stops recording, for taps, what passes the ports of transit devices.
    pub fn watch_routers(&mut self, is_watched: bool) {
        self.transit.watch(is_watched);
    }

    /// Shows what has passed the ports of transit devices while they were watched, in order.
    pub fn show_passes(&mut self, pool: &mut Pool, mut show: impl FnMut(&Pass)) {
        for pass in self.transit.passes() {
            show(&pass);
            pool.recycle(pass.packet);
        }
    }

    /// A packet comes out of a shared medium: all its ports but that by which it entered hear it. To the meters it is sent once.
    pub(super) fn hear(&mut self, id: PipeId, ends: &Ends, departure: Departure, sink: &mut impl FnMut(Delivery)) {
        let Departure { packet, due, first_due, delay, busy } = departure;
        let mut unmeasured = busy;
        let origin = PortId(packet.origin());
        let kept_from = self.kept_from(id, ends, &packet);
        let hearers = self.pipes[id.0 as usize].hearers(&packet, due);
        for (port, place) in ends.iter().filter(|(port, _)| *port != origin) {
            if kept_from.contains(port) || !hearers.has(port.0) {
                continue;
            }
            let heard = Departure { packet: packet.duplicate(), due, first_due, delay, busy: Duration::ZERO };
            if place.is_at_device() {
                self.pass(*place, *port, heard);
            } else {
                let measured = Departure { busy: core::mem::take(&mut unmeasured), ..heard };
                sink(Delivery { pipe: id, port: *port, departure: measured });
            }
        }
        self.transit.spend(packet);
    }

    /// A packet reaches the device at this place, and what follows from that enters other pipes.
    pub(super) fn pass(&mut self, place: Place, at_port: PortId, departure: Departure) {
        let (at, device) = (departure.due, place.device());
        self.notice_flaps(at, device);
        match self.transit.take(place, at_port, departure) {
            Forwarding::On(port, packet) => self.enter(at, port, packet),
            Forwarding::Addressed(port, packet, addresses) => {
                let (packet, spent) = packet.readdress(&addresses);
                spent.into_iter().for_each(|spent| self.transit.spend(spent));
                self.enter(at, port, packet);
            }
            Forwarding::Flood(packet, from, ports) => {
                ports.iter().filter(|port| **port != from).for_each(|port| self.enter(at, *port, packet.duplicate()));
                self.transit.spend(packet);
            }
            Forwarding::End(spent, answers) => {
                self.transit.spend(spent);
                self.enter_all(at, device, answers);
            }
        }
    }

    /// A device does what is due.
    pub(super) fn act(&mut self, now: Instant, device: usize) {
        self.notice_flaps(now, device);
        let sent = self.transit.act(now, device);
        self.enter_all(now, device, sent);
    }

    fn notice_flaps(&mut self, now: Instant, device: usize) {
        let mut place = 0;
        while let Some(flapping) = self.transit.flapping(device, place) {
            self.notice(now, flapping);
            place += 1;
        }
    }

    /// What a device sends of its own; it may want to be called at another instant since.
    fn enter_all(&mut self, at: Instant, device: usize, sent: Vec<(PortId, Packet)>) {
        sent.into_iter().for_each(|(port, packet)| self.enter(at, port, packet));
        if self.transit.has_clocks() {
            self.reschedule_device(device);
        }
    }

    /// Among the wakes of pipes, those of devices stand behind them.
    pub(super) fn reschedule_device(&mut self, device: usize) {
        let place = u32::try_from(self.pipes.len() + device).expect("fewer than 2^32 pipes and devices");
        self.wakes.set(place, self.transit.due(device));
    }

    /// Whether there are transit devices that do something by themselves, without end.
    pub fn has_clocks(&self) -> bool {
        self.transit.has_clocks()
    }

    /// The device at the end of a pipe, if there is one, notices whether that is up at `now`.
    pub(super) fn notice(&mut self, now: Instant, id: PipeId) {
        if self.transit.at_exit(id).is_some() {
            let carrier = self.pipes[id.0 as usize].carrier(now);
            let sent = self.transit.hears(now, id, carrier);
            self.reschedule(id);
            sent.into_iter().for_each(|(device, sent)| self.enter_all(now, device, sent));
        }
    }

    fn enter(&mut self, at: Instant, port: PortId, packet: Packet) {
        self.transit.sends(at, port, &packet);
        let Some(packet) = self.defer(at, port, packet) else { return };
        // What waits for its instant at a radio medium waits on, also while the fabric is ahead of it.
        if let Err((_, lost)) = self.inject_now(at, port, packet) {
            self.transit.spend(lost);
        }
    }

    /// [`Fabric::lookahead_until`] with transit devices.
    pub(super) fn lookahead_beyond_devices(&mut self, now: Instant) -> Instant {
        let Self { transit, pipes, drop_log, .. } = self;
        let certain = transit.certain(now, |pipe, known| match known {
            None => pipes[pipe].lookahead_until(now, drop_log.of(u32::try_from(pipe).expect("pipes are numbered so"))),
            Some(known) => pipes[pipe].lookahead_behind(now, known),
        });
        // Without end there would be no end to what devices do by themselves.
        let end = if transit.has_clocks() { now + HORIZON } else { Instant::MAX };
        certain.min(end).max(now)
    }
}
