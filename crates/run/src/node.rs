//! A node of the lab, whichever stack it has.

use netloom_guest::node::{KernelNode, ProcessorUse, Spawning};
use netloom_host::netlink::InterfaceCounters;
use netloom_host::node::{NetworkChange, Node, NodeError, NodeEvent, ProcessId, Spawn, SpawnError};
use netloom_units::Instant;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::PathBuf;
use std::time::Duration;

/// See the module. Dropping it ends it and everything in it.
#[derive(Debug)]
pub(crate) enum LabNode {
    /// On this machine's kernel.
    Namespace(Node),
    /// On a kernel of its own.
    Kernel(Box<KernelNode>),
    /// In the packet engine, with nothing to be done here but to know its name.
    Transit(String),
}

/// A program that is being started.
#[derive(Debug)]
pub(crate) enum Begun {
    /// It runs.
    Started(ProcessId),
    /// Its kernel was asked for it.
    Asked(Spawning),
}

/// Lab files and requests that would run something there are refused.
const RUNS_NOTHING: &str = "transit routers run no programs";

impl LabNode {
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Namespace(node) => node.name(),
            Self::Kernel(node) => node.name(),
            Self::Transit(name) => name,
        }
    }

    /// What it had to do without, in words.
    pub(crate) fn notes(&self) -> &[String] {
        match self {
            Self::Namespace(node) => node.notes(),
            Self::Kernel(node) => node.notes(),
            Self::Transit(_) => &[],
        }
    }

    pub(crate) fn begin_configure(&mut self) -> Result<(), NodeError> {
        match self {
            Self::Namespace(node) => node.begin_configure(),
            Self::Kernel(node) => node.begin_configure(),
            Self::Transit(_) => Ok(()),
        }
    }

    pub(crate) fn finish_configure(&mut self) -> Result<(), NodeError> {
        match self {
            Self::Namespace(node) => node.finish_configure(),
            Self::Kernel(node) => node.finish_configure(),
            Self::Transit(_) => Ok(()),
        }
    }

    pub(crate) fn spawn(&mut self, spawn: Spawn) -> Result<ProcessId, SpawnError> {
        match self {
            Self::Namespace(node) => node.spawn(spawn),
            Self::Kernel(node) => node.spawn(spawn),
            Self::Transit(_) => unreachable!("{RUNS_NOTHING}"),
        }
    }

    /// As [`LabNode::spawn`], but does not wait for a kernel's agent. What was begun has to be finished, in this order,
    /// before anything else is asked of the node.
    pub(crate) fn begin_spawn(&mut self, spawn: Spawn) -> Result<Begun, SpawnError> {
        match self {
            Self::Namespace(node) => node.spawn(spawn).map(Begun::Started),
            Self::Kernel(node) => node.begin_spawn(spawn).map(Begun::Asked),
            Self::Transit(_) => unreachable!("{RUNS_NOTHING}"),
        }
    }

    pub(crate) fn finish_spawn(&mut self, begun: Begun) -> Result<ProcessId, SpawnError> {
        match (self, begun) {
            (_, Begun::Started(process)) => Ok(process),
            (Self::Kernel(node), Begun::Asked(spawning)) => node.finish_spawn(spawning),
            (Self::Namespace(_) | Self::Transit(_), Begun::Asked(_)) => unreachable!("only kernels are asked"),
        }
    }

    /// When a program that has ended did so, in lab time, if that is known better than by the time of hearing of it.
    pub(crate) fn take_ending(&mut self, process: ProcessId) -> Option<Instant> {
        match self {
            Self::Namespace(_) | Self::Transit(_) => None,
            Self::Kernel(node) => node.take_ending(process),
        }
    }

    pub(crate) fn signal(&mut self, process: ProcessId, signal: i32) -> Result<(), NodeError> {
        match self {
            Self::Namespace(node) => node.signal(process, signal),
            Self::Kernel(node) => node.signal(process, signal),
            Self::Transit(_) => Ok(()),
        }
    }

    pub(crate) fn listening(&mut self, port: u16) -> Result<bool, NodeError> {
        match self {
            Self::Namespace(node) => node.listening(port),
            Self::Kernel(node) => node.listening(port),
            Self::Transit(_) => Ok(false),
        }
    }

    /// Whether there is a file of this name, an absolute path, as the node's programs see it.
    pub(crate) fn has_file(&mut self, path: PathBuf) -> Result<bool, NodeError> {
        match self {
            Self::Namespace(node) => node.has_file(path),
            Self::Transit(_) => Ok(false),
            Self::Kernel(node) => node.has_file(path),
        }
    }

    /// Asks all of its programs to end, daemons included.
    pub(crate) fn begin_stop(&mut self, grace: Duration) -> Result<(), NodeError> {
        match self {
            Self::Namespace(node) => node.begin_stop(grace),
            Self::Kernel(node) => node.begin_stop(grace),
            Self::Transit(_) => Ok(()),
        }
    }

    pub(crate) fn finish_stop(&mut self) -> Result<(), NodeError> {
        match self {
            Self::Namespace(node) => node.finish_stop(),
            Self::Kernel(node) => node.finish_stop(),
            Self::Transit(_) => Ok(()),
        }
    }

    pub(crate) fn interface_counters(&mut self) -> Result<Vec<(String, InterfaceCounters)>, NodeError> {
        match self {
            Self::Namespace(node) => node.interface_counters(),
            Self::Kernel(node) => node.interface_counters(),
            Self::Transit(_) => Ok(Vec::new()),
        }
    }

    /// What its programs did to its network since it was configured.
    pub(crate) fn network_changes(&mut self) -> Result<Vec<NetworkChange>, NodeError> {
        match self {
            Self::Namespace(node) => node.network_changes(),
            Self::Kernel(node) => node.network_changes(),
            Self::Transit(_) => Ok(Vec::new()),
        }
    }

    /// What a kernel node has used of its processor, in wall time; none of others.
    pub(crate) fn processor_use(&self) -> Option<ProcessorUse> {
        match self {
            Self::Namespace(_) | Self::Transit(_) => None,
            Self::Kernel(node) => node.processor_use(),
        }
    }

    pub(crate) fn next_event(&mut self) -> Option<NodeEvent> {
        match self {
            Self::Namespace(node) => node.next_event(),
            Self::Kernel(node) => node.next_event(),
            Self::Transit(_) => None,
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
            Self::Transit(name) => format!("transit router `{name}`: the packet engine ended"),
        }
    }

    /// Readable when [`LabNode::next_event`] has something to do; none if it never has.
    pub(crate) fn fd(&self) -> Option<BorrowedFd<'_>> {
        match self {
            Self::Namespace(node) => Some(node.as_fd()),
            Self::Kernel(node) => Some(node.as_fd()),
            Self::Transit(_) => None,
        }
    }
}
