//! A lab as it is written: names instead of places, and every value that an error may be about with its place.

mod hunt;
mod medium;
mod motion;
mod repeats;
mod timeline;

use crate::capture::CaptureSpec;
pub(crate) use crate::decode::attachments::{ExternalSpec, FarEndSpec, TunnelSpec};
use crate::decode::dhcp::{DhcpSpec, DnsSpec};
use crate::decode::exercise::ExerciseSpec;
use crate::decode::hunt::HuntSpec;
use crate::decode::openflow::OpenFlowSpec;
use crate::decode::switch::SwitchSpec;
use crate::diagnostics::{Diagnostic, Spanned};
use crate::expect::Points;
use crate::journal::JournalSpec;
use crate::plan::{
    Argv, Bounds, Clock, ContainerPlan, CpuPlan, Cpus, Daemon, Direction, DiskPlan, End, ExposePlan, FarNode,
    FileContents, FilePlan, ImagePlan, MachinePlan, MeasurePlan, NodeClock, NodeKind, OnSpin, PinPlan, Precision,
    Ready, SamplePlan, Sends, Shards, Stack, Treatment, VmPlan,
};
use crate::tracks::Origin;
use crate::words::words;
use ipnet::IpNet;
use netloom_link::PipeConfig;
use netloom_units::{Bytes, Date, Duration, Seed};
use std::net::IpAddr;
use std::path::PathBuf;

pub(crate) use hunt::{Among, FaultSpec, NodesSpec, TestSpec};
pub(crate) use medium::{CellSpec, MediumSpec, SiteSpec, StationSpec, TerminalSpec, WifiSpec};
pub(crate) use motion::{PathSpec, PlaceSpec, TrackFile};
pub(crate) use repeats::{AgainSpec, SpanSpec, When, WrittenSpec};
pub(crate) use timeline::{
    ActionSpec, CrashSpec, EntrySpec, LayoutSpec, LeaderSpec, MoveSpec, PartSpec, PartitionSpec, RunSpec, Shape, Side,
};

/// The whole file.
#[derive(Debug, Default)]
pub(crate) struct Spec {
    pub(crate) name: Option<Spanned<String>>,
    pub(crate) seed: Option<Seed>,
    pub(crate) clock: Clock,
    pub(crate) on_spin: OnSpin,
    pub(crate) start: Option<Spanned<Date>>,
    pub(crate) inherit: Vec<String>,
    pub(crate) precision: Option<Spanned<Precision>>,
    pub(crate) shards: Option<Spanned<Shards>>,
    /// The machines among which the lab may be divided.
    pub(crate) machines: Vec<Spanned<MachinePlan>>,
    /// The nodes that other machines play.
    pub(crate) elsewhere: Vec<Spanned<FarNode>>,
    pub(crate) duration: Option<Duration>,
    pub(crate) nodes: Vec<NodeSpec>,
    pub(crate) links: Vec<LinkSpec>,
    /// Where nodes are in a picture.
    pub(crate) layout: Vec<(Spanned<String>, [f64; 2])>,
    /// Where on Earth the map has its origin.
    pub(crate) origin: Option<Origin>,
    pub(crate) setup: Vec<EntrySpec>,
    /// Between SIGTERM and SIGKILL.
    pub(crate) stop: Option<Duration>,
    pub(crate) timeline: Vec<WrittenSpec>,
    pub(crate) traffic: Vec<TrafficSpec>,
    pub(crate) capture: Vec<CaptureSpec>,
    pub(crate) journal: Option<JournalSpec>,
    /// What is measured inside nodes that say nothing of it.
    pub(crate) measure: MeasurePlan,
    /// How often links are sampled.
    pub(crate) sampling: Option<SamplePlan>,
    pub(crate) expect: Vec<Spanned<String>>,
    /// What varies in the file, which expectations may name.
    pub(crate) points: Points,
    /// Figures by name.
    pub(crate) figures: Vec<(String, Spanned<String>)>,
    /// What is to be done with the lab.
    pub(crate) exercise: Option<ExerciseSpec>,
    /// What is searched.
    pub(crate) hunt: Option<HuntSpec>,
    pub(crate) bounds: Bounds,
    /// The bounds that are written and about each link's packets.
    pub(crate) judged: Vec<&'static str>,
    /// What holds for links that say nothing of it themselves.
    pub(crate) bypass: BypassSpec,
    /// What routes nodes get that say nothing of it.
    pub(crate) routes: RoutesSpec,
    /// How long time zero waits for the routing daemons to find all routes; none: it does not.
    pub(crate) converged: Option<Spanned<Duration>>,
    pub(crate) multicast: Vec<MulticastSpec>,
    pub(crate) addressing: AddressingSpec,
    /// Whether neighbours are learned by ARP and neighbour discovery.
    pub(crate) arp: Option<bool>,
    /// Whether switches may be joined in loops.
    pub(crate) loops: bool,
}

