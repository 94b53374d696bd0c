//! What is measured in a node.

use std::fs::File;
use std::os::fd::AsFd;

use super::{Node, NodeError};
use crate::measure::{MeasureConfig, Measured, TcpState};
use crate::node::protocol::{Reply, Request};

impl Node {
    /// Begins to measure inside; samples go to `file`.
    ///
    /// # Errors
    /// The kernel's refusal, or [`NodeError::Gone`].
    pub fn begin_measure(&mut self, config: &MeasureConfig, file: &File) -> Result<(), NodeError> {
        self.ask(&Request::Measure(*config), &[file.as_fd()])?;
        self.expect_done()
    }

    /// Ends that: all samples are in the file.
    ///
    /// # Errors
    /// [`NodeError::Gone`].
    pub fn end_measure(&mut self) -> Result<Measured, NodeError> {
        self.ask(&Request::EndMeasure, &[])?;
        match self.reply()? {
            Reply::Measured(measured) => Ok(measured),
            other => Err(self.unexpected(other)),
        }
    }

    /// Its TCP connections now.
    ///
    /// # Errors
    /// The kernel's refusal, or [`NodeError::Gone`].
    pub fn connections(&mut self) -> Result<TcpState, NodeError> {
        self.ask(&Request::Connections, &[])?;
        match self.reply()? {
            Reply::Connections(state) => Ok(state),
            other => Err(self.unexpected(other)),
        }
    }
}
