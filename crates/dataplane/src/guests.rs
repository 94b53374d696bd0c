//! The ports of kernels that run as processes.

use crate::clock::Clock;
use crate::meter::Meters;
use crate::receive::enter;
use crate::report::PortReport;
use crate::taps::Taps;
use netloom_fabric::{Delivery, Ethernet, Fabric, PortId};
use netloom_packet::{Packet, Pool};
use netloom_units::Instant;
use netloom_vhost::{Event, Listener, Poller, Port, Sent};
use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::sync::Arc;
use std::time::Duration as RealDuration;

/// Packets that one pass takes from a port at most, so that what is due is not kept waiting by a flood.
const BATCH: usize = 64;
/// How much waits at most for a guest that is short of buffers: what a link of 10 Gbit/s brings in 13 ms, for which such
/// a guest may well have no processor.
const BACKLOG: u64 = 16 << 20;
/// How long messages and comings of guests may wait while there is no sleep that they could end.
const ATTEND_AFTER: RealDuration = RealDuration::from_micros(500);
/// In the table of places: no guest.
const NOBODY: u32 = u32::MAX;

/// See the module.
pub(crate) struct Guests {
    clock: Clock,
    poller: Arc<Poller>,
    guests: Vec<Guest>,
    /// Which guest is behind each port of the fabric.
    places: Vec<u32>,
    ethernet: Ethernet,
    /// Of one guest, within a pass.
    found: Vec<Packet>,
    /// What guests have got since the last flush.
    handed: Vec<Delivery>,
    /// How many guests have a backlog.
    behind: usize,
    attended: RealDuration,
    /// Packets (segments) for guests that do not listen.
    pub(crate) unheard: u64,
}

struct Guest {
    id: PortId,
    port: Port,
    /// What waits for buffers of the guest, in order.
    backlog: VecDeque<Delivery>,
    /// Their bytes.
    waiting: u64,
    /// Packets (segments) that did not fit into it, or into the engine's memory.
    lost: u64,
    /// Packets that it sent; a train counts once.
    received: u64,
    /// Its queues have changed since the last flush.
    touched: bool,
}

impl Guests {
    pub(crate) fn open(clock: Clock, ports: Vec<(PortId, Listener)>, ethernet: Ethernet) -> io::Result<Self> {
        let poller = Poller::new()?;
        let last = ports.iter().map(|(port, _)| port.0 + 1).max().unwrap_or(0);
        let mut places = vec![NOBODY; last as usize];
        let mut guests = Vec::new();
        for (place, (id, listener)) in (0..).zip(ports) {
            places[id.0 as usize] = place;
            let port = Port::new(listener, &poller, place)?;
            guests.push(Guest { id, port, backlog: VecDeque::new(), waiting: 0, lost: 0, received: 0, touched: false });
        }
        Ok(Self {
            clock,
            poller,
            guests,
            places,
            ethernet,
            found: Vec::with_capacity(BATCH),
            handed: Vec::new(),
            behind: 0,
            attended: RealDuration::ZERO,
            unheard: 0,
        })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.guests.is_empty()
    }

    /// Readable when a guest rings, comes, or asks something; negative without guests.
    pub(crate) fn as_raw_fd(&self) -> RawFd {
        if self.guests.is_empty() { -1 } else { self.poller.as_raw_fd() }
    }

    /// Which guest is behind a port.
    #[inline]
    pub(crate) fn place(&self, port: PortId) -> Option<usize> {
        self.places.get(port.0 as usize).filter(|&&place| place != NOBODY).map(|&place| place as usize)
    }

    /// Answers messages of guests, in wall time since the epoch. Rings need nothing but that we are awake.
    pub(crate) fn attend(&mut self, real: RealDuration) -> io::Result<()> {
        self.attended = real;
        if self.guests.is_empty() {
            return Ok(());
        }
        let Self { poller, guests, .. } = self;
        poller.drain(|event| {
            if let Event::Message(place) = event {
                guests[place as usize].port.service();
            }
        })?;
        Ok(())
    }

    /// As [`Guests::attend`], if that was long ago: a busy engine does not sleep.
    #[inline]
    pub(crate) fn attend_sometimes(&mut self, real: RealDuration) -> io::Result<()> {
        let due = !self.guests.is_empty() && real.saturating_sub(self.attended) > ATTEND_AFTER;
        if due { self.attend(real) } else { Ok(()) }
    }

