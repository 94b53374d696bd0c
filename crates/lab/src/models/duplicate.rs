//! `duplicate`: which packets come twice.

use crate::decode::{Errors, keep, scalar};
use crate::keys::{Key, SHARE_OR_ZERO};
use crate::yaml::Node;
use netloom_link::DuplicateConfig;

pub(crate) const KEY: Key =
    Key::new("duplicate", SHARE_OR_ZERO, "0.1 %", "The probability with which a packet comes twice. Default: 0.");

/// Every form that it can take.
#[cfg(test)]
pub(crate) const EXAMPLES: &[&str] = &["0.1 %"];

pub(crate) fn decode(node: &Node, errors: &mut Errors) -> Option<DuplicateConfig> {
    keep(scalar::probability_or_zero(node), errors).map(|probability| DuplicateConfig { probability })
}

pub(crate) fn write(config: &DuplicateConfig) -> String {
    config.probability.to_string()
}
