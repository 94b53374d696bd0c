//! What is measured in a node.

use std::fs::File;
use std::os::fd::AsFd;

use super::Node;
use crate::measure::{MeasureConfig, TcpState};
use crate::node::client::AgentClient;
use crate::node::errors::NodeError;
use crate::node::protocol::{Reply, Request};

impl Node {
    /// Begins to measure inside; samples go to `file`.
    ///
    /// # Errors
    /// The kernel's refusal, or [`NodeError::Gone`].
    pub fn begin_measure(&mut self, config: &MeasureConfig, file: &File) -> Result<(), NodeError> {
        self.ask_with(&Request::Measure(*config), &[file.as_fd()])?;
        self.expect_done()
    }

    /// Its TCP connections now.
    ///
    /// # Errors
    /// The kernel's refusal, or [`NodeError::Gone`].
    pub fn connections(&mut self) -> Result<TcpState, NodeError> {
        self.ask(Request::Connections)?;
        match self.reply()? {
            Reply::Connections(state) => Ok(state),
            other => Err(self.unexpected(other)),
        }
    }
}
