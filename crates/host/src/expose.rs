//! Ports of this machine's loopback that lead into nodes.
//!
//! The sockets are opened by whoever is in the machine's own network namespace, before there is a lab, and handed down to the
//! lab process by its fork. There a thread of its own accepts for each node, see [`Relay`].

mod connection;
mod inside;
mod listen;
mod relay;
mod way;

pub use inside::main;
pub use listen::Exposed;
pub use relay::Relay;
pub use way::{Asked, Way};
