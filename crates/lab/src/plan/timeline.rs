//! What happens while a lab runs.

use super::on_restart::OnRestart;
use super::{CallFailure, ClockChange, Direction, DiskFault, LimitChange, Plan, Starvation, Turns};
use crate::words::words;
use ipnet::IpNet;
use netloom_link::{PartitionKind, PartitionSet, PipeChange};
use netloom_units::Duration;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

/// The line of faults of packets that no lab file has: a client has asked for them.
pub(crate) const BY_HAND: u32 = 0;

/// An entry of the timeline.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Its line in the lab file.
    pub line: usize,
    /// The instant of the event, after time zero. None: a service starts before time zero, all others at it.
    pub at: Option<Duration>,
    /// The action that is taken.
    pub action: Action,
}

/// An action of the timeline.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// A program is started.
    Run(Box<RunCommand>),
    /// A link is changed.
    Set {
        /// The link's place in the plan.
        link: usize,
        /// The direction; none: both.
        direction: Option<Direction>,
        /// The further pipe of this name; none: the link's own.
        pipe: Option<String>,
        /// The changed parameters.
        change: Box<PipeChange>,
    },
    /// A link is cut.
    Down {
        /// The part of the link that is cut.
        part: LinkPart,
        /// The length of the cut; none: until `up`.
        duration: Option<Duration>,
        /// Whether the interfaces at both ends lose their carrier.
        carrier: bool,
    },
    /// A link is restored.
    Up {
        /// The part of the link that is restored.
        part: LinkPart,
    },
    /// Other partitions are in force.
    Partition {
        /// All partitions that are in force from then on.
        in_force: PartitionSet,
        /// The links at which packets are judged, in order.
        links: Arc<[usize]>,
        /// Whether all others end, those of leaders that commands named.
        heals: bool,
    },
    /// Nothing happens; the instant gets a mark with this text.
    Log(String),
    /// Programs that run are ended or held, or a node is disturbed.
    Disturb {
        /// The signal or request that the programs get, or what happens to the node.
        how: Disturbance,
        /// The command or node whose programs are meant.
        whose: Whose,
        /// The command line of the processes that are meant, in which `*` stands for any letters; or the file whose sectors a fault of a
        /// disk is about. None: all.
        process: Option<Arc<str>>,
        /// The time after which the programs go on, or start again; none: a restart does when they have ended, and nothing else does.
        duration: Option<Duration>,
    },
}

impl Action {
    /// Returns how long a disturbance lasts, if it ends by itself.
    pub fn lasts(&self) -> Option<Duration> {
        if let Self::Disturb { duration, .. } = self { *duration } else { None }
    }
}

/// A way in which running programs are ended or held, or what they are told; or in which a node is disturbed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Disturbance {
    /// The programs get SIGKILL.
    Kill,
    /// The programs are held by SIGSTOP.
    Pause,
    /// The programs that are held go on by SIGCONT.
    Continue,
    /// The programs get this signal.
    Signal(Signal),
    /// The programs are asked to end, and start again.
    Restart,
    /// The programs are asked to end, and so is all that their node does.
    Stop,
    /// The node's clock changes.
    Clock(ClockChange),
    /// The node's kernel and all in it stand still, and so does its monotonic clock; or not.
    Freeze(Standstill),
    /// The node's kernel is gone at once, and this is on its disk.
    Crash(Keep),
    /// The programs may use so much from then on.
    Limit(LimitChange),
    /// The node's disk does not do what it should.
    Disk(DiskFault),
    /// System calls of the programs fail, are late, or move fewer bytes.
    Fail(CallFailure),
    /// All faults of system calls in the node end.
    EndFailures,
    /// The programs get no processor.
    Starve(Starvation),
    /// The programs take turns by priorities that are drawn.
    Schedule(Turns),
    /// The node's kernel kills one of the processes as if there were no memory left.
    OutOfMemory,
}

