//! What is measured during a run, and how far it may stray from its description.

use netloom_units::{Duration, Probability};

/// How far a run may stray from the description and still be "as described".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// The 99th percentile of how much later than due a pipe delivers packets.
    pub lateness: Duration,
    /// How much later than due a pipe may deliver any packet.
    pub lateness_max: Duration,
    /// How much the rate of a busy pipe may differ from the described one, as a share of it.
    pub rate: Probability,
    /// How much the mean delay of a pipe may differ from the described one, as a share of it; never less than
    /// `lateness` allows.
    pub delay: Probability,
    /// The share of wall time that a kernel node, or an engine that serves some, may wait for a processor.
    pub starvation: Probability,
    /// How long a kernel node may stand still at a time.
    pub standstill: Duration,
    /// How much later than described links are changed, cut and restored, windows of expectations begin and end, and the run
    /// ends.
    pub events: Duration,
    /// How much later than its instant a program is started, and asked to end.
    pub starts: Duration,
    /// Whether programs may give interfaces of described links another queue, MTU or state.
    pub changes: bool,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            lateness: Duration::from_millis(1),
            lateness_max: Self::latest(Duration::from_millis(1)),
            rate: percent(2),
            delay: percent(1),
            starvation: percent(10),
            standstill: Duration::from_millis(100),
            events: Duration::from_millis(10),
            starts: Duration::from_millis(100),
            changes: false,
        }
    }
}

impl Bounds {
    /// The bound of any packet's lateness where the lab file names none: ten times that of the 99th percentile.
    pub(crate) fn latest(lateness: Duration) -> Duration {
        Duration::from_nanos(lateness.as_nanos().saturating_mul(10))
    }
}

fn percent(value: u64) -> Probability {
    Probability::from_parts_per_trillion(value * 10_000_000_000).expect("defaults are at most 100 %")
}

/// The measurements inside a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MeasurePlan {
    /// The time from a sample of the node's TCP connections to the next one; none: there are no samples.
    pub tcp: Option<Duration>,
    /// The time from a sample of the node's processor and memory to the next one; none: there are no samples.
    pub node: Option<Duration>,
    /// Whether the node's programs are asked to log the keys of their TLS connections, which are collected.
    pub tls_keys: bool,
    /// Whether the node's programs are asked to write qlog files, which are collected.
    pub qlog: bool,
}

impl MeasurePlan {
    /// The shortest time between two samples: a look at a machine's connections takes a tenth of it, if they are many.
    pub const LEAST: Duration = Duration::from_millis(1);

    /// Whether there is anything to measure.
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }
}

/// How often all directions of links are sampled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SamplePlan {
    /// How long after a sample the next one is taken.
    pub step: Duration,
}

impl SamplePlan {
    /// The shortest time between two samples: a look at a few hundred pipes takes a tenth of it.
    pub const LEAST: Duration = Duration::from_micros(100);
    /// The longest: how long packets took is kept in memory until the next sample.
    pub const MOST: Duration = Duration::from_secs(10);
}
