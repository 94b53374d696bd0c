//! The plan: what is to be built and done, with every name, address and route decided.
//!
//! Nodes, interfaces and links are referred to by their place in the plan. Ports and pipes are numbered as the ends of links
//! are, see [`End`].

mod attachments;
mod bounds;
mod capture;
mod clock;
mod container;
mod disk;
mod expectations;
mod faults;
mod files;
mod hunt;
mod hunt_faults;
mod kind;
mod link_ends;
mod machines;
mod on_restart;
mod pipes;
mod processor;
mod program_faults;
mod roaming;
mod routing;
pub(crate) mod stops;
mod switch;
mod timeline;
mod traffic;
mod vm;
mod ways;

pub use attachments::{DiversionPlan, ExposePlan, ExternalMode, ExternalPlan, InternetPlan, KeyPlan, TunnelPlan};
pub use bounds::{Bounds, MeasurePlan, SamplePlan};
pub use capture::{CaptureHeaders, CapturePlan, CapturePoint, FilterExpression, JournalPlan};
pub use clock::{Clock, Stack};
pub use container::{ContainerEngine, ContainerPlan};
pub use disk::{DiskCall, DiskCalls, DiskFault, DiskFaultKind, DiskPlan, Filesystem};
pub use expectations::{ExercisePlan, TaskPlan};
pub use faults::{Ceiling, ClockChange, LeapSecond, LimitChange, NodeClock};
pub use files::{FileContents, FilePlan, ImagePlan, VolumePlan};
pub use hunt::{
    Compare, FaultPlan, FaultShape, FaultTreatment, HuntPlan, Modality, PacketFaults, PropertyPlan, PropertyTest,
    Tolerance,
};
pub use hunt_faults::{
    BadDisk, ClockFaults, LimitFaults, NameFaults, NodeFault, NodeFaults, SinglePackets, SingleTreatment,
};
pub use kind::NodeKind;
pub use link_ends::{End, EndPlan};
pub use machines::{FarInterface, FarNode, MachineChoice, MachinePlan};
pub use on_restart::OnRestart;
pub use pipes::{Bypass, PipePlan, Treatment};
pub use processor::{CpuPlan, PinPlan};
pub use program_faults::{Call, CallError, CallFailure, CallSet, ShortPattern, Starvation, Turns};
pub use roaming::RoamPlan;
pub use routing::{Daemon, GroupPlan, RulePlan, TableRoutePlan};
pub use switch::{
    QuerierSettings, SnoopingPlan, SnoopingSettings, SwitchPlan, TreePlan, TreePortPlan, TreeSettings, VlansPlan,
};
pub(crate) use timeline::BY_HAND;
pub use timeline::{
    Action, Argv, Disturbance, Event, Keep, LeaderPartition, LinkPart, NodeKey, Ready, ReadyWhen, RunCommand, Signal,
    Standstill, Whose,
};
pub use traffic::{Sends, TrafficPlan, WindowConfig};
pub use vm::{DiskFormat, VmAccess, VmBegin, VmFirmware, VmPlan};

pub use crate::direction::Direction;
use crate::expect::{Expectation, Figure, OverRuns};
use crate::words::words;
use ipnet::IpNet;
use netloom_link::{PipeChange, PipeConfig};
use netloom_units::{Bytes, Date, Duration, Seed};
use std::fmt;
use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::Arc;

