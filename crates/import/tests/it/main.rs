//! The tests of files of other tools from outside of the crate: one program, which is linked once.

mod fuzz;
mod golden;
mod unread;
mod writers;