words! {
    /// The kind of a node's standstill: it decides what the clocks do.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Standstill {
        /// CLOCK_MONOTONIC stands still, too.
        #[default]
        Pause = "pause",
        /// All clocks go on.
        Stall = "stall",
    }
}

impl Disturbance {
    /// Returns the name in lab files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Kill => "kill",
            Self::Pause => "pause",
            Self::Continue => "continue",
            Self::Signal(_) => "signal",
            Self::Restart => "restart",
            Self::Stop => "stop",
            Self::Clock(_) => "clock",
            Self::Freeze(_) => "freeze",
            Self::Crash(_) => "crash",
            Self::Limit(_) => "limit",
            Self::Disk(_) => "disk",
            Self::Fail(_) | Self::EndFailures => "fail",
            Self::Starve(_) => "starve",
            Self::Schedule(_) => "schedule",
            Self::OutOfMemory => "oom",
        }
    }

    /// Whether the kernel of the node disturbs its programs, so that entries name nodes (`on`).
    pub fn is_of_kernel(self) -> bool {
        matches!(self, Self::Fail(_) | Self::EndFailures | Self::Starve(_) | Self::Schedule(_) | Self::OutOfMemory)
    }

    /// Whether a node is stopped, be it that it crashes.
    pub fn is_stop(self) -> bool {
        matches!(self, Self::Stop | Self::Crash(_))
    }

    /// Returns what is on the disk of a node that crashes.
    pub fn keep(self) -> Option<Keep> {
        if let Self::Crash(keep) = self { Some(keep) } else { None }
    }

    /// Returns the signal that the programs get, if it is one that the lab file names.
    pub fn signal(self) -> Option<Signal> {
        if let Self::Signal(signal) = self { Some(signal) } else { None }
    }
}

impl fmt::Display for Disturbance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Signal(signal) => f.pad(signal.name()),
            Self::Clock(change) => f.pad(&format!("clock {change}")),
            Self::Limit(change) => f.pad(&format!("limit {change}")),
            Self::Disk(fault) => f.pad(&format!("disk {fault}")),
            Self::Fail(failure) => f.pad(&format!("fail {failure}")),
            Self::EndFailures => f.pad("fail none"),
            Self::Starve(starvation) => f.pad(&format!("starve {starvation}")),
            Self::Schedule(turns) => f.pad(&format!("schedule {turns}")),
            Self::Freeze(Standstill::Stall) => f.pad("freeze (stall)"),
            Self::Kill
            | Self::Pause
            | Self::Continue
            | Self::Restart
            | Self::Stop
            | Self::Freeze(Standstill::Pause)
            | Self::Crash(_)
            | Self::OutOfMemory => f.pad(self.name()),
        }
    }
}

words! {
    /// A rule that says what is on the disk of a node that crashes. What a flush has made durable always is.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Keep {
        /// Nothing else is.
        #[default]
        Flushed = "flushed",
        /// All writes that the disk has got are.
        All = "all",
        /// Some writes are, by chance.
        Some = "some",
        /// All writes are, but of the last only the first part.
        Torn = "torn",
    }
}

words! {
    /// A signal that programs can be sent by name (signal(7)). Those that end or hold programs for certain have entries of their own.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Signal {
        /// The terminal has gone; daemons read their configuration again.
        Hup = "SIGHUP",
        /// Interrupted from the keyboard.
        Int = "SIGINT",
        /// Ended from the keyboard.
        Quit = "SIGQUIT",
        /// Aborted.
        Abrt = "SIGABRT",
        /// As a program likes.
        Usr1 = "SIGUSR1",
        /// A memory access that is not allowed.
        Segv = "SIGSEGV",
        /// As a program likes.
        Usr2 = "SIGUSR2",
        /// Nobody reads what is written.
        Pipe = "SIGPIPE",
        /// A timer.
        Alrm = "SIGALRM",
        /// Asked to end.
        Term = "SIGTERM",
        /// Held from the keyboard.
        Tstp = "SIGTSTP",
        /// The terminal has another size.
        Winch = "SIGWINCH",
    }
}

