//! What a link is called, and the nodes that it joins.

use netloom_lab::Direction;

/// Name and ends of a link.
#[derive(Clone, Debug)]
pub struct LinkName {
    /// Its name.
    pub name: String,
    /// The node at each end.
    pub ends: [String; 2],
    /// Whether it is joined in the kernel, so that its pipes see nothing.
    pub joined: bool,
}

impl LinkName {
    /// Where packets of `direction` enter and leave.
    pub fn path(&self, direction: Direction) -> (&str, &str) {
        let [first, second] = &self.ends;
        match direction {
            Direction::Forward => (first, second),
            Direction::Backward => (second, first),
        }
    }
}