/// A tree of multicast.
#[derive(Debug)]
pub(crate) struct MulticastSpec {
    pub(crate) group: Spanned<IpAddr>,
    pub(crate) from: Spanned<String>,
    pub(crate) to: Vec<Spanned<String>>,
}

/// What routes a node gets beside those to its own subnets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum RoutesSpec {
    None,
    /// Those of the shortest paths: to each destination one way.
    #[default]
    Shortest,
    /// To each destination all ways of the least cost (equal-cost multi-path).
    Ecmp,
}

words!(RoutesSpec { "shortest" = Self::Shortest, "ecmp" = Self::Ecmp, "none" = Self::None });

/// Where automatic addresses come from.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct AddressingSpec {
    /// Whether ends that say nothing of it themselves get any.
    pub(crate) automatic: Option<bool>,
    pub(crate) v4: PoolSpec,
    pub(crate) v6: PoolSpec,
    /// Whether links between two nodes have subnets of two addresses.
    pub(crate) point_to_point: bool,
}

/// Where the automatic addresses of a family come from.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum PoolSpec {
    #[default]
    Usual,
    /// There are none.
    Nowhere,
    Within(Spanned<IpNet>),
}

/// Whether links are to be joined in the kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum BypassSpec {
    #[default]
    Never,
    Possible,
    Always,
}

#[derive(Debug, Default)]
pub(crate) struct NodeSpec {
    pub(crate) name: Spanned<String>,
    pub(crate) kind: NodeKind,
    /// Whether it stands for a link with more than two ends.
    pub(crate) is_lan: bool,
    pub(crate) stack: Option<Spanned<Stack>>,
    pub(crate) vm: Option<Spanned<VmPlan>>,
    pub(crate) memory: Option<Spanned<Bytes>>,
    pub(crate) cpus: Option<Spanned<Cpus>>,
    pub(crate) cpu: Option<Spanned<CpuPlan>>,
    pub(crate) pin: Option<PinPlan>,
    /// The machine that plays it.
    pub(crate) machine: Option<Spanned<String>>,
    pub(crate) clock: Option<Spanned<NodeClock>>,
    pub(crate) disk: Option<Spanned<DiskPlan>>,
    pub(crate) cores: Option<Spanned<Bytes>>,
    pub(crate) congestion: Option<Spanned<String>>,
    pub(crate) capabilities: Vec<&'static str>,
    pub(crate) routes: Option<RoutesSpec>,
    pub(crate) given: GivenSpec,
    pub(crate) rules: Vec<RuleSpec>,
    /// Whether what has the address of a link leaves by that link.
    pub(crate) multihomed: Option<Spanned<()>>,
    /// Whether frames come to it as on a wire.
    pub(crate) whole_frames: bool,
    pub(crate) sysctls: Vec<(String, String)>,
    pub(crate) env: Vec<(String, String)>,
    /// Each with its line.
    pub(crate) setup: Vec<(usize, Argv)>,
    pub(crate) inherit: Vec<String>,
    pub(crate) overlay: Option<Spanned<bool>>,
    pub(crate) image: Option<ImageSpec>,
    pub(crate) container: Option<Spanned<ContainerPlan>>,
    pub(crate) files: Vec<FilePlan>,
    pub(crate) collect: Vec<String>,
    pub(crate) measure: Option<Spanned<MeasurePlan>>,
    pub(crate) expose: Vec<Spanned<ExposePlan>>,
    pub(crate) routing: RoutingSpec,
    pub(crate) firewall: Vec<RulesSpec>,
    pub(crate) nat: Option<NatSpec>,
    pub(crate) dhcp: Option<DhcpSpec>,
    pub(crate) dns: Option<DnsSpec>,
    /// Whether its addresses of IPv4 come from DHCP servers.
    pub(crate) asks: Option<Spanned<()>>,
    pub(crate) switch: SwitchSpec,
    pub(crate) openflow: OpenFlowSpec,
    pub(crate) external: Option<ExternalSpec>,
    pub(crate) tunnel: Option<TunnelSpec>,
    /// Where it says that it is the way out into this machine's network.
    pub(crate) exit: Option<Spanned<()>>,
    /// Where it is, for radio media.
    pub(crate) position: Option<PlaceSpec>,
    /// The way that it goes there.
    pub(crate) path: Option<PathSpec>,
}

