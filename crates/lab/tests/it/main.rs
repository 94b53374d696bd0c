//! The tests of lab files from outside of the crate: one program, which is linked once.

mod addresses;
mod bypass;
mod clocks;
mod errors;
mod faults;
mod fuzz;
mod labs;
mod media;
mod packets;
mod plan;
mod repeats;
mod robustness;
mod routes;
mod rules;
mod split;
mod sweeps;
mod switches;
mod treatments;
