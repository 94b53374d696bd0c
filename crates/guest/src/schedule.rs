//! The event scheduler of virtual time: many kernels and one fabric, conservative and reproducible.

mod machine;

pub use machine::{Device, Machine, MachineError, Passage, Wish};
