//! Transit devices: what they pass on is what a router, a switch or a hub would, at the instant at which it reaches them.

#[path = "../../../link/tests/it/common/mod.rs"]
mod common;
#[path = "../../../packet/tests/it/common/mod.rs"]
mod kernel;
mod mesh;
#[path = "../../../link/tests/it/models.rs"]
mod models;
mod network;
#[path = "../common/ahead.rs"]
mod player;

mod ahead;
mod answers;
mod cuts;
mod forwarding;
mod fuzz;
mod groups;
mod hubs;
mod media;
mod partitions;
mod sharded;
mod snooping;
mod switches;
mod trees;
