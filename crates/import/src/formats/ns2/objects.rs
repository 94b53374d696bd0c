//! Objects of the simulator: agents, applications, links and their queues.

use crate::source::Place;
use netloom_units::Duration;
use std::collections::BTreeMap;

/// What a handle stands for.
#[derive(Clone, Debug)]
pub(super) enum Object {
    Simulator,
    Node(usize),
    /// A link, and a direction if it is one.
    Link(usize, Option<usize>),
    /// The queue of a direction.
    Queue(usize, Option<usize>),
    /// A LAN, which is a node.
    Lan(usize),
    /// A command of a node.
    Program(usize),
    /// Anything else, with its class and its variables.
    Other(Box<Other>),
}

/// An agent, an application, an error model, or whatever else has a class.
#[derive(Clone, Debug)]
pub(super) struct Other {
    pub(super) class: String,
    pub(super) variables: BTreeMap<String, String>,
    /// The node of an agent.
    pub(super) node: Option<usize>,
    /// The agent of an application, or the other end of an agent.
    pub(super) peer: Option<String>,
    pub(super) start: Option<Duration>,
    pub(super) stop: Option<Duration>,
    pub(super) place: Place,
}
