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

    /// Asks it to make the network again as it was configured.
    ///
    /// # Errors
    /// [`NodeError::Gone`].
    pub fn begin_bring_up(&mut self) -> Result<(), NodeError> {
        self.ask(&Request::BringUp, &[])
    }

    /// Waits until it has done what [`begin_bring_up`](Self::begin_bring_up) asks for. Nothing else may be asked in between.
    ///
    /// # Errors
    /// The kernel's refusal, or [`NodeError::Gone`].
    pub fn finish_bring_up(&mut self) -> Result<(), NodeError> {
        self.expect_done()
    }
}
