//! Checkers that need no search: each counts, and knows the few operations that contradict one another.

pub(crate) mod bank;
pub(crate) mod counter;
pub(crate) mod fencing;
pub(crate) mod ids;
pub(crate) mod log;
pub(crate) mod monotone;
pub(crate) mod objects;
pub(crate) mod set_full;
pub(crate) mod total_queue;

#[cfg(test)]
mod tests;
