//! Every key of a lab file, in one place: the decoder accepts these and no others, and the JSON schema is made of them.

mod container;
mod daemons;
mod exercise;
mod files;
mod kinds;
mod measure;
mod multicast;
mod network;
mod node;
mod rules;
mod services;
mod snooping;
mod timeline;
mod top;
mod vm;

pub(crate) use container::CONTAINER;
pub(crate) use daemons::{CONVERGED, DAEMON_FILE};
pub(crate) use exercise::{EXERCISE, MOST_LINES, MOST_TASKS, TASK};
pub(crate) use files::FILE;
pub use kinds::WITHHELD;
pub(crate) use kinds::{DURATION, DURATION_OR_ZERO, SHARE_OR_ZERO};
pub(crate) use measure::{MEASURE, NODE_MEASURE};
pub(crate) use multicast::MULTICAST;
pub(crate) use network::{ADDRESSING, DIRECTION, END, LINK, SETTINGS, TREATMENT, VLANS};
pub(crate) use node::{CPU, NODE, STP};
pub(crate) use rules::RULE;
pub(crate) use services::{DHCP, DNS, FORWARD, IPTABLES, NAT};
pub(crate) use snooping::{QUERIER, SNOOPING};
pub(crate) use timeline::{
    CUT, DOWN, DRAWN, FLAP_ENTRY, HEAL, KILL, LOG, MOST_TIMES, MOVE, PARTITION, PAUSE, RAMP, RAMP_ENTRY, READY, REBOOT,
    RESTART, RUN, SET, SETUP, START_ENTRY, STOP_ENTRY, UP,
};
pub(crate) use top::{BOUNDS, CLOCK, TOP};
pub(crate) use vm::VM;

/// A group of keys that stand together.
pub(crate) struct Section {
    /// Its name in the schema.
    pub(crate) name: &'static str,
    /// What it describes.
    pub(crate) doc: &'static str,
    /// Its keys, in groups that sections may share.
    pub(crate) groups: &'static [&'static [Key]],
}

impl Section {
    /// All its keys.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &'static Key> + use<> {
        self.groups.iter().copied().flatten()
    }
}

/// A key.
pub(crate) struct Key {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    /// A value as the lab file would have it.
    pub(crate) example: &'static str,
    /// What it is for, with unit, range and default.
    pub(crate) doc: &'static str,
    pub(crate) required: bool,
}

impl Key {
    pub(crate) const fn new(name: &'static str, kind: Kind, example: &'static str, doc: &'static str) -> Self {
        Self { name, kind, example, doc, required: false }
    }

    pub(crate) const fn required(mut self) -> Self {
        self.required = true;
        self
    }
}

/// What a key accepts.
pub(crate) enum Kind {
    /// A text that matches a regular expression.
    Text(&'static str),
    /// Any value.
    Any,
    /// Any text, number or truth value, taken as text.
    Scalar,
    /// A whole number.
    Integer { least: u64, most: u64 },
    /// A number above zero.
    Positive,
    /// A number of either sign.
    Coordinate,
    /// A number, with or without decimals.
    Number { least: u64, most: u64 },
    /// `true` or `false`.
    Flag,
    /// `true` and nothing else.
    True,
    /// One of these words.
    Word(&'static [&'static str]),
    /// A number with a unit.
    Quantity(Quantity),
    /// The bare number zero: zero is zero in every unit.
    Zero,
    /// A group of keys.
    Section(&'static Section),
    /// The same, or nothing at all.
    Optional(&'static Section),
    /// Names, each with a value.
    Map { names: &'static str, values: &'static Kind },
    /// A list of so many items.
    List { items: &'static Kind, least: u64, most: Option<u64> },
    /// One of these.
    OneOf(&'static [Kind]),
}

/// A kind of quantity.
#[derive(Clone, Copy)]
pub(crate) enum Quantity {
    Rate,
    Duration,
    TimePerByte,
    Probability,
    Size,
    Limit,
}

impl Quantity {
    /// Its units, as a regular expression.
    pub(crate) fn units(self) -> &'static str {
        match self {
            Self::Rate => "([kMGT]?bit|[kMG]?B)/s",
            Self::Duration => "(ns|us|µs|ms|s|min|h)",
            Self::TimePerByte => "(ps|ns|us|µs)",
            Self::Probability => "%",
            Self::Size => "([kMG]?B|[KMG]iB)",
            Self::Limit => "(packets?|[kMG]?B|[KMG]iB|ns|us|µs|ms|s|min|h)",
        }
    }
}

pub(crate) const NODE_NAME: &str = "^[a-zA-Z][a-zA-Z0-9-]{0,30}$";
/// A node's name, or a pattern of them.
pub(crate) const NODES_NAME: &str = "^[a-zA-Z*][a-zA-Z0-9*-]{0,30}$";
pub(crate) const LINK_NAME: &str = "^[a-zA-Z][a-zA-Z0-9_-]{0,30}$";
pub(crate) const COMMAND_NAME: &str = "^[a-zA-Z][a-zA-Z0-9_-]{0,62}$";
pub(crate) const USER_NAME: &str = "^[a-zA-Z0-9_][a-zA-Z0-9_.-]{0,31}$";
pub(crate) const VARIABLE_NAME: &str = "^[a-zA-Z_][a-zA-Z0-9_]*$";
pub(crate) const SYSCTL_NAME: &str = "^net[./][a-zA-Z0-9_./-]+$";
pub(crate) const PORT: &str = "^[1-9][0-9]{0,4}(/udp)?$";
pub(crate) const CONGESTION_NAME: &str = "^[a-z0-9_]{1,15}$";
pub(crate) const MAC: &str = "^[0-9a-fA-F]{2}(:[0-9a-fA-F]{2}){5}$";
pub(crate) const ADDRESS: &str = "^[0-9a-fA-F.:]+/[0-9]{1,3}$";
