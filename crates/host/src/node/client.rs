//! The lab process's side of an agent, whatever carries requests to it.

use std::path::PathBuf;
use std::time::Duration;

use ipnet::IpNet;

use super::account::Account;
use super::ceilings::CeilingOrder;
use super::clock::ClockOrder;
use super::disk::DiskOrder;
use super::errors::{NodeError, SpawnError};
use super::program_faults::{ProgramFault, ProgramFaultOutcome};
use super::protocol::{CpuWait, ProcessId, Program, Reply, Request, Signalled, Transport};
use super::watch::NetworkChange;
use crate::measure::Measured;
use crate::netlink::InterfaceCounters;

/// A node whose agent takes requests. Each request has one answer, in the order of the requests: between a function that begins
/// something and the one that finishes it, nothing else may be asked.
///
/// Every function fails with the refusal of the node's kernel ([`NodeError::Refused`]), or because nothing comes from the agent
/// ([`NodeError::Gone`], [`NodeError::Kernel`]).
pub trait AgentClient {
    /// Who answers, in words.
    const WHO: &'static str;

    /// The node's name.
    fn node(&self) -> &str;

    /// Sends a request, and does not wait for the answer.
    ///
    /// # Errors
    /// When the agent is not there.
    fn ask(&mut self, request: Request) -> Result<(), NodeError>;

    /// Waits for the answer to the oldest request that has none.
    ///
    /// # Errors
    /// When there is none.
    fn reply(&mut self) -> Result<Reply, NodeError>;

    /// Returns the error that another answer than the expected one is.
    fn unexpected(&self, reply: Reply) -> NodeError {
        let node = self.node().to_owned();
        match reply {
            Reply::Refused(error) => NodeError::Refused { node, error },
            // The agent is ours, but root in the node can control it.
            other => NodeError::Kernel { node, what: format!("{} answered {other:?} to another request", Self::WHO) },
        }
    }

    /// Waits until what was asked for is done.
    ///
    /// # Errors
    /// See [`AgentClient`].
    fn expect_done(&mut self) -> Result<(), NodeError> {
        match self.reply()? {
            Reply::Done => Ok(()),
            other => Err(self.unexpected(other)),
        }
    }

    /// Waits for a yes or no.
    ///
    /// # Errors
    /// See [`AgentClient`].
    fn expect_answer(&mut self) -> Result<bool, NodeError> {
        match self.reply()? {
            Reply::Yes(answer) => Ok(answer),
            other => Err(self.unexpected(other)),
        }
    }

    /// Waits until a node is prepared. Returns what it had to do without, in words.
    ///
    /// # Errors
    /// See [`AgentClient`].
    fn expect_prepared(&mut self) -> Result<Vec<String>, NodeError> {
        match self.reply()? {
            Reply::Prepared { notes } => Ok(notes),
            other => Err(self.unexpected(other)),
        }
    }

    /// Waits until this program has started. Returns its number, and its session as the node's kernel numbers them.
    ///
    /// # Errors
    /// See [`SpawnError`].
    fn expect_started(&mut self, program: &Program) -> Result<(ProcessId, u32), SpawnError> {
        let reply = self.reply().map_err(SpawnError::Node)?;
        let node = self.node().to_owned();
        match (reply, &program.cwd) {
            (Reply::Started { process, session }, _) => Ok((process, session)),
            (Reply::NoProgram, _) => Err(SpawnError::NoProgram { node, program: program.argv[0].clone() }),
            (Reply::NoFolder, Some(folder)) => Err(SpawnError::NoFolder { node, folder: folder.clone() }),
            (Reply::NoUser, _) => Err(SpawnError::NoUser { node, user: program.user.clone().unwrap_or_default() }),
            (other, _) => Err(SpawnError::Node(self.unexpected(other))),
        }
    }

    /// Tells the node to give its interfaces names, addresses, neighbors and routes. Those of a node on this machine's kernel exist
    /// by now.
    ///
    /// # Errors
    /// See [`AgentClient`].
    fn begin_configure(&mut self) -> Result<(), NodeError> {
        self.ask(Request::Configure)
    }

    /// Waits for what [`AgentClient::begin_configure`] began.
    ///
    /// # Errors
    /// See [`AgentClient`].
    fn finish_configure(&mut self) -> Result<(), NodeError> {
        self.expect_done()
    }

    /// Sends `signal` (`libc::SIGINT` and so on) to the process group of a program. Nothing happens to one that has ended.
    ///
    /// # Errors
    /// See [`AgentClient`].
    fn signal(&mut self, process: ProcessId, signal: i32) -> Result<(), NodeError> {
        self.ask(Request::Signal { process, signal })?;
        self.expect_done()
    }

