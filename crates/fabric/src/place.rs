//! Pipes of shards.

use crate::PipeId;

/// What a pipe of a shard is in the whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// This pipe.
    Own(PipeId),
    /// The end of this pipe, which another shard computes.
    Inlet(PipeId),
}
