//! `cross`: traffic that exists in one pipe only.

use crate::decode::{Errors, keep, scalar};
use crate::keys::{Key, Kind};
use crate::yaml::Node;
use netloom_link::CrossConfig;

pub(crate) const KEY: Key =
    Key::new("cross", Kind::Word(&["none"]), "none", "Traffic that exists here only. Default: none.");

/// Every form that it can take.
#[cfg(test)]
pub(crate) const EXAMPLES: &[&str] = &["none"];

pub(crate) fn decode(node: &Node, errors: &mut Errors) -> Option<Vec<CrossConfig>> {
    keep(scalar::word(node, &[("none", Vec::new())]), errors)
}

pub(crate) fn write(_: &[CrossConfig]) -> String {
    "none".into()
}
