//! `delay`: how long packets travel.

use crate::decode::{Errors, keep, scalar};
use crate::keys::{DURATION_OR_ZERO, Key};
use crate::yaml::Node;
use netloom_link::{DelayConfig, Distribution};

pub(crate) const KEY: Key = Key::new(
    "delay",
    DURATION_OR_ZERO,
    "20 ms",
    "Propagation delay of one direction, after the last bit is sent. Default: 0.",
);

/// Every form that it can take.
#[cfg(test)]
pub(crate) const EXAMPLES: &[&str] = &["20 ms", "0"];

pub(crate) fn decode(node: &Node, errors: &mut Errors) -> Option<DelayConfig> {
    keep(scalar::duration_or_zero(node), errors).map(DelayConfig::from)
}

pub(crate) fn write(config: &DelayConfig) -> String {
    match config.distribution {
        // Zero is zero in every unit, and seconds are the least surprising one.
        Distribution::Constant(delay) if delay.is_zero() => "0 s".into(),
        Distribution::Constant(delay) => delay.to_string(),
    }
}