impl Signal {
    /// Returns the number that Linux has for the signal on x86-64 and AArch64.
    pub fn number(self) -> i32 {
        match self {
            Self::Hup => 1,
            Self::Int => 2,
            Self::Quit => 3,
            Self::Abrt => 6,
            Self::Usr1 => 10,
            Self::Segv => 11,
            Self::Usr2 => 12,
            Self::Pipe => 13,
            Self::Alrm => 14,
            Self::Term => 15,
            Self::Tstp => 20,
            Self::Winch => 28,
        }
    }
}

/// The command or node whose programs an entry of the timeline means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whose {
    /// The programs of a command: the place of its entry in the timeline.
    Command(usize),
    /// All programs of the node at this place in the plan. Only its services start again.
    Node(usize),
}

/// A link, or a part of it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LinkPart {
    /// The link's place in the plan.
    pub link: usize,
    /// The direction; none: both.
    pub direction: Option<Direction>,
    /// The name of the only further pipe that is meant; none: all pipes.
    pub pipe: Option<String>,
}

impl LinkPart {
    /// All of a link.
    pub fn whole(link: usize) -> Self {
        Self { link, direction: None, pipe: None }
    }
}

/// A program of the timeline.
#[derive(Clone, Debug, PartialEq)]
pub struct RunCommand {
    /// Its name, unique in the lab: `as`, or made from the program's.
    pub name: String,
    /// The node's place in the plan.
    pub node: usize,
    /// The program and its arguments, or the text for a shell.
    pub command: Argv,
    /// Whether it makes the lab ready: it has to succeed before the services start.
    pub setup: bool,
    /// The entries of the timeline that have to have ended successfully, or to be ready if they are services, before it
    /// starts.
    pub after: Vec<usize>,
    /// The time that it waits after the entries of [`RunCommand::after`].
    pub delay: Duration,
    /// The condition for being ready for others.
    pub ready: Option<Ready>,
    /// Whether it is a service for others: the run does not wait for its end, and stops it.
    pub service: bool,
    /// Whether it, a service, may end with 0, and is ready then.
    pub once: bool,
    /// Whether it, a service, starts when its node starts again after a stop or a crash.
    pub on_restart: OnRestart,
    /// A file in the results folder that gets a copy of its standard output.
    pub save: Option<String>,
    /// The time that it may run until it is stopped (`for`), which is not a failure.
    pub stop_after: Option<Duration>,
    /// How long it has between SIGTERM and SIGKILL.
    pub stop: Duration,
    /// Its environment, beside the node's.
    pub env: Vec<(String, String)>,
    /// Whether the command may fail without a failure of the run.
    pub may_fail: bool,
    /// The user that it runs as, by name or number; none: the node's root.
    pub user: Option<String>,
    /// The folder that it starts in; none: the one that Netloom was started in.
    pub folder: Option<PathBuf>,
    /// The key of its node from which it follows, if the lab file does not say it itself.
    pub key: Option<NodeKey>,
    /// The partition of the node that its output names.
    pub leads: Option<Box<LeaderPartition>>,
}

words! {
    /// A key of nodes from which commands follow.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum NodeKey {
        /// Routing daemons.
        Daemons = "daemons",
        /// The rules of a firewall.
        Firewall = "firewall",
        /// Address translation.
        Nat = "nat",
        /// A DHCP server.
        Dhcp = "dhcp",
        /// A name server.
        Dns = "dns",
        /// The source of addresses: a DHCP client.
        Addresses = "addresses",
        /// The kind of the node, as of OpenFlow switches.
        Kind = "kind",
        /// The program of a container image.
        Image = "image",
    }
}

impl Plan {
    /// Returns the name of the command of this entry of the timeline, if it is one.
    pub fn command_name(&self, event: usize) -> Option<&str> {
        if let Action::Run(run) = &self.timeline[event].action { Some(&run.name) } else { None }
    }

