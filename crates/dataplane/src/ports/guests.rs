//! The ports of kernels that run as processes.

use super::backlog::Backlog;
use super::{BATCH, Opened, PortConfig, PortGroup, Received, Site, Window};
use crate::clock::Clock;
use crate::edge::{Edge, Handover};
use netloom_fabric::{Delivery, Ethernet, PortId};
use netloom_figures::{EngineReport, PortReport, SlowReceiver};
use netloom_packet::Packet;
use netloom_units::{Duration, Instant};
use netloom_vhost::{Event, Listener, Poller, Port, Sent};
use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::sync::Arc;

/// See the module.
struct Guests {
    clock: Clock,
    poller: Arc<Poller>,
    guests: Vec<Guest>,
    /// By port of the fabric: the place of its guest.
    places: Vec<usize>,
    ethernet: Ethernet,
    /// Of one guest, within a pass.
    found: Vec<Packet>,
    /// What guests have got since the last flush, and since when it waited if that is the guest's own slowness.
    handed: Vec<(Delivery, Option<Instant>)>,
    /// How many guests have a backlog.
    behind: usize,
    /// Packets (segments) for guests that do not listen.
    unheard: u64,
}

struct Guest {
    id: PortId,
    port: Port,
    /// What waits for buffers of the guest, and since when.
    backlog: Backlog<Instant>,
    /// What waited because the guest is as slow as described; none of guests without a share of a processor.
    slow: Option<SlowReceiver>,
    /// Packets (segments) that did not fit into it, or into the engine's memory.
    lost: u64,
    /// Packets that it sent; a train counts once.
    received: u64,
    /// Its queues have changed since the last flush.
    touched: bool,
}

/// The guests of each shard.
pub(super) fn open(sites: &mut [Site<'_>]) -> io::Result<Vec<Option<Opened>>> {
    let open = |site: &mut Site<'_>| {
        let guests = site.take(|config| match config {
            PortConfig::Guest { port, listener, has_share } => Ok((port, listener, has_share)),
            other => Err(other),
        });
        if guests.is_empty() {
            return Ok(None);
        }
        let ports = guests.iter().map(|(port, ..)| *port).collect();
        let group = Guests::open(site.clock, guests, site.shard.fabric.ethernet().clone())?;
        Ok(Some(Opened { group: Box::new(group), ports }))
    };
    sites.iter_mut().map(open).collect()
}

impl PortGroup for Guests {
    /// They arrive when they are found. That is late by as long as the engine was busy or slept: below a microsecond
    /// while it spins, and as long as this machine takes to wake up when it slept. A ring tells no instant of its own.
    fn receive(&mut self, edge: &mut Edge, window: Window) -> Received {
        if window.is_overdue {
            return Received::default();
        }
        let mut count = 0;
        let Self { clock, guests, found, .. } = self;
        for guest in guests {
            guest.port.receive(&mut edge.handover.pool, BATCH, |packet| found.push(packet));
            if found.is_empty() {
                continue;
            }
            guest.touched = true;
            guest.received += found.len() as u64;
            count += found.len();
            let arrival = window.arrival(clock.now());
            found.drain(..).for_each(|packet| edge.enter(arrival, guest.id, packet));
        }
        Received { count, is_lively: count > 0, has_more: false }
    }

    fn push(&mut self, batch: &mut Vec<Delivery>, out: &mut Handover) {
        batch.drain(..).for_each(|delivery| self.offer(delivery, out));
    }

    /// Tells the guests of all that has changed for them, once each.
    fn flush(&mut self, out: &mut Handover) {
        if self.behind > 0 {
            self.catch_up(out);
        }
        for guest in &mut self.guests {
            if std::mem::take(&mut guest.touched) {
                guest.port.flush();
            }
        }
        if self.handed.is_empty() {
            return;
        }
        let now = self.clock.now();
        self.handed.drain(..).for_each(|(delivery, since)| out.handed(delivery, since.unwrap_or(now)));
    }

    fn set_carrier(&mut self, port: PortId, on: bool) {
        self.guests[self.places[port.0 as usize]].port.set_carrier(on);
    }

    /// Readable when a guest rings, comes, or asks something.
    fn descriptor(&self) -> RawFd {
        self.poller.as_raw_fd()
    }

    fn report(&mut self, report: &mut EngineReport) {
        report.ports.extend(self.guests.iter().map(Guest::report));
        let ended = |guest: &Guest| Some((guest.id, guest.port.error()?.to_string()));
        report.ended_ports.extend(self.guests.iter().filter_map(ended));
        report.slow_receivers.extend(self.guests.iter().filter_map(|guest| guest.slow).filter(|slow| slow.packets > 0));
        report.unheard += self.unheard;
    }