/// A lab, ready to be built.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The lab's name: 1 to 32 of `a-z`, `0-9` and `-`.
    pub name: String,
    /// The seed of all random numbers of the run.
    pub seed: Seed,
    /// How lab time passes.
    pub clock: Clock,
    /// The policy for programs that compute for ever; it has a meaning in virtual time only.
    pub on_spin: OnSpin,
    /// The day at whose beginning the wall clocks of kernel nodes start.
    pub start: Option<Date>,
    /// How precisely packets are released; without meaning in virtual time.
    pub precision: Precision,
    /// How many threads share the links out among themselves; without meaning in virtual time.
    pub shards: Shards,
    /// The machines among which the lab may be divided, in the order of the lab file; none: it is not said.
    pub machines: Vec<MachinePlan>,
    /// The nodes that other machines play, in the order of the lab file.
    pub elsewhere: Vec<FarNode>,
    /// The latest end of the run, after time zero; none: the run ends when all commands have ended.
    pub duration: Option<Duration>,
    /// The nodes, in the order of the lab file.
    pub nodes: Vec<NodePlan>,
    /// The links, in the order of the lab file.
    pub links: Vec<LinkPlan>,
    /// The nodes that have no way to one another.
    pub unreached: Unreached,
    /// How long programs that are no commands of the timeline have between SIGTERM and SIGKILL.
    pub stop: Duration,
    /// The events of the timeline, in the order of the lab file; behind them the commands that make the lab ready.
    pub timeline: Vec<Event>,
    /// The traffic sources of a simulation; a run has the programs of the timeline instead.
    pub traffic: Vec<TrafficPlan>,
    /// The sampling of links, which measures how long packets take through them, too; none: the usual sampling, without that.
    pub sampling: Option<SamplePlan>,
    /// The packet captures of a run.
    pub capture: Vec<CapturePlan>,
    /// The packets that the journal of a run records; none: the run keeps no journal.
    pub journal: Option<JournalPlan>,
    /// The expectations of the run.
    pub expect: Vec<Expectation>,
    /// The expectations of all runs of a sweep together.
    pub over_runs: Vec<OverRuns>,
    /// The figures: terms that are measured under a name.
    pub figures: Vec<Figure>,
    /// The exercise for somebody who learns with the lab.
    pub exercise: Option<ExercisePlan>,
    /// The search for faults, which `netloom hunt` does; none if the lab file says nothing of it.
    pub hunt: Option<HuntPlan>,
    /// How far the network may stray from its description.
    pub bounds: Bounds,
    /// The node that is the way out into this machine's network; none if the lab has no way out.
    pub internet: Option<InternetPlan>,
    /// The traffic of this machine that the links carry; none: they carry traffic of nodes.
    pub diversion: Option<DiversionPlan>,
    /// The traces, tables and captures that the lab file names, each once, as it names them: relative to its folder.
    pub files: Vec<PathBuf>,
}

impl Plan {
    /// How long programs have between SIGTERM and SIGKILL unless the lab file says otherwise.
    pub(crate) const STOP: Duration = Duration::from_secs(1);

    /// Returns the names of the nodes at the ends of a link.
    pub fn ends_of(&self, link: usize) -> Vec<&str> {
        self.links[link].ends.iter().map(|end| self.nodes[end.node].name.as_str()).collect()
    }

    /// Returns the seed by which flows are spread over several routes to one destination at a node (ECMP).
    pub fn ecmp_seed(&self, node: &NodePlan) -> Seed {
        self.seed.derive("ecmp").derive(&node.name)
    }

    /// Returns the nodes between which packets of a direction go, as tables have it.
    pub fn way_of(&self, link: usize, direction: Direction) -> [&str; 2] {
        let node = |end: &EndPlan| self.nodes[end.node].name.as_str();
        let link = &self.links[link];
        if direction == Direction::Shared {
            Direction::ALL_TO_ALL
        } else {
            [node(link.entry(direction)), node(link.exit(direction))]
        }
    }

    /// Returns the ends of all links, in the order of their numbers.
    pub fn ends(&self) -> impl Iterator<Item = &EndPlan> {
        self.links.iter().flat_map(|link| &link.ends)
    }
}

words! {
    /// How packets are released at their instant.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Precision {
        /// Sleep only: some 35 to 100 us late, but no processor time is spent on waiting.
        Eco = "eco",
        /// Sleep, then spin for the last microseconds.
        #[default]
        Balanced = "balanced",
        /// Always spin; occupies a whole processor.
        Exact = "exact",
    }
}

