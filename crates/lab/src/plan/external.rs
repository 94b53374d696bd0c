//! An interface of this machine, as a plan has it.

use crate::words::words;

/// The wire of an interface of this machine, which ends in the lab.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExternalPlan {
    /// The interface's name on this machine.
    pub interface: String,
    /// The line of the lab file that names it.
    pub line: usize,
    /// The VLAN that it is, 1 to 4094; none: all frames that no other node of this interface takes, with their tags.
    pub vlan: Option<u16>,
    /// The use of the interface by this machine meanwhile.
    pub mode: ExternalMode,
    /// The hardware address at the other end of the node's link: only frames for it, or for several, enter the lab. None: all
    /// frames do (promiscuous).
    pub only: Option<[u8; 6]>,
    /// Whether it may be the machine's only way out.
    pub force: bool,
}

words! {
    /// The use of an interface by this machine while the lab is up.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum ExternalMode {
        /// The machine goes on using the interface.
        #[default]
        Share = "share",
        /// The lab alone has the interface; it comes back as it was.
        Pass = "pass",
    }
}
