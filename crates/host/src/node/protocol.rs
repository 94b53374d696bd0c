//! The requests of the lab process to the agents of nodes, and their answers, whatever carries them: packets of a socket
//! ([`packets`](super::packets)) to agents on this machine's kernel, Ethernet frames ([`message`](crate::guest::message)) to those in
//! kernels of nodes. [`dispatch`](super::dispatch) carries the requests out, and [`AgentClient`](super::AgentClient) makes them.

use std::ffi::OsString;
use std::path::PathBuf;

use ipnet::IpNet;
use serde::{Deserialize, Serialize};

use super::ceilings::CeilingOrder;
use super::clock::ClockOrder;
use super::config::NodeConfig;
use super::disk::DiskOrder;
use super::program_faults::{ProgramFault, ProgramFaultOutcome};
use super::socket::SocketConfig;
use super::watch::NetworkChange;
use crate::error::KernelError;
use crate::measure::{MeasureConfig, Measured, TcpState};
use crate::netlink::InterfaceCounters;

/// A request of the lab process to the agent of a node. Each has one answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Request {
    /// The first request to an agent that was not forked as this node: mounts, name and kernel parameters. To a container's agent it
    /// comes with a file that is mounted nowhere, the names of the lab. Answered by [`Reply::Prepared`].
    Become(Box<Identity>),
    /// Give the interfaces names, addresses, neighbors and routes. Answered by [`Reply::Done`].
    Configure,
    /// Start a program; [`Program::tty`] asks for a terminal instead of its streams. Answered by [`Reply::Started`].
    Spawn {
        /// The program.
        program: Box<Program>,
        /// Standard input, output and error as the agent is to make them; none: they come along as three descriptors.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        streams: Option<[Standard; 3]>,
        /// The rows and columns of a terminal that the agent makes.
        window: Option<(u16, u16)>,
    },
    /// Signal a program's process group. Answered by [`Reply::Done`].
    Signal {
        /// The program.
        process: ProcessId,
        /// The signal, as `libc` numbers it.
        signal: i32,
    },
    /// Signal all processes of the node but the agent. Answered by [`Reply::Done`].
    SignalAll {
        /// The signal, as `libc` numbers it.
        signal: i32,
    },
    /// Signal the processes whose command line is like a pattern, in which `*` stands for any letters. Answered by [`Reply::Signalled`].
    SignalLike {
        /// The program, of whose session they are; none: any processes of the node but the agent.
        of: Option<ProcessId>,
        /// The pattern.
        pattern: String,
        /// The signal, as `libc` numbers it.
        signal: i32,
    },
    /// Limit a program with all that it has started, or all programs of the node. Answered by [`Reply::Done`].
    Limit {
        /// The program; none: all.
        of: Option<ProcessId>,
        /// The limits.
        order: CeilingOrder,
    },
    /// Begin a fault of programs in a kernel that is the node's own. Answered by [`Reply::Begun`].
    BeginFault(Box<ProgramFault>),
    /// End a fault of programs, or all faults of system calls. Answered by [`Reply::Ended`].
    EndFault {
        /// Its number; 0: all of system calls.
        number: u64,
    },
    /// Let the kernel that is the node's own do nothing for a while. Answered by [`Reply::Done`] before.
    Stall {
        /// How long, in nanoseconds.
        span_ns: u64,
    },
    /// Change the clock of a kernel that is the node's own. Answered by [`Reply::Done`].
    SetClock(ClockOrder),
    /// Disturb the disk of a kernel that is the node's own. Answered by [`Reply::Disk`].
    Disk(DiskOrder),
    /// Does a program accept TCP connections at this port, or datagrams of UDP? Answered by [`Reply::Yes`].
    Listening {
        /// The transport protocol.
        transport: Transport,
        /// The port.
        port: u16,
    },
    /// Is there a file of this name? Answered by [`Reply::Yes`].
    Exists {
        /// An absolute path.
        path: PathBuf,
    },
    /// Which of these prefixes have no route? Answered by [`Reply::Lacking`].
    Lacking {
        /// The prefixes.
        prefixes: Vec<IpNet>,
    },
    /// The counters of the interfaces. Answered by [`Reply::Interfaces`].
    Interfaces,
    /// Which interfaces can send? Answered by [`Reply::Running`].
    Running,
    /// Can the node's addresses be used? If so, its network is watched from now on. Answered by [`Reply::Yes`].
    Settle,
    /// The changes that programs made to the network. Answered by [`Reply::Changes`].
    Changes,
    /// How long programs ran and waited. Answered by [`Reply::CpuWait`].
    CpuWait,
    /// Open a socket for use outside of the node. Answered by [`Reply::Socket`].
    Socket(SocketConfig),
    /// Begin to measure. Comes with a descriptor: the file for the samples. Answered by [`Reply::Done`].
    Measure(MeasureConfig),
    /// End what is measured, and send the last samples. Answered by [`Reply::Measured`].
    EndMeasure,
    /// Which TCP connections are there? Answered by [`Reply::Connections`], and by a kernel of the node's own by
    /// [`FromGuest::Connections`](crate::guest::message::FromGuest::Connections), which is not waited for.
    Connections,
    /// End all programs: SIGTERM, then SIGKILL. Answered by [`Reply::Done`].
    Stop {
        /// How long they may take to obey, in milliseconds.
        grace_ms: u64,
    },
    /// Is the agent the only process of the node? Answered by [`Reply::Yes`].
    Alone,
    /// Take the network down: what it had goes. Answered by [`Reply::Done`].
    ShutDown,
    /// Make the network again as it was configured. Answered by [`Reply::Done`].
    BringUp,
}