words! {
    /// The policy for a program in virtual time that computes for long without a system call, while no time passes.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum OnSpin {
        /// The run waits for the program, however long that takes.
        #[default]
        Wait = "wait",
        /// Lab time goes on meanwhile, by how long the program computes in wall time: the run cannot be repeated.
        Advance = "advance",
    }
}

/// How many threads the packet engine has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shards {
    /// As many threads as the machine can spare and the lab has parts for, and never so that links between transit routers are cut.
    #[default]
    Auto,
    /// So many threads, if the lab can be cut into so many parts.
    Count(u32),
}

impl Shards {
    /// There is a processor for each, or they stand in one another's way.
    pub const MOST: u32 = 64;

    /// With fewer processors one thread serves best: the programs need the others.
    const ENOUGH_PROCESSORS: usize = 4;
    /// The default is one: each takes some 45 MB for its receive ring and its first buffers.
    const MOST_UNASKED: usize = 16;

    /// How many threads `auto` means at most on a machine with so many processors.
    pub fn most_unasked(processors: usize) -> usize {
        if processors < Self::ENOUGH_PROCESSORS { 1 } else { (processors / 2).min(Self::MOST_UNASKED) }
    }
}

impl fmt::Display for Shards {
    /// As the lab file has it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.pad("auto"),
            Self::Count(count) => count.fmt(f),
        }
    }
}

/// A node.
#[derive(Clone, Debug, PartialEq)]
pub struct NodePlan {
    /// Its name, which resolves to its address inside all nodes.
    pub name: String,
    /// The kind of the node: whether it forwards packets, and where.
    pub kind: NodeKind,
    /// The network stack that the node has.
    pub stack: Stack,
    /// The virtual machine that the node is; none for other stacks.
    pub vm: Option<VmPlan>,
    /// The memory of its kernel; none for a namespace node or a virtual machine.
    pub memory: Option<Bytes>,
    /// The most processor time that its programs may use together, per second of lab time; none: no limit. Always none
    /// in virtual time, where [`NodePlan::cpu`] takes its place.
    pub cpus: Option<Cpus>,
    /// Its only processor; none: this machine's, which is busy for no time. Always none but in virtual time.
    pub cpu: Option<CpuPlan>,
    /// The processors of this machine that its programs run on, or its kernel or machine; none: any.
    pub pin: Option<PinPlan>,
    /// The machine that the lab file chooses for it.
    pub machine: Option<MachineChoice>,
    /// The key of the lab file by which its settings follow from its neighbours, if one does.
    pub bound_by: Option<&'static str>,
    /// The error of its clock.
    pub clock: NodeClock,
    /// The disk that it has beside its file system in memory; none but in kernel nodes.
    pub disk: Option<DiskPlan>,
    /// The room for core dumps of its programs, which are in the results then; none but in kernel nodes.
    pub cores: Option<Bytes>,
    /// The capabilities beside the usual ones that its root has, each once.
    pub capabilities: Vec<&'static str>,
    /// Kernel settings as `sysctl` names them, for example `net.ipv4.tcp_congestion_control`.
    pub sysctls: Vec<(String, String)>,
    /// Environment of all its programs.
    pub env: Vec<(String, String)>,
    /// The variables that its programs get from the environment of the command that starts the lab: names, each once.
    pub inherit: Vec<String>,
    /// Whether its file system is a copy on write of the machine's; always in a kernel node.
    pub overlay: bool,
    /// The container image that its file system comes from; none: its file system is the machine's.
    pub image: Option<ImagePlan>,
    /// The running container that the node is; none: the node is made for the lab.
    pub container: Option<ContainerPlan>,
    /// Whether frames come to it as on a wire, cut and with complete checksums; else as kernels take them from each other.
    pub whole_frames: bool,
    /// The files that are put into its file system, folders before what is inside them.
    pub files: Vec<FilePlan>,
    /// Patterns for the paths of what is copied to the results at the end of a run.
    pub collect: Vec<String>,
    /// The measurements inside the node.
    pub measure: MeasurePlan,
    /// The ports of this machine that lead here.
    pub expose: Vec<ExposePlan>,
    /// The routing protocols that it speaks, each once, in the order of [`Daemon`].
    pub daemons: Vec<Daemon>,
    /// The interface of this machine whose wire the node is; none for other kinds.
    pub external: Option<ExternalPlan>,
    /// The far end of the tunnel, if the node is one.
    pub tunnel: Option<TunnelPlan>,
    /// The settings of the node as a switch; none for other kinds.
    pub switch: Option<SwitchPlan>,
    /// Whether it is a switch that the lab file has as a link with more than two ends.
    pub is_lan: bool,
    /// The position of the node in a picture, if the lab file gives it: to the right, and down, in lengths of a link.
    pub position: Option<[f64; 2]>,
    /// Its interfaces, in the order of the links; the ports of a switch or hub.
    pub interfaces: Vec<InterfacePlan>,
    /// Its routes, beside those to the subnets of its own interfaces. Those with the same destination stand one after the other: each
    /// flow takes one of them.
    pub routes: Vec<RoutePlan>,
    /// Whether its routes are all those of the least cost.
    pub ecmp: bool,
    /// Its policy routes: the first that fits holds.
    pub rules: Vec<RulePlan>,
    /// The routes of the tables that its policy routes lead to.
    pub tables: Vec<TableRoutePlan>,
    /// Its parts in trees of multicast, in the order of the lab file.
    pub groups: Vec<GroupPlan>,
    /// The names that mean, seen from here, another interface of their node than the first, in the order of nodes.
    pub names: Arc<[NamePlan]>,
    /// The subnets behind routers that translate addresses, which it does not reach.
    pub hidden: Arc<[IpNet]>,
}

