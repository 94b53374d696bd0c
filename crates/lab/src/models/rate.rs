//! `rate`: how fast a pipe sends.

use crate::decode::{Errors, keep, scalar};
use crate::keys::{Key, Kind, Quantity};
use crate::yaml::Node;
use netloom_link::RateConfig;

pub(crate) const KEY: Key = Key::new(
    "rate",
    Kind::OneOf(&[Kind::Quantity(Quantity::Rate), Kind::Word(&["unlimited"])]),
    "100 Mbit/s",
    "How fast it sends, counting bytes from the IP header on, or unlimited. Default: unlimited.",
);

/// Every form that it can take.
#[cfg(test)]
pub(crate) const EXAMPLES: &[&str] = &["100 Mbit/s", "unlimited"];

pub(crate) fn decode(node: &Node, errors: &mut Errors) -> Option<RateConfig> {
    keep(scalar::rate(node), errors).map(RateConfig::from)
}

pub(crate) fn write(config: &RateConfig) -> String {
    match config {
        RateConfig::Unlimited => "unlimited".into(),
        RateConfig::Constant(rate) => rate.to_string(),
    }
}
