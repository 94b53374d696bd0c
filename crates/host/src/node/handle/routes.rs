//! Which routes a node has.

use ipnet::IpNet;

use super::{Node, NodeError};
use crate::node::protocol::{Reply, Request};

impl Node {
    /// The prefixes among these to which the node has no route.
    ///
    /// # Errors
    /// The kernel's refusal, or [`NodeError::Gone`].
    pub fn lacking(&mut self, prefixes: &[IpNet]) -> Result<Vec<IpNet>, NodeError> {
        self.ask(&Request::Lacking { prefixes: prefixes.to_vec() }, &[])?;
        match self.reply()? {
            Reply::Lacking(lacking) => Ok(lacking),
            other => Err(self.unexpected(other)),
        }
    }
}
