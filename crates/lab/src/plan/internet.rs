//! The way out of a lab.

use std::net::Ipv4Addr;

/// The node of `kind: internet`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InternetPlan {
    /// Its place.
    pub node: usize,
    /// The line of the lab file that says so.
    pub line: usize,
    /// Its address at which all nodes ask for names.
    pub resolver: Ipv4Addr,
}

impl InternetPlan {
    /// The name of its interface towards this machine's network, beside those of its links.
    pub const INTERFACE: &str = "uplink0";
}
