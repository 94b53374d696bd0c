//! What an agent does with requests, wherever it runs and however they reach it.

use std::borrow::Cow;
use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::time::Duration;

use nix::unistd::Pid;

use super::ceilings::CeilingOrder;
use super::clock::ClockOrder;
use super::config::NodeConfig;
use super::disk::{DevicePlace, DiskFaults, DiskOrder};
use super::groups::Groups;
use super::limits::Limits;
use super::program_faults::ProgramFault;
use super::programs::Programs;
use super::protocol::{Identity, ProcessId, Program, Reply, Request, Signalled, Standard};
use super::socket::SocketConfig;
use super::watch::{NetworkChange, Watch};
use super::{ceilings, clock, configure, inspect, matching, program, program_faults, routes, shut};
use crate::error::KernelError;
use crate::measure::{MeasureConfig, Measured, TcpState};
use crate::netlink::InterfaceCounters;

/// Where an agent runs, which decides what belongs to its node.
#[derive(Debug)]
pub(crate) enum Place {
    /// Process 1 of namespaces that were made for the node.
    Namespaces,
    /// A process beside those of a container, whose programs are limited so.
    Container(Limits),
    /// Process 1 of a kernel: all others belong to the node.
    Kernel,
    /// A process beside those of a machine, with its program and libraries in this folder.
    Machine {
        /// The folder.
        folder: PathBuf,
    },
}

/// The state of an agent that does not depend on how requests reach it.
pub(crate) struct State<'a> {
    pub(crate) place: Place,
    pub(crate) config: Cow<'a, NodeConfig>,
    pub(crate) programs: Programs,
    /// From the moment on when the node's addresses can be used.
    pub(crate) watch: Option<Watch>,
    /// The control groups of its programs, if they are to be limited.
    pub(crate) groups: Option<Groups>,
    /// The things that faults of its disk need.
    disk_faults: DiskFaults,
}

/// The part of an agent that depends on where it runs and on how it reaches the lab process.
pub(crate) trait Agent<'a> {
    fn state(&mut self) -> &mut State<'a>;

    /// Makes what surrounds the agent into the node.
    fn become_node(&mut self, identity: Identity) -> Reply;

    /// Gives the interfaces names, addresses, neighbors and routes.
    fn configure(&mut self) -> Result<(), KernelError>;

    /// Starts a program; see [`Request::Spawn`].
    fn spawn(&mut self, program: Program, streams: Streams) -> Reply;

    /// Opens a socket, which goes out with the answer.
    fn open_socket(&mut self, wanted: &SocketConfig) -> Result<(), KernelError>;

    /// Begins to measure; the samples go to the file.
    fn measure(&mut self, config: MeasureConfig, file: Option<OwnedFd>) -> Result<(), KernelError>;

    /// Ends that.
    fn end_measure(&mut self) -> io::Result<Measured>;

    /// Asks every program to end, and ends those that have not after `grace`. Returns the answer; none if it follows when all
    /// have ended.
    fn stop(&mut self, grace: Duration) -> Option<Reply>;

    /// Reaps every child that has ended. Returns whether there are others.
    fn reap_all(&mut self) -> io::Result<bool>;
}

/// How a program gets its standard streams.
pub(crate) struct Streams {
    /// As the agent is to make them, if it is.
    pub(crate) made: Option<[Standard; 3]>,
    /// The rows and columns of a terminal that it makes.
    pub(crate) window: Option<(u16, u16)>,
    /// As they came along.
    pub(crate) passed: Vec<OwnedFd>,
}

