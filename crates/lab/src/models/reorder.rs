//! `reorder`: which packets overtake others.

use crate::decode::{Errors, keep, scalar};
use crate::keys::{Key, SHARE_OR_ZERO};
use crate::yaml::Node;
use netloom_link::{ChanceConfig, ReorderConfig};

pub(crate) const KEY: Key = Key::new(
    "reorder",
    SHARE_OR_ZERO,
    "1 %",
    "The probability with which a packet does not travel for the delay, and overtakes others. Default: 0.",
);

/// Every form that it can take.
#[cfg(test)]
pub(crate) const EXAMPLES: &[&str] = &["1 %"];

pub(crate) fn decode(node: &Node, errors: &mut Errors) -> Option<ReorderConfig> {
    let probability = keep(scalar::probability_or_zero(node), errors)?;
    Some(ReorderConfig { chance: ChanceConfig { probability }, by: None })
}

pub(crate) fn write(config: &ReorderConfig) -> String {
    config.chance.probability.to_string()
}
