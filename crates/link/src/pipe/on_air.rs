//! A pipe that is a radio medium: what the impairments let through waits at its station, and is on its way when it has arrived.

use super::Pipe;
use crate::air::{Hearers, OffAir};
use crate::cause::Cause;
use crate::drop_log::DropLog;
use crate::ledger::Ledger;
use crate::note;
use crate::{AirCounters, AirPpdu, Departure, StationCounters};
use alloc::vec::Vec;
use netloom_packet::Packet;
use netloom_units::{Duration, Instant};

impl Pipe {
    /// Gives a packet that enters a radio medium to its station, cut into segments.
    #[cold]
    pub(super) fn put_on_air(&mut self, mut train: Packet, drop_log: &mut DropLog) {
        while let Some(segment) = train.split_front(1) {
            self.put_segment_on_air(segment, drop_log);
        }
        self.put_segment_on_air(train, drop_log);
        // What finds no room is dropped at once.
        while let Some(at) = self.air_wake().filter(|at| *at <= self.now) {
            self.look_at_air(at, drop_log);
        }
    }

    fn put_segment_on_air(&mut self, segment: Packet, drop_log: &mut DropLog) {
        Ledger { counters: &mut self.counters, drop_log, now: self.now }.admit(&segment);
        if let Some(air) = &mut self.air {
            air.push(self.now, segment);
        }
    }

    /// When something happens on the air next.
    pub(super) fn air_wake(&self) -> Option<Instant> {
        self.air.as_ref().and_then(|air| air.next_wake())
    }

    /// Books what has happened on the air by `at`, one of its wakes.
    #[cold]
    pub(super) fn look_at_air(&mut self, at: Instant, drop_log: &mut DropLog) {
        let Some(mut air) = self.air.take() else { return };
        air.set_up(self.cuts.is_up());
        air.advance(at, |what| match what {
            OffAir::Arrives { is_foreseen: true, .. } => {}
            OffAir::Arrives { packet, .. } => self.come_off_air(at, packet, drop_log),
            OffAir::Announced { at: told, packet } => self.announce(told, packet, drop_log),
            OffAir::Dropped { packet, cause } => {
                Ledger { counters: &mut self.counters, drop_log: &mut *drop_log, now: self.now }.evict(packet, cause);
            }
        });
        air.attempts(|packet, attempt| drop_log.note(at, packet, || note::Event::tried(packet, attempt)));
        self.counters.air = air.counters();
        self.air = Some(air);
    }

    /// A packet that nobody has sent is for the network behind an access point.
    fn announce(&mut self, at: Instant, packet: Packet, drop_log: &mut DropLog) {
        let mut ledger = Ledger { counters: &mut self.counters, drop_log: &mut *drop_log, now: self.now };
        ledger.arrive(&packet);
        ledger.admit(&packet);
        if self.cuts.is_up() {
            return self.come_off_air(at, packet, drop_log);
        }
        ledger.evict(packet, Cause::Down);
    }

    fn come_off_air(&mut self, at: Instant, packet: Packet, drop_log: &mut DropLog) {
        let mut ledger = Ledger { counters: &mut self.counters, drop_log: &mut *drop_log, now: self.now };
        ledger.release(&packet);
        ledger.send(&packet);
        drop_log.note(at, &packet, || note::Event::Sent { start: at, due: at });
        drop_log.send(at, at, &packet, || at);
        self.line.push(Departure { packet, due: at, first_due: at, delay: Duration::ZERO, busy: Duration::ZERO });
    }

    /// Before when all is known that arrives; what is on the air for certain is on its way from now on.
    #[cold]
    pub(super) fn foresee_air(&mut self, now: Instant, drop_log: &mut DropLog) -> Option<Instant> {
        let mut air = self.air.take()?;
        let unknown = air.lookahead_until(now);
        air.foresee(|at, packet| self.come_off_air(at, packet, drop_log));
        if self.cuts.is_up() {
            air.foresee_joins(|at, packet| self.announce(at, packet, drop_log));
        }
        self.air = Some(air);
        Some(unknown)
    }

    /// The medium is cut: what is on the air is lost, and what waits at its stations.
    pub(super) fn clear_air(&mut self, drop_log: &mut DropLog) {
        let Some(air) = &mut self.air else { return };
        let mut ledger = Ledger { counters: &mut self.counters, drop_log, now: self.now };
        air.clear(self.now, |packet| ledger.evict(packet, Cause::Down));
        // What was foreseen and had not arrived.
        for packet in self.line.cut(self.now) {
            ledger.lose(packet, Cause::Down);
        }
    }

    /// Whether the pipe is a radio medium.
    pub fn is_radio(&self) -> bool {
        self.air.is_some()
    }

    /// Returns what has happened on the air, and the counters of each station, in order of ends; none of a pipe that is no radio medium. It may be ahead
    /// of [`Pipe::counters`] by what has begun and is not over.
    pub fn on_air(&self) -> Option<(AirCounters, Vec<StationCounters>)> {
        self.air.as_ref().map(|air| (air.counters(), air.stations()))
    }

    /// Starts or stops recording what PPDUs of a radio medium carry.
    pub fn record_frames(&mut self, wanted: bool) {
        self.air.iter_mut().for_each(|air| air.record_frames(wanted));
    }

    /// Starts or stops noting attempts to send packets over the air of a radio medium, for a trace observer that takes notes.
    pub fn record_attempts(&mut self, wanted: bool) {
        self.air.iter_mut().for_each(|air| air.record_attempts(wanted));
    }

    /// Hands out the records of PPDUs with data that ended since the last call, in order, with this number of the pipe.
    pub fn frames(&mut self, pipe: u32, sink: impl FnMut(AirPpdu)) {
        if let Some(air) = &mut self.air {
            air.frames(pipe, sink);
        }
    }

    /// Tells once at which ports a packet is heard that has come through a medium and is due at this instant.
    pub fn hearers(&mut self, packet: &Packet, due: Instant) -> Hearers {
        self.air.as_mut().map_or(Hearers::All, |air| air.hearers(packet, due))
    }
}
