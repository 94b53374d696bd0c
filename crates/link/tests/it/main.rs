//! The tests of pipes from outside of the crate: one program, which is linked once.

mod aqm;
mod cell_traces;
mod cross;
mod delay;
mod everything;
mod filter;
mod flows;
mod golden;
mod impairments;
mod notes;
mod packets;
mod properties;
mod rates;
mod samples;
mod unplugged;