impl NodeSpec {
    /// What is measured inside it, where all others have `usual`.
    pub(crate) fn measured(&self, usual: MeasurePlan) -> MeasurePlan {
        let measured = self.measure.as_ref().map_or(usual, |own| own.value);
        if self.kind.runs_programs() && !self.is_closed() { measured } else { MeasurePlan::default() }
    }

    /// Whether it is a machine that the lab does not get into.
    pub(crate) fn is_closed(&self) -> bool {
        self.vm.as_ref().is_some_and(|vm| vm.value.is_closed())
    }
}

/// The container image of a node, and when its program can be used by others.
#[derive(Debug)]
pub(crate) struct ImageSpec {
    pub(crate) plan: Spanned<ImagePlan>,
    pub(crate) ready: Option<Ready>,
    /// The first volume that it may write to.
    pub(crate) writable: Option<Spanned<()>>,
}

/// A policy route.
#[derive(Debug)]
pub(crate) struct RuleSpec {
    pub(crate) place: Spanned<()>,
    pub(crate) from: Option<IpNet>,
    pub(crate) to: Option<IpNet>,
    /// The link by which packets come.
    pub(crate) iif: Option<Spanned<String>>,
    pub(crate) mark: Option<u32>,
    /// Which family it is of; none: both.
    pub(crate) is_v6: Option<bool>,
    pub(crate) way: WaySpec,
}

/// Where the packets of a policy route go.
#[derive(Debug)]
pub(crate) enum WaySpec {
    Via(Spanned<IpAddr>),
    /// To the router on this link.
    Link(Spanned<String>),
    Table(u32),
}

/// The routing daemons of a router.
#[derive(Debug, Default)]
pub(crate) struct RoutingSpec {
    /// What it speaks, each once and in order.
    pub(crate) daemons: Vec<Daemon>,
    /// Where the lab file says so.
    pub(crate) place: Spanned<()>,
    /// Its autonomous system.
    pub(crate) number: Option<u32>,
    /// The user's own configuration.
    pub(crate) configuration: Option<FileContents>,
    /// Whether BIRD runs in place of FRR.
    pub(crate) is_bird: bool,
}

/// Rules that a program puts into a node's kernel.
#[derive(Debug)]
pub(crate) struct RulesSpec {
    /// Where the lab file says so.
    pub(crate) place: Spanned<()>,
    pub(crate) program: RulesProgram,
    pub(crate) source: RulesSource,
}

/// What reads rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RulesProgram {
    Nft,
    Iptables,
    Ip6tables,
}

/// Where rules are.
#[derive(Debug)]
pub(crate) enum RulesSource {
    /// In this file of the machine.
    File(PathBuf),
    Text(String),
}

/// The address translation of a router.
#[derive(Debug)]
pub(crate) struct NatSpec {
    pub(crate) place: Spanned<()>,
    /// The links that lead outside.
    pub(crate) outside: Vec<Spanned<String>>,
    pub(crate) mapping: Dependence,
    pub(crate) filtering: Dependence,
    pub(crate) forward: Vec<ForwardSpec>,
}

