//! The rapid spanning tree of a switch: IEEE 802.1D-2004, clause 17.
//!
//! Bridges tell one another who is the root, and how far it is, and let only those ports forward that lead to it or away
//! from it by the best way; so frames go round in no loop. The state machines are the standard's and stand in their order there:
//! [`port`] has those of a single port, [`roles`] those that look at all of them. Where the standard counts timers down once a
//! second, these run down at computed instants; ports begin and end to learn and to forward at once.

mod bpdu;
mod port;
mod roles;
mod vector;

pub(crate) use bpdu::GROUP;

use alloc::vec::Vec;
use bpdu::Bpdu;
use netloom_units::{Duration, Instant};
use port::Port;
use vector::{BridgeId, Times, Vector, units};

/// The spanning tree of a switch: its part of it.
#[derive(Clone, Debug)]
pub struct TreeSpec {
    /// The lower, the more likely it is the root; a multiple of 4,096.
    pub priority: u16,
    /// The address that tells it from others of its priority.
    pub address: [u8; 6],
    /// How often it says what it knows; whole seconds, as the others.
    pub hello: Duration,
    /// How long what the root said counts: a second for each bridge passed.
    pub max_age: Duration,
    /// How long ports listen and learn before they forward where no neighbour answers.
    pub forward_delay: Duration,
    /// Its ports, in the order of those of the switch; 4,095 at most.
    pub ports: Vec<TreePort>,
}

/// A port in a spanning tree.
#[derive(Clone, Copy, Debug)]
pub struct TreePort {
    /// The address from which the port sends.
    pub mac: [u8; 6],
    /// The path cost of the port: what it adds to the cost of the way to the root.
    pub cost: u32,
    /// Whether the port is an edge port: there is taken to be no bridge until one is heard.
    pub is_edge: bool,
    /// Whether the port's link is point-to-point: there is at most one other bridge.
    pub is_point_to_point: bool,
}

/// The role of a port in a spanning tree (section 17.7).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PortRole {
    /// The role of a port whose link is down.
    #[default]
    Disabled,
    /// The role of the port with the best way to the root.
    Root,
    /// The role of the port that is the way to the root for all on its link.
    Designated,
    /// The role of a port with another way to the root, not taken.
    Alternate,
    /// The role of a port with another way to a link for which another port of this switch is designated.
    Backup,
}

impl PortRole {
    /// Returns the standard's word for the role.
    pub fn name(self) -> &'static str {
        match self {
            Self::Disabled => "disabled",
            Self::Root => "root",
            Self::Designated => "designated",
            Self::Alternate => "alternate",
            Self::Backup => "backup",
        }
    }
}

impl PortState {
    /// Returns the standard's word for the state.
    pub fn name(self) -> &'static str {
        match self {
            Self::Discarding => "discarding",
            Self::Learning => "learning",
            Self::Forwarding => "forwarding",
        }
    }
}

/// The state of a port in a spanning tree: what it does with frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PortState {
    /// The port takes and sends no frames, and learns no addresses.
    #[default]
    Discarding,
    /// The port learns source addresses, but takes and sends no frames.
    Learning,
    /// The port takes and sends frames, and learns source addresses.
    Forwarding,
}

/// A port's part in a spanning tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PortTree {
    /// The role of the port.
    pub role: PortRole,
    /// The state of the port.
    pub state: PortState,
    /// The number of changes of the port's state.
    pub changes: u64,
    /// When the port's state changed last.
    pub last_change: Option<Instant>,
    /// How often the port forgot its addresses because the tree had changed elsewhere.
    pub topology_changes: u64,
}

/// The machines of a bridge take so many steps at an instant, at most; what is left goes on with the next hello.
const MOST_STEPS: usize = 10_000;

/// See the module.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    id: BridgeId,
    times: Times,
    ports: Vec<Port>,
    macs: Vec<[u8; 6]>,
    root: Vector,
    root_times: Times,
    /// Its place; none: this is the root.
    root_port: Option<usize>,
    /// When something happens by itself next.
    due: Option<Instant>,
}