    /// Asks all guests to ring for their next packet. True if there is one already.
    pub(crate) fn listen(&mut self) -> bool {
        // All are to be asked: no shortcut.
        self.guests.iter_mut().fold(false, |found, guest| guest.port.listen() | found)
    }

    /// Takes what guests have sent, up to a batch from each, and returns how many packets that were.
    ///
    /// They arrive when they are found. That is late by as long as the engine was busy or slept: below a microsecond
    /// while it spins, and as long as this machine takes to wake up when it slept. A ring tells no instant of its own.
    ///
    /// `reached`: how far the fabric may go now; nothing arrives later than then.
    pub(crate) fn pass(
        &mut self,
        fabric: &mut Fabric,
        pool: &mut Pool,
        taps: &mut Taps,
        reached: Option<Instant>,
    ) -> usize {
        let mut count = 0;
        let Self { clock, guests, found, .. } = self;
        for guest in guests {
            guest.port.receive(pool, BATCH, |packet| found.push(packet));
            if found.is_empty() {
                continue;
            }
            guest.touched = true;
            guest.received += found.len() as u64;
            count += found.len();
            let arrival = reached.map_or_else(|| clock.now(), |reached| clock.now().min(reached));
            found.drain(..).for_each(|packet| enter(fabric, pool, taps, arrival, guest.id, packet));
        }
        count
    }

    /// Hands a packet to a guest, or keeps it until there is room.
    pub(crate) fn push(&mut self, place: usize, mut delivery: Delivery, meters: &mut Meters, pool: &mut Pool) {
        let guest = &mut self.guests[place];
        let readdressed = self.ethernet.readdress(delivery.port, delivery.departure.packet, pool);
        let is_out_of_memory = readdressed.is_err();
        delivery.departure.packet = readdressed.unwrap_or_else(|packet| packet);
        if is_out_of_memory {
            meters.lose(delivery.pipe, &delivery.departure);
            return discard(delivery, &mut guest.lost, pool);
        }
        if guest.backlog.is_empty() {
            match guest.offer(&mut delivery) {
                Sent::Done => return self.handed.push(delivery),
                Sent::Down => return discard(delivery, &mut self.unheard, pool),
                Sent::Full => self.behind += 1,
            }
        }
        let size = delivery.departure.packet.size().get();
        if guest.waiting + size > BACKLOG {
            meters.lose(delivery.pipe, &delivery.departure);
            discard(delivery, &mut guest.lost, pool);
        } else {
            guest.waiting += size;
            guest.backlog.push_back(delivery);
        }
    }

    /// Hands over what waited, as far as there is room now.
    fn catch_up(&mut self, pool: &mut Pool) {
        for place in 0..self.guests.len() {
            let guest = &mut self.guests[place];
            while let Some(mut delivery) = guest.backlog.pop_front() {
                guest.waiting -= delivery.departure.packet.size().get();
                match guest.offer(&mut delivery) {
                    Sent::Full => {
                        guest.waiting += delivery.departure.packet.size().get();
                        guest.backlog.push_front(delivery);
                        break;
                    }
                    Sent::Done => self.handed.push(delivery),
                    Sent::Down => discard(delivery, &mut self.unheard, pool),
                }
                if guest.backlog.is_empty() {
                    self.behind -= 1;
                }
            }
        }
    }

    /// Tells the guests of all that has changed for them, once each.
    #[inline]
    pub(crate) fn flush(&mut self, meters: &mut Meters, pool: &mut Pool) {
        if self.behind > 0 {
            self.catch_up(pool);
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
        for delivery in self.handed.drain(..) {
            meters.record(delivery.pipe, &delivery.departure, now);
            pool.recycle(delivery.departure.packet);
        }
    }

    /// What each port has brought and lost.
    pub(crate) fn reports(&self) -> impl Iterator<Item = PortReport> {
        self.guests.iter().map(|guest| PortReport {
            port: guest.id,
            is_interface: false,
            received: guest.received,
            lost_receiving: 0,
            lost_sending: guest.lost,
        })
    }

    /// The ports that have ended, and why.
    pub(crate) fn ended(&self) -> Vec<(PortId, String)> {
        let ended = |guest: &Guest| Some((guest.id, guest.port.error()?.to_string()));
        self.guests.iter().filter_map(ended).collect()
    }
}

/// Counts a packet that goes nowhere.
fn discard(delivery: Delivery, counter: &mut u64, pool: &mut Pool) {
    *counter += u64::from(delivery.departure.packet.segments());
    pool.recycle(delivery.departure.packet);
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
}
