//! The tests of packets from outside of the crate: one program, which is linked once.

mod cutting;
mod flipping;
mod flows;
mod malformed;
mod pool;
mod resets;
mod vlans;
