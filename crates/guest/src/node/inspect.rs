//! What is measured in a kernel node.

use std::fs::File;
use std::time::Duration;

use netloom_host::measure::{Measured, TcpState};
use netloom_host::node::{AgentClient, NodeError, Request};
use netloom_units::Instant;

use super::handle::KernelNode;

impl KernelNode {
    /// Its TCP connections as they were after the last call of this, and how long ago that was in wall time: the kernel is not waited for. None
    /// after the first.
    ///
    /// # Errors
    /// The refusal of the guest's kernel, or [`NodeError::Kernel`].
    pub fn connections(&mut self) -> Result<Option<(TcpState, Duration)>, NodeError> {
        if self.connections.begin_asking() {
            self.ask(Request::Connections)?;
        }
        self.connections.last().map_err(|error| NodeError::Refused { node: self.name.clone(), error })
    }

    /// Where samples go that are taken inside from the node's configuration on; without a file they are lost.
    pub fn keep_samples(&mut self, file: File) {
        self.samples = Some(Ok(file));
    }

    /// Ends what is measured inside: all samples are in the file. With the instant of lab time at which the answer was sent, if
    /// the kernel's channel knows it.
    ///
    /// # Errors
    /// The refusal of the guest's kernel, or [`NodeError::Kernel`].
    pub fn end_measure(&mut self) -> Result<(Measured, Option<Instant>), NodeError> {
        let mut measured = AgentClient::measured(self)?;
        if let Some(Err(error)) = &self.samples {
            measured.failure = Some(format!("writing samples: {error}"));
        }
        Ok((measured, self.agent_messages.heard_at()))
    }
}
