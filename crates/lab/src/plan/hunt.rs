//! What `netloom hunt` does with a lab: the faults that it draws, and the properties that it judges. A single run has nothing to do
//! with it.

use super::{Argv, NameFaults, NodeFaults, SinglePackets};
use crate::words::words;
use netloom_units::{Duration, Probability};

/// A search for faults with which a property of the lab fails.
#[derive(Clone, Debug, PartialEq)]
pub struct HuntPlan {
    /// How many runs are played; none: as many as the hunter thinks fit.
    pub runs: Option<u64>,
    /// For how long runs are played, in wall time.
    pub lasts: Option<Duration>,
    /// The nodes of the system under test, as places in the plan.
    pub nodes: Vec<usize>,
    /// How many of these nodes are faulty at once, at most.
    pub tolerate: Tolerance,
    /// The time at the end of a run in which there are no faults.
    pub quiet: Duration,
    /// The kinds of faults that are drawn, from the simplest on; empty: none.
    pub faults: Vec<FaultPlan>,
    /// The properties that are judged beside the expectations of the lab and the ends of its commands.
    pub properties: Vec<PropertyPlan>,
    /// The name of the file in which programs note assertions by an SDK of Antithesis.
    pub assertions: Option<String>,
}

impl HuntPlan {
    /// The time without faults at the end of a run that does not say it.
    pub(crate) const QUIET: Duration = Duration::from_secs(5);

    /// Returns the properties that are asked for in this way.
    pub fn asked(&self, modality: Modality) -> impl Iterator<Item = &PropertyPlan> {
        self.properties.iter().filter(move |property| property.modality == modality)
    }
}

/// How many nodes may be faulty at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tolerance {
    /// Fewer than half of the nodes.
    #[default]
    Minority,
    /// All nodes.
    All,
    /// So many nodes.
    Count(u64),
}

impl Tolerance {
    /// Returns how many of so many nodes may be faulty at once.
    pub fn of(self, nodes: usize) -> usize {
        match self {
            Self::Minority => nodes.saturating_sub(1) / 2,
            Self::All => nodes,
            Self::Count(count) => usize::try_from(count).unwrap_or(usize::MAX).min(nodes),
        }
    }
}

/// A kind of fault, with what it is drawn from.
#[derive(Clone, Debug, PartialEq)]
pub enum FaultPlan {
    /// Single packets of a link are dropped, held, duplicated or corrupted.
    Packet(SinglePackets),
    /// Packets are lost, delayed, reordered, duplicated or corrupted on a link for a while.
    Packets(PacketFaults),
    /// Messages of DNS that cross a link are answered or changed for a while, as by a name server that fails.
    Dns(NameFaults),
    /// A link is cut for a while.
    Cut {
        /// The links, as places in the plan.
        links: Vec<usize>,
    },
    /// All TCP connections over a link are reset.
    Reset {
        /// The links, as places in the plan.
        links: Vec<usize>,
    },
    /// Nodes do not reach each other for a while.
    Partition {
        /// The nodes, as places in the plan.
        nodes: Vec<usize>,
        /// The shapes.
        shapes: Vec<FaultShape>,
        /// The treatments of packets.
        treatments: Vec<FaultTreatment>,
    },
    /// Nodes, or the programs in them, are disturbed.
    Node(NodeFaults),
}

impl FaultPlan {
    /// The kinds of faults by their names in lab files, from the simplest on.
    pub const NAMES: [&'static str; 15] = [
        "packet",
        "packets",
        "dns",
        "cut",
        "reset",
        "partition",
        "pause",
        "freeze",
        "clock",
        "limit",
        "disk",
        "signal",
        "kill",
        "reboot",
        "crash",
    ];

    /// Returns the name of the kind in lab files.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Packet(_) => "packet",
            Self::Packets(_) => "packets",
            Self::Dns(_) => "dns",
            Self::Cut { .. } => "cut",
            Self::Reset { .. } => "reset",
            Self::Partition { .. } => "partition",
            Self::Node(NodeFaults { fault, .. }) => fault.name(),
        }
    }

    /// Returns the place of the kind among all kinds, from the simplest on.
    pub fn place(&self) -> usize {
        Self::NAMES.iter().position(|name| *name == self.name()).unwrap_or(0)
    }
}