    /// Sends `signal` to all processes of the node but its agent. Of those that are killed, what they had written and was not
    /// read yet arrives.
    ///
    /// # Errors
    /// See [`AgentClient`].
    fn signal_all(&mut self, signal: i32) -> Result<(), NodeError> {
        self.ask(Request::SignalAll { signal })?;
        self.expect_done()
    }

    /// Sends `signal` to those processes of a program's session, or of the node, whose command line is like `pattern`, in which `*`
    /// stands for any letters.
    ///
    /// # Errors
    /// See [`AgentClient`].
    fn signal_like(&mut self, of: Option<ProcessId>, pattern: &str, signal: i32) -> Result<Signalled, NodeError> {
        self.ask(Request::SignalLike { of, pattern: pattern.to_owned(), signal })?;
        match self.reply()? {
            Reply::Signalled(signalled) => Ok(signalled),
            other => Err(self.unexpected(other)),
        }
    }

    /// Begins a fault of programs. Returns its number; or that of the process that was killed, 0 if there was none.
    ///
    /// # Errors
    /// See [`AgentClient`]; a kernel without such faults refuses.
    fn begin_fault(&mut self, fault: ProgramFault) -> Result<u64, NodeError> {
        self.ask(Request::BeginFault(Box::new(fault)))?;
        match self.reply()? {
            Reply::Begun(number) => Ok(number),
            other => Err(self.unexpected(other)),
        }
    }

    /// Ends a fault of programs, or all faults of system calls if the number is 0. Returns what became of it; none if it was over before.
    ///
    /// # Errors
    /// See [`AgentClient`].
    fn end_fault(&mut self, number: u64) -> Result<Option<ProgramFaultOutcome>, NodeError> {
        self.ask(Request::EndFault { number })?;
        match self.reply()? {
            Reply::Ended(outcome) => Ok(outcome),
            other => Err(self.unexpected(other)),
        }
    }

    /// Lets the node's own kernel do nothing for a while, which begins when this is done.
    ///
    /// # Errors
    /// See [`AgentClient`].
    fn stall(&mut self, span_ns: u64) -> Result<(), NodeError> {
        self.ask(Request::Stall { span_ns })?;
        self.expect_done()
    }

    /// Limits a program with all that it has started, or all programs of the node.
    ///
    /// # Errors
    /// See [`AgentClient`].
    fn limit(&mut self, of: Option<ProcessId>, order: CeilingOrder) -> Result<(), NodeError> {
        self.ask(Request::Limit { of, order })?;
        self.expect_done()
    }

    /// Tells the node to change its clock, which is that of a kernel of its own, and does not wait for it.
    ///
    /// # Errors
    /// See [`AgentClient`].
    fn begin_set_clock(&mut self, order: ClockOrder) -> Result<(), NodeError> {
        self.ask(Request::SetClock(order))
    }

    /// Waits for what [`AgentClient::begin_set_clock`] began.
    ///
    /// # Errors
    /// See [`AgentClient`].
    fn finish_set_clock(&mut self) -> Result<(), NodeError> {
        self.expect_done()
    }

    /// Disturbs the node's disk, which is that of a kernel of its own. Returns what is left to be told to a device outside of that kernel.
    ///
    /// # Errors
    /// See [`AgentClient`].
    fn disturb_disk(&mut self, order: DiskOrder) -> Result<Option<String>, NodeError> {
        self.ask(Request::Disk(order))?;
        match self.reply()? {
            Reply::Disk(left) => Ok(left),
            other => Err(self.unexpected(other)),
        }
    }

    /// Whether some program in the node accepts TCP connections at `port`, or datagrams of UDP, on any address.
    ///
    /// # Errors
    /// See [`AgentClient`].
    fn listening(&mut self, transport: Transport, port: u16) -> Result<bool, NodeError> {
        self.ask(Request::Listening { transport, port })?;
        self.expect_answer()
    }

    /// Whether there is a file of this name, an absolute path, as the node's programs see it.
    ///
    /// # Errors
    /// See [`AgentClient`].
    fn has_file(&mut self, path: PathBuf) -> Result<bool, NodeError> {
        self.ask(Request::Exists { path })?;
        self.expect_answer()
    }

    /// The prefixes among these to which the node has no route.
    ///
    /// # Errors
    /// See [`AgentClient`].
    fn lacking(&mut self, prefixes: &[IpNet]) -> Result<Vec<IpNet>, NodeError> {
        self.ask(Request::Lacking { prefixes: prefixes.to_vec() })?;
        match self.reply()? {
            Reply::Lacking(lacking) => Ok(lacking),
            other => Err(self.unexpected(other)),
        }
    }

