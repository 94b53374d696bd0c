//! `overhead`: what a packet is charged beyond its bytes.

use crate::decode::{Errors, keep, scalar};
use crate::keys::{Key, Kind};
use crate::yaml::Node;
use netloom_link::OverheadConfig;

pub(crate) const KEY: Key = Key::new(
    "overhead",
    Kind::Word(&["none"]),
    "none",
    "What a packet is charged on the link beyond its bytes from the IP header on. Default: none.",
);

/// Every form that it can take.
#[cfg(test)]
pub(crate) const EXAMPLES: &[&str] = &["none"];

pub(crate) fn decode(node: &Node, errors: &mut Errors) -> Option<OverheadConfig> {
    keep(scalar::word(node, &[("none", OverheadConfig::None)]), errors)
}

pub(crate) fn write(_: &OverheadConfig) -> String {
    "none".into()
}