    /// Asks all guests to ring for their next packet.
    fn may_sleep(&mut self, _now: Instant, _until: Instant) -> bool {
        // All are to be asked: no shortcut.
        self.guests.iter_mut().fold(true, |is_quiet, guest| !guest.port.listen() & is_quiet)
    }

    /// Answers messages of guests. Rings need nothing but that we are awake.
    fn wake(&mut self, is_called: bool) -> io::Result<()> {
        let Self { poller, guests, .. } = self;
        if is_called {
            poller.drain(|event| {
                if let Event::Message(place) = event {
                    guests[place as usize].port.service();
                }
            })?;
        }
        Ok(())
    }
}

impl Guests {
    fn open(clock: Clock, ports: Vec<(PortId, Listener, bool)>, ethernet: Ethernet) -> io::Result<Self> {
        let poller = Poller::new()?;
        let last = ports.iter().map(|(port, ..)| port.0 as usize + 1).max().unwrap_or(0);
        let mut places = vec![0; last];
        let mut guests = Vec::new();
        for ((id, listener, has_share), token) in ports.into_iter().zip(0..) {
            places[id.0 as usize] = guests.len();
            let port = Port::new(listener, &poller, token)?;
            let slow = has_share.then_some(SlowReceiver { port: id, packets: 0, longest: Duration::ZERO });
            guests.push(Guest { id, port, backlog: Backlog::default(), slow, lost: 0, received: 0, touched: false });
        }
        let (found, handed) = (Vec::with_capacity(BATCH), Vec::with_capacity(BATCH));
        Ok(Self { clock, poller, guests, places, ethernet, found, handed, behind: 0, unheard: 0 })
    }

    /// Hands a packet to a guest, or keeps it until there is room.
    fn offer(&mut self, mut delivery: Delivery, out: &mut Handover) {
        let guest = &mut self.guests[self.places[delivery.port.0 as usize]];
        let readdressed = self.ethernet.readdress(delivery.port, delivery.departure.packet, &mut out.pool);
        let is_out_of_memory = readdressed.is_err();
        delivery.departure.packet = readdressed.unwrap_or_else(|packet| packet);
        if is_out_of_memory {
            guest.lost += out.lost(delivery);
            return;
        }
        if guest.backlog.is_empty() {
            match guest.offer(&mut delivery) {
                Sent::Done => return self.handed.push((delivery, None)),
                Sent::Down => {
                    self.unheard += out.unheard(delivery);
                    return;
                }
                Sent::Full => self.behind += 1,
            }
        }
        if let Err(too_much) = guest.backlog.push(delivery, self.clock.now()) {
            guest.lost += out.lost(too_much);
        }
    }

    /// Hands over what waited, as far as there is room now.
    fn catch_up(&mut self, out: &mut Handover) {
        for guest in &mut self.guests {
            while let Some((mut delivery, since)) = guest.backlog.pop() {
                match guest.offer(&mut delivery) {
                    Sent::Full => {
                        guest.backlog.put_back(delivery, since);
                        break;
                    }
                    Sent::Done => {
                        if let Some(slow) = &mut guest.slow {
                            slow.record(delivery.departure.packet.segments(), self.clock.now().since(since));
                        }
                        self.handed.push((delivery, guest.slow.map(|_| since)));
                    }
                    Sent::Down => self.unheard += out.unheard(delivery),
                }
                if guest.backlog.is_empty() {
                    self.behind -= 1;
                }
            }
        }
    }
}

impl Guest {
    /// Offers a packet to the guest; of a train that it does not take whole, what is left when it is full stays in
    /// `delivery`.
    fn offer(&mut self, delivery: &mut Delivery) -> Sent {
        let packet = &mut delivery.departure.packet;
        self.touched = true;
        while !self.port.takes_whole(packet) {
            let Some(first) = packet.split_front(1) else { break };
            match self.port.send(&first) {
                Sent::Done => {}
                other => {
                    let rest = std::mem::replace(packet, first);
                    packet.append(&rest);
                    return other;
                }
            }
        }
        self.port.send(packet)
    }

    fn report(&self) -> PortReport {
        PortReport {
            port: self.id,
            is_interface: false,
            received: self.received,
            lost_receiving: 0,
            lost_sending: self.lost,
            taken: 0,
        }
    }
}