    /// How long the node's processes used and waited for CPUs so far, by the node's clock.
    ///
    /// # Errors
    /// See [`AgentClient`].
    fn cpu_wait(&mut self) -> Result<CpuWait, NodeError> {
        self.ask(Request::CpuWait)?;
        match self.reply()? {
            Reply::CpuWait(wait) => Ok(wait),
            other => Err(self.unexpected(other)),
        }
    }

    /// The counters of every interface of the node but its loopback, by name.
    ///
    /// # Errors
    /// See [`AgentClient`].
    fn interface_counters(&mut self) -> Result<Vec<(String, InterfaceCounters)>, NodeError> {
        self.ask(Request::Interfaces)?;
        self.expect_counters()
    }

    /// Waits for the counters of interfaces.
    ///
    /// # Errors
    /// See [`AgentClient`].
    fn expect_counters(&mut self) -> Result<Vec<(String, InterfaceCounters)>, NodeError> {
        match self.reply()? {
            Reply::Interfaces(interfaces) => Ok(interfaces),
            other => Err(self.unexpected(other)),
        }
    }

    /// The changes that the node's programs made to its network since it was configured.
    ///
    /// # Errors
    /// See [`AgentClient`].
    fn network_changes(&mut self) -> Result<Vec<NetworkChange>, NodeError> {
        self.ask(Request::Changes)?;
        self.expect_changes()
    }

    /// Waits for the changes to the network.
    ///
    /// # Errors
    /// See [`AgentClient`].
    fn expect_changes(&mut self) -> Result<Vec<NetworkChange>, NodeError> {
        match self.reply()? {
            Reply::Changes(changes) => Ok(changes),
            other => Err(self.unexpected(other)),
        }
    }

    /// Asks for the node's [`Account`].
    ///
    /// # Errors
    /// See [`AgentClient`].
    fn begin_account(&mut self) -> Result<(), NodeError> {
        self.ask(Request::Interfaces)?;
        self.ask(Request::Changes)
    }

    /// Waits for what [`AgentClient::begin_account`] asked for.
    ///
    /// # Errors
    /// See [`AgentClient`].
    fn finish_account(&mut self) -> Result<Account, NodeError> {
        // Both answers are taken, whatever the first one says: an answer belongs to its question.
        let (counters, changes) = (self.expect_counters(), self.expect_changes());
        Ok(Account { counters: counters?, changes: changes? })
    }

    /// Ends what is measured inside: the agent has sent all samples. Returns what was measured.
    ///
    /// # Errors
    /// See [`AgentClient`].
    fn measured(&mut self) -> Result<Measured, NodeError> {
        self.ask(Request::EndMeasure)?;
        match self.reply()? {
            Reply::Measured(measured) => Ok(measured),
            other => Err(self.unexpected(other)),
        }
    }

    /// Tells the node to end its programs: SIGTERM to all, `grace` by the node's clock to obey, then SIGKILL. The node itself stays,
    /// and with it its interfaces and their counters, until this value is dropped.
    ///
    /// # Errors
    /// See [`AgentClient`].
    fn begin_stop(&mut self, grace: Duration) -> Result<(), NodeError> {
        self.ask(Request::Stop { grace_ms: grace.as_millis().try_into().unwrap_or(u64::MAX) })
    }

    /// Waits for what [`AgentClient::begin_stop`] began.
    ///
    /// # Errors
    /// See [`AgentClient`].
    fn finish_stop(&mut self) -> Result<(), NodeError> {
        self.expect_done()
    }

    /// Whether no process runs in the node beside its agent.
    ///
    /// # Errors
    /// See [`AgentClient`].
    fn is_alone(&mut self) -> Result<bool, NodeError> {
        self.ask(Request::Alone)?;
        self.expect_answer()
    }

    /// Takes the node's network down: interfaces, addresses, routes, and rules, also those that its programs made. The node stays, and its
    /// interfaces with their counters.
    ///
    /// # Errors
    /// See [`AgentClient`].
    fn shut_down(&mut self) -> Result<(), NodeError> {
        self.ask(Request::ShutDown)?;
        self.expect_done()
    }

    /// Asks the node to make its network again as it was configured.
    ///
    /// # Errors
    /// See [`AgentClient`].
    fn begin_bring_up(&mut self) -> Result<(), NodeError> {
        self.ask(Request::BringUp)
    }

    /// Waits until it has done what [`AgentClient::begin_bring_up`] asks for.
    ///
    /// # Errors
    /// See [`AgentClient`].
    fn finish_bring_up(&mut self) -> Result<(), NodeError> {
        self.expect_done()
    }
}
