//! A node of the lab that runs, whatever runs it: a stack is one file here that implements [`LabNode`].
//!
//! The session knows a running node by this trait alone: configure it, start and signal programs, stop it, read its
//! counters. Only a node with namespaces says so, since interfaces of this machine can be put into it. A node is
//! forked with as little memory as there can be: its page tables are a third of what it takes.

mod closed;
mod crashed;
mod kernel;
mod lab_node;
mod namespace;
mod transit;

pub(crate) use closed::Closed;
pub use crashed::Crashed;
pub use lab_node::{Begun, LabNode};
pub(crate) use transit::Transit;
