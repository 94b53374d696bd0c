//! The events of the timeline as they are written: names instead of places.

use crate::diagnostics::Spanned;
use crate::plan::{Argv, Direction, Disturbance, NodeKey, Ready};
use netloom_link::PipeChange;
use netloom_units::Duration;
use std::path::PathBuf;

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
        link: Spanned<String>,
        direction: Option<Direction>,
        pipe: Option<Spanned<String>>,
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
    /// Programs are ended or held: those of commands, or of nodes.
    Disturb {
        how: Disturbance,
        whose: Vec<Spanned<String>>,
        duration: Option<Duration>,
    },
    /// The programs of nodes are killed, and all links at them are cut.
    Reboot {
        nodes: Vec<Spanned<String>>,
        duration: Duration,
    },
    /// Nodes are stopped.
    Stop {
        nodes: Vec<Spanned<String>>,
        duration: Option<Duration>,
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
    Partition {
        groups: Spanned<Vec<Vec<Spanned<String>>>>,
        duration: Option<Duration>,
    },
    Heal {
        place: Spanned<()>,
    },
    Move(Box<MoveSpec>),
}

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
    pub(crate) stop: Option<Duration>,
    pub(crate) save: Option<Spanned<String>>,
    pub(crate) stop_after: Option<Duration>,
    pub(crate) env: Vec<(String, String)>,
    pub(crate) may_fail: bool,
    pub(crate) user: Option<String>,
    pub(crate) folder: Option<PathBuf>,
    /// The key of its node from which it follows, if the lab file does not say it itself.
    pub(crate) key: Option<NodeKey>,
}