/// Carries out a request, with which these descriptors came. Returns the answer; none if it follows when all programs have ended.
pub(crate) fn answer<'a>(agent: &mut impl Agent<'a>, request: Request, fds: Vec<OwnedFd>) -> io::Result<Option<Reply>> {
    let reply = match request {
        Request::Become(identity) => agent.become_node(*identity),
        Request::Configure => done(agent.configure()),
        Request::Spawn { program, streams, window } => {
            agent.spawn(*program, Streams { made: streams, window, passed: fds })
        }
        Request::Signal { process, signal } => done(agent.state().programs.signal(process, signal)),
        Request::SignalAll { signal } => done(agent.state().signal_all(signal)),
        Request::SignalLike { of, pattern, signal } => {
            answered(agent.state().signal_like(of, &pattern, signal), Reply::Signalled)
        }
        Request::Limit { of, order } => done(agent.state().limit(of, &order)),
        Request::BeginFault(fault) => answered(agent.state().begin_fault(&fault), Reply::Begun),
        Request::EndFault { number } => answered(program_faults::end(number), Reply::Ended),
        Request::Stall { span_ns } => done(program_faults::stall(span_ns)),
        Request::SetClock(order) => done(agent.state().set_clock(&order)),
        Request::Disk(order) => answered(agent.state().disturb_disk(&order), Reply::Disk),
        Request::Listening { transport, port } => answered(inspect::listening(transport, port), Reply::Yes),
        Request::Exists { path } => Reply::Yes(path.exists()),
        Request::Lacking { prefixes } => answered(routes::lacking(prefixes), Reply::Lacking),
        Request::Interfaces => answered(agent.state().interfaces(), Reply::Interfaces),
        Request::Running => answered(inspect::running(&agent.state().config.interfaces), Reply::Running),
        Request::Settle => answered(agent.state().settle(), Reply::Yes),
        Request::Changes => answered(agent.state().changes(), Reply::Changes),
        Request::CpuWait => answered(agent.state().programs.cpu_wait(), Reply::CpuWait),
        Request::Socket(wanted) => answered(agent.open_socket(&wanted), |()| Reply::Socket),
        Request::Measure(config) => done(agent.measure(config, fds.into_iter().next())),
        Request::EndMeasure => Reply::Measured(agent.end_measure()?),
        Request::Connections => answered(TcpState::ask(), Reply::Connections),
        Request::Stop { grace_ms } => return Ok(agent.stop(Duration::from_millis(grace_ms))),
        Request::Alone => Reply::Yes(!agent.reap_all()?),
        Request::ShutDown => done(agent.state().shut_down()),
        Request::BringUp => done(agent.state().bring_up()),
    };
    Ok(Some(reply))
}

impl<'a> State<'a> {
    pub(crate) fn new(place: Place, config: Cow<'a, NodeConfig>) -> Self {
        let disk_faults = DiskFaults::default();
        Self { place, config, programs: Programs::default(), watch: None, groups: None, disk_faults }
    }

    /// Whether the network was made for the node, on this machine's kernel.
    pub(crate) fn is_made(&self) -> bool {
        matches!(self.place, Place::Namespaces)
    }

    /// Starts a program with these streams.
    pub(crate) fn start(&mut self, program: &Program, streams: Vec<OwnedFd>) -> Reply {
        let limits = if let Place::Container(limits) = &self.place { Some(*limits) } else { None };
        let group = self.groups.as_ref().map(|groups| groups.add(self.programs.next())).transpose();
        let started = group
            .map_err(Reply::Refused)
            .and_then(|group| program::start(&self.config, program, streams, limits, group));
        match started {
            Ok(pid) => Reply::Started { process: self.programs.add(pid), session: pid.as_raw().unsigned_abs() },
            Err(reply) => reply,
        }
    }

    /// Signals all programs of the node: those of the lab, where there are others.
    pub(crate) fn signal_all(&self, signal: i32) -> Result<(), KernelError> {
        match self.place {
            Place::Namespaces | Place::Kernel => Programs::signal_all(signal),
            Place::Container(_) | Place::Machine { .. } => Programs::signal_descendants(signal),
        }
    }

    /// The processes of a program's session, or of the node: those of the lab, where there are others. In the order of their numbers.
    fn processes(&self, of: Option<ProcessId>) -> Result<Vec<Pid>, KernelError> {
        match (of, &self.place) {
            (Some(program), _) => self.programs.pid_of(program).map_or(Ok(Vec::new()), matching::of_session),
            (None, Place::Namespaces | Place::Kernel) => matching::all(),
            (None, Place::Container(_) | Place::Machine { .. }) => {
                let mut all = inspect::descendants(Pid::this())?;
                all.sort_unstable();
                Ok(all)
            }
        }
    }

    /// Limits a program, or all. Memory and processes count by control groups, which only a kernel of the node's own has.
    fn limit(&self, of: Option<ProcessId>, order: &CeilingOrder) -> Result<(), KernelError> {
        if let Some(fds) = order.fds {
            ceilings::limit_descriptors(&self.processes(of)?, fds)?;
        }
        if (order.memory_bytes, order.pids) == (None, None) {
            return Ok(());
        }
        let no_groups =
            || KernelError::new("limit memory or processes", 0).with_detail("its programs have no control groups");
        self.groups.as_ref().ok_or_else(no_groups)?.limit(of, order.memory_bytes, order.pids)
    }