    /// Returns the name of the command or node whose programs are meant, as the lab file has it.
    pub fn whose_name(&self, whose: Whose) -> &str {
        match whose {
            Whose::Command(event) => self.command_name(event).unwrap_or_default(),
            Whose::Node(node) => &self.nodes[node].name,
        }
    }

    /// Whether the timeline limits the memory or the number of processes of a node or of a command there.
    pub fn limits_programs(&self, node: usize) -> bool {
        let is_there = |whose: Whose| match whose {
            Whose::Node(own) => own == node,
            Whose::Command(event) => {
                matches!(&self.timeline[event].action, Action::Run(run) if run.node == node)
            }
        };
        self.timeline.iter().any(|event| match &event.action {
            Action::Disturb { how: Disturbance::Limit(change), whose, .. } => {
                (change.memory.is_some() || change.pids.is_some()) && is_there(*whose)
            }
            _ => false,
        })
    }

    /// Returns the part of a link that this entry of the timeline cuts or restores, if it does.
    pub fn switched(&self, event: usize) -> Option<&LinkPart> {
        match &self.timeline[event].action {
            Action::Down { part, .. } | Action::Up { part } => Some(part),
            Action::Run(_)
            | Action::Set { .. }
            | Action::Partition { .. }
            | Action::Log(_)
            | Action::Disturb { .. } => None,
        }
    }

    /// Whether this entry of the timeline starts before time zero: what makes the lab ready, and services that have no time
    /// and wait for nothing that comes later.
    pub fn starts_before_zero(&self, event: usize) -> bool {
        let Event { at: None, action: Action::Run(run), .. } = &self.timeline[event] else { return false };
        let is_first = run.service && run.on_restart != OnRestart::Only;
        run.setup || is_first && run.after.iter().all(|other| self.starts_before_zero(*other))
    }

    /// Whether this entry of the timeline is a service that starts only when its node starts again.
    pub fn starts_on_restart_only(&self, event: usize) -> bool {
        matches!(&self.timeline[event].action, Action::Run(run) if run.on_restart == OnRestart::Only)
    }
}

/// A command as the lab file has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Argv {
    /// Text for `/bin/sh -c`.
    Shell(String),
    /// A program and its arguments; not empty.
    Exec(Vec<String>),
}

impl Default for Argv {
    fn default() -> Self {
        Self::Shell(String::new())
    }
}

impl fmt::Display for Argv {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Shell(text) => f.pad(text.trim_end()),
            Self::Exec(words) => f.pad(&words.join(" ")),
        }
    }
}

/// The readiness of a service: when it can be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ready {
    /// The condition.
    pub when: ReadyWhen,
    /// How long to wait for it; not used by a pause.
    pub timeout: Duration,
}

/// A condition for being ready.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReadyWhen {
    /// A TCP port listens inside the node.
    Tcp(u16),
    /// A UDP port is bound inside the node, by a socket that takes datagrams from anybody.
    Udp(u16),
    /// A file exists.
    File(String),
    /// A command, run in the node, exits with 0.
    Command(Argv),
    /// This time has passed.
    Pause(Duration),
    /// A DHCP client has noted in this file that it has an address.
    Lease(String),
    /// The node has routes to all of these prefixes.
    Routes(Vec<IpNet>),
}

/// A partition of the node that the output of a command names from others.
#[derive(Clone, Debug, PartialEq)]
pub struct LeaderPartition {
    /// The nodes from which the named one is parted, by their places in the plan; it may be one of them.
    pub of: Vec<usize>,
    /// The links at which packets may be judged, in order.
    pub links: Vec<usize>,
    /// The length of the partition; none: until it is healed.
    pub duration: Option<Duration>,
    /// Whether nodes that are not of these are each parted from all others, too.
    pub(crate) isolates_others: bool,
    /// Whether only what others send to the named node is meant, and not only what it sends; none: both are.
    pub(crate) only_to: Option<bool>,
    pub(crate) kind: PartitionKind,
}
