use serde::{Deserialize, Serialize};

/// The counts of what was left out of an image when it was unpacked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Left {
    /// Devices: nodes have their own.
    pub devices: u64,
    /// Entries that belong to others than root, and belong to root here, since an ordinary user cannot give them away.
    pub owners: u64,
    /// Extended attributes that nodes do not need or this user cannot set.
    pub attributes: u64,
}
