//! Signals to the programs of a node.

use super::{Node, NodeError};
use crate::node::protocol::{ProcessId, Request};

impl Node {
    /// Sends `signal` (`libc::SIGINT` and so on) to the process group of a program. Nothing happens to one that has
    /// ended.
    ///
    /// # Errors
    /// The kernel's refusal, or [`NodeError::Gone`].
    pub fn signal(&mut self, process: ProcessId, signal: i32) -> Result<(), NodeError> {
        self.ask(&Request::Signal { process, signal }, &[])?;
        self.expect_done()
    }

    /// Sends `signal` to all processes of the node but its init.
    ///
    /// # Errors
    /// The kernel's refusal, or [`NodeError::Gone`].
    pub fn signal_all(&mut self, signal: i32) -> Result<(), NodeError> {
        self.ask(&Request::SignalAll { signal }, &[])?;
        self.expect_done()
    }
}
