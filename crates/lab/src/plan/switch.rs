//! What a switch does.

use netloom_units::Duration;
use std::fmt;

/// The settings of a switch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SwitchPlan {
    /// For how long it remembers an address of which it does not hear any more.
    pub ageing: Duration,
    /// How many addresses it remembers at most.
    pub table: usize,
    /// Addresses that are always behind the port of this number, as its interfaces are numbered.
    pub fixed: Vec<([u8; 6], usize)>,
    /// The VLANs of each port; empty if it looks at no tags.
    pub vlans: Vec<VlansPlan>,
}

/// The VLANs of a port of a switch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VlansPlan {
    /// That of frames without a tag; none: they are dropped.
    pub untagged: Option<u16>,
    /// Those whose frames bear a tag here.
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
    /// IEEE 802.1D-2004, table 7-5: the recommended ageing time.
    pub(crate) const AGEING: Duration = Duration::from_secs(300);
    /// As many as switches for offices have.
    pub(crate) const TABLE: usize = 8_192;
}
