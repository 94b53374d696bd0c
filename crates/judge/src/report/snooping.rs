//! What the ports of switches that look at groups of multicast have counted, and who is behind them.

use netloom_fabric::{Membership, SnoopingCounters, SwitchState};
use netloom_units::Instant;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// So many groups of a port are reported, at most: the first ones.
const MOST_GROUPS: usize = 100;

/// The counters of multicast snooping at one port of a switch since time zero, and the groups and routers behind the port as last known.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SnoopingRow {
    /// Reports of IGMP and MLD, leaves among them, that came in at this port.
    pub received_reports: u64,
    /// Queries of IGMP and MLD that came in at this port.
    pub received_queries: u64,
    /// Queries of the switch itself that went out at this port.
    pub sent_queries: u64,
    /// Messages of IGMP and MLD that came in at this port and were dropped because there was an error in them.
    pub malformed_messages: u64,
    /// Frames that came in at this port and were dropped because nobody had asked for their group.
    pub unasked_frames: u64,
    /// How often a group began to have members behind this port, since the lab began.
    pub joined_groups: u64,
    /// How often a group ceased to have members behind this port, since the lab began.
    pub left_groups: u64,
    /// How often a group was not noted at this port because there was no room, since the lab began.
    pub unlearned_groups: u64,
    /// The number of groups that have members behind this port.
    pub known_groups: u64,
    /// The first hundred of the groups that have members behind this port.
    pub groups: Vec<GroupRow>,
    /// Whether a router is behind this port, in any VLAN, so that all multicast goes there.
    pub is_router_port: bool,
    /// The addresses of the elected queriers that are behind this port.
    pub queriers: Vec<String>,
}

/// A group with members behind a port.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GroupRow {
    /// The VLAN, if the switch looks at tags.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vlan: Option<u16>,
    /// Its address.
    pub group: String,
    /// For how long it is remembered from then on, unless a member reports again.
    pub remaining_ns: u64,
}

impl SnoopingRow {
    /// The row of the port at this place of a switch, which was so at `now`.
    pub(crate) fn new(now: Instant, place: usize, counted: &SnoopingCounters, state: &SwitchState) -> Self {
        let groups = || state.members.iter().filter(|member| member.place == place);
        let routers = || state.routers.iter().filter(|router| router.place == place);
        let known_groups = groups().count() as u64;
        let group = |member: &Membership| GroupRow {
            vlan: member.vlan,
            group: member.group.to_string(),
            remaining_ns: member.until.since(now).as_nanos(),
        };
        Self {
            received_reports: counted.reports,
            received_queries: counted.queries,
            sent_queries: counted.sent_queries,
            malformed_messages: counted.malformed,
            unasked_frames: counted.unasked,
            joined_groups: counted.joined,
            left_groups: counted.joined.saturating_sub(known_groups),
            unlearned_groups: counted.unlearned,
            known_groups,
            groups: groups().take(MOST_GROUPS).map(group).collect(),
            is_router_port: routers().next().is_some(),
            queriers: routers().filter_map(|router| router.querier).map(|querier| querier.to_string()).collect(),
        }
    }

    /// Frames dropped for any cause.
    pub(crate) fn dropped_frames(&self) -> u64 {
        self.malformed_messages + self.unasked_frames
    }
}
