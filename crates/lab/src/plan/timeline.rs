//! What happens while a lab runs.

use super::Direction;
use netloom_link::PipeChange;
use netloom_units::Duration;
use std::fmt;
use std::path::PathBuf;

/// An entry of the timeline.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Its line in the lab file.
    pub line: usize,
    /// When, after time zero. None: a service starts before time zero, all others at it.
    pub at: Option<Duration>,
    /// What happens.
    pub action: Action,
}

/// What can happen.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// A program is started.
    Run(RunCommand),
    /// A link is changed.
    Set {
        /// The link's place in the plan.
        link: usize,
        /// The direction; none: both.
        direction: Option<Direction>,
        /// The further pipe of this name; none: the link's own.
        pipe: Option<String>,
        /// What is changed.
        change: Box<PipeChange>,
    },
    /// A link is cut.
    Down {
        /// The link's place in the plan.
        link: usize,
        /// For how long; none: until `up`.
        duration: Option<Duration>,
    },
    /// A link is joined again.
    Up {
        /// The link's place in the plan.
        link: usize,
    },
}

/// A program of the timeline.
#[derive(Clone, Debug, PartialEq)]
pub struct RunCommand {
    /// Its name, unique in the lab: `as`, or made from the program's.
    pub name: String,
    /// The node's place in the plan.
    pub node: usize,
    /// What to run.
    pub command: Argv,
    /// When it can be used by others.
    pub ready: Option<Ready>,
    /// Whether it is there for the others: the run does not wait for its end, and stops it.
    pub service: bool,
    /// A file in the results folder that gets a copy of its standard output.
    pub save: Option<String>,
    /// It is stopped when it has run for so long (`for`); not a failure.
    pub stop_after: Option<Duration>,
    /// Its environment, beside the node's.
    pub env: Vec<(String, String)>,
    /// Whether a failure of it is none of the run.
    pub may_fail: bool,
    /// The user that it runs as, by name or number; none: the node's root.
    pub user: Option<String>,
    /// The folder that it starts in; none: the one that Netloom was started in.
    pub folder: Option<PathBuf>,
}

/// A command as the lab file has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Argv {
    /// Text for `/bin/sh -c`.
    Shell(String),
    /// A program and its arguments; not empty.
    Exec(Vec<String>),
}

impl fmt::Display for Argv {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Shell(text) => f.pad(text.trim_end()),
            Self::Exec(words) => f.pad(&words.join(" ")),
        }
    }
}

/// When a service can be used.
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
    /// A file exists.
    File(String),
    /// A command, run in the node, exits with 0.
    Command(Argv),
    /// This time has passed.
    Pause(Duration),
}
