//! CPU shares of nodes, by control groups of version 1 or 2.
//!
//! The machine's hierarchy is only ever touched below one group, named `netloom-<lab>-<pid>`, so that whatever a
//! killed lab leaves there can be recognized and removed.

mod detect;
mod group;

pub use detect::{Hierarchy, Unavailable};
pub use group::{Grain, LabGroup, Share, Throttling, remove};

pub(crate) use group::join;
