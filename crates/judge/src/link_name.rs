//! What a link is called, and the nodes that it joins.

use netloom_lab::Direction;

/// Name and ends of a link.
#[derive(Clone, Debug)]
pub struct LinkName {
    /// The link's name.
    pub name: String,
    /// The node at each end.
    pub ends: Vec<String>,
    /// Whether the link is joined in the kernel, so that its pipes see nothing.
    pub joined: bool,
}

impl LinkName {
    /// Returns the nodes where packets of `direction` enter and leave.
    pub fn path(&self, direction: Direction) -> (&str, &str) {
        if direction == Direction::Shared {
            return Direction::ALL_TO_ALL.into();
        }
        let entry = direction.index();
        (&self.ends[entry], &self.ends[1 - entry])
    }
}
