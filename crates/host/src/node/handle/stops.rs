//! Nodes that stop and start while their lab is up.

use super::{Node, NodeError};
use crate::node::protocol::Request;

impl Node {
    /// Whether no process runs in the node beside its init.
    ///
    /// # Errors
    /// [`NodeError::Gone`].
    pub fn is_alone(&mut self) -> Result<bool, NodeError> {
        self.ask(&Request::Alone, &[])?;
        self.expect_answer()
    }

    /// Takes the node's network down: interfaces, addresses, routes, and rules, also those that its programs made. The node stays, and its
    /// interfaces with their counters.
    ///
    /// # Errors
    /// The kernel's refusal, or [`NodeError::Gone`].
    pub fn shut_down(&mut self) -> Result<(), NodeError> {
        self.ask(&Request::ShutDown, &[])?;
        self.expect_done()
    }

    /// Makes the network again as it was configured.
    ///
    /// # Errors
    /// The kernel's refusal, or [`NodeError::Gone`].
    pub fn bring_up(&mut self) -> Result<(), NodeError> {
        self.ask(&Request::BringUp, &[])?;
        self.expect_done()
    }
}
