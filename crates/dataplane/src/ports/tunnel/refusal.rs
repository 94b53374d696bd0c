//! What both ends of a tunnel must agree on, and why they cannot be joined.

use std::fmt;

/// The key of a tunnel, which both ends have and nobody else. It is not printed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct TunnelKey(pub(super) [u8; Self::LEN]);

impl TunnelKey {
    /// Its length, in bytes.
    pub const LEN: usize = 32;

    /// Takes bytes that somebody chose at random.
    pub const fn new(bytes: [u8; Self::LEN]) -> Self {
        Self(bytes)
    }
}

impl fmt::Debug for TunnelKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TunnelKey(..)")
    }
}

/// The settings of a tunnel on which both of its ends must agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TunnelSettings {
    /// The number of the tunnel.
    pub vni: u32,
    /// The longest IP packet of the link that leads to it, in bytes.
    pub mtu: u32,
    /// The key that its datagrams are authenticated and encrypted with; none: they are neither.
    pub key: Option<TunnelKey>,
}

/// Why a far end cannot be joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// It speaks another version of the protocol.
    Version {
        /// What this end speaks.
        own: u8,
        /// What it speaks.
        other: u8,
    },
    /// Its tunnel has another number.
    Vni {
        /// This end's.
        own: u32,
        /// Its own.
        other: u32,
    },
    /// Its link has another MTU.
    Mtu {
        /// This end's.
        own: u32,
        /// Its own.
        other: u32,
    },
    /// Its tunnel has another key.
    OtherKey,
    /// Its tunnel has a key, and this one none.
    KeyThere,
    /// Its tunnel has no key, and this one has.
    KeyHere,
    /// What is sent there comes back: the address is this machine's own.
    Ourselves,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Version { own, other } => write!(
                f,
                "the far end speaks version {other} of the tunnel's protocol, and this program version {own}: install the same release \
                 on both machines"
            ),
            Self::Vni { own, other } => {
                write!(f, "the far end's tunnel has `vni: {other}`, and this one `vni: {own}`: both ends need the same")
            }
            Self::Mtu { own, other } => {
                write!(f, "the far end's link has `mtu: {other}`, and this one `mtu: {own}`: both links need the same")
            }
            Self::OtherKey => f.write_str("the far end's tunnel has another `key`: both ends need the same"),
            Self::KeyThere => {
                f.write_str("the far end's tunnel has a `key`, and this one none: both ends need the same, or none")
            }
            Self::KeyHere => {
                f.write_str("the far end's tunnel has no `key`, and this one has: both ends need the same, or none")
            }
            Self::Ourselves => f.write_str("what is sent there comes back to this lab: name another machine"),
        }
    }
}
