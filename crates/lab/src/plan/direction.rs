//! The directions of a link.

use std::fmt;

/// A direction of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Direction {
    /// From the first end to the second.
    Forward,
    /// From the second end to the first.
    Backward,
}

impl Direction {
    /// Both, forward first, as the pipes of a link are numbered.
    pub const BOTH: [Self; 2] = [Self::Forward, Self::Backward];

    /// 0 for forward, 1 for backward: the place of the pipe in [`LinkPlan::pipes`](super::LinkPlan::pipes), and of the end where
    /// it begins.
    pub fn index(self) -> usize {
        usize::from(self == Self::Backward)
    }
}

impl fmt::Display for Direction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(["forward", "backward"][self.index()])
    }
}