    /// Signals the processes of a program, or of the node, whose command line is like that.
    fn signal_like(&self, of: Option<ProcessId>, pattern: &str, signal: i32) -> Result<Signalled, KernelError> {
        let candidates = self.processes(of)?;
        let reached = matching::signal(&candidates, pattern, signal)?;
        let programs = reached.iter().filter_map(|pid| self.programs.running().get(pid)).copied().collect();
        Ok(Signalled { count: reached.len() as u64, programs })
    }

    /// Begins a fault of programs, if the kernel is the node's own.
    fn begin_fault(&self, fault: &ProgramFault) -> Result<u64, KernelError> {
        match self.place {
            Place::Kernel => program_faults::begin(fault),
            Place::Namespaces | Place::Container(_) | Place::Machine { .. } => {
                Err(KernelError::new("make a fault of programs", 0)
                    .with_detail("the kernel is not of Netloom's making"))
            }
        }
    }

    /// Changes the clock, if it is not that of the machine.
    fn set_clock(&self, order: &ClockOrder) -> Result<(), KernelError> {
        match self.place {
            Place::Kernel | Place::Machine { .. } => clock::set(order),
            Place::Namespaces | Place::Container(_) => {
                Err(KernelError::new("set the clock", 0).with_detail("it is that of the whole machine"))
            }
        }
    }

    /// Disturbs the disk, if there is one. Returns what is left for a device outside of this kernel.
    fn disturb_disk(&mut self, order: &DiskOrder) -> Result<Option<String>, KernelError> {
        let none = || KernelError::new("disturb the disk of the node", 0).with_detail("it has none");
        let disk = self.config.disk.as_ref().ok_or_else(none)?;
        let device = if let Place::Machine { .. } = self.place { DevicePlace::Outside } else { DevicePlace::Kernel };
        self.disk_faults.carry_out(order, disk, device)
    }

    /// The counters of all interfaces; in a container, of the lab's.
    fn interfaces(&mut self) -> Result<Vec<(String, InterfaceCounters)>, KernelError> {
        if let Some(watch) = &mut self.watch {
            watch.look(&self.config)?;
        }
        let watch = self.watch.as_ref();
        let described = |index| watch?.described(&self.config, index);
        let judged = |index, counters: &mut InterfaceCounters| {
            if let Some(watch) = watch {
                watch.count(index, counters);
            }
        };
        let mut all = inspect::interfaces(described, judged)?;
        if let Place::Container(_) = self.place {
            all.retain(|(name, _)| self.config.interfaces.iter().any(|interface| interface.name == *name));
        }
        Ok(all)
    }

    /// Whether the node's addresses can be used; then it watches what happens to its network.
    fn settle(&mut self) -> Result<bool, KernelError> {
        let is_settled = configure::is_settled(&self.config)?;
        if is_settled && self.watch.is_none() {
            self.watch = Some(Watch::begin(&self.config, self.is_made())?);
        }
        Ok(is_settled)
    }

    /// The changes that programs made to the node's network since it was configured.
    fn changes(&mut self) -> Result<Vec<NetworkChange>, KernelError> {
        self.watch.as_mut().map_or(Ok(Vec::new()), |watch| watch.changes(&self.config))
    }

    /// What happens to the network from here on is no program's doing.
    fn shut_down(&mut self) -> Result<(), KernelError> {
        self.watch.as_mut().map_or(Ok(()), |watch| watch.pause(&self.config))?;
        shut::shut_down(&self.config, self.watch.as_ref())
    }

    fn bring_up(&mut self) -> Result<(), KernelError> {
        configure::bring_up(&self.config, self.is_made())?;
        self.watch.as_mut().map_or(Ok(()), |watch| watch.resume(&self.config))
    }
}

pub(crate) fn done(result: Result<(), KernelError>) -> Reply {
    answered(result, |()| Reply::Done)
}

fn answered<T>(result: Result<T, KernelError>, reply: impl FnOnce(T) -> Reply) -> Reply {
    result.map_or_else(Reply::Refused, reply)
}
