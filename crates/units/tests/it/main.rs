//! The tests of units from outside of the crate: one program, which is linked once.

mod fuzz;
mod parsing;
mod properties;
