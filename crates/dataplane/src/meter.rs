//! The measurements of each pipe as packets are delivered.
//!
//! The achieved rate of a pipe follows from how the lateness of its packets grows while the transmitter is busy, not
//! from the gaps between deliveries: those contain all that happens behind the transmitter.

use netloom_fabric::{Fabric, PipeId};
use netloom_figures::{Distribution, PipeReport};
use netloom_link::{Departure, PipeCounters, StationCounters, Subset, Watched};
use netloom_units::{Duration, Instant};

/// Packets that are later than those before them by more than this say nothing about the rate: the run's clock was
/// stopped, or the machine was asleep. It is counted as lateness, not as rate.
const LONGEST_GAP_NS: i64 = 10_000_000_000;

/// How late packets were delivered, how long they took, and at which rate: for each pipe.
#[derive(Debug, Default)]
pub struct Meters {
    pipes: Vec<Meter>,
    /// By pipe: those of packets that are looked at for themselves; empty if none are.
    watched: Vec<Vec<(Subset, Meter)>>,
}

/// See the module.
///
/// The rate is that of the transmitter: what happens to packets behind it, where they travel for different times, overtake
/// each other or wait for each other, is no matter of the rate. A pipe computes when each transmission ends, and it ended in
/// fact as much later as the packet was delivered later than due. So packets that are sent one behind the other took as
/// much longer than described as the last of them was later than the first. What is made up for afterwards was no lower
/// rate: it was lateness, and is judged as such. Else every burst of a few microseconds would have a rate of its own,
/// which is that at which the kernel takes packets.
#[derive(Clone, Debug, Default)]
pub(crate) struct Meter {
    /// How late packets were delivered, against their due instants.
    lateness: Distribution,
    /// The propagation delay that packets really had.
    delay: Distribution,
    /// How long the transmitter should have been busy with what was delivered of the segments that followed one another
    /// without a gap.
    busy: Duration,
    /// The same of what the engine lost.
    wasted: Duration,
    /// How much of the present lateness came about while the transmitter was busy: nanoseconds.
    slipped: i64,
    /// How late the packet before was, in nanoseconds.
    previous: Option<i64>,
}

impl Meters {
    /// Nothing was measured yet.
    pub fn new(pipes: usize) -> Self {
        Self { pipes: vec![Meter::default(); pipes], watched: Vec::new() }
    }

    /// The same for the pipes of this fabric, and for what of them is counted for itself.
    pub fn of(fabric: &Fabric) -> Self {
        let meter = |one: &Watched| (one.subset.clone(), Meter::default());
        let watched: Vec<Vec<_>> = fabric.watched().map(|all| all.iter().map(meter).collect()).collect();
        let is_any = watched.iter().any(|all| !all.is_empty());
        Self { watched: if is_any { watched } else { Vec::new() }, ..Self::new(fabric.counters().count()) }
    }

    /// A packet left its pipe, and was delivered at `handed`.
    ///
    /// # Panics
    /// If there is no such pipe.
    pub fn record(&mut self, pipe: PipeId, departure: &Departure, handed: Instant) {
        self.pipes[pipe.0 as usize].record(departure, handed);
        if let Some(watched) = self.watched.get_mut(pipe.0 as usize) {
            let own = watched.iter_mut().filter(|(subset, _)| subset.matches(&departure.packet));
            own.for_each(|(_, meter)| meter.record(departure, handed));
        }
    }

    /// A packet left its pipe and was lost behind it: the time in which it was sent was for nothing.
    pub(crate) fn lose(&mut self, pipe: PipeId, departure: &Departure) {
        let meter = &mut self.pipes[pipe.0 as usize];
        meter.wasted = meter.wasted + departure.busy;
    }

    /// Forgets what was measured.
    pub fn reset(&mut self) {
        let watched = self.watched.iter_mut().flatten().map(|(_, meter)| meter);
        self.pipes.iter_mut().chain(watched).for_each(|meter| *meter = Meter::default());
    }

    /// Returns the measurements of each pipe, together with the counters of its model.
    pub fn reports(&self, fabric: &Fabric) -> Vec<PipeReport> {
        let reports = |(all, pipe): (&[Watched], usize)| {
            let meters = self.watched.get(pipe).into_iter().flatten();
            let each = all.iter().zip(meters);
            each.map(|(one, (_, meter))| meter.report(one.counters, Vec::new(), Vec::new())).collect()
        };
        let watched = fabric.watched().zip(0..).map(reports);
        // The stations and their medium are counted to the same instant.
        let counted = fabric.counters().zip(fabric.on_air()).map(|(counted, on_air)| {
            let (air, stations) = on_air.unwrap_or((counted.air, Vec::new()));
            (PipeCounters { air, ..*counted }, stations)
        });
        let all = counted.zip(&self.pipes).zip(watched);
        all.map(|(((counters, stations), meter), own)| meter.report(counters, stations, own)).collect()
    }
}

impl Meter {
    fn report(&self, counters: PipeCounters, stations: Vec<StationCounters>, watched: Vec<PipeReport>) -> PipeReport {
        PipeReport {
            counters,
            stations,
            lateness: self.lateness.clone(),
            delay: self.delay.clone(),
            busy_described: self.busy,
            busy_measured: self.busy_measured(),
            watched,
        }
    }

    fn record(&mut self, departure: &Departure, handed: Instant) {
        let segments = departure.packet.segments();
        let late = handed.since(departure.due);
        self.lateness.record(late, segments);
        self.delay.record(departure.delay + handed.since(departure.first_due), segments);
        let late = i64::try_from(late.as_nanos()).unwrap_or(i64::MAX);
        let slipped = self.previous.replace(late).map(|previous| late - previous);
        if let Some(slipped) = slipped.filter(|slipped| !departure.busy.is_zero() && slipped.abs() < LONGEST_GAP_NS) {
            self.busy = self.busy + departure.busy;
            self.slipped = self.slipped.saturating_add(slipped.max(0));
        }
        self.slipped = self.slipped.min(late);
    }

    /// How long the transmitter was busy in fact.
    fn busy_measured(&self) -> Duration {
        let described = self.busy + self.wasted;
        Duration::from_nanos(described.as_nanos().saturating_add_signed(self.slipped))
    }
}

#[cfg(test)]
mod tests;
