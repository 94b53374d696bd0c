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

    /// Asks it to make the network again as it was configured.
    ///
    /// # Errors
    /// [`NodeError::Kernel`].
    pub fn begin_bring_up(&mut self) -> Result<(), NodeError> {
        self.ask(&ToGuest::BringUp)
    }

    /// Waits until it has done what [`begin_bring_up`](Self::begin_bring_up) asks for. Nothing else may be asked in between.
    ///
    /// # Errors
    /// The refusal of the guest's kernel, or [`NodeError::Kernel`].
    pub fn finish_bring_up(&mut self) -> Result<(), NodeError> {
        self.expect_done()
    }
}
