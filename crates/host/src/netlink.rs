//! The kernel's interface to network devices, addresses and routes, for the network namespace of the calling
//! process. Blocking; many requests travel in one system call.

mod address;
pub(crate) mod bridge;
pub(crate) mod change;
mod diag;
mod events;
mod flush;
#[cfg(test)]
mod fuzz;
mod link;
pub(crate) mod named_rules;
pub(crate) mod netfilter;
mod rule;
mod socket;
mod veth;

pub use bridge::Bridge;
pub use link::{InterfaceCounters, Link};
pub use socket::Netlink;
pub use veth::{Home, Veth, VethEnd};

pub(crate) use address::{Gateway, add_address, add_group, add_neighbor, add_route, say_congestion};
pub(crate) use diag::TcpDiag;
pub(crate) use events::{Events, Seen};
pub(crate) use link::set_up;
pub(crate) use rule::{Rule, add_rule, add_table_route};
pub(crate) use socket::Request;

/// The number of the loopback interface in every network namespace.
pub(crate) const LOOPBACK: u32 = 1;
