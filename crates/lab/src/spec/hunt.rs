//! A hunt as it is written: names instead of places.

use crate::diagnostics::Spanned;
use crate::plan::{Argv, FaultShape, FaultTreatment, NameFaults, NodeFault, PacketFaults, SinglePackets};
use netloom_units::Duration;

/// Names or patterns of names; none: the usual ones.
pub(crate) type Among = Option<Vec<Spanned<String>>>;

/// A kind of fault.
#[derive(Debug)]
pub(crate) enum FaultSpec {
    Packet(SinglePackets<Among>),
    Packets(PacketFaults<Among>),
    Dns(NameFaults<Among>),
    Cut(Among),
    Reset(Among),
    Partition { nodes: Among, shapes: Vec<Spanned<FaultShape>>, treatments: Vec<FaultTreatment> },
    Node(NodesSpec, NodeFault),
}

/// The nodes that a fault is about.
#[derive(Debug)]
pub(crate) struct NodesSpec {
    pub(crate) place: Spanned<()>,
    pub(crate) nodes: Among,
    /// How many have it at once, at most.
    pub(crate) most: Option<usize>,
    /// How long it lasts, at least and at most.
    pub(crate) lasts: Option<[Duration; 2]>,
    /// Where it says what a crash leaves on disks.
    pub(crate) keep: Option<Spanned<()>>,
}

/// How a property is judged.
#[derive(Debug)]
pub(crate) enum TestSpec {
    /// A text, which has to be read.
    Text(Spanned<String>),
    /// A command, and its text.
    Command(Argv, Spanned<String>),
}
