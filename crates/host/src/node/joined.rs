//! Nodes that are containers of somebody else, which run already.
//!
//! Two processes of netloom join the container's namespaces. The *keeper* waits for the end of the other one, the *agent*, which serves the
//! lab as the agents of other nodes do. So the container has back what the node's settings changed in it, whichever of netloom's processes is
//! killed: when the lab ends, the agent ends the programs that it started and puts everything back; when the agent ends without that, the
//! keeper does. Interfaces need neither: each is one end of a pair, whose other end goes with the lab.
//!
//! Both are forked outside of the lab, since a process can enter only process namespaces that are below its own.

mod agent;
mod container;
mod keeper;
mod undo;

pub use container::{Container, ContainerError, PODMANS_ENTRANCE};
pub use keeper::{Attendant, Keeper};
