use netloom_units::Duration;

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
