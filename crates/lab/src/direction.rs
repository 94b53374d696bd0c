//! The directions of a link, and the one of a shared medium.

use crate::words::words;

words! {
    /// A direction of a link.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Direction {
        /// From the first end to the second.
        Forward = "forward",
        /// From the second end to the first.
        Backward = "backward",
    } {
        /// From every end to all others: the only direction of a shared medium.
        Shared = "shared",
    }
}

impl Direction {
    /// The words for the ends of a shared medium, where any other direction has one node at each side.
    pub const ALL_TO_ALL: [&str; 2] = ["each end", "all others"];

    /// Those of a link, forward first, as its pipes are numbered; or that of a shared medium.
    pub(crate) fn all(is_shared: bool) -> &'static [Self] {
        if is_shared { &[Self::Shared] } else { &[Self::Forward, Self::Backward] }
    }

    /// Returns the place of the direction's pipe in [`LinkPlan::pipes`](crate::LinkPlan::pipes), and of the end where it begins: 0 for forward and
    /// for a shared medium, 1 for backward.
    pub fn index(self) -> usize {
        usize::from(self == Self::Backward)
    }
}
