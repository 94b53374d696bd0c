//! The events of the timeline as they are written: names instead of places.

use crate::diagnostics::Spanned;
use crate::plan::{Argv, Direction, Disturbance, Keep, NodeKey, OnRestart, Ready};
use crate::words::words;
use netloom_link::{PartitionKind, PipeChange};
use netloom_units::Duration;
use std::path::PathBuf;
use std::sync::Arc;

#[derive(Debug)]
pub(crate) struct EntrySpec {
    pub(crate) line: usize,
    pub(crate) at: Option<Duration>,
    pub(crate) action: ActionSpec,
}

#[derive(Clone, Debug)]
pub(crate) enum ActionSpec {
    Run(Box<RunSpec>),
    Set {
        part: PartSpec,
        change: Box<PipeChange>,
    },
    /// `carrier`: where it says that the carrier goes, too.
    Down {
        part: PartSpec,
        duration: Option<Duration>,
        carrier: Option<Spanned<()>>,
    },
    Up {
        part: PartSpec,
    },
    Log(String),
    /// Programs are ended or held, or nodes are disturbed: those of commands, or of nodes.
    Disturb {
        how: Disturbance,
        whose: Vec<Spanned<String>>,
        process: Option<Arc<str>>,
        duration: Option<Duration>,
    },
    /// The programs of nodes are killed, and all links at them are cut.
    Reboot {
        nodes: Vec<Spanned<String>>,
        duration: Duration,
    },
    /// Nodes are stopped; or they crash.
    Stop {
        nodes: Vec<Spanned<String>>,
        duration: Option<Duration>,
        crash: Option<CrashSpec>,
    },
    /// Nodes that were stopped start again.
    Start {
        nodes: Vec<Spanned<String>>,
    },
    /// Links are cut, by their own names or by those of nodes.
    Flap {
        what: Vec<Spanned<String>>,
        duration: Duration,
    },
    Partition(Box<PartitionSpec>),
    Heal {
        place: Spanned<()>,
    },
    Move(Box<MoveSpec>),
}

/// The rule of a crash; none: the usual one.
#[derive(Clone, Debug)]
pub(crate) struct CrashSpec {
    pub(crate) keep: Option<Spanned<Keep>>,
}

impl CrashSpec {
    /// Returns what is on the disks beside what a flush has made durable.
    pub(crate) fn rule(&self) -> Keep {
        self.keep.as_ref().map(|keep| keep.value).unwrap_or_default()
    }
}

impl ActionSpec {
    /// Returns the names of nodes, commands or links that an entry lists, each of which it is about.
    pub(crate) fn names(&self) -> Option<&[Spanned<String>]> {
        match self {
            Self::Disturb { whose: names, .. }
            | Self::Reboot { nodes: names, .. }
            | Self::Stop { nodes: names, .. }
            | Self::Start { nodes: names }
            | Self::Flap { what: names, .. } => Some(names),
            _ => None,
        }
    }

    /// Returns the same names, to be changed.
    pub(crate) fn names_mut(&mut self) -> Option<&mut Vec<Spanned<String>>> {
        match self {
            Self::Disturb { whose: names, .. }
            | Self::Reboot { nodes: names, .. }
            | Self::Stop { nodes: names, .. }
            | Self::Start { nodes: names }
            | Self::Flap { what: names, .. } => Some(names),
            _ => None,
        }
    }
}

/// Nodes that are parted.
#[derive(Clone, Debug)]
pub(crate) struct PartitionSpec {
    pub(crate) layout: Spanned<LayoutSpec>,
    /// Where it says that nodes that are not named are each parted from all others.
    pub(crate) isolates_others: Option<Spanned<()>>,
    /// The only direction; none: both.
    pub(crate) direction: Option<Spanned<Side>>,
    pub(crate) kind: PartitionKind,
    /// The pairs whose address resolution gets through; none: as follows from the links.
    pub(crate) neighbors: Option<Vec<[Spanned<String>; 2]>>,
    pub(crate) duration: Option<Duration>,
}

