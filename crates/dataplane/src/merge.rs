//! Merges the reports of several threads into that of one engine.

use crate::event_queue::{Act, ExecutedEvent, ScheduledEvent, Task};
use netloom_fabric::{PipeId, Place, RouterCounters, Shard, SwitchState};
use netloom_figures::{EngineReport, PipeReport, Snapshot};
use netloom_link::{PipeCounters, SampledPackets, StationCounters};
use netloom_units::{Duration, Instant};
use std::collections::HashMap;

/// Where the pipes and routers of the whole are.
pub(crate) struct Places {
    /// By pipe: its shard, and its number there.
    pipes: Vec<(usize, PipeId)>,
    /// By pipe: the shard that takes in what leaves it, and the number of the inlet there; none if it is not cut.
    inlets: Vec<Option<(usize, PipeId)>>,
    /// By shard and its pipes: which pipe it is in the whole; none: an inlet.
    wholes: Vec<Vec<Option<PipeId>>>,
    /// By router: its shard, and its place there.
    routers: Vec<(usize, usize)>,
    /// By switch, likewise.
    switches: Vec<(usize, usize)>,
}

impl Places {
    pub(crate) fn new(shards: &[Shard]) -> Self {
        let pipes = shards.iter().flat_map(|shard| &shard.pipes).filter(|place| matches!(place, Place::Own(_))).count();
        let mut this = Self {
            pipes: vec![(0, PipeId(0)); pipes],
            inlets: vec![None; pipes],
            wholes: Vec::new(),
            routers: vec![(0, 0); shards.iter().map(|shard| shard.routers.len()).sum()],
            switches: vec![(0, 0); shards.iter().map(|shard| shard.switches.len()).sum()],
        };
        for (number, shard) in shards.iter().enumerate() {
            let whole = |place: &Place| if let Place::Own(pipe) = place { Some(*pipe) } else { None };
            this.wholes.push(shard.pipes.iter().map(whole).collect());
            for (place, own) in shard.pipes.iter().zip(0..) {
                match place {
                    Place::Own(pipe) => this.pipes[pipe.0 as usize] = (number, PipeId(own)),
                    Place::Inlet(pipe) => this.inlets[pipe.0 as usize] = Some((number, PipeId(own))),
                }
            }
            for (own, router) in shard.routers.iter().enumerate() {
                this.routers[*router] = (number, own);
            }
            for (own, switch) in shard.switches.iter().enumerate() {
                this.switches[*switch] = (number, own);
            }
        }
        this
    }

    /// The shard of a pipe, and its number there.
    pub(crate) fn find(&self, pipe: PipeId) -> (usize, PipeId) {
        self.pipes[pipe.0 as usize]
    }

    /// Which pipe one of a shard is in the whole; none if it is the end of another shard's.
    pub(crate) fn whole(&self, shard: usize, own: PipeId) -> Option<PipeId> {
        self.wholes[shard][own.0 as usize]
    }

    /// Of each of so many shards: which pipes are its own, by number.
    pub(crate) fn own_pipes(&self, shards: usize) -> Vec<Vec<bool>> {
        (0..shards).map(|shard| self.pipes.iter().map(|(owner, _)| *owner == shard).collect()).collect()
    }

    /// Where else it is noticed whether a pipe is up: in the shard that takes in what leaves it.
    pub(crate) fn inlet(&self, pipe: PipeId) -> Option<(usize, PipeId)> {
        self.inlets[pipe.0 as usize]
    }

    /// What each of so many threads does of these; none if it does nothing. What concerns no pipe at all is done by the first.
    fn divide(&self, acts: Vec<(PipeId, Act)>, threads: usize) -> Vec<Option<Task>> {
        let mut parts: Vec<Vec<(PipeId, Act)>> = (0..threads).map(|_| Vec::new()).collect();
        let is_empty = acts.is_empty();
        for (pipe, act) in acts {
            let is_up = match &act {
                Act::SetUp(is_up) => Some(*is_up),
                Act::Unplug => Some(false),
                Act::Change(_) | Act::SetCarrier(_) | Act::SetPortCarrier(..) => None,
            };
            if let (Some((shard, inlet)), Some(is_up)) = (self.inlet(pipe), is_up) {
                parts[shard].push((inlet, Act::SetUp(is_up)));
            }
            let (shard, own) = self.find(pipe);
            parts[shard].push((own, act));
        }
        let is_first = |number: usize| is_empty && number == 0;
        let task = |(number, part): (usize, Vec<_>)| (!part.is_empty() || is_first(number)).then_some(Task::Acts(part));
        parts.into_iter().enumerate().map(task).collect()
    }

    /// The counters of all pipes, and the last of the instants at which the shards reported them.
    pub(crate) fn merge_counters(&self, answers: &[(Instant, Vec<PipeCounters>)]) -> (Instant, Vec<PipeCounters>) {
        let at = answers.iter().map(|(at, _)| *at).max().unwrap_or(Instant::ZERO);
        (at, self.pipes.iter().map(|(shard, pipe)| answers[*shard].1[pipe.0 as usize]).collect())
    }

    /// What all switches have counted and know.
    pub(crate) fn merge_switches(&self, answers: &[Vec<SwitchState>]) -> Vec<SwitchState> {
        self.switches.iter().map(|(shard, switch)| answers[*shard][*switch].clone()).collect()
    }

