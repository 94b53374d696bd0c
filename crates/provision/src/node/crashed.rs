//! A node whose kernel is gone, until another boots.

use super::lab_node::{Begun, LabNode};
use netloom_host::netlink::InterfaceCounters;
use netloom_host::node::{NodeError, NodeEvent, ProcessId, Spawn, SpawnError, Transport};
use std::os::fd::BorrowedFd;
use std::path::PathBuf;
use std::time::Duration;

/// See the module.
#[derive(Debug)]
pub struct Crashed {
    name: String,
}

impl Crashed {
    /// The node of this name, which has crashed.
    pub fn new(name: &str) -> Self {
        Self { name: name.to_owned() }
    }

    fn refusal(&self) -> NodeError {
        NodeError::Kernel { node: self.name.clone(), what: "it has crashed, and has not booted since".to_owned() }
    }
}

impl LabNode for Crashed {
    fn name(&self) -> &str {
        &self.name
    }

    fn begin_configure(&mut self) -> Result<(), NodeError> {
        Err(self.refusal())
    }

    fn finish_configure(&mut self) -> Result<(), NodeError> {
        Err(self.refusal())
    }

    fn begin_spawn(&mut self, _spawn: Spawn) -> Result<Begun, SpawnError> {
        Err(SpawnError::Node(self.refusal()))
    }

    fn finish_spawn(&mut self, _begun: Begun) -> Result<ProcessId, SpawnError> {
        Err(SpawnError::Node(self.refusal()))
    }

    /// No program is there to get it.
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

    fn next_event(&mut self) -> Option<NodeEvent> {
        None
    }

    fn obituary(&self) -> String {
        self.refusal().to_string()
    }

    fn fd(&self) -> Option<BorrowedFd<'_>> {
        None
    }
}
