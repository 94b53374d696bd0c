//! Events that happen to packets with a probability, with an optional correlation between neighbours.

use crate::diagnostics::Diagnostic;
use crate::errors::{Errors, keep};
use crate::fields::Fields;
use crate::keys::{Key, Kind, SHARE_OR_ZERO, Section};
use crate::scalar;
use crate::yaml::{Content, Node};
use netloom_link::{ChanceConfig, ConfigError};

pub(crate) const KEYS: &[Key] = &[
    Key::new("probability", SHARE_OR_ZERO, "0.1 %", "The probability with which it happens to a packet.").required(),
    Key::new(
        "correlation",
        SHARE_OR_ZERO,
        "25 %",
        "How alike neighbours are, from 0 % to below 100 %: the probability with which a packet uses the random number of \
         the one before. Default: 0.",
    ),
];

const CHANCE: Section =
    Section { name: "chance", doc: "A probability, with correlation between neighbours.", groups: &[KEYS] };

/// A probability alone, or a map.
pub(crate) const KIND: Kind = Kind::OneOf(&[SHARE_OR_ZERO, Kind::Section(&CHANCE)]);

/// Every form that it can take.
pub(crate) const EXAMPLES: &[&str] =
    &["0.1 %", "{probability: 0.1 %, correlation: 25 %}", "{probability: 3 %}", "{probability: 0, correlation: 0}"];

pub(crate) fn decode(node: &Node, errors: &mut Errors) -> Option<ChanceConfig> {
    if !matches!(node.content, Content::Map(_)) {
        return keep(scalar::probability_or_zero(node), errors).map(ChanceConfig::from);
    }
    let fields = Fields::open(node, &CHANCE, errors)?;
    let chance = read(&fields, errors)?;
    keep(chance.check().map(|()| chance).map_err(|error| refused(node, &fields, error)), errors)
}

/// The two keys of a map that may have others.
pub(crate) fn read(fields: &Fields<'_>, errors: &mut Errors) -> Option<ChanceConfig> {
    let probability = fields.read("probability", scalar::probability_or_zero, errors);
    let correlation = fields.read("correlation", scalar::probability_or_zero, errors).unwrap_or_default();
    probability.map(|probability| ChanceConfig { probability, correlation })
}

pub(crate) fn write(config: &ChanceConfig) -> String {
    if config.correlation.is_zero() { config.probability.to_string() } else { format!("{{{}}}", write_keys(config)) }
}

/// What stands in a map that may have others.
pub(crate) fn write_keys(config: &ChanceConfig) -> String {
    format!("probability: {}, correlation: {}", config.probability, config.correlation)
}

/// The error at the key that it is about, or at all of `node` if that key is left out.
pub(crate) fn refused(node: &Node, fields: &Fields<'_>, error: ConfigError) -> Diagnostic {
    let place = if error.key.is_empty() { None } else { fields.get(error.key) };
    place.unwrap_or(node).error(error.message)
}
