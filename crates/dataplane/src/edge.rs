//! The edge of the fabric: where packets enter it and leave it, whatever kind of port they come from or go to.

use crate::meter::Meters;
use crate::taps::Taps;
use netloom_fabric::{Border, Delivery, Fabric, PipeId, PortId, TraceObserver};
use netloom_link::Departure;
use netloom_packet::{Packet, Pool};
use netloom_units::Instant;

/// A fabric and the taps that are shown what enters and leaves it.
pub(crate) struct Edge {
    pub(crate) fabric: Fabric,
    pub(crate) taps: Taps,
    trace_observer: Option<Box<dyn TraceObserver + Send>>,
    pub(crate) handover: Handover,
    /// By pipe: whether another shard takes in what leaves it, and shows it to the taps.
    is_cut: Vec<bool>,
}

/// What becomes of packets that have left the fabric: they are measured, and their buffers come back.
pub(crate) struct Handover {
    pub(crate) meters: Meters,
    pub(crate) pool: Pool,
}

impl Edge {
    /// `borders`: the pipes of this fabric that lead to other shards.
    pub(crate) fn new(fabric: Fabric, borders: &[Border], pool: Pool) -> Self {
        let pipes = fabric.counters().count();
        let mut is_cut = vec![false; pipes];
        borders.iter().for_each(|border| is_cut[border.pipe.0 as usize] = true);
        let meters = Meters::of(&fabric);
        Self { fabric, taps: Taps::new(), trace_observer: None, handover: Handover { meters, pool }, is_cut }
    }

    /// A packet from outside enters the fabric.
    #[inline]
    pub(crate) fn enter(&mut self, arrival: Instant, port: PortId, packet: Packet) {
        for (_, tap) in &mut self.taps {
            tap.enters(port, arrival, &packet);
        }
        if let Err((_, stray)) = self.fabric.inject(arrival, port, packet) {
            self.handover.pool.recycle(stray);
        }
    }

    /// A packet comes over the border from another shard. It is as late now as it is at the end of its pipe.
    #[inline]
    pub(crate) fn cross(&mut self, inlet: PipeId, departure: Departure, now: Instant) {
        self.handover.meters.record(inlet, &departure, now);
        self.fabric.cross(inlet, departure);
    }

    /// What is due until `end` leaves the fabric; `take` brings it to its port.
    #[inline]
    pub(crate) fn leave(&mut self, end: Instant, mut take: impl FnMut(Delivery, &mut Handover)) {
        let Self { fabric, taps, handover, is_cut, .. } = self;
        fabric.advance(end, |delivery| {
            if !taps.is_empty() && !is_cut[delivery.pipe.0 as usize] {
                taps.iter_mut().for_each(|(_, tap)| tap.leaves(&delivery));
            }
            take(delivery, handover);
        });
    }

    /// What is due in this pipe before `end` leaves the fabric ahead of its time, unless it is not sent yet.
    pub(crate) fn leave_ahead(
        &mut self,
        pipe: PipeId,
        now: Instant,
        end: Instant,
        mut take: impl FnMut(Delivery, &mut Handover),
    ) {
        let Self { fabric, taps, handover, .. } = self;
        fabric.take_ahead(now, pipe, end, |delivery| {
            taps.iter_mut().for_each(|(_, tap)| tap.leaves(&delivery));
            take(delivery, handover);
        });
    }

    /// Shows the taps what has passed transit routers.
    pub(crate) fn show_passes(&mut self) {
        let Self { fabric, taps, handover, .. } = self;
        if taps.is_empty() {
            return;
        }
        fabric.show_passes(&mut handover.pool, |pass| {
            taps.iter_mut().for_each(|(_, tap)| tap.packet(pass.port, pass.way, pass.first, pass.last, &pass.packet));
        });
    }

    /// From now on this trace observer takes the notes of the fabric, or none any more; the one before takes what there is.
    pub(crate) fn set_trace_observer(&mut self, trace_observer: Option<Box<dyn TraceObserver + Send>>, now: Instant) {
        let Self { fabric, trace_observer: own, .. } = self;
        if let Some(before) = own {
            before.end(fabric, now);
        }
        *own = trace_observer;
        fabric.take_notes(|pipe| own.as_ref().is_some_and(|own| own.wants(pipe)));
        fabric.record_attempts(own.as_ref().is_some_and(|own| own.wants_attempts()));
    }

    /// What has left the fabric has been handed over: the trace observer takes its notes. `now` is asked for if there is one.
    #[inline]
    pub(crate) fn write_down(&mut self, now: impl FnOnce() -> Instant) {
        if let Some(trace_observer) = &mut self.trace_observer
            && self.fabric.noted() > 0
        {
            trace_observer.take(&mut self.fabric, now());
        }
    }

    /// Has the fabric write down what is dropped and marked, if a tap wants to know.
    pub(crate) fn watch_fates(&mut self) {
        let is_wanted = self.taps.iter().any(|(_, tap)| tap.wants_fates());
        self.fabric.take_fates(is_wanted);
        self.fabric.record_frames(self.taps.iter().any(|(_, tap)| tap.wants_frames()));
    }

    /// Takes the buffers back of what was dropped, and of what taps no longer need.
    pub(crate) fn settle(&mut self) {
        let Self { fabric, taps, handover, .. } = self;
        if !taps.is_empty() {
            fabric.fates().for_each(|fate| taps.iter_mut().for_each(|(_, tap)| tap.fate(&fate)));
            fabric.frames(|ppdu| taps.iter_mut().for_each(|(_, tap)| tap.frame(ppdu)));
        }
        fabric.recycle(&mut handover.pool);
        taps.iter_mut().for_each(|(_, tap)| tap.settle(&mut handover.pool));
    }
}

impl Handover {
    /// The packet was delivered to its port at `at`.
    #[inline]
    pub(crate) fn handed(&mut self, delivery: Delivery, at: Instant) {
        self.meters.record(delivery.pipe, &delivery.departure, at);
        self.pool.recycle(delivery.departure.packet);
    }

    /// The packet was lost behind the fabric, which is an error of the engine; returns how many segments that are.
    pub(crate) fn lost(&mut self, delivery: Delivery) -> u64 {
        self.meters.lose(delivery.pipe, &delivery.departure);
        self.unheard(delivery)
    }

    /// Nothing is connected to the port, which is not an error; returns how many segments that are.
    pub(crate) fn unheard(&mut self, delivery: Delivery) -> u64 {
        let segments = u64::from(delivery.departure.packet.segments());
        self.pool.recycle(delivery.departure.packet);
        segments
    }
}
