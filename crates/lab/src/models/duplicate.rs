//! `duplicate`: which packets are duplicated.

use super::chance;
use crate::errors::Errors;
use crate::keys::Key;
use crate::yaml::Node;
use netloom_link::DuplicateConfig;

pub(crate) const KEY: Key = Key::new(
    "duplicate",
    chance::KIND,
    "0.1 %",
    "The probability with which a packet is duplicated, alone or with a correlation. Default: 0.",
);

/// Every form that it can take.
pub(crate) const EXAMPLES: &[&str] = chance::EXAMPLES;

pub(crate) fn decode(node: &Node, errors: &mut Errors) -> Option<DuplicateConfig> {
    chance::decode(node, errors)
}

pub(crate) fn write(config: &DuplicateConfig) -> String {
    chance::write(config)
}
