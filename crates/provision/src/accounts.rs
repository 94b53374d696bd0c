//! Accounts of what a run costs this machine, and what it took of them from time zero to the end.

use netloom_figures::{EngineReport, ThreadReport};
use netloom_guest::node::ProcessorUse;
use netloom_guest::schedule::Statistics;
use netloom_host::cgroup::Throttling;
use netloom_judge::verdict::{ProcessorShare, Throttled};
use netloom_judge::{SchedulerEffort, Spent, ThreadSpent};
use nix::time::ClockId;
use std::time;

/// All accounts at one moment.
#[derive(Clone, Debug)]
pub struct Accounts {
    /// The moment.
    pub at: time::Instant,
    pub(crate) engine: Vec<ThreadReport>,
    /// By the nodes' places.
    pub(crate) nodes: Vec<Option<ProcessorUse>>,
    /// How often each was throttled, by the nodes' places.
    pub(crate) shares: Vec<Option<Throttling>>,
    /// In virtual time.
    pub(crate) scheduler: Option<Statistics>,
    /// By this thread, in which the scheduler of virtual time runs.
    pub(crate) here: time::Duration,
}

impl Accounts {
    /// The accounts now, when the engine said this of itself.
    pub fn now(
        engine: &EngineReport,
        nodes: Vec<Option<ProcessorUse>>,
        shares: Vec<Option<Throttling>>,
        scheduler: Option<Statistics>,
    ) -> Self {
        let here = ClockId::CLOCK_THREAD_CPUTIME_ID.now().map_or(time::Duration::ZERO, time::Duration::from);
        Self { at: time::Instant::now(), engine: engine.threads.clone(), nodes, shares, scheduler, here }
    }

    /// Returns what the run has cost since `earlier`.
    pub fn since(&self, earlier: &Self) -> Spent {
        let wall = self.at.saturating_duration_since(earlier.at);
        let elapsed_ns = nanos(wall);
        let node = |(now, before): (&Option<ProcessorUse>, &Option<ProcessorUse>)| {
            let used = (*now)?.since(&(*before)?);
            Some(ProcessorShare { elapsed_ns, ran_ns: nanos(used.ran), waited_ns: nanos(used.waited) })
        };
        let thread = |(now, before): (&ThreadReport, &ThreadReport)| {
            let waited = now.run_queue_wait.zip(before.run_queue_wait);
            ThreadSpent {
                ran_ns: now.cpu_time.as_nanos().saturating_sub(before.cpu_time.as_nanos()),
                waited_ns: waited.map(|(later, sooner)| later.as_nanos().saturating_sub(sooner.as_nanos())),
                gave_way_ns: now.gave_way.as_nanos().saturating_sub(before.gave_way.as_nanos()),
            }
        };
        let share = |(now, before): (&Option<Throttling>, &Option<Throttling>)| {
            let (now, before) = ((*now)?, (*before)?);
            Some(Throttled {
                periods: now.periods.saturating_sub(before.periods),
                throttled_periods: now.throttled_periods.saturating_sub(before.throttled_periods),
                throttled_ns: nanos(now.throttled.saturating_sub(before.throttled)),
            })
        };
        Spent {
            elapsed_ns,
            engine: self.engine.iter().zip(&earlier.engine).map(thread).collect(),
            nodes: self.nodes.iter().zip(&earlier.nodes).map(node).collect(),
            shares: self.shares.iter().zip(&earlier.shares).map(share).collect(),
            scheduler: self.scheduler.zip(earlier.scheduler).map(|(now, before)| SchedulerEffort {
                ran_ns: nanos(self.here.saturating_sub(earlier.here)),
                ..scheduler(&now, &before, wall)
            }),
        }
    }
}

fn scheduler(now: &Statistics, before: &Statistics, wall: time::Duration) -> SchedulerEffort {
    let packets = now.packets - before.packets;
    SchedulerEffort {
        packets,
        packets_per_wall_second: packets as f64 / wall.as_secs_f64().max(1e-9),
        frames: now.frames - before.frames,
        windows: now.windows - before.windows,
        rounds: now.rounds - before.rounds,
        grants: now.grants - before.grants,
        moves: now.moves - before.moves,
        waited_ns: nanos(now.waited.saturating_sub(before.waited)),
        ran_ns: 0,
    }
}

fn nanos(span: time::Duration) -> u64 {
    u64::try_from(span.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use netloom_guest::process::ProcessUse;
    use netloom_judge::NodeEffort;
    use netloom_lab::Clock;
    use netloom_units::{Dilation, Duration};

    fn after(begin: time::Instant, seconds: u64, ran_ms: u64) -> Accounts {
        let (ran, waited) = (time::Duration::from_millis(ran_ms), time::Duration::from_millis(100));
        let used = ProcessorUse { kernel: ProcessUse { ran, waited }, programs: ProcessUse::default(), processors: 1 };
        Accounts {
            at: begin + time::Duration::from_secs(seconds),
            engine: vec![ThreadReport {
                cpu_time: Duration::from_millis(ran_ms),
                run_queue_wait: Some(Duration::from_millis(ran_ms / 2)),
                gave_way: Duration::from_millis(ran_ms / 10),
                ..ThreadReport::default()
            }],
            nodes: vec![None, Some(used)],
            shares: vec![None, Some(Throttling { periods: ran_ms, ..Throttling::default() })],
            scheduler: Some(Statistics { packets: ran_ms * 2, ..Statistics::default() }),
            here: time::Duration::from_millis(ran_ms),
        }
    }

    /// A lab at 10: 20 s of wall time are 2 s of its own.
    #[test]
    fn what_is_counted_in_our_time_is_related_to_our_time() {
        let begin = time::Instant::now();
        let spent = after(begin, 20, 11_000).since(&after(begin, 0, 1_000));
        let thread = ThreadSpent { ran_ns: 10_000_000_000, waited_ns: Some(5_000_000_000), gave_way_ns: 1_000_000_000 };
        assert_eq!(spent.shares, [None, Some(Throttled { periods: 10_000, ..Throttled::default() })]);
        assert_eq!((spent.elapsed_ns, &spent.engine[..]), (20_000_000_000, &[thread][..]));
        let clock = Clock::Dilated(Dilation::from_whole(10).unwrap());
        let effort = spent.effort(clock, ["a", "b"].into_iter());
        assert_eq!((effort.engine_cpu_share, effort.dilation), (Some(0.5), Some(10.0)));
        assert_eq!(effort.engine_thread_shares, [0.5]);
        assert_eq!(effort.nodes, [NodeEffort { node: "b".into(), ran_share: 0.5, waited_share: 0.0 }]);
        let scheduler = effort.scheduler.unwrap();
        assert_eq!((scheduler.packets, scheduler.packets_per_wall_second), (20_000, 1_000.0));
        assert_eq!(scheduler.ran_ns, 10_000_000_000);
    }

    #[test]
    fn virtual_time_has_no_engine() {
        let begin = time::Instant::now();
        let effort = after(begin, 1, 0).since(&after(begin, 0, 0)).effort(Clock::Virtual, std::iter::empty());
        assert_eq!((effort.engine_cpu_share, effort.dilation, effort.clock.as_str()), (None, None, "virtual"));
    }
}