/// What follows for a switch from what happened to its tree.
#[derive(Clone, Debug, Default)]
pub(super) struct Outcome {
    /// What is sent, each at the port of this place.
    pub(super) sent: Vec<(usize, Vec<u8>)>,
    /// The ports at which everything learned is to be forgotten.
    pub(super) forget: Vec<usize>,
    /// Whether other ports than before forward.
    pub(super) is_new: bool,
}

impl Outcome {
    /// More follows at the same instant.
    pub(super) fn extend(&mut self, then: Self) {
        self.sent.extend(then.sent);
        self.forget.extend(then.forget);
        self.is_new |= then.is_new;
    }
}

impl Tree {
    pub(super) fn new(spec: &TreeSpec) -> Self {
        let id = BridgeId::new(spec.priority, spec.address);
        let times = Times {
            age: 0,
            max_age: units(spec.max_age),
            hello: units(spec.hello),
            forward_delay: units(spec.forward_delay),
        };
        Self {
            id,
            times,
            ports: spec.ports.iter().enumerate().map(|(place, port)| Port::new(place, port)).collect(),
            macs: spec.ports.iter().map(|port| port.mac).collect(),
            root: Vector::default(),
            root_times: times,
            root_port: None,
            due: Some(Instant::ZERO),
        }
    }

    pub(super) fn due(&self) -> Option<Instant> {
        self.due
    }

    /// Whether frames are taken and sent at the port at this place.
    #[inline]
    pub(super) fn forwards(&self, place: usize) -> bool {
        self.ports[place].forward
    }

    /// Whether addresses are learned there.
    #[inline]
    pub(super) fn learns(&self, place: usize) -> bool {
        self.ports[place].learn
    }

    pub(super) fn status(&self, place: usize) -> PortTree {
        self.ports[place].status
    }

    /// A frame for bridges comes in; none if it says nothing that counts.
    pub(super) fn hear(&mut self, now: Instant, place: usize, frame: &[u8]) -> Option<Outcome> {
        let bpdu = Bpdu::read(frame)?;
        self.ports[place].hear(now, &bpdu);
        Some(self.run(now))
    }

    /// The link of a port goes down or comes up.
    pub(super) fn carry(&mut self, now: Instant, place: usize, is_up: bool) -> Outcome {
        if self.ports[place].is_enabled != is_up {
            self.ports[place].enable(now, is_up);
        }
        self.run(now)
    }

    /// Lets all machines run until nothing changes any more at `now`.
    pub(super) fn run(&mut self, now: Instant) -> Outcome {
        let mut outcome = Outcome::default();
        for _ in 0..MOST_STEPS {
            if !self.step(now) {
                break;
            }
        }
        for (place, port) in self.ports.iter_mut().enumerate() {
            outcome.sent.extend(port.transmit(now).map(|bpdu| (place, bpdu.frame(self.macs[place]))));
            outcome.is_new |= port.note_state(now);
            if core::mem::take(&mut port.flush) {
                outcome.forget.push(place);
            }
        }
        self.due = self.ports.iter().filter_map(|port| port.due(now)).min();
        outcome
    }

    fn step(&mut self, now: Instant) -> bool {
        let mut is_new = false;
        for port in &mut self.ports {
            is_new |= port.inform(now);
        }
        is_new |= self.select_roles();
        for place in 0..self.ports.len() {
            is_new |= self.act_on_role(now, place);
            is_new |= self.mind_changes(now, place);
        }
        is_new
    }
}

impl Port {
    /// Writes down what it does by now; whether that is something else than before.
    fn note_state(&mut self, now: Instant) -> bool {
        let state = match (self.learn, self.forward) {
            (false, _) => PortState::Discarding,
            (true, false) => PortState::Learning,
            (true, true) => PortState::Forwarding,
        };
        let is_new = state != self.status.state;
        if is_new {
            self.status.changes += 1;
            self.status.last_change = Some(now);
        }
        (self.status.role, self.status.state) = (self.role, state);
        is_new
    }
}
