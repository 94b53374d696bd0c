//! What is known of the programs of a lab and of the nodes that they run in.

use super::processes::Processes;
use netloom_commands::Command;
use netloom_control::ClientId;
use netloom_guest::disk::JournalEntry;
use netloom_judge::ExitCode;
use netloom_provision::exposed::PortForwards;
use netloom_provision::hosts::HostsFiles;
use netloom_provision::node::LabNode;
use netloom_provision::reboots::{Booting, Reboots};
use netloom_units::{Drift, Duration, Instant, SignedDuration};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::io::{PipeReader, PipeWriter};
use std::path::PathBuf;

/// The programs of a lab, and the nodes that they run in.
pub(crate) struct Programs {
    pub(crate) nodes: Vec<Box<dyn LabNode>>,
    /// The nodes that have died.
    pub(crate) gone: BTreeSet<usize>,
    /// The nodes among them that have crashed as the timeline says, and the means to boot their kernels anew.
    pub(super) crashed: BTreeSet<usize>,
    /// The same, whether they have booted since or not.
    pub(crate) ever_crashed: BTreeSet<usize>,
    pub(super) reboots: Option<Reboots>,
    /// The nodes that have crashed and boot once more, so that they pack.
    pub(super) boot_to_pack: BTreeSet<usize>,
    /// Why those do not boot that were to pack.
    pub(super) unbootable: BTreeMap<usize, String>,
    /// The nodes that stand still, and when they go on.
    pub(crate) frozen: BTreeMap<usize, Instant>,
    /// By what the nodes were stopped that have stopped, or crashed.
    pub(crate) away_by: BTreeMap<usize, usize>,
    /// How wrong clocks of nodes are that run at another speed.
    pub(super) drifts: BTreeMap<usize, Drifting>,
    /// The nodes whose kernels have booted anew, and whose links are to be joined.
    pub(super) booted: Vec<usize>,
    /// The requests to disks that were noted, as far as they were taken over: when they came, and to the disk of which node.
    pub(super) noted: Vec<(Instant, usize, JournalEntry)>,
    pub(crate) commands: Vec<Command>,
    /// In what order they are asked to end.
    pub(super) ranks: Vec<(Option<Duration>, usize)>,
    /// Those that wait for others, by their numbers.
    pub(crate) waiting: Vec<usize>,
    pub(crate) processes: Processes,
    /// The entries of the timeline that have started processes: by node, and the process's number in it.
    pub(crate) owners: BTreeMap<(usize, u64), usize>,
    /// The same by the session that a node's own kernel knows.
    pub(crate) sessions: BTreeMap<(usize, u64), usize>,
    /// The clients whose programs have ended and who have not heard of it, with the exit codes.
    pub(super) ended_for: Vec<(ClientId, i32)>,
    /// The nodes that have stopped, or are about to stop or start.
    pub(super) changing: BTreeMap<usize, Change>,
    /// The clients whose nodes have done so, or could not, and who have not heard of it.
    pub(super) changed_for: Vec<(ClientId, Changed)>,
    /// The nodes that run again, and what starts with them.
    pub(super) returning: Vec<Returning>,
    /// What was to start in nodes that are about to stop.
    pub(super) deferred: BTreeSet<usize>,
    /// The faults of programs that kernels of nodes make, by the entry of the timeline: the node, and the number there.
    pub(super) program_faults: BTreeMap<usize, (usize, u64)>,
    /// What nodes pack at the end; none before.
    pub(super) packs: Option<Vec<Pack>>,
    /// What names mean in nodes.
    pub(super) hosts: HostsFiles,
    /// The ways from this machine into nodes.
    pub(crate) ways: PortForwards,
    /// Both ends of a pipe into which nobody writes.
    pub(super) silence: Option<(PipeReader, PipeWriter)>,
}

/// A clock that runs faster than lab time, or slower.
#[derive(Clone, Copy, Debug)]
pub(super) struct Drifting {
    pub(super) drift: Drift,
    /// Since when it runs so.
    pub(super) since: Instant,
    /// By how much it was fast then, because of drifts alone.
    pub(super) fast: SignedDuration,
}

/// A node that is not as usual.
#[derive(Debug)]
pub(super) struct Change {
    pub(super) step: Step,
    /// When to look at it next; none if there is nothing to wait for.
    pub(super) next_look: Option<Instant>,
    /// The clients that get an answer when it has stopped, or runs.
    pub(super) clients: Vec<ClientId>,
}

/// How far a node is that is not as usual.
#[derive(Debug)]
pub(super) enum Step {
    /// Its programs were asked to end, and those that still run then are killed.
    Ending { kill_at: Instant, killed: bool },
    /// It has stopped. What was to start in it meanwhile starts with it.
    Stopped { awaited: BTreeSet<usize> },
    /// Its kernel has crashed, and another boots.
    Booting { booting: Box<Booting>, awaited: BTreeSet<usize> },
    /// Its network is there, and its addresses will soon be.
    Starting { until: Instant, awaited: BTreeSet<usize> },
}

/// The answer to a client that wanted a node to stop or start: why it is not so, if it is not.
pub(crate) type Changed = Result<(), (ExitCode, String)>;

/// A node that runs again, and what starts with it.
#[derive(Debug)]
pub(super) struct Returning {
    pub(super) node: usize,
    /// The commands that have not succeeded yet.
    pub(super) awaited: Vec<usize>,
    pub(super) clients: Vec<ClientId>,
}

/// Something that a node packs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pack {
    pub(super) node: usize,
    /// What is sent to the program.
    pub(super) words: Vec<OsString>,
    /// Where the archive is written.
    pub(super) archive: PathBuf,
    /// What it is for.
    pub(super) end: End,
}

/// What an archive is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// Its files go into this folder of the results.
    Collected(PathBuf),
    /// It becomes this file, which the next run reads.
    Kept(PathBuf),
}
