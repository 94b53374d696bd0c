//! `corrupt`: in which packets a bit is flipped.

use crate::decode::{Errors, keep, scalar};
use crate::keys::{Key, SHARE_OR_ZERO};
use crate::yaml::Node;
use netloom_link::CorruptConfig;

pub(crate) const KEY: Key = Key::new(
    "corrupt",
    SHARE_OR_ZERO,
    "0.1 %",
    "The probability with which one bit of a packet is flipped. Default: 0.",
);

/// Every form that it can take.
#[cfg(test)]
pub(crate) const EXAMPLES: &[&str] = &["0.1 %"];

pub(crate) fn decode(node: &Node, errors: &mut Errors) -> Option<CorruptConfig> {
    keep(scalar::probability_or_zero(node), errors).map(|probability| CorruptConfig { probability })
}

pub(crate) fn write(config: &CorruptConfig) -> String {
    config.probability.to_string()
}
