//! Nodes that stop and start while their lab is up. Their kernels go on.

use super::KernelNode;
use netloom_host::guest::message::ToGuest;
use netloom_host::node::NodeError;

impl KernelNode {
    /// Whether no process of the node runs beside its agent.
    ///
    /// # Errors
    /// [`NodeError::Kernel`].
    pub fn is_alone(&mut self) -> Result<bool, NodeError> {
        self.ask(&ToGuest::Alone)?;
        self.expect_answer()
    }

    /// Takes the node's network down: interfaces, addresses, routes, and rules, also those that its programs made.
    ///
    /// # Errors
    /// The refusal of the guest's kernel, or [`NodeError::Kernel`].
    pub fn shut_down(&mut self) -> Result<(), NodeError> {
        self.ask(&ToGuest::ShutDown)?;
        self.expect_done()
    }

    /// Makes the network again as it was configured.
    ///
    /// # Errors
    /// The refusal of the guest's kernel, or [`NodeError::Kernel`].
    pub fn bring_up(&mut self) -> Result<(), NodeError> {
        self.ask(&ToGuest::BringUp)?;
        self.expect_done()
    }
}
