//! What the session knows of a node that runs, whatever runs it.

use ipnet::IpNet;
use netloom_guest::node::{ProcessorUse, Spawning};
use netloom_host::measure::{MeasureConfig, Measured, TcpState};
use netloom_host::netlink::{Home, InterfaceCounters};
use netloom_host::node::{
    Account, CeilingOrder, ClockOrder, DiskOrder, NodeError, NodeEvent, ProcessId, ProgramFault, ProgramFaultOutcome,
    Signalled, SocketConfig, Spawn, SpawnError, Transport,
};
use netloom_units::Instant;
use std::fmt::Debug;
use std::fs::File;
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::time::Duration;

/// A node of the lab that runs. Dropping it ends it and everything in it.
///
/// What a stack may leave out has a default here, which is the answer of a node that has nothing of the kind.
pub trait LabNode: Debug {
    /// Returns its name in the lab file.
    fn name(&self) -> &str;

    /// What it had to do without, in words.
    fn notes(&self) -> &[String] {
        &[]
    }

    /// Its network namespace, if it has the stack of this machine's kernel: then interfaces of this machine can
    /// be put into it, and processes can enter its network.
    fn namespaces(&self) -> Option<Home> {
        None
    }

    /// Begins to configure its network, and does not wait for it.
    fn begin_configure(&mut self) -> Result<(), NodeError>;

    /// Waits until its network is configured.
    fn finish_configure(&mut self) -> Result<(), NodeError>;

    /// Asks whether it takes packets for all of its addresses.
    fn begin_settle(&mut self) -> Result<(), NodeError> {
        Ok(())
    }

    /// The answer to [`LabNode::begin_settle`]. Nothing else may be asked in between.
    fn finish_settle(&mut self) -> Result<bool, NodeError> {
        Ok(true)
    }

    /// The names of its interfaces that have a carrier, if that may come and go.
    fn running(&mut self) -> Result<Vec<String>, NodeError> {
        Ok(Vec::new())
    }

    /// Begins to start a program, and does not wait for a kernel's agent. What was begun has to be finished, in this order,
    /// before anything else is asked of the node.
    fn begin_spawn(&mut self, spawn: Spawn) -> Result<Begun, SpawnError>;

    /// Waits until a program that was begun runs.
    fn finish_spawn(&mut self, begun: Begun) -> Result<ProcessId, SpawnError>;

    /// Starts a program.
    fn spawn(&mut self, spawn: Spawn) -> Result<ProcessId, SpawnError> {
        let begun = self.begin_spawn(spawn)?;
        self.finish_spawn(begun)
    }

    /// When a program that has ended did so, in lab time, if that is known better than by the time of hearing of it.
    fn take_ending(&mut self, _process: ProcessId) -> Option<Instant> {
        None
    }

    /// Signals a program.
    fn signal(&mut self, process: ProcessId, signal: i32) -> Result<(), NodeError>;

    /// Signals all of its processes, whoever started them.
    fn signal_all(&mut self, _signal: i32) -> Result<(), NodeError> {
        Ok(())
    }

    /// Signals the processes of a program's session, or all of its processes, whose command line is like a pattern, in which `*`
    /// stands for any letters.
    fn signal_like(&mut self, _of: Option<ProcessId>, _pattern: &str, _signal: i32) -> Result<Signalled, NodeError> {
        Ok(Signalled::default())
    }

    /// Limits a program with all that it has started, or all of its programs.
    fn limit(&mut self, _of: Option<ProcessId>, _order: CeilingOrder) -> Result<(), NodeError> {
        Ok(())
    }

    /// Begins a fault of programs, if it has a kernel of its own. Returns its number; or that of the process that was killed, 0 if there was
    /// none.
    fn begin_fault(&mut self, _fault: ProgramFault) -> Result<u64, NodeError> {
        Ok(0)
    }

    /// Ends a fault of programs, or all faults of system calls if the number is 0. Returns what became of it; none if it was over before.
    fn end_fault(&mut self, _number: u64) -> Result<Option<ProgramFaultOutcome>, NodeError> {
        Ok(None)
    }

    /// Lets its own kernel do nothing for a while, which begins when this is done.
    fn stall(&mut self, _span_ns: u64) -> Result<(), NodeError> {
        Ok(())
    }

    /// Holds the machine that its kernel runs on, or lets it go on, if that can be done from outside. `with_clocks`: its clocks stand still
    /// meanwhile; else they go on.
    fn hold(&mut self, _holds: bool, _with_clocks: bool) -> Result<(), NodeError> {
        Ok(())
    }

