//! What a link is called, and the nodes that it joins.

use netloom_lab::Direction;

/// Name and ends of a link.
#[derive(Clone, Debug)]
pub(crate) struct LinkName {
    pub(crate) name: String,
    /// The node at each end.
    pub(crate) ends: [String; 2],
    /// Whether it is joined in the kernel, so that its pipes see nothing.
    pub(crate) joined: bool,
}

impl LinkName {
    /// Where packets of `direction` enter and leave.
    pub(crate) fn path(&self, direction: Direction) -> (&str, &str) {
        let [first, second] = &self.ends;
        match direction {
            Direction::Forward => (first, second),
            Direction::Backward => (second, first),
        }
    }
}
