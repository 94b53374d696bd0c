//! Ports of this machine's loopback that lead into nodes.
//!
//! A process in the machine's own network namespace opens the sockets, before there is a lab, and hands them down to
//! the lab process by its fork. There a thread of its own accepts for each node, see [`Relay`].
//!
//! The thread enters the node's network namespace, connects there, and copies. It cannot enter a kernel node; there
//! the program `netloom node-connect` runs in the node, whose standard streams are the connection, so that the
//! agent's windows hold back a sender that is too fast. Datagrams take the same ways: a socket in the node for each
//! client, or the program with a length in front of each datagram (`frames`). `attempts` finds the address at which a
//! program listens by what is refused.

mod attempts;
mod connection;
mod datagrams;
mod forward;
mod frames;
mod inside;
mod listen;
mod relay;

pub use forward::{ForwardPath, ProgramRequest, Protocol};
pub use inside::main;
pub use listen::Exposed;
pub use relay::Relay;
