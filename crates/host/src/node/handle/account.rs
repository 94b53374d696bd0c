//! What a node has counted, and what its programs did to its network.

use super::{Node, NodeError};
use crate::netlink::InterfaceCounters;
use crate::node::protocol::{Reply, Request};
use crate::node::watch::NetworkChange;

/// The counters of a node's network and the changes to it when its lab ends.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Account {
    /// The counters of every interface but the loopback, by name.
    pub counters: Vec<(String, InterfaceCounters)>,
    /// The changes that the node's programs made to its network since its configuration took effect.
    pub changes: Vec<NetworkChange>,
}

impl Node {
    /// The counters of every interface of the node but its loopback, by name.
    ///
    /// # Errors
    /// The kernel's refusal, or [`NodeError::Gone`].
    pub fn interface_counters(&mut self) -> Result<Vec<(String, InterfaceCounters)>, NodeError> {
        self.ask(&Request::Interfaces, &[])?;
        self.interfaces()
    }

    /// Asks for the node's [`Account`].
    ///
    /// # Errors
    /// [`NodeError::Gone`].
    pub fn begin_account(&mut self) -> Result<(), NodeError> {
        self.ask(&Request::Interfaces, &[])?;
        self.ask(&Request::Changes, &[])
    }

    /// The answer to [`Node::begin_account`]. Nothing else may be asked in between.
    ///
    /// # Errors
    /// The kernel's refusal, or [`NodeError::Gone`].
    pub fn finish_account(&mut self) -> Result<Account, NodeError> {
        // Both answers are taken, whatever the first one says: an answer belongs to its question.
        let (counters, changes) = (self.interfaces(), self.changes());
        Ok(Account { counters: counters?, changes: changes? })
    }

    fn interfaces(&mut self) -> Result<Vec<(String, InterfaceCounters)>, NodeError> {
        match self.reply()? {
            Reply::Interfaces(interfaces) => Ok(interfaces),
            other => Err(self.unexpected(other)),
        }
    }

    fn changes(&mut self) -> Result<Vec<NetworkChange>, NodeError> {
        match self.reply()? {
            Reply::Changes(changes) => Ok(changes),
            other => Err(self.unexpected(other)),
        }
    }
}
