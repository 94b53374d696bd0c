//! The tests of simulations from outside of the crate: one program, which is linked once.

mod arithmetic;
mod beacons;
mod cell;
mod dummynet;
mod ecmp;
mod examples;
mod headers;
mod multicast;
mod partition_shapes;
mod partitions;
mod radio;
mod roaming;
mod walls;
