//! Whose packets are diverted: what the kernel tells of the socket that made one.

use super::message::{LOCAL_OUT, Queued};
use std::ops::RangeInclusive;

/// The loopback interface has the same index in every network namespace (`LOOPBACK_IFINDEX`, net/loopback.h).
const LOOPBACK: u32 = 1;

/// Users and groups by their numbers in the machine's first user namespace, in which queues tell them. Of a list that is not
/// empty, one entry must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Owners {
    /// With whose rights the socket was opened.
    pub users: Vec<RangeInclusive<u32>>,
    /// The first group of who opened it.
    pub groups: Vec<RangeInclusive<u32>>,
}

impl Owners {
    fn own(&self, queued: &Queued<'_>) -> bool {
        let holds = |list: &[RangeInclusive<u32>], id: Option<u32>| {
            list.is_empty() || id.is_some_and(|id| list.iter().any(|range| range.contains(&id)))
        };
        holds(&self.users, queued.user) && holds(&self.groups, queued.group)
    }
}

/// Whether a packet that can go both ways goes forward: one that this machine makes. Where both ends are on this machine, both
/// make packets, and those of the owners go forward.
pub(super) fn goes_forward(owners: Option<&Owners>, queued: &Queued<'_>) -> bool {
    let is_of_others = queued.out_interface == LOOPBACK && owners.is_some_and(|owners| !owners.own(queued));
    queued.hook == LOCAL_OUT && !is_of_others
}
