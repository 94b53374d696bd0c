//! The faults of nodes, of single packets and of name servers that `netloom hunt` draws.

use super::{Keep, Signal};
use crate::words::words;
use netloom_link::DnsFault;
use netloom_units::{Bytes, Drift, Duration};

/// A kind of fault of nodes, with what it is drawn from.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeFaults {
    /// The nodes, as places in the plan.
    pub nodes: Vec<usize>,
    /// How many nodes have it at once, at most; none: as many as may be faulty.
    pub most: Option<usize>,
    /// The least and the longest time that it lasts; none: as for all faults.
    pub lasts: Option<[Duration; 2]>,
    /// The fault.
    pub fault: NodeFault,
}

/// A fault of a node.
#[derive(Clone, Debug, PartialEq)]
pub enum NodeFault {
    /// Its programs are held for a while.
    Pause,
    /// Its kernel stands still for a while.
    Freeze,
    /// Its clock is wrong for a while.
    Clock(ClockFaults),
    /// Its programs may use little for a while.
    Limit(LimitFaults),
    /// Its disk serves it badly for a while.
    Disk(Vec<BadDisk>),
    /// Its programs get one of these signals.
    Signal(Vec<Signal>),
    /// Its programs are killed, and services start again after a while.
    Kill,
    /// The node is rebooted.
    Reboot,
    /// The node crashes, and boots again after a while; one of these is on its disk.
    Crash(Vec<Keep>),
}

impl NodeFault {
    /// Returns the name of the kind in lab files.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Pause => "pause",
            Self::Freeze => "freeze",
            Self::Clock(_) => "clock",
            Self::Limit(_) => "limit",
            Self::Disk(_) => "disk",
            Self::Signal(_) => "signal",
            Self::Kill => "kill",
            Self::Reboot => "reboot",
            Self::Crash(_) => "crash",
        }
    }
}

/// The errors of a clock, each the largest in both directions; none: it does not happen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClockFaults {
    /// By how much it is set at the instant.
    pub step: Option<Duration>,
    /// By how much it is wrong from time zero on.
    pub skew: Option<Duration>,
    /// How much faster or slower than lab time it runs, as a positive drift.
    pub drift: Option<Drift>,
}

/// The limits of programs: of each kind the least and the most; none: it does not happen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LimitFaults {
    /// The memory of all processes together.
    pub memory: Option<[Bytes; 2]>,
    /// The number of processes and threads.
    pub pids: Option<[u64; 2]>,
    /// The number of descriptors of each process.
    pub fds: Option<[u64; 2]>,
}

words! {
    /// A way in which a disk serves its node badly.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum BadDisk {
        /// There is no space left on it.
        Full = "full",
    }
}

/// The treatment of single packets of a link.
#[derive(Clone, Debug, PartialEq)]
pub struct SinglePackets<L = Vec<usize>> {
    /// The links, as places in the plan.
    pub links: L,
    /// The filter of the packets, as a lab file has it; none: all packets.
    pub matching: Option<String>,
    /// The treatments, one of which is drawn for each.
    pub treatments: Vec<SingleTreatment>,
    /// How long a packet is held, at least and at most.
    pub hold: [Duration; 2],
}

words! {
    /// The treatment of a single packet.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum SingleTreatment {
        /// The packet is held for a while.
        Hold = "hold",
        /// The packet is dropped.
        Drop = "drop",
        /// The packet comes twice.
        Duplicate = "duplicate",
        /// One of its bits is flipped.
        Corrupt = "corrupt",
    }
}

/// How name servers fail, as those who ask over a link see it.
#[derive(Clone, Debug, PartialEq)]
pub struct NameFaults<L = Vec<usize>> {
    /// The links, as places in the plan.
    pub links: L,
    /// The names, of which one is drawn for each; empty: all names at once.
    pub questions: Vec<Box<str>>,
    /// The ways, one of which is drawn for each.
    pub ways: Vec<DnsFault>,
}
