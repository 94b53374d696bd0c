//! A transit router, switch or hub: it is in the packet engine, with nothing to be done here but to know its name.

use super::lab_node::{Begun, LabNode};
use netloom_host::netlink::InterfaceCounters;
use netloom_host::node::{NodeError, NodeEvent, ProcessId, Spawn, SpawnError, Transport};
use std::os::fd::BorrowedFd;
use std::path::PathBuf;
use std::time::Duration;

/// See the module.
#[derive(Debug)]
pub(crate) struct Transit {
    name: String,
}

impl Transit {
    pub(crate) fn new(name: &str) -> Self {
        Self { name: name.to_owned() }
    }
}

/// Lab files and requests that would run something there are refused.
const RUNS_NOTHING: &str = "transit devices run no programs";

impl LabNode for Transit {
    fn name(&self) -> &str {
        &self.name
    }

    fn begin_configure(&mut self) -> Result<(), NodeError> {
        Ok(())
    }

    fn finish_configure(&mut self) -> Result<(), NodeError> {
        Ok(())
    }

    fn begin_spawn(&mut self, _spawn: Spawn) -> Result<Begun, SpawnError> {
        unreachable!("{RUNS_NOTHING}")
    }

    fn finish_spawn(&mut self, _begun: Begun) -> Result<ProcessId, SpawnError> {
        unreachable!("{RUNS_NOTHING}")
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

    fn next_event(&mut self) -> Option<NodeEvent> {
        None
    }

    fn obituary(&self) -> String {
        format!("`{}`: the packet engine ended", self.name)
    }

    fn fd(&self) -> Option<BorrowedFd<'_>> {
        None
    }
}
