//! What the ports of switches have counted.

use super::snooping::SnoopingRow;
use netloom_fabric::{PortTree, SwitchState};
use netloom_lab::{InterfacePlan, NodeKind, NodePlan, Plan};
use netloom_units::Instant;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a switch did at one of its ports since time zero. The segments of a train are frames of their own.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SwitchRow {
    /// The switch.
    pub node: String,
    /// The port.
    pub interface: String,
    /// Its link.
    pub link: String,
    /// Came in here.
    pub received_frames: u64,
    /// Went out here.
    pub sent_frames: u64,
    /// Of those that came in: went out at all other ports.
    pub flooded_frames: u64,
    /// Of those that came in: dropped because they were for somebody behind this very port.
    pub filtered_frames: u64,
    /// Of those that came in: dropped because they were for bridges themselves.
    pub reserved_frames: u64,
    /// Of those that came in: dropped because they were of a VLAN that is not carried here.
    pub foreign_frames: u64,
    /// Of those that came in: dropped because they were no frames.
    pub malformed_frames: u64,
    /// Dropped because the link here carries only smaller ones.
    pub too_big_frames: u64,
    /// Addresses that were learned here.
    pub learned_addresses: u64,
    /// Of these: were behind another port before.
    pub moved_addresses: u64,
    /// How often an address was not learned here, since the table was full.
    pub unlearned_addresses: u64,
    /// Of those that came in: dropped because the spanning tree does not let them through.
    pub blocked_frames: u64,
    /// Of those that came in: messages of the spanning tree.
    pub received_bpdus: u64,
    /// Of these: nothing that counts.
    pub malformed_bpdus: u64,
    /// Of those that went out: messages of the spanning tree.
    pub sent_bpdus: u64,
    /// The port's part in the spanning tree, if the switch takes part in one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<TreeRow>,
    /// What it did with groups of multicast, if the switch looks at them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snooping: Option<SnoopingRow>,
}

/// A port's part in a spanning tree, in the end.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TreeRow {
    /// What it is for: root, designated, alternate, backup or disabled.
    pub role: String,
    /// What it does: discarding, learning or forwarding.
    pub state: String,
    /// How often that has changed.
    pub state_changes: u64,
    /// When it changed last, since the lab's clock began.
    pub last_change_ns: Option<u64>,
    /// How often it forgot its addresses because the tree had changed elsewhere.
    pub topology_changes: u64,
}

impl From<PortTree> for TreeRow {
    fn from(port: PortTree) -> Self {
        Self {
            role: port.role.name().to_owned(),
            state: port.state.name().to_owned(),
            state_changes: port.changes,
            last_change_ns: port.last_change.map(Instant::as_nanos),
            topology_changes: port.topology_changes,
        }
    }
}

impl SwitchRow {
    /// Returns a row for every port of every switch of a plan: what it has counted and knows at `now`, as the engine reports it. Bridges of the
    /// kernel are left out, since the engine knows nothing of them.
    pub fn of_plan(plan: &Plan, now: Instant, states: &[SwitchState]) -> Vec<Self> {
        let switches = plan.nodes.iter().filter(|node| node.kind == NodeKind::Switch).zip(states);
        let switches = switches.filter(|(node, _)| !plan.is_bridge(node));
        let row = |node: &NodePlan, (place, port): (usize, &InterfacePlan), state: &SwitchState| {
            let own = Self::new(now, place, state);
            let link = plan.links[port.end.link()].name.clone();
            Self { node: node.name.clone(), interface: port.name.clone(), link, ..own }
        };
        let of_switch = |(node, state): (&NodePlan, &SwitchState)| {
            let ports = node.interfaces.iter().enumerate().take(state.ports.len());
            ports.map(|port| row(node, port, state)).collect::<Vec<_>>()
        };
        switches.flat_map(of_switch).collect()
    }

    /// The row of the port at this place, without names.
    fn new(now: Instant, place: usize, state: &SwitchState) -> Self {
        let counted = &state.ports[place];
        Self {
            node: String::new(),
            interface: String::new(),
            link: String::new(),
            received_frames: counted.received,
            sent_frames: counted.sent,
            flooded_frames: counted.flooded,
            filtered_frames: counted.filtered,
            reserved_frames: counted.reserved,
            foreign_frames: counted.foreign,
            malformed_frames: counted.malformed,
            too_big_frames: counted.too_big,
            learned_addresses: counted.learned,
            moved_addresses: counted.moved,
            unlearned_addresses: counted.unlearned,
            blocked_frames: counted.blocked,
            received_bpdus: counted.received_bpdus,
            malformed_bpdus: counted.malformed_bpdus,
            sent_bpdus: counted.sent_bpdus,
            tree: counted.tree.map(TreeRow::from),
            snooping: counted.snooping.map(|own| SnoopingRow::new(now, place, &own, state)),
        }
    }

    /// Frames dropped for any cause.
    pub fn dropped_frames(&self) -> u64 {
        self.filtered_frames
            + self.reserved_frames
            + self.foreign_frames
            + self.malformed_frames
            + self.too_big_frames
            + self.blocked_frames
            + self.snooping.as_ref().map_or(0, SnoopingRow::dropped_frames)
    }
}
