//! The tests of media from outside of the crate: one program, which is linked once.

mod aggregation;
mod bianchi;
mod categories;
mod cell;
mod cell_order;
mod cells;
mod common;
mod conservation;
mod frames;
mod interferers;
mod management;
mod motion;
mod order;
mod positions;
mod radio_order;
mod receptions;
mod roaming;
mod roaming_order;
mod single;
mod txop;
mod unequal;
