//! All ports of a shard.

#[cfg(test)]
mod tests;

use super::{BATCH, BATCH_BYTES, Opened, PortGroup, Received, Window};
use crate::edge::{Edge, Handover};
use netloom_fabric::{Delivery, Fabric, PipeId, PortId};
use netloom_figures::EngineReport;
use netloom_link::PipeChange;
use netloom_packet::Packet;
use netloom_units::Instant;
use std::io;
use std::os::fd::RawFd;
use std::time::Duration as RealDuration;

/// How long what comes beside packets may wait while there is no sleep that it could end.
const WAKE_AFTER: RealDuration = RealDuration::from_micros(500);
/// In the table of ports: nothing is joined to this one.
const NO_GROUP: u8 = u8::MAX;

/// See the module.
pub(crate) struct PortSet {
    slots: Vec<Slot>,
    /// By port: the place of its group.
    places: Vec<u8>,
    /// When groups were last notified that the thread is awake; wall time since the epoch.
    woken: RealDuration,
    /// Packets (segments) for ports to which nothing is joined.
    unheard: u64,
    /// Whether a group wants to hear of packets that are dropped.
    hears_of_drops: bool,
}

/// A group, and what is to be pushed to it.
struct Slot {
    group: Box<dyn PortGroup>,
    batch: Vec<Delivery>,
    bytes: u64,
}

impl PortSet {
    pub(super) fn new(groups: Vec<Opened>) -> Self {
        let ports = groups.iter().flat_map(|opened| &opened.ports).map(|port| port.0 as usize + 1).max().unwrap_or(0);
        let mut places = vec![NO_GROUP; ports];
        for (opened, place) in groups.iter().zip(0..) {
            opened.ports.iter().for_each(|port| places[port.0 as usize] = place);
        }
        let slot = |opened: Opened| Slot { group: opened.group, batch: Vec::with_capacity(BATCH), bytes: 0 };
        let hears_of_drops = groups.iter().any(|opened| opened.group.hears_of_drops());
        let slots = groups.into_iter().map(slot).collect();
        Self { slots, places, woken: RealDuration::ZERO, unheard: 0, hears_of_drops }
    }

    /// The descriptors that tell of arrivals.
    pub(crate) fn descriptors(&self) -> impl Iterator<Item = RawFd> {
        self.slots.iter().map(|slot| slot.group.descriptor())
    }

    /// Lets into the fabric what has arrived at all ports.
    pub(crate) fn receive(&mut self, edge: &mut Edge, window: Window) -> Received {
        let mut all = Received::default();
        for group in self.groups_mut() {
            let Received { count, is_lively, has_more } = group.receive(edge, window);
            all.count += count;
            all.is_lively |= is_lively;
            all.has_more |= has_more;
        }
        all
    }

    /// Takes a packet for a port.
    #[inline]
    pub(crate) fn push(&mut self, delivery: Delivery, out: &mut Handover) {
        let place = self.places.get(delivery.port.0 as usize).copied().unwrap_or(NO_GROUP);
        let Some(slot) = self.slots.get_mut(usize::from(place)) else {
            self.unheard += out.unheard(delivery);
            return;
        };
        slot.bytes += delivery.departure.packet.size().get();
        slot.batch.push(delivery);
        if slot.batch.len() == BATCH || slot.bytes >= BATCH_BYTES {
            slot.push(out);
        }
    }

    /// Everything that was pushed goes on its way.
    pub(crate) fn flush(&mut self, out: &mut Handover) {
        for slot in &mut self.slots {
            if !slot.batch.is_empty() {
                slot.push(out);
            }
            slot.group.flush(out);
        }
    }

    /// What may leave ahead of its time does.
    pub(crate) fn ahead(&mut self, edge: &mut Edge) {
        self.groups_mut().for_each(|group| group.ahead(edge));
    }

    /// When the next packet will come, as far as any port knows.
    pub(crate) fn next_arrival(&mut self, fabric: &Fabric) -> Option<Instant> {
        // All are asked: they may have something to tell.
        self.groups_mut().fold(None, |first, group| first.into_iter().chain(group.next_arrival(fabric)).min())
    }

    /// Whether the thread may sleep from `now` until then. If so, [`PortSet::wake`] is to be called afterwards.
    ///
    /// # Errors
    /// As [`PortSet::wake`].
    pub(crate) fn may_sleep(&mut self, now: Instant, until: Instant) -> io::Result<bool> {
        let Some(refusing) = self.groups_mut().position(|group| !group.may_sleep(now, until)) else { return Ok(true) };
        self.groups_mut().take(refusing).try_for_each(|group| group.wake(false))?;
        Ok(false)
    }

    /// The thread is awake after a sleep, at `real` since the epoch in wall time. `is_called`: a descriptor has ended it.
    ///
    /// # Errors
    /// When the kernel refuses to tell what has come.
    pub(crate) fn wake(&mut self, real: RealDuration, is_called: bool) -> io::Result<()> {
        self.woken = real;
        self.groups_mut().try_for_each(|group| group.wake(is_called))
    }

    /// As [`PortSet::wake`], if that was long ago: a busy thread does not sleep.
    ///
    /// # Errors
    /// As [`PortSet::wake`].
    #[inline]
    pub(crate) fn wake_sometimes(&mut self, real: RealDuration) -> io::Result<()> {
        if real.saturating_sub(self.woken) > WAKE_AFTER { self.wake(real, true) } else { Ok(()) }
    }

    /// Whether packets are to be reported to [`PortSet::dropped`].
    pub(crate) fn hears_of_drops(&self) -> bool {
        self.hears_of_drops
    }

    /// A packet was dropped in the fabric.
    pub(crate) fn dropped(&mut self, packet: &Packet) {
        self.groups_mut().for_each(|group| group.dropped(packet));
    }

    /// The link at a port has a carrier from now on, or none.
    pub(crate) fn set_carrier(&mut self, port: PortId, on: bool) {
        let place = self.places.get(port.0 as usize).copied().unwrap_or(NO_GROUP);
        if let Some(slot) = self.slots.get_mut(usize::from(place)) {
            slot.group.set_carrier(port, on);
        }
    }

    /// A pipe was changed.
    pub(crate) fn changed(&mut self, pipe: PipeId, change: &PipeChange) {
        self.groups_mut().for_each(|group| group.changed(pipe, change));
    }

    /// See [`PortGroup::keep_warm`].
    pub(crate) fn keep_warm(&mut self, real: RealDuration) {
        self.groups_mut().for_each(|group| group.keep_warm(real));
    }

    /// Adds what all ports have counted.
    pub(crate) fn report(&mut self, report: &mut EngineReport) {
        self.groups_mut().for_each(|group| group.report(report));
        report.unheard += self.unheard;
        report.lost_receiving += report.ports.iter().map(|port| port.lost_receiving).sum::<u64>();
        report.lost_sending += report.ports.iter().map(|port| port.lost_sending).sum::<u64>();
    }

    fn groups_mut(&mut self) -> impl Iterator<Item = &mut Box<dyn PortGroup>> {
        self.slots.iter_mut().map(|slot| &mut slot.group)
    }
}

impl Slot {
    fn push(&mut self, out: &mut Handover) {
        self.group.push(&mut self.batch, out);
        self.bytes = 0;
    }
}
