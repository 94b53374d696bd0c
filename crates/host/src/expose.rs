//! Ports of this machine's loopback that lead into nodes.
//!
//! A process in the machine's own network namespace opens the sockets, before there is a lab, and hands them down to
//! the lab process by its fork. There a thread of its own accepts for each node, see [`Relay`].

mod attempts;
mod connection;
mod datagrams;
mod frames;
mod inside;
mod listen;
mod relay;
mod way;

pub use inside::main;
pub use listen::Exposed;
pub use relay::Relay;
pub use way::{Asked, Protocol, Way};