/// A share of processor time, in thousandths of one core.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cpus(pub u32);

impl Cpus {
    /// Thousandths of one core.
    pub fn thousandths(self) -> u32 {
        self.0
    }
}

impl NodePlan {
    /// Whether commands can run in it.
    pub fn takes_commands(&self) -> bool {
        self.kind.runs_programs() && !self.vm.as_ref().is_some_and(VmPlan::is_closed)
    }
}

impl fmt::Display for Cpus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, rest) = (self.0 / 1_000, self.0 % 1_000);
        let digits = format!("{rest:03}");
        match digits.trim_end_matches('0') {
            "" => write!(f, "{whole}"),
            shown => write!(f, "{whole}.{shown}"),
        }
    }
}

/// A network interface of a node.
#[derive(Clone, Debug, PartialEq)]
pub struct InterfacePlan {
    /// Its name inside the node: `eth0` and so on, unless the lab file names it.
    pub name: String,
    /// Its hardware address.
    pub mac: [u8; 6],
    /// The largest IP packet it sends, in bytes.
    pub mtu: u32,
    /// Its addresses, each with the length of its subnet's prefix; IPv4 before IPv6.
    pub addresses: Vec<IpNet>,
    /// The subnets in which it gets its addresses, and the routes that lead there, from a server while the lab is up.
    pub leased: Vec<IpNet>,
    /// The end at which that server is.
    pub lender: Option<End>,
    /// The addresses of the other ends that it reaches without a router, link-local ones included, each with the hardware
    /// address there; none where they are learned by ARP and neighbour discovery.
    pub neighbors: Vec<(IpAddr, [u8; 6])>,
    /// The end of a link that it is at.
    pub end: End,
}

impl InterfacePlan {
    /// Whether an address is one of those that it gets from a server.
    pub fn is_leased(&self, address: IpAddr) -> bool {
        self.leased.iter().any(|subnet| subnet.contains(&address))
    }
}

/// A route of a node.
#[derive(Clone, Debug, PartialEq)]
pub struct RoutePlan {
    /// The destination of the route; `0.0.0.0/0` and `::/0` are the default routes.
    pub destination: IpNet,
    /// The address of the next node.
    pub via: IpAddr,
    /// The place of the interface in the node's list.
    pub interface: usize,
}

