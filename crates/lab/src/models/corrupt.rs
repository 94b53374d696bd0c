//! `corrupt`: in which packets a bit is flipped.

use super::chance;
use crate::errors::Errors;
use crate::keys::Key;
use crate::yaml::Node;
use netloom_link::CorruptConfig;

pub(crate) const KEY: Key = Key::new(
    "corrupt",
    chance::KIND,
    "0.1 %",
    "The probability with which one bit of a packet is flipped, alone or with a correlation. Default: 0.",
);

/// Every form that it can take.
pub(crate) const EXAMPLES: &[&str] = chance::EXAMPLES;

pub(crate) fn decode(node: &Node, errors: &mut Errors) -> Option<CorruptConfig> {
    chance::decode(node, errors)
}

pub(crate) fn write(config: &CorruptConfig) -> String {
    chance::write(config)
}