    /// Returns the counters of the stations of all pipes.
    pub(crate) fn merge_stations(&self, answers: &[Vec<Vec<StationCounters>>]) -> Vec<Vec<StationCounters>> {
        self.pipes.iter().map(|(shard, pipe)| answers[*shard][pipe.0 as usize].clone()).collect()
    }

    /// One snapshot of all.
    pub(crate) fn merge(&self, mut answers: Vec<Snapshot>) -> Snapshot {
        if answers.len() == 1 {
            return answers.remove(0);
        }
        let of = |place: &(usize, PipeId)| answers[place.0].pipes[place.1.0 as usize].clone();
        let pipe = |(place, inlet): (&(usize, PipeId), &Option<(usize, PipeId)>)| {
            let mut report: PipeReport = of(place);
            if let Some(inlet) = inlet {
                measured_beyond(&mut report, of(inlet));
            }
            report
        };
        let pipes = self.pipes.iter().zip(&self.inlets).map(pipe).collect();
        let routers: Vec<RouterCounters> =
            self.routers.iter().map(|(shard, router)| answers[*shard].routers[*router]).collect();
        let switches = self.switches.iter().map(|(shard, switch)| answers[*shard].switches[*switch].clone()).collect();
        let at = answers.iter().map(|answer| answer.at).max().unwrap_or(Instant::ZERO);
        let engine = answers.into_iter().map(|answer| answer.engine).reduce(join).unwrap_or_default();
        Snapshot { at, pipes, routers, switches, engine }
    }
}

/// Events that not all threads have executed that they concern.
#[derive(Debug, Default)]
pub(crate) struct Awaited(HashMap<u64, Parts>);

/// What is known of one.
#[derive(Debug, Default)]
struct Parts {
    /// How many threads have yet to keep it.
    missing: usize,
    late: Duration,
    /// By threads, as far as they measured something.
    snapshots: Vec<Option<Snapshot>>,
}

impl Awaited {
    /// What of these each of so many threads has to keep.
    pub(crate) fn divide(
        &mut self,
        scheduled_events: Vec<ScheduledEvent>,
        places: &Places,
        threads: usize,
    ) -> Vec<Vec<ScheduledEvent>> {
        let mut parts: Vec<Vec<ScheduledEvent>> = (0..threads).map(|_| Vec::new()).collect();
        for ScheduledEvent { number, at, task } in scheduled_events {
            let mut tasks: Vec<Option<Task>> = match task {
                Task::Acts(acts) => places.divide(acts, threads),
                for_all => vec![Some(for_all); threads],
            };
            let missing = tasks.iter().flatten().count();
            let is_told = !matches!(tasks[0], Some(Task::Sample(_)));
            if is_told {
                self.0.insert(number, Parts { missing, late: Duration::ZERO, snapshots: vec![None; threads] });
            }
            for (part, own) in parts.iter_mut().zip(&mut tasks) {
                part.extend(own.take().map(|mine| ScheduledEvent { number, at, task: mine }));
            }
        }
        parts
    }

    /// Nothing is awaited any more.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// A thread has kept its part; the whole, if that was the last.
    pub(crate) fn put(&mut self, shard: usize, executed: ExecutedEvent, places: &Places) -> Option<ExecutedEvent> {
        let ExecutedEvent { number, late, snapshot } = executed;
        let parts = self.0.get_mut(&number)?;
        parts.missing = parts.missing.saturating_sub(1);
        parts.late = parts.late.max(late);
        parts.snapshots[shard] = snapshot;
        if parts.missing > 0 {
            return None;
        }
        let whole = self.0.remove(&number)?;
        let snapshots: Option<Vec<Snapshot>> = whole.snapshots.into_iter().collect();
        Some(ExecutedEvent { number, late: whole.late, snapshot: snapshots.map(|all| places.merge(all)) })
    }
}

/// The picked packets of all threads, which number pipes as the whole does.
pub(crate) fn merge_packets(answers: Vec<SampledPackets>) -> SampledPackets {
    answers.into_iter().fold(SampledPackets::default(), |mut all, part| {
        all.packets.extend(part.packets);
        all.lost += part.lost;
        all
    })
}

/// Completes the report of a pipe that hands packets over to another thread by what that thread measured when it took them.
fn measured_beyond(report: &mut PipeReport, mut beyond: PipeReport) {
    let mut watched = std::mem::take(&mut report.watched);
    watched.iter_mut().zip(beyond.watched.drain(..)).for_each(|(own, other)| measured_beyond(own, other));
    // Here nothing is measured but what was lost between both.
    let busy_measured = report.busy_measured + beyond.busy_measured;
    let stations = std::mem::take(&mut report.stations);
    *report = PipeReport { counters: report.counters, stations, busy_measured, watched, ..beyond };
}

/// What two parts of the engine tell, as of one.
fn join(mut one: EngineReport, other: EngineReport) -> EngineReport {
    one.ports.extend(other.ports);
    one.ended_ports.extend(other.ended_ports);
    one.threads.extend(other.threads);
    one.tunnels.extend(other.tunnels);
    one.slow_receivers.extend(other.slow_receivers);
    EngineReport {
        lost_receiving: one.lost_receiving + other.lost_receiving,
        lost_sending: one.lost_sending + other.lost_sending,
        behind: longer(one.behind, other.behind),
        was_out_of_memory: one.was_out_of_memory || other.was_out_of_memory,
        unheard: one.unheard + other.unheard,
        last_send_error: one.last_send_error.or(other.last_send_error),
        margin: longer(one.margin, other.margin),
        ..one
    }
}

fn longer(one: Duration, other: Duration) -> Duration {
    one.max(other)
}
