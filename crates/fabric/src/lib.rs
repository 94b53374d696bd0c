//! All pipes and transit devices (routers, switches, hubs) of a lab, joined: pure computation, no I/O, no clock.
//!
//! This crate reads no clock, starts no thread and opens no file: it is `no_std`, and the compiler proves it. A driver
//! calls three verbs: [`Fabric::inject`] when a packet enters from a node, [`Fabric::next_wake`] to know when it is
//! wanted again, and [`Fabric::advance`] to get what is due. Drivers in real and in virtual time call the same.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod checksum;
mod device;
mod entry;
mod fabric;
mod forwarding;
mod forwarding_rule;
mod hub;
mod mtu;
mod pipes;
mod place;
mod router;
mod shards;
mod switch;
mod tap;
mod trace_observer;
mod transit;
mod wakes;

pub use device::DeviceSpec;
pub use fabric::{Fabric, UnknownPort};
pub use forwarding_rule::ForwardingRule;
pub use hub::HubSpec;
pub use pipes::{Delivery, PipeId, PipeSpec, PortId};
pub use place::Place;
pub use router::{GroupRoute, Neighbor, NextHop, RouterCounters, RouterInterface, RouterSpec};
pub use shards::{Border, Cuts, Partition, Shard, shards};
pub use switch::{
    Membership, PortRole, PortState, PortTree, PortVlans, QuerierSpec, RouterPort, SnoopingCounters, SnoopingSpec,
    SwitchCounters, SwitchPort, SwitchSpec, SwitchState, Timing, TreePort, TreeSpec,
};
pub use tap::{Tap, TapId, Way};
pub use trace_observer::TraceObserver;
pub use transit::{Ethernet, Pass};
pub use wakes::Wakes;
