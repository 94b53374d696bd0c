//! What the ports of switches have counted.

use super::snooping::SnoopingRow;
use netloom_fabric::{PortTree, SwitchState};
use netloom_lab::{InterfacePlan, NodeKind, NodePlan, Plan};
use netloom_units::Instant;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A switch's counters at one of its ports since time zero; those of addresses and of `tree` count since the lab began. The segments of a
/// train are frames of their own.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SwitchRow {
    /// The name of the switch.
    pub node: String,
    /// The name of the port.
    pub interface: String,
    /// The name of the port's link.
    pub link: String,
    /// Frames that came in at this port.
    pub received_frames: u64,
    /// Frames that went out at this port.
    pub sent_frames: u64,
    /// Frames that came in at this port and went out at all other ports.
    pub flooded_frames: u64,
    /// Frames that came in at this port and were dropped because their destination is behind this very port.
    pub filtered_frames: u64,
    /// Frames that came in at this port and were dropped because they were for bridges themselves.
    pub reserved_frames: u64,
    /// Frames that came in at this port and were dropped because they were of a VLAN that is not carried here.
    pub foreign_frames: u64,
    /// Frames that came in at this port and were dropped because they were shorter than an Ethernet header, or came from no address or from
    /// that of a group.
    pub malformed_frames: u64,
    /// Frames that were to go out at this port and were dropped because they were larger than the MTU of its link.
    pub too_big_frames: u64,
    /// Addresses that were learned at this port.
    pub learned_addresses: u64,
    /// Addresses that were learned at this port and were behind another port before.
    pub moved_addresses: u64,
    /// How often an address was not learned at this port because the table was full.
    pub unlearned_addresses: u64,
    /// Frames that came in at this port and were dropped because the spanning tree does not let this port forward, or the one where they
    /// would leave.
    pub blocked_frames: u64,
    /// Messages of the spanning tree (BPDUs) that came in at this port.
    pub received_bpdus: u64,
    /// Messages of the spanning tree (BPDUs) that came in at this port and were ignored because they were malformed or of an unknown kind.
    pub malformed_bpdus: u64,
    /// Messages of the spanning tree (BPDUs) that went out at this port.
    pub sent_bpdus: u64,
    /// The port's part in the spanning tree; absent if the switch takes part in none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<TreeRow>,
    /// The port's counters of multicast snooping; absent if the switch does not look at groups.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snooping: Option<SnoopingRow>,
}

/// A port's part in a spanning tree, as last known.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TreeRow {
    /// The port's role: root, designated, alternate, backup or disabled.
    pub role: String,
    /// The port's state: discarding, learning or forwarding.
    pub state: String,
    /// The number of changes of the port's state.
    pub state_changes: u64,
    /// When the port's state changed last, in nanoseconds of lab time since the lab's clock began; null if it never did.
    pub last_change_ns: Option<u64>,
    /// How often the port forgot its addresses because the tree had changed elsewhere.
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
