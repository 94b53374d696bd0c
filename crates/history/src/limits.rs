//! How far a checker goes.

use std::fmt;

/// The memory and time that a search may take before its verdict is [`Unknown`](crate::Verdict::Unknown).
#[derive(Clone, Copy)]
pub struct Limits<'a> {
    /// The memory for the states that one search remembers, in bytes.
    pub memory_bytes: usize,
    /// Says whether the time is over. The checker asks often, and the caller has the clock.
    pub is_over: &'a dyn Fn() -> bool,
}

impl Default for Limits<'_> {
    /// 1 GiB, and no end of the time.
    fn default() -> Self {
        Self { memory_bytes: 1 << 30, is_over: &|| false }
    }
}

impl fmt::Debug for Limits<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Limits").field("memory_bytes", &self.memory_bytes).finish_non_exhaustive()
    }
}
