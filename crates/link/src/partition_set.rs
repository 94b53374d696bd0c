//! Partitions: which packets do not get through a pipe because of where they come from.
//!
//! A partition puts ports on sides. What one port sends does not reach a port on another side, and all else is as it was: ports
//! without a side reach everybody. Several partitions may be in force at once.

use alloc::{boxed::Box, string::String, sync::Arc};
use core::fmt;

/// A partition: which ports are on which side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sides {
    /// How people call it.
    name: String,
    /// Ports and their sides, in the order of ports.
    ports: Box<[(u32, u32)]>,
}

impl Sides {
    /// A partition of this name that puts these ports on these sides; each port is named once.
    pub fn new(name: String, ports: impl IntoIterator<Item = (u32, u32)>) -> Self {
        let mut ports: Box<[(u32, u32)]> = ports.into_iter().collect();
        ports.sort_unstable();
        Self { name, ports }
    }

    fn of(&self, port: u32) -> Option<u32> {
        let place = self.ports.binary_search_by_key(&port, |(other, _)| *other).ok()?;
        Some(self.ports[place].1)
    }

    fn part(&self, one: u32, other: u32) -> bool {
        matches!((self.of(one), self.of(other)), (Some(one), Some(other)) if one != other)
    }
}

/// All partitions in force. Cheap to clone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PartitionSet(Arc<[Sides]>);

impl PartitionSet {
    /// These partitions.
    pub fn new(all: impl IntoIterator<Item = Sides>) -> Self {
        Self(all.into_iter().collect())
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether what one of these ports sends does not reach the other.
    pub fn part(&self, one: u32, other: u32) -> bool {
        self.0.iter().any(|sides| sides.part(one, other))
    }
}

impl fmt::Display for PartitionSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return f.write_str("none");
        }
        for (place, sides) in self.0.iter().enumerate() {
            let comma = if place == 0 { "" } else { ", and " };
            write!(f, "{comma}{}", sides.name)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn who_has_no_side_reaches_everybody_and_partitions_add_up() {
        let halves = Sides::new("1 2 | 3".into(), [(3, 1), (1, 0), (2, 0)]);
        let alone = Sides::new("2 | 1 4".into(), [(2, 0), (1, 1), (4, 1)]);
        let partition_set = PartitionSet::new([halves, alone]);
        let parted = [[1, 3], [3, 2], [1, 2], [2, 4]];
        assert!(parted.iter().all(|[one, other]| partition_set.part(*one, *other) && partition_set.part(*other, *one)));
        let joined = [[1, 4], [3, 4], [3, 3], [1, 9], [9, 3]];
        assert!(joined.iter().all(|[one, other]| !partition_set.part(*one, *other)));
        assert_eq!(
            (partition_set.to_string().as_str(), PartitionSet::default().to_string().as_str()),
            ("1 2 | 3, and 2 | 1 4", "none")
        );
    }
}
