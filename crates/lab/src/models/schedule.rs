//! `schedule`: how a pipe changes by itself.

use crate::decode::{Errors, keep, scalar};
use crate::keys::{Key, Kind};
use crate::yaml::Node;
use netloom_link::ScheduleConfig;

pub(crate) const KEY: Key =
    Key::new("schedule", Kind::Word(&["none"]), "none", "How it changes by itself as time goes by. Default: none.");

/// Every form that it can take.
#[cfg(test)]
pub(crate) const EXAMPLES: &[&str] = &["none"];

pub(crate) fn decode(node: &Node, errors: &mut Errors) -> Option<ScheduleConfig> {
    keep(scalar::word(node, &[("none", ScheduleConfig::None)]), errors)
}

pub(crate) fn write(_: &ScheduleConfig) -> String {
    "none".into()
}
