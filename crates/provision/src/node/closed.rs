//! A virtual machine that the lab does not get into: it has interfaces and a console, and configures itself.

use super::lab_node::{Begun, LabNode};
use netloom_guest::node::{KernelNode, ProcessorUse};
use netloom_host::netlink::InterfaceCounters;
use netloom_host::node::{NodeError, NodeEvent, ProcessId, Spawn, SpawnError, Transport};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::time::Duration;

/// See the module. Nobody answers over the channel of its agent.
#[derive(Debug)]
pub(crate) struct Closed(pub KernelNode);

impl Closed {
    /// Why nothing can be asked of it. Lab files and requests that would are refused before.
    fn refusal(&self) -> NodeError {
        let what = "netloom does not get into this machine (`access: none`)".to_owned();
        NodeError::Kernel { node: self.0.name().to_owned(), what }
    }
}

impl LabNode for Closed {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn begin_configure(&mut self) -> Result<(), NodeError> {
        Ok(())
    }

    fn finish_configure(&mut self) -> Result<(), NodeError> {
        Ok(())
    }

    fn begin_spawn(&mut self, _spawn: Spawn) -> Result<Begun, SpawnError> {
        Err(SpawnError::Node(self.refusal()))
    }

    fn finish_spawn(&mut self, _begun: Begun) -> Result<ProcessId, SpawnError> {
        Err(SpawnError::Node(self.refusal()))
    }

    fn signal(&mut self, _process: ProcessId, _signal: i32) -> Result<(), NodeError> {
        Ok(())
    }

    fn listening(&mut self, _transport: Transport, _port: u16) -> Result<bool, NodeError> {
        Ok(false)
    }

    fn has_file(&mut self, _path: PathBuf) -> Result<bool, NodeError> {
        Ok(false)
    }

    fn begin_stop(&mut self, _grace: Duration) -> Result<(), NodeError> {
        Ok(())
    }

    fn finish_stop(&mut self) -> Result<(), NodeError> {
        Ok(())
    }

    fn interface_counters(&mut self) -> Result<Vec<(String, InterfaceCounters)>, NodeError> {
        Ok(Vec::new())
    }

    fn console(&self) -> Option<io::Result<OwnedFd>> {
        KernelNode::console(&self.0)
    }

    fn processor_use(&self) -> Option<ProcessorUse> {
        self.0.processor_use()
    }

    fn next_event(&mut self) -> Option<NodeEvent> {
        self.0.next_event()
    }

    fn obituary(&self) -> String {
        LabNode::obituary(&self.0)
    }

    fn fd(&self) -> Option<BorrowedFd<'_>> {
        Some(self.0.as_fd())
    }
}