/// Who is parted from whom.
#[derive(Clone, Debug)]
pub(crate) enum LayoutSpec {
    Groups(Vec<Vec<Spanned<String>>>),
    /// A node from the others of these.
    Isolate(Spanned<String>, Vec<Spanned<String>>),
    /// A shape over these nodes.
    Shape(Shape, Vec<Spanned<String>>),
    /// A node that a command names from the others.
    Leader(Box<LeaderSpec>),
}

/// The command that names a leader.
#[derive(Clone, Debug)]
pub(crate) struct LeaderSpec {
    pub(crate) command: Argv,
    pub(crate) on: Spanned<String>,
    /// The nodes of which it is one; none: of all.
    pub(crate) of: Option<Vec<Spanned<String>>>,
}

impl LayoutSpec {
    /// Whether it draws from the seed.
    pub(crate) fn is_drawn(&self) -> bool {
        matches!(self, Self::Shape(Shape::Minority | Shape::IsolateOne | Shape::Random, _))
    }

    /// Returns the layout in words.
    pub(crate) fn text(&self) -> String {
        let joined =
            |names: &[Spanned<String>]| names.iter().map(|name| name.value.as_str()).collect::<Vec<_>>().join(" ");
        match self {
            Self::Groups(groups) => groups.iter().map(|group| joined(group)).collect::<Vec<_>>().join(" | "),
            Self::Isolate(node, of) => format!("{} of {}", node.value, joined(of)),
            Self::Shape(shape, of) => format!("{shape:?} {}", joined(of)),
            Self::Leader(leader) => format!("leader on {}", leader.on.value),
        }
    }
}

words! {
    /// A shape of a partition, over nodes in their order. Sources: the targets of Jepsen's partition nemesis (jepsen.nemesis.combined).
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) enum Shape {
        /// The first half of the nodes from the rest.
        Halves = "halves",
        /// Fewer than half of them, drawn, from the rest.
        Minority = "minority",
        /// Two halves that both reach the node between them.
        Bridge = "bridge",
        /// Each reaches its neighbours in a ring, a majority with itself.
        Ring = "ring",
        /// Two groups whose size and members are drawn.
        Random = "random",
    } {
        /// One of them, drawn, from the rest.
        IsolateOne = "isolate: one",
    }
}

/// The direction of a partition, seen from its first group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// Packets that others send to the first group.
    To,
    /// Packets that the first group sends.
    From,
}

words!(Side { "to" = Self::To, "from" = Self::From });

/// A node that leaves one of its links for another.
#[derive(Clone, Debug)]
pub(crate) struct MoveSpec {
    pub(crate) node: Spanned<String>,
    pub(crate) from: Spanned<String>,
    pub(crate) to: Spanned<String>,
    /// Where it says that its interfaces lose and get their carrier.
    pub(crate) carrier: Option<Spanned<()>>,
}

/// A link, or a part of it.
#[derive(Clone, Debug)]
pub(crate) struct PartSpec {
    pub(crate) link: Spanned<String>,
    pub(crate) direction: Option<Direction>,
    pub(crate) pipe: Option<Spanned<String>>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct RunSpec {
    pub(crate) on: Spanned<String>,
    pub(crate) name: Option<Spanned<String>>,
    pub(crate) command: Argv,
    pub(crate) after: Vec<Spanned<String>>,
    pub(crate) delay: Duration,
    pub(crate) ready: Option<Ready>,
    pub(crate) service: bool,
    pub(crate) once: bool,
    pub(crate) setup: bool,
    /// Whether it is a setup of its node, and not of the lab.
    pub(crate) of_node: bool,
    pub(crate) on_restart: Option<Spanned<OnRestart>>,
    pub(crate) stop: Option<Duration>,
    pub(crate) save: Option<Spanned<String>>,
    pub(crate) stop_after: Option<Duration>,
    pub(crate) env: Vec<(String, String)>,
    pub(crate) may_fail: bool,
    pub(crate) user: Option<String>,
    pub(crate) folder: Option<PathBuf>,
    /// The key of its node from which it follows, if the lab file does not say it itself.
    pub(crate) key: Option<NodeKey>,
    /// The partition of the node that its output names.
    pub(crate) leads: Option<Box<PartitionSpec>>,
}
