//! What happens while a lab runs.

use super::{Direction, Plan};
use crate::words::words;
use ipnet::IpNet;
use netloom_link::PipeChange;
use netloom_units::Duration;
use std::fmt;
use std::path::PathBuf;

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
    /// Nothing happens; the instant gets a mark with this text.
    Log(String),
    /// Programs that run are ended, or held.
    Disturb {
        /// The signal or request that the programs get.
        how: Disturbance,
        /// The command or node whose programs are meant.
        whose: Whose,
        /// The time after which the programs go on, or start again; none: a restart does when they have ended, and nothing else does.
        duration: Option<Duration>,
    },
}

words! {
    /// A way in which running programs are ended or held.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Disturbance {
        /// The programs get SIGKILL.
        Kill = "kill",
        /// The programs are held by SIGSTOP.
        Pause = "pause",
        /// The programs are asked to end, and start again.
        Restart = "restart",
        /// The programs are asked to end, and so is all that their node does.
        Stop = "stop",
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

    /// Returns the part of a link that this entry of the timeline cuts or restores, if it does.
    pub fn switched(&self, event: usize) -> Option<&LinkPart> {
        match &self.timeline[event].action {
            Action::Down { part, .. } | Action::Up { part } => Some(part),
            Action::Run(_) | Action::Set { .. } | Action::Log(_) | Action::Disturb { .. } => None,
        }
    }

    /// Whether this entry of the timeline starts before time zero: what makes the lab ready, and services that have no time
    /// and wait for nothing that comes later.
    pub fn starts_before_zero(&self, event: usize) -> bool {
        let Event { at: None, action: Action::Run(run), .. } = &self.timeline[event] else { return false };
        run.setup || run.service && run.after.iter().all(|other| self.starts_before_zero(*other))
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