/// The answer of a node's agent to a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Reply {
    /// The node is as it should be, but for what the notes say.
    Prepared {
        /// In words.
        notes: Vec<String>,
    },
    /// It is done.
    Done,
    /// It is done as far as the kernel can do it; what is left is an order for the disk's device outside of it.
    Disk(Option<String>),
    /// The program runs.
    Started {
        /// Its number.
        process: ProcessId,
        /// Its session, as the node's kernel numbers them.
        session: u32,
    },
    /// Processes got a signal.
    Signalled(Signalled),
    /// A fault of programs has begun. Its number; or that of the process that was killed, 0 if there was none.
    Begun(u64),
    /// A fault of programs is over, and this became of it; none if it was over before.
    Ended(Option<ProgramFaultOutcome>),
    /// There is no such program.
    NoProgram,
    /// There is no such working directory.
    NoFolder,
    /// There is no such user.
    NoUser,
    /// Yes or no.
    Yes(bool),
    /// The prefixes without a route.
    Lacking(Vec<IpNet>),
    /// Counters by interface.
    Interfaces(Vec<(String, InterfaceCounters)>),
    /// The interfaces that can send.
    Running(Vec<String>),
    /// What programs did to the network.
    Changes(Vec<NetworkChange>),
    /// Times.
    CpuWait(CpuWait),
    /// The socket that comes along as a descriptor.
    Socket,
    /// Nothing more is measured.
    Measured(Measured),
    /// The TCP connections.
    Connections(TcpState),
    /// The node's kernel said no.
    Refused(KernelError),
}

/// A program of a node, numbered from 1 in the order of their starts; never reused.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ProcessId(pub(crate) u64);

impl ProcessId {
    /// The bare number.
    pub fn get(self) -> u64 {
        self.0
    }
}

/// The processes that got a signal.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Signalled {
    /// How many there were.
    pub count: u64,
    /// The programs among them that the agent started.
    pub programs: Vec<ProcessId>,
}

/// How long processes of a node used and waited for a CPU. Of a process that has ended, only those whose end the
/// node's init saw count, and of these only the first thread.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CpuWait {
    /// Time on a CPU, in nanoseconds.
    pub ran_ns: u64,
    /// Time on a run queue, ready but without a CPU, in nanoseconds; CPU shares count here too.
    pub waited_ns: u64,
}

/// The identity of a node: its configuration, and what its programs inherit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// The node. If it has a kernel of its own, its interface i is the kernel's network device i + 1, and its cgroup and its processors mean
    /// nothing inside.
    pub config: NodeConfig,
    /// The folder in which programs start that name none.
    pub cwd: PathBuf,
}

/// Whose ports are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Transport {
    /// Those of TCP: somebody accepts connections there.
    Tcp,
    /// Those of UDP: a socket is bound there, and takes datagrams from anybody.
    Udp,
}

/// A program to be started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Program {
    /// The program, looked up in PATH unless it contains a slash, and its arguments; not empty.
    pub argv: Vec<OsString>,
    /// Variables set on top of the environment.
    pub env: Vec<(OsString, OsString)>,
    /// Whether the environment starts out empty.
    pub clear_env: bool,
    /// The working directory; default: that of the caller.
    pub cwd: Option<PathBuf>,
    /// Whether standard input is a terminal that the program is to control.
    pub tty: bool,
    /// The user that it runs as: a name, or a number; the node's root when there is none.
    pub user: Option<String>,
}

/// An agent's side of one of a program's standard streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Standard {
    /// `/dev/null` of the node.
    Null,
    /// Joined to the lab by messages.
    Joined,
    /// For standard error: the same file as standard output, so that both stay in order.
    Same,
}
