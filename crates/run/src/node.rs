//! A node of the lab, whichever stack it has.

use netloom_guest::node::KernelNode;
use netloom_host::netlink::InterfaceCounters;
use netloom_host::node::{Node, NodeError, NodeEvent, ProcessId, Spawn, SpawnError};
use std::os::fd::{AsFd, BorrowedFd};
use std::path::PathBuf;

/// See the module. Dropping it ends it and everything in it.
#[derive(Debug)]
pub(crate) enum LabNode {
    /// On this machine's kernel.
    Namespace(Node),
    /// On a kernel of its own.
    Kernel(Box<KernelNode>),
}

impl LabNode {
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Namespace(node) => node.name(),
            Self::Kernel(node) => node.name(),
        }
    }

    /// What it had to do without, in words.
    pub(crate) fn notes(&self) -> &[String] {
        match self {
            Self::Namespace(node) => node.notes(),
            Self::Kernel(node) => node.notes(),
        }
    }

    pub(crate) fn begin_configure(&mut self) -> Result<(), NodeError> {
        match self {
            Self::Namespace(node) => node.begin_configure(),
            Self::Kernel(node) => node.begin_configure(),
        }
    }

    pub(crate) fn finish_configure(&mut self) -> Result<(), NodeError> {
        match self {
            Self::Namespace(node) => node.finish_configure(),
            Self::Kernel(node) => node.finish_configure(),
        }
    }

    pub(crate) fn spawn(&mut self, spawn: Spawn) -> Result<ProcessId, SpawnError> {
        match self {
            Self::Namespace(node) => node.spawn(spawn),
            Self::Kernel(node) => node.spawn(spawn),
        }
    }

    pub(crate) fn signal(&mut self, process: ProcessId, signal: i32) -> Result<(), NodeError> {
        match self {
            Self::Namespace(node) => node.signal(process, signal),
            Self::Kernel(node) => node.signal(process, signal),
        }
    }

    pub(crate) fn listening(&mut self, port: u16) -> Result<bool, NodeError> {
        match self {
            Self::Namespace(node) => node.listening(port),
            Self::Kernel(node) => node.listening(port),
        }
    }

    /// Whether there is a file of this name, an absolute path, as the node's programs see it.
    pub(crate) fn has_file(&mut self, path: PathBuf) -> Result<bool, NodeError> {
        match self {
            Self::Namespace(_) => Ok(path.exists()),
            Self::Kernel(node) => node.has_file(path),
        }
    }

    pub(crate) fn interface_counters(&mut self) -> Result<Vec<(String, InterfaceCounters)>, NodeError> {
        match self {
            Self::Namespace(node) => node.interface_counters(),
            Self::Kernel(node) => node.interface_counters(),
        }
    }

    pub(crate) fn next_event(&mut self) -> Option<NodeEvent> {
        match self {
            Self::Namespace(node) => node.next_event(),
            Self::Kernel(node) => node.next_event(),
        }
    }

    /// That it died, and how.
    pub(crate) fn obituary(&self) -> String {
        match self {
            Self::Namespace(node) => format!("the init process of node `{}` was killed", node.name()),
            Self::Kernel(node) => {
                let how = node.obituary().unwrap_or_else(|| "its kernel ended".to_owned());
                format!("node `{}`: {how}", node.name())
            }
        }
    }
}

impl AsFd for LabNode {
    /// Readable when [`LabNode::next_event`] has something to do.
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Namespace(node) => node.as_fd(),
            Self::Kernel(node) => node.as_fd(),
        }
    }
}
