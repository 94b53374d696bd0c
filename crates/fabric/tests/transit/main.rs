//! Transit devices: what they pass on is what a router, a switch or a hub would, at the instant at which it reaches them.

mod mesh;
mod network;
#[path = "../common/ahead.rs"]
mod player;

mod ahead;
mod answers;
mod cuts;
mod dns;
mod faults;
mod forwarding;
mod fuzz;
mod groups;
mod hubs;
mod media;
mod partitions;
mod radio;
mod sharded;
mod snooping;
mod switches;
mod trees;
