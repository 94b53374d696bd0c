//! What a switch does.

use netloom_fabric::PortRole;
use netloom_units::{Duration, Rate};
use std::fmt;
use std::net::Ipv4Addr;

/// The settings of a switch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SwitchPlan {
    /// The ageing time: how long the switch remembers an address of which it does not hear any more.
    pub ageing: Duration,
    /// How many addresses it remembers at most.
    pub table: usize,
    /// Addresses that are always behind the port of this number, as its interfaces are numbered.
    pub fixed: Vec<([u8; 6], usize)>,
    /// The VLANs of each port; empty if it looks at no tags.
    pub vlans: Vec<VlansPlan>,
    /// Its part in a spanning tree, if it takes part in one.
    pub tree: Option<TreePlan>,
    /// The settings of multicast snooping, if the switch does it.
    pub snooping: Option<SnoopingPlan>,
}

/// The multicast snooping of a switch (RFC 4541).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SnoopingPlan {
    /// The settings of snooping, from the lab file or by default.
    pub settings: SnoopingSettings,
    /// The ports where a leaving member is taken to be the last, as its interfaces are numbered.
    pub fast_leave: Vec<usize>,
    /// The ports that are taken to lead to a router, in order: those that are given, and those behind which a transit router is,
    /// which says nothing of groups.
    pub routers: Vec<usize>,
}

/// The settings of a switch for multicast snooping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SnoopingSettings {
    /// The most groups that the switch knows.
    pub groups: usize,
    /// The query interval: how often hosts are asked which groups they want.
    pub interval: Duration,
    /// The query response interval: how long hosts may take to answer.
    pub response: Duration,
    /// The last member query interval: how long hosts may take to answer when another has left.
    pub last_member: Duration,
    /// The robustness variable: how often a message that may be lost is sent.
    pub robustness: u8,
    /// The settings of the switch as a querier, if it may be one.
    pub querier: Option<QuerierSettings>,
}

impl Default for SnoopingSettings {
    /// RFC 3376, section 8, and RFC 3810, section 9, which agree; as many groups as Linux's bridge has.
    fn default() -> Self {
        Self {
            groups: 4_096,
            interval: Duration::from_secs(125),
            response: Duration::from_secs(10),
            last_member: Duration::from_secs(1),
            robustness: 2,
            querier: Some(QuerierSettings::default()),
        }
    }
}

/// The settings of a switch as a querier, which asks hosts which groups they want.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuerierSettings {
    /// The address of IPv4 that its queries come from; none: one that is made of its hardware address.
    pub address: Option<Ipv4Addr>,
    /// The version of IGMP, 2 or 3.
    pub igmp: u8,
    /// The version of MLD, 1 or 2.
    pub mld: u8,
}

impl Default for QuerierSettings {
    fn default() -> Self {
        Self { address: None, igmp: 3, mld: 2 }
    }
}

/// A switch's part in a spanning tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreePlan {
    /// The settings of the switch in the tree, from the lab file or by default.
    pub settings: TreeSettings,
    /// Its ports.
    pub ports: Vec<TreePortPlan>,
}

/// The settings of a switch in a spanning tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TreeSettings {
    /// The bridge priority: the lower it is, the more likely the switch is the root.
    pub priority: u16,
    /// The hello time: how often the switch says what it knows.
    pub hello: Duration,
    /// The max age: for how long the root's word counts.
    pub max_age: Duration,
    /// The forward delay: how long ports wait where no neighbour answers.
    pub forward_delay: Duration,
}

impl Default for TreeSettings {
    /// IEEE 802.1D-2004, tables 17-1 and 17-2.
    fn default() -> Self {
        Self {
            priority: 32_768,
            hello: Duration::from_secs(2),
            max_age: Duration::from_secs(20),
            forward_delay: Duration::from_secs(15),
        }
    }
}

/// A port in a spanning tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TreePortPlan {
    /// The path cost of the port: what it costs to reach the root by it.
    pub cost: u32,
    /// Whether a node with a network stack is at the other end of its link.
    pub is_edge: bool,
    /// Whether a single other switch of the tree is at the other end of its link, or a node with a network stack.
    pub is_point_to_point: bool,
    /// The role of the port once the tree has converged, before anything is cut.
    pub role: PortRole,
}

impl TreePlan {
    /// The numbers of ports have 12 bits in the standard.
    pub(crate) const MOST_PORTS: usize = 4_095;

    /// IEEE 802.1D-2004, table 17-3: what a port costs at the rate of its link. A link without one is as the fastest there.
    pub(crate) fn cost(rate: Option<Rate>) -> u32 {
        const FASTEST: u64 = 10_000_000_000_000;
        let rate = rate.map_or(FASTEST, Rate::as_bits_per_second).max(1);
        u32::try_from((20_000_000_000_000 / rate).clamp(1, 200_000_000)).unwrap_or(u32::MAX)
    }
}

impl TreePortPlan {
    /// Whether the port forwards frames once the tree has converged.
    pub fn forwards(&self) -> bool {
        matches!(self.role, PortRole::Root | PortRole::Designated)
    }
}

/// The VLANs of a port of a switch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VlansPlan {
    /// The VLAN of frames without a tag; none: they are dropped.
    pub untagged: Option<u16>,
    /// The VLANs whose frames have a tag at this port.
    pub tagged: Vec<u16>,
}

impl fmt::Display for VlansPlan {
    /// `VLAN 10`, `trunk 20 30`, or both.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let untagged = self.untagged.map(|vlan| format!("VLAN {vlan}"));
        let tagged: Vec<String> = self.tagged.iter().map(ToString::to_string).collect();
        let trunk = (!tagged.is_empty()).then(|| format!("trunk {}", tagged.join(" ")));
        f.write_str(&[untagged, trunk].into_iter().flatten().collect::<Vec<_>>().join(", "))
    }
}

impl SwitchPlan {
    /// What is to be said of the port at this place.
    pub(crate) fn port(&self, place: usize) -> Option<String> {
        let vlans = self.vlans.get(place).map(ToString::to_string);
        let tree = self.tree.as_ref().map(|tree| format!("{} port", tree.ports[place].role.name()));
        let is_router = self.snooping.as_ref().is_some_and(|snooping| snooping.routers.contains(&place));
        let router = is_router.then(|| "router port".to_owned());
        let said: Vec<String> = vlans.into_iter().chain(tree).chain(router).collect();
        (!said.is_empty()).then(|| said.join(", "))
    }

    /// IEEE 802.1D-2004, table 7-5: the recommended ageing time.
    pub(crate) const AGEING: Duration = Duration::from_secs(300);
    /// As many as switches for offices have.
    pub(crate) const TABLE: usize = 8_192;
}
