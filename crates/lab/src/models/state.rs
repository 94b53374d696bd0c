//! `state`: when a pipe is cut and joined by itself.

use crate::decode::{Errors, keep, scalar};
use crate::keys::{Key, Kind};
use crate::yaml::Node;
use netloom_link::StateConfig;

pub(crate) const KEY: Key =
    Key::new("state", Kind::Word(&["none"]), "none", "When it is cut and joined by itself. Default: none.");

/// Every form that it can take.
#[cfg(test)]
pub(crate) const EXAMPLES: &[&str] = &["none"];

pub(crate) fn decode(node: &Node, errors: &mut Errors) -> Option<StateConfig> {
    keep(scalar::word(node, &[("none", StateConfig::default())]), errors)
}

pub(crate) fn write(_: &StateConfig) -> String {
    "none".into()
}
