//! Faults of nodes beside those of their programs: what is wrong with a clock, and what happens to it.

use crate::words::words;
use netloom_units::{Bytes, Drift, SignedDuration};
use std::fmt;

/// The error of a node's clock (CLOCK_REALTIME).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NodeClock {
    /// By how much it is fast when the node begins.
    pub skew: SignedDuration,
    /// How much faster than lab time it runs from time zero on.
    pub drift: Drift,
}

impl NodeClock {
    /// Whether the clock shows the lab's time.
    pub fn is_right(self) -> bool {
        self == Self::default()
    }
}

/// A change of a node's clock (CLOCK_REALTIME).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClockChange {
    /// By how much it is set forward at once; none: not at all.
    pub step: Option<SignedDuration>,
    /// How much faster than lab time it runs from then on; none: as before.
    pub drift: Option<Drift>,
    /// The second that comes or goes at the end of the clock's day; none: as was said before.
    pub leap: Option<LeapSecond>,
}

words! {
    /// A leap second at the end of a day of UTC.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum LeapSecond {
        /// The day has one second more: the clock shows its last one twice.
        Insert = "insert",
        /// The day has one second less: the clock leaves its last one out.
        Delete = "delete",
    }
}

/// New limits of programs. What is none stays as it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LimitChange {
    /// The memory of all processes together.
    pub memory: Option<Ceiling<Bytes>>,
    /// The number of processes and threads.
    pub pids: Option<Ceiling<u64>>,
    /// The number of descriptors that each process may open.
    pub fds: Option<Ceiling<u64>>,
}

/// A limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ceiling<T> {
    /// At most so much.
    At(T),
    /// As much as there is.
    Unlimited,
}

impl<T: fmt::Display> fmt::Display for Ceiling<T> {
    /// As the lab file has it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::At(most) => f.pad(&most.to_string()),
            Self::Unlimited => f.pad("unlimited"),
        }
    }
}

impl fmt::Display for LimitChange {
    /// As the lab file has it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = [
            self.memory.map(|memory| format!("memory: {memory}")),
            self.pids.map(|pids| format!("pids: {pids}")),
            self.fds.map(|fds| format!("fds: {fds}")),
        ];
        f.pad(&parts.into_iter().flatten().collect::<Vec<String>>().join(", "))
    }
}
