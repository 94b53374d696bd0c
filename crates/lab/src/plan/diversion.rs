//! Traffic of this machine, as a plan has it.

use crate::Match;

/// The traffic of this machine that goes through the first link of a plan.
#[derive(Clone, Debug, PartialEq)]
pub struct DiversionPlan {
    /// The packets that go forward; those with source and destination exchanged go backward.
    pub matching: Match,
    /// Whether nothing goes backward: the answers stay as they are.
    pub is_one_way: bool,
    /// The number of the queue by which the traffic is taken; none: any that is free.
    pub queue: Option<u16>,
}
