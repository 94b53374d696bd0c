//! `loss`: which packets are lost.

use crate::decode::{Errors, keep, scalar};
use crate::keys::{Key, SHARE_OR_ZERO};
use crate::yaml::Node;
use netloom_link::LossConfig;

pub(crate) const KEY: Key = Key::new(
    "loss",
    SHARE_OR_ZERO,
    "0.1 %",
    "The probability with which each packet is lost, independently of all others. Default: 0.",
);

/// Every form that it can take.
#[cfg(test)]
pub(crate) const EXAMPLES: &[&str] = &["0.1 %", "0"];

pub(crate) fn decode(node: &Node, errors: &mut Errors) -> Option<LossConfig> {
    let share = keep(scalar::probability_or_zero(node), errors)?;
    Some(if share.is_zero() { LossConfig::None } else { LossConfig::Independent(share) })
}

pub(crate) fn write(config: &LossConfig) -> String {
    match config {
        LossConfig::None => "0 %".into(),
        LossConfig::Independent(share) => share.to_string(),
    }
}
