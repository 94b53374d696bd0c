//! A node on this machine's kernel: with namespaces of its own, or those of a container.

use super::lab_node::{Begun, LabNode};
use ipnet::IpNet;
use netloom_host::measure::{MeasureConfig, Measured, TcpState};
use netloom_host::netlink::{Home, InterfaceCounters};
use netloom_host::node::{
    Account, AgentClient, CeilingOrder, Node, NodeError, NodeEvent, ProcessId, Signalled, SocketConfig, Spawn,
    SpawnError, Transport,
};
use netloom_units::Instant;
use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::time::Duration;

impl LabNode for Node {
    fn name(&self) -> &str {
        Self::name(self)
    }

    fn notes(&self) -> &[String] {
        Self::notes(self)
    }

    fn namespaces(&self) -> Option<Home> {
        Some(self.home())
    }

    fn begin_configure(&mut self) -> Result<(), NodeError> {
        AgentClient::begin_configure(self)
    }

    fn finish_configure(&mut self) -> Result<(), NodeError> {
        AgentClient::finish_configure(self)
    }

    fn begin_settle(&mut self) -> Result<(), NodeError> {
        Self::begin_settle(self)
    }

    fn finish_settle(&mut self) -> Result<bool, NodeError> {
        Self::finish_settle(self)
    }

    fn running(&mut self) -> Result<Vec<String>, NodeError> {
        Self::running(self)
    }

    fn begin_spawn(&mut self, spawn: Spawn) -> Result<Begun, SpawnError> {
        Self::spawn(self, spawn).map(Begun::Started)
    }

    fn finish_spawn(&mut self, begun: Begun) -> Result<ProcessId, SpawnError> {
        match begun {
            Begun::Started(process) => Ok(process),
            Begun::Asked(_) => unreachable!("only kernels are asked"),
        }
    }

    fn signal(&mut self, process: ProcessId, signal: i32) -> Result<(), NodeError> {
        AgentClient::signal(self, process, signal)
    }

    fn signal_all(&mut self, signal: i32) -> Result<(), NodeError> {
        AgentClient::signal_all(self, signal)
    }

    fn signal_like(&mut self, of: Option<ProcessId>, pattern: &str, signal: i32) -> Result<Signalled, NodeError> {
        AgentClient::signal_like(self, of, pattern, signal)
    }

    fn limit(&mut self, of: Option<ProcessId>, order: CeilingOrder) -> Result<(), NodeError> {
        AgentClient::limit(self, of, order)
    }

    fn listening(&mut self, transport: Transport, port: u16) -> Result<bool, NodeError> {
        AgentClient::listening(self, transport, port)
    }

    fn lacking(&mut self, prefixes: &[IpNet]) -> Result<Vec<IpNet>, NodeError> {
        AgentClient::lacking(self, prefixes)
    }

    fn has_file(&mut self, path: PathBuf) -> Result<bool, NodeError> {
        AgentClient::has_file(self, path)
    }

    fn open_socket(&mut self, config: &SocketConfig) -> Option<Result<OwnedFd, NodeError>> {
        Some(Self::open_socket(self, config))
    }

    fn is_alone(&mut self) -> Result<bool, NodeError> {
        AgentClient::is_alone(self)
    }

    fn shut_down(&mut self) -> Result<(), NodeError> {
        AgentClient::shut_down(self)
    }

    fn begin_bring_up(&mut self) -> Result<(), NodeError> {
        AgentClient::begin_bring_up(self)
    }

    fn finish_bring_up(&mut self) -> Result<(), NodeError> {
        AgentClient::finish_bring_up(self)
    }

    fn begin_stop(&mut self, grace: Duration) -> Result<(), NodeError> {
        AgentClient::begin_stop(self, grace)
    }

    fn finish_stop(&mut self) -> Result<(), NodeError> {
        AgentClient::finish_stop(self)
    }

    fn interface_counters(&mut self) -> Result<Vec<(String, InterfaceCounters)>, NodeError> {
        AgentClient::interface_counters(self)
    }

    fn begin_account(&mut self) -> Result<(), NodeError> {
        AgentClient::begin_account(self)
    }

    fn finish_account(&mut self) -> Result<Account, NodeError> {
        AgentClient::finish_account(self)
    }

    fn begin_measure(&mut self, config: &MeasureConfig, file: File) -> Result<(), NodeError> {
        Self::begin_measure(self, config, &file)
    }

    fn end_measure(&mut self) -> Result<Option<(Measured, Option<Instant>)>, NodeError> {
        AgentClient::measured(self).map(|measured| Some((measured, None)))
    }

    fn has_connections(&self) -> bool {
        true
    }

    fn connections(&mut self) -> Result<Option<(TcpState, Duration)>, NodeError> {
        Self::connections(self).map(|state| Some((state, Duration::ZERO)))
    }

    fn begin_end(&mut self) {
        Self::begin_end(self);
    }

    fn next_event(&mut self) -> Option<NodeEvent> {
        Self::next_event(self)
    }

    fn obituary(&self) -> String {
        Self::obituary(self)
    }

    fn fd(&self) -> Option<BorrowedFd<'_>> {
        Some(self.as_fd())
    }
}
