//! Whether the engine and the kernels had the processors that they needed.

use super::{Allowed, SMALLEST_SLOWING, ratio};
use crate::Finding;
use crate::quantity::span;

/// A node that wants its processor for more than this share of the time has none left to be faster with.
const BUSY: f64 = 0.9;

/// In a shorter run, in nanoseconds of wall time, a single turn of another program makes a large share.
const ENOUGH_NS: u64 = 100_000_000;

/// The processor time that a thread, or a kernel with all its programs, had in a stretch of wall time, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProcessorShare {
    /// How long the stretch of wall time was.
    pub elapsed_ns: u64,
    /// How long the thread or kernel ran.
    pub ran_ns: u64,
    /// How long the thread or kernel was ready to run and others did.
    pub waited_ns: u64,
}

impl ProcessorShare {
    /// Returns the share of the time in which the thread or kernel ran.
    pub fn ran(&self) -> f64 {
        share(self.ran_ns, self.elapsed_ns)
    }

    /// Returns the share of the time in which the thread or kernel was ready to run and others did.
    pub fn waited(&self) -> f64 {
        share(self.waited_ns, self.elapsed_ns)
    }
}

/// How often the share of a processor that is described for a node (`cpus`) stopped it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Throttled {
    /// Periods in which the node had something to run.
    pub periods: u64,
    /// Periods in which the node used up its share, which `periods` includes.
    pub throttled_periods: u64,
    /// How long the node's programs were kept from running, summed over processors, in nanoseconds of wall time.
    pub throttled_ns: u64,
}

/// A stretch in which a node's kernel did nothing, in nanoseconds of lab time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Standstill {
    /// When the standstill began, after time zero.
    pub began_ns: u64,
    /// How long the standstill lasted, at least.
    pub lasted_ns: u64,
    /// How long the node's own share of a processor makes it stand still at a time, as described.
    pub described_ns: u64,
}

/// A node on a kernel of its own that stood still for longer than allowed, for whatever cause.
pub(super) fn standstill(allowed: &Allowed, name: &str, still: &Standstill) -> Option<Finding> {
    let bound = allowed.standstill_ns.saturating_add(still.described_ns);
    (still.lasted_ns > bound).then(|| Finding {
        subject: format!("node {name}"),
        text: format!(
            "its kernel stood still for {} or more, at {}, {} is allowed: it was stopped, had no processor, or waited for a \
             file of this machine",
            span(still.lasted_ns),
            span(still.began_ns),
            span(bound)
        ),
        slowing: Some(ratio(still.lasted_ns as f64, bound as f64)),
    })
}

/// That nodes used up their shares, which explains what was found.
pub(super) fn throttled(name: &str, throttled: &Throttled) -> Option<String> {
    let Throttled { periods, throttled_periods, throttled_ns } = *throttled;
    (throttled_periods > 0).then(|| {
        format!(
            "`cpus` of node {name} throttled it in {throttled_periods} of {periods} periods, for {} of wall time",
            span(throttled_ns)
        )
    })
}

/// At most all: the times are read one after the other, so that a part may be read a little later than the whole.
fn share(part_ns: u64, whole_ns: u64) -> f64 {
    (part_ns as f64 / whole_ns.max(1) as f64).min(1.0)
}

/// The threads of the engine that waited for a processor for longer than is allowed, with the share of the time. Only the
/// waiting counts: one that spins always runs, and means nothing by it. Each has links that depend on nobody else, and so each
/// is judged by itself.
pub(super) fn engine_waits(allowed: &Allowed, elapsed_ns: u64, waited_ns: &[Option<u64>]) -> Vec<(String, f64)> {
    if elapsed_ns < ENOUGH_NS {
        return Vec::new();
    }
    let subject = |shard: usize| if waited_ns.len() > 1 { format!("engine, shard {shard}") } else { "engine".into() };
    let waits = |(shard, waited): (usize, &Option<u64>)| Some((subject(shard), share((*waited)?, elapsed_ns)));
    waited_ns.iter().enumerate().filter_map(waits).filter(|(_, share)| *share > allowed.starvation).collect()
}

/// A node on a kernel of its own. Each kernel has one core, which it may share with others and with the engine.
pub(super) fn node_processor(allowed: &Allowed, name: &str, processor: &ProcessorShare) -> Option<Finding> {
    if processor.elapsed_ns < ENOUGH_NS {
        return None;
    }
    let subject = format!("node {name}");
    if processor.waited() > allowed.starvation {
        return Some(starvation(allowed, subject, processor.waited()));
    }
    saturation(allowed, subject, share(processor.ran_ns + processor.waited_ns, processor.elapsed_ns))
}

/// A lab that is N times slower asks for at most 1/N of the processor time in the same stretch of wall time, and waits for
/// it accordingly less.
pub(super) fn starvation(allowed: &Allowed, subject: String, share: f64) -> Finding {
    Finding {
        subject,
        text: format!(
            "it waited for a processor for {:.1} % of the time, {:.1} % is allowed",
            share * 100.0,
            allowed.starvation * 100.0
        ),
        slowing: Some(ratio(share, allowed.starvation).max(SMALLEST_SLOWING)),
    }
}

/// How much more a node would have done with a faster processor, its figures do not tell.
fn saturation(allowed: &Allowed, subject: String, share: f64) -> Option<Finding> {
    (share > allowed.starvation.max(BUSY)).then(|| Finding {
        subject,
        text: format!(
            "its processor was busy for {:.0} % of the time: how fast it is decided the results, not the network; \
             `cpus` would make it part of the description",
            share * 100.0
        ),
        slowing: Some(SMALLEST_SLOWING),
    })
}