/// On what of a destination a behaviour of RFC 4787 depends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dependence {
    Nothing,
    Address,
    AddressAndPort,
}

/// A port that leads to a node behind a router.
#[derive(Debug)]
pub(crate) struct ForwardSpec {
    pub(crate) port: Spanned<u16>,
    pub(crate) to: Spanned<String>,
    pub(crate) to_port: u16,
    pub(crate) is_udp: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct LinkSpec {
    pub(crate) name: Spanned<String>,
    /// Two or more.
    pub(crate) ends: Vec<EndSpec>,
    /// The one shared medium that it is, where that is said.
    pub(crate) shared: Option<Spanned<MediumSpec>>,
    /// Twice the same if it is.
    pub(crate) pipes: [PipeConfig; 2],
    pub(crate) treatments: [Vec<Treatment>; 2],
    pub(crate) mtu: u32,
    pub(crate) coalesce: Duration,
    pub(crate) cost: u32,
    /// Its OSPF area.
    pub(crate) area: u32,
    pub(crate) bypass: Option<Spanned<BypassSpec>>,
    /// Whether its ends get addresses that they are not given.
    pub(crate) addresses: Option<bool>,
    /// The VLANs that it carries.
    pub(crate) vlans: Option<Spanned<VlansSpec>>,
}

impl LinkSpec {
    /// Its directions.
    pub(crate) fn directions(&self) -> &'static [Direction] {
        Direction::all(self.shared.is_some())
    }

    /// The error of something about a direction of what has none.
    pub(crate) fn without_direction(&self, direction: Option<Direction>, said: &Spanned<String>) -> Option<Diagnostic> {
        let message =
            format!("`{}` is a shared medium, which has no directions: leave the direction out", self.name.value);
        (self.shared.is_some() && direction.is_some()).then(|| said.error(message))
    }
}

/// The VLANs of a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct VlansSpec {
    /// That of frames without a tag; none: there are no such frames.
    pub(crate) untagged: Option<u16>,
    /// Those of frames with a tag; none: all that the lab file names.
    pub(crate) tagged: Option<Vec<u16>>,
}

#[derive(Clone, Debug)]
pub(crate) struct EndSpec {
    pub(crate) node: Spanned<String>,
    pub(crate) interface: Option<Spanned<String>>,
    pub(crate) addresses: Vec<Spanned<IpNet>>,
    /// Whether its address of IPv4 comes from a DHCP server.
    pub(crate) asks: Option<Spanned<()>>,
    pub(crate) mac: Option<Spanned<[u8; 6]>>,
}

impl EndSpec {
    /// Its hardware address. Automatic ones are locally administered, then `nl` as letters, then the number of the end.
    pub(crate) fn mac_at(&self, end: End) -> [u8; 6] {
        let number = end.number().to_be_bytes();
        let automatic = [0x02, 0x6e, 0x6c, number[1], number[2], number[3]];
        self.mac.as_ref().map_or(automatic, |mac| mac.value)
    }
}

#[derive(Debug)]
pub(crate) struct TrafficSpec {
    pub(crate) line: usize,
    pub(crate) name: Option<Spanned<String>>,
    pub(crate) from: Spanned<String>,
    pub(crate) to: Spanned<String>,
    pub(crate) sends: Sends,
}

/// Routes and names in the place of those that follow from the paths of the lab.
#[derive(Debug, Default)]
pub(crate) struct GivenSpec {
    pub(crate) routes: Option<Vec<RouteSpec>>,
    pub(crate) names: Option<Vec<NameSpec>>,
}

/// A route.
#[derive(Debug)]
pub(crate) struct RouteSpec {
    pub(crate) to: IpNet,
    pub(crate) via: Spanned<IpAddr>,
}

/// The interface that the name of a node means.
#[derive(Debug)]
pub(crate) struct NameSpec {
    pub(crate) node: Spanned<String>,
    pub(crate) interface: Spanned<String>,
}
