//! What a run took of this machine, from time zero to the end.

use crate::verdict::{ProcessorShare, Throttled};
use crate::{Effort, NodeEffort, SchedulerEffort};
use netloom_lab::Clock;

/// The wall time and processor time that a run took.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spent {
    /// The wall time that passed.
    pub elapsed_ns: u64,
    /// The time that each thread of the engine took.
    pub engine: Vec<ThreadSpent>,
    /// The processor share of each node, by the nodes' places; none of nodes without a kernel of their own.
    pub nodes: Vec<Option<ProcessorShare>>,
    /// How often each node was throttled, by the nodes' places; none of nodes without a share of a processor.
    pub shares: Vec<Option<Throttled>>,
    /// The counters of the scheduler of virtual time; none with another clock.
    pub scheduler: Option<SchedulerEffort>,
}

/// The wall time that a thread of the engine took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ThreadSpent {
    /// How long the thread ran.
    pub ran_ns: u64,
    /// How long the thread was ready to run and had no processor; none if the kernel does not report it.
    pub waited_ns: Option<u64>,
    /// How long the thread did without its real-time priority, since it needed too much of its processor.
    pub gave_way_ns: u64,
}

impl Spent {
    /// Returns the effort for the report.
    pub fn effort<'a>(&self, clock: Clock, names: impl Iterator<Item = &'a str>) -> Effort {
        let node = |(name, share): (&str, &Option<ProcessorShare>)| {
            let share = (*share)?;
            Some(NodeEffort { node: name.to_owned(), ran_share: share.ran(), waited_share: share.waited() })
        };
        let thread = |thread: &ThreadSpent| {
            ProcessorShare { elapsed_ns: self.elapsed_ns, ran_ns: thread.ran_ns, waited_ns: 0 }.ran()
        };
        let threads: Vec<f64> = self.engine.iter().filter(|_| clock != Clock::Virtual).map(thread).collect();
        Effort {
            clock: clock.to_string(),
            dilation: clock.dilation().map(netloom_units::Dilation::as_f64),
            wall_ns: self.elapsed_ns,
            engine_cpu_share: (clock != Clock::Virtual).then(|| threads.iter().sum()),
            engine_thread_shares: threads,
            phases: None,
            nodes: names.zip(&self.nodes).filter_map(node).collect(),
            scheduler: self.scheduler,
        }
    }
}