/// The interface that the name of a node means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NamePlan {
    /// The place of the named node in the plan; those of [`Plan::elsewhere`] come behind its nodes.
    pub node: usize,
    /// The place of the interface in that node's list.
    pub interface: usize,
}

/// Pairs of nodes that no path joins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unreached {
    /// How many there are.
    pub pairs: u64,
    /// The first of them by the places of their nodes, at most [`Unreached::MOST_SHOWN`].
    pub first: Vec<(usize, usize)>,
}

impl Unreached {
    /// More would hide what else there is to read.
    pub const MOST_SHOWN: usize = 20;
}

/// A link between nodes.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkPlan {
    /// Its name.
    pub name: String,
    /// Its ends; forward is from the first to the second.
    pub ends: Vec<EndPlan>,
    /// Whether it is one shared medium for all its ends.
    pub is_shared: bool,
    /// Its directions: forward, backward; twice the same if it is a shared medium.
    pub pipes: [PipeConfig; 2],
    /// The further pipes of each direction: the first whose filter matches takes a packet.
    pub treatments: [Vec<Treatment>; 2],
    /// The largest IP packet on it, in bytes.
    pub mtu: u32,
    /// Packets due within this time of one another may be delivered together.
    pub coalesce: Duration,
    /// Whether it is joined in the kernel.
    pub bypass: Bypass,
    /// Whether its rate may be all that limits what goes round in a loop of switches.
    pub limits_loop: bool,
}

/// The highest speed that an interface can report (`ethtool_validate_speed` of linux/ethtool.h).
const FASTEST_MBIT: u32 = i32::MAX.cast_unsigned();

impl LinkPlan {
    /// Why it cannot be changed so, if that would let what goes round in a loop multiply without bound.
    pub fn refuses(&self, change: &PipeChange) -> Option<&'static str> {
        if self.pipes[0].air.is_some() && change.is_of_wire() {
            return Some(NOT_ON_AIR);
        }
        (self.limits_loop && lifts_rate(change)).then_some(LIMITS_LOOP)
    }

    /// The speed that its interfaces report to programs, in Mbit/s: the described rate of its faster direction, rounded down, but 1 at
    /// least, since 0 means that nobody knows. None without a rate.
    pub fn speed_mbit(&self) -> Option<u32> {
        let fastest = self.pipes.iter().filter_map(|pipe| pipe.rate.nominal()).max()?;
        let mbit = fastest.as_bits_per_second() / 1_000_000;
        Some(u32::try_from(mbit).unwrap_or(FASTEST_MBIT).clamp(1, FASTEST_MBIT))
    }

    /// Its directions, as its pipes are numbered.
    pub fn directions(&self) -> &'static [Direction] {
        Direction::all(self.is_shared)
    }

    /// The end where packets of a direction enter; of a shared medium the first.
    pub fn entry(&self, direction: Direction) -> &EndPlan {
        &self.ends[direction.index()]
    }

    /// The end where packets of a direction leave; of a shared medium the second.
    pub fn exit(&self, direction: Direction) -> &EndPlan {
        &self.ends[1 - direction.index()]
    }

    /// The ends that packets reach which enter at `end`; one, if it is no shared medium.
    pub fn beyond(&self, end: End) -> impl Iterator<Item = &EndPlan> {
        self.ends.iter().filter(move |other| other.end != end)
    }
}

/// What is wrong with taking the rate away from a link that limits a loop.
pub(crate) const LIMITS_LOOP: &str =
    "its rate cannot be taken away: it may be all that limits what goes round in a loop of switches";

/// The reason why a radio medium cannot be changed so.
pub(crate) const NOT_ON_AIR: &str = "a radio medium has no rate, queue, delay, order, schedule or cross traffic of its own: its `medium` says \
     how long what takes";

/// Whether there is no rate any more after a change.
pub(crate) fn lifts_rate(change: &PipeChange) -> bool {
    change.rate.as_ref().is_some_and(|rate| rate.nominal().is_none())
}