    /// Asks for a change of its clock, if it has one of its own, and does not wait for it.
    fn begin_set_clock(&mut self, _order: ClockOrder) -> Result<(), NodeError> {
        Ok(())
    }

    /// Waits until the clock has changed.
    fn finish_set_clock(&mut self) -> Result<(), NodeError> {
        Ok(())
    }

    /// Disturbs its disk, if it has one of its own.
    fn disturb_disk(&mut self, _order: DiskOrder) -> Result<(), NodeError> {
        Ok(())
    }

    /// Nobody reads or writes a program's streams any more. A program that has them itself finds out.
    fn forsake(&mut self, _process: ProcessId) {}

    /// Whether a program listens at this port.
    fn listening(&mut self, transport: Transport, port: u16) -> Result<bool, NodeError>;

    /// Whether there is a file of this name, an absolute path, as the node's programs see it.
    fn has_file(&mut self, path: PathBuf) -> Result<bool, NodeError>;

    /// The prefixes among these to which it has no route.
    fn lacking(&mut self, _prefixes: &[IpNet]) -> Result<Vec<IpNet>, NodeError> {
        Ok(Vec::new())
    }

    /// Where to write what is typed at its serial console, if it has one.
    fn console(&self) -> Option<io::Result<OwnedFd>> {
        None
    }

    /// Opens a socket in it for use outside of it; none if it has no sockets that this machine's kernel knows.
    fn open_socket(&mut self, _config: &SocketConfig) -> Option<Result<OwnedFd, NodeError>> {
        None
    }

    /// Whether no program runs in it, whoever started it.
    fn is_alone(&mut self) -> Result<bool, NodeError> {
        Ok(true)
    }

    /// It stops: its network goes, with all that its programs made of it.
    fn shut_down(&mut self) -> Result<(), NodeError> {
        Ok(())
    }

    /// It starts again: its network is to become as it was configured.
    fn begin_bring_up(&mut self) -> Result<(), NodeError> {
        Ok(())
    }

    /// Waits until it is so.
    fn finish_bring_up(&mut self) -> Result<(), NodeError> {
        Ok(())
    }

    /// Asks all of its programs to end, daemons included.
    fn begin_stop(&mut self, grace: Duration) -> Result<(), NodeError>;

    /// Waits until they have ended.
    fn finish_stop(&mut self) -> Result<(), NodeError>;

    /// Returns what each of its interfaces has counted.
    fn interface_counters(&mut self) -> Result<Vec<(String, InterfaceCounters)>, NodeError>;

    /// Asks for what is known of its network at the end, and does not wait for it.
    fn begin_account(&mut self) -> Result<(), NodeError> {
        Ok(())
    }

    /// The answer to [`LabNode::begin_account`]. Nothing else may be asked in between.
    fn finish_account(&mut self) -> Result<Account, NodeError> {
        Ok(Account::default())
    }

    /// Begins to measure inside; samples go to this file.
    fn begin_measure(&mut self, _config: &MeasureConfig, _file: File) -> Result<(), NodeError> {
        Ok(())
    }

    /// Ends that, with the instant of the answer if it is known better than by when it comes; none if nothing can be measured.
    fn end_measure(&mut self) -> Result<Option<(Measured, Option<Instant>)>, NodeError> {
        Ok(None)
    }

    /// Whether [`LabNode::connections`] can ever tell anything.
    fn has_connections(&self) -> bool {
        false
    }

    /// Its TCP connections, as they were so long ago in wall time; none if it is not known yet, or nobody can know. Kernels of its own are
    /// asked and not waited for: the next call has what they say.
    fn connections(&mut self) -> Result<Option<(TcpState, Duration)>, NodeError> {
        Ok(None)
    }

    /// The session in which a program of it was started, by which its kernel knows it, if the kernel is its own.
    fn session_of(&self, _process: ProcessId) -> Option<u32> {
        None
    }

    /// What a kernel of its own has used of its processor, in wall time.
    fn processor_use(&self) -> Option<ProcessorUse> {
        None
    }

    /// Nothing more is asked of it: its end may begin.
    fn begin_end(&mut self) {}

    /// Returns what it reports next; none if it has nothing to report now.
    fn next_event(&mut self) -> Option<NodeEvent>;

    /// That it died, and how.
    fn obituary(&self) -> String;

    /// Readable when [`LabNode::next_event`] has something to do; none if it never has.
    fn fd(&self) -> Option<BorrowedFd<'_>>;
}

/// A program that is being started.
#[derive(Debug)]
pub enum Begun {
    /// It runs.
    Started(ProcessId),
    /// Its kernel was asked for it.
    Asked(Spawning),
}
