//! What several threads tell, as of one engine.

use crate::report::{EngineReport, PipeReport, Snapshot};
use netloom_fabric::{PipeId, Place, RouterCounters, Shard};
use netloom_link::PipeCounters;
use netloom_units::{Duration, Instant};

/// Where the pipes and routers of the whole are.
pub(crate) struct Places {
    /// By pipe: its shard, and its number there.
    pipes: Vec<(usize, PipeId)>,
    /// By pipe: the shard that takes in what leaves it, and the number of the inlet there; none if it is not cut.
    inlets: Vec<Option<(usize, PipeId)>>,
    /// By router: its shard, and its place there.
    routers: Vec<(usize, usize)>,
}

impl Places {
    pub(crate) fn new(shards: &[Shard]) -> Self {
        let pipes = shards.iter().flat_map(|shard| &shard.pipes).filter(|place| matches!(place, Place::Own(_))).count();
        let mut this = Self {
            pipes: vec![(0, PipeId(0)); pipes],
            inlets: vec![None; pipes],
            routers: vec![(0, 0); shards.iter().map(|shard| shard.routers.len()).sum()],
        };
        for (number, shard) in shards.iter().enumerate() {
            for (place, own) in shard.pipes.iter().zip(0..) {
                match place {
                    Place::Own(pipe) => this.pipes[pipe.0 as usize] = (number, PipeId(own)),
                    Place::Inlet(pipe) => this.inlets[pipe.0 as usize] = Some((number, PipeId(own))),
                }
            }
            for (own, router) in shard.routers.iter().enumerate() {
                this.routers[*router] = (number, own);
            }
        }
        this
    }

    /// The shard of a pipe, and its number there.
    pub(crate) fn find(&self, pipe: PipeId) -> (usize, PipeId) {
        self.pipes[pipe.0 as usize]
    }

    /// The counters of all pipes, and the last of the instants at which the shards told them.
    pub(crate) fn merge_counters(&self, answers: &[(Instant, Vec<PipeCounters>)]) -> (Instant, Vec<PipeCounters>) {
        let at = answers.iter().map(|(at, _)| *at).max().unwrap_or(Instant::ZERO);
        (at, self.pipes.iter().map(|(shard, pipe)| answers[*shard].1[pipe.0 as usize]).collect())
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
                report.measured_beyond(of(inlet));
            }
            report
        };
        let pipes = self.pipes.iter().zip(&self.inlets).map(pipe).collect();
        let routers: Vec<RouterCounters> =
            self.routers.iter().map(|(shard, router)| answers[*shard].routers[*router]).collect();
        let at = answers.iter().map(|answer| answer.at).max().unwrap_or(Instant::ZERO);
        let engine = answers.into_iter().map(|answer| answer.engine).reduce(join).unwrap_or_default();
        Snapshot { at, pipes, routers, engine }
    }
}

/// What two parts of the engine tell, as of one.
fn join(mut one: EngineReport, other: EngineReport) -> EngineReport {
    one.ports.extend(other.ports);
    one.ended_ports.extend(other.ended_ports);
    one.threads.extend(other.threads);
    EngineReport {
        lost_receiving: one.lost_receiving + other.lost_receiving,
        lost_sending: one.lost_sending + other.lost_sending,
        behind: longer(one.behind, other.behind),
        was_out_of_memory: one.was_out_of_memory || other.was_out_of_memory,
        unheard: one.unheard + other.unheard,
        last_send_error: one.last_send_error.or(other.last_send_error),
        priority: one.priority && other.priority,
        margin: longer(one.margin, other.margin),
        ..one
    }
}

fn longer(one: Duration, other: Duration) -> Duration {
    one.max(other)
}