/// The treatment of the packets of a link for a while: of each kind the least and the most; none: it does not happen.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PacketFaults<L = Vec<usize>> {
    /// The links, as places in the plan.
    pub links: L,
    /// The filter of the packets, as a lab file has it; none: all packets.
    pub matching: Option<String>,
    /// The shares of packets that are lost.
    pub loss: Option<[Probability; 2]>,
    /// The delays in place of the link's own.
    pub delay: Option<[Duration; 2]>,
    /// The shares of packets that overtake others.
    pub reorder: Option<[Probability; 2]>,
    /// The shares of packets that come twice.
    pub duplicate: Option<[Probability; 2]>,
    /// The shares of packets of which a bit is flipped.
    pub corrupt: Option<[Probability; 2]>,
}

words! {
    /// The shape of a partition.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum FaultShape {
        /// One node is parted from the others.
        Isolate = "isolate",
        /// Fewer than half of the nodes are parted from the others.
        Minority = "minority",
        /// One half of the nodes is parted from the other.
        Halves = "halves",
        /// Two halves are parted, and both reach the node between them.
        Bridge = "bridge",
        /// Each node reaches its neighbours in a ring, which are a majority together with itself.
        Ring = "ring",
    }
}

impl FaultShape {
    /// Returns how many nodes the shape needs.
    pub fn least(self) -> usize {
        match self {
            Self::Isolate | Self::Halves => 2,
            Self::Minority | Self::Bridge => 3,
            Self::Ring => 4,
        }
    }
}

words! {
    /// The treatment of packets between nodes that are parted.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum FaultTreatment {
        /// The packets are dropped.
        Drop = "drop",
        /// The packets are held for a time, and go on in their order.
        Slow = "slow",
        /// The packets are held until the nodes are joined again, and go on in their order.
        Jam = "jam",
    }
}

/// Something that is judged after every run of a hunt.
#[derive(Clone, Debug, PartialEq)]
pub struct PropertyPlan {
    /// The line in the lab file.
    pub line: usize,
    /// Whether it has to hold, and in how many runs.
    pub modality: Modality,
    /// The text of the property, as the lab file has it.
    pub text: String,
    /// How it is judged.
    pub test: PropertyTest,
}

words! {
    /// In how many runs a property has to hold.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Modality {
        /// In every run.
        Always = "always",
        /// In every run, after a time without faults.
        Eventually = "eventually",
        /// In at least one of all runs.
        Sometimes = "sometimes",
        /// In no run.
        Never = "never",
    }
}

/// How a property is judged.
#[derive(Clone, Debug, PartialEq)]
pub enum PropertyTest {
    /// The run judges it, as an expectation.
    Expectation,
    /// So many lines that programs wrote match a regular expression.
    Log {
        /// The name of a node or command, or a pattern of names.
        whose: String,
        /// The regular expression.
        pattern: String,
        /// How the number of lines is compared.
        compare: Compare,
        /// The number with which it is compared.
        count: u64,
    },
    /// All commands of several nodes that ended by themselves have such an exit code.
    Exit {
        /// The pattern of names of nodes or commands.
        whose: String,
        /// How each code is compared.
        compare: Compare,
        /// The code with which it is compared.
        code: u64,
    },
    /// A command succeeds that looks at the results of the run.
    Command(Argv),
    /// A checker explains a history of operations.
    History {
        /// The name of the checker: `linearizable`, or that of a model.
        checker: String,
        /// The name of the file with the operations.
        file: String,
        /// The options of the checker: words, and words with a value.
        options: Vec<(String, Option<String>)>,
    },
    /// The operations of a history took so long.
    Latency {
        /// The name of the file with the operations.
        file: String,
        /// The share of operations that took at most as long, in parts per thousand; 1000 for the longest.
        permille: u32,
        /// How the time is compared.
        compare: Compare,
        /// The time with which it is compared.
        bound: Duration,
    },
}

impl PropertyTest {
    /// Returns the name of the file with a history that it looks at.
    pub fn history(&self) -> Option<&str> {
        match self {
            Self::History { file, .. } | Self::Latency { file, .. } => Some(file),
            _ => None,
        }
    }
}

words! {
    /// A comparison of whole numbers.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Compare {
        /// Equal.
        Equal = "==",
        /// Not equal.
        Unequal = "!=",
        /// At least.
        AtLeast = ">=",
        /// At most.
        AtMost = "<=",
        /// More than.
        Above = ">",
        /// Less than.
        Below = "<",
    }
}

impl Compare {
    /// Whether a number that was found compares so with the wanted one.
    pub fn holds(self, found: u64, wanted: u64) -> bool {
        match self {
            Self::Equal => found == wanted,
            Self::Unequal => found != wanted,
            Self::AtLeast => found >= wanted,
            Self::AtMost => found <= wanted,
            Self::Above => found > wanted,
            Self::Below => found < wanted,
        }
    }
}
