//! A node with a kernel of its own, in any time.

use super::lab_node::{Begun, LabNode};
use ipnet::IpNet;
use netloom_guest::node::{KernelNode, ProcessorUse};
use netloom_host::measure::{MeasureConfig, Measured, TcpState};
use netloom_host::netlink::InterfaceCounters;
use netloom_host::node::{
    Account, AgentClient, CeilingOrder, ClockOrder, DiskOrder, NodeError, NodeEvent, ProcessId, ProgramFault,
    ProgramFaultOutcome, Signalled, Spawn, SpawnError, Transport,
};
use netloom_units::Instant;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::time::Duration;

impl LabNode for KernelNode {
    fn name(&self) -> &str {
        Self::name(self)
    }

    fn notes(&self) -> &[String] {
        Self::notes(self)
    }

    fn begin_configure(&mut self) -> Result<(), NodeError> {
        AgentClient::begin_configure(self)
    }

    fn finish_configure(&mut self) -> Result<(), NodeError> {
        AgentClient::finish_configure(self)
    }

    fn begin_spawn(&mut self, spawn: Spawn) -> Result<Begun, SpawnError> {
        Self::begin_spawn(self, spawn).map(Begun::Asked)
    }

    fn finish_spawn(&mut self, begun: Begun) -> Result<ProcessId, SpawnError> {
        match begun {
            Begun::Started(process) => Ok(process),
            Begun::Asked(spawning) => Self::finish_spawn(self, spawning),
        }
    }

    fn take_ending(&mut self, process: ProcessId) -> Option<Instant> {
        Self::take_ending(self, process)
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

    fn disturb_disk(&mut self, order: DiskOrder) -> Result<(), NodeError> {
        Self::disturb_disk(self, order)
    }

    fn begin_fault(&mut self, fault: ProgramFault) -> Result<u64, NodeError> {
        AgentClient::begin_fault(self, fault)
    }

    fn end_fault(&mut self, number: u64) -> Result<Option<ProgramFaultOutcome>, NodeError> {
        AgentClient::end_fault(self, number)
    }

    fn stall(&mut self, span_ns: u64) -> Result<(), NodeError> {
        AgentClient::stall(self, span_ns)
    }

    fn hold(&mut self, holds: bool, with_clocks: bool) -> Result<(), NodeError> {
        Self::hold(self, holds, with_clocks)
    }

    fn begin_set_clock(&mut self, order: ClockOrder) -> Result<(), NodeError> {
        AgentClient::begin_set_clock(self, order)
    }

    fn finish_set_clock(&mut self) -> Result<(), NodeError> {
        AgentClient::finish_set_clock(self)
    }

    fn forsake(&mut self, process: ProcessId) {
        Self::forsake(self, process);
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

    fn finish_account(&mut self) -> Result<Account, NodeError> {
        Ok(Account { counters: AgentClient::interface_counters(self)?, changes: AgentClient::network_changes(self)? })
    }

    fn begin_measure(&mut self, _config: &MeasureConfig, file: File) -> Result<(), NodeError> {
        // It measures from its configuration on, since to ask it would take lab time.
        self.keep_samples(file);
        Ok(())
    }

    fn end_measure(&mut self) -> Result<Option<(Measured, Option<Instant>)>, NodeError> {
        Self::end_measure(self).map(Some)
    }

    fn has_connections(&self) -> bool {
        true
    }

    fn connections(&mut self) -> Result<Option<(TcpState, Duration)>, NodeError> {
        Self::connections(self)
    }

    fn session_of(&self, process: ProcessId) -> Option<u32> {
        Self::session_of(self, process)
    }

    fn console(&self) -> Option<io::Result<OwnedFd>> {
        KernelNode::console(self)
    }

    fn processor_use(&self) -> Option<ProcessorUse> {
        Self::processor_use(self)
    }

    fn next_event(&mut self) -> Option<NodeEvent> {
        Self::next_event(self)
    }

    fn obituary(&self) -> String {
        let how = Self::obituary(self).unwrap_or_else(|| "its kernel ended".to_owned());
        format!("node `{}`: {how}", self.name())
    }

    fn fd(&self) -> Option<BorrowedFd<'_>> {
        Some(self.as_fd())
    }
}
