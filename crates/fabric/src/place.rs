//! Pipes of shards.

use crate::PipeId;

/// The place of a shard's pipe in the whole fabric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The pipe with this id, as a whole.
    Own(PipeId),
    /// The end of the pipe with this id, which another shard computes.
    Inlet(PipeId),
}
