//! `corrupt` and `duplicate`: what happens to packets with a probability, with an optional correlation between neighbours.

use crate::diagnostics::Diagnostic;
use crate::errors::{Errors, keep};
use crate::fields::Fields;
use crate::forms::OrZero;
use crate::keyed::{Keyed, WrittenKeys, sections};
use crate::scalar;
use crate::section::{Form, Key, Kind, key};
use crate::yaml::{Content, Node};
use netloom_link::{ChanceConfig, ConfigError};
use netloom_units::Probability;

sections! {
    /// A probability, with correlation between neighbours.
    for ChanceConfig = "chance" {
        /// The probability with which it happens to a packet.
        probability: OrZero<Probability>, required "0.1 %";
        /// How alike neighbours are, from 0 % to below 100 %: the probability with which a packet uses the random number of the one before.
        /// Default: 0.
        correlation: OrZero<Probability>, "25 %" else Probability::ZERO;
    }
}

/// A probability alone, or a map.
const KIND: Kind = Kind::OneOf(&[OrZero::<Probability>::KIND, ChanceConfig::KIND]);

pub(crate) const CORRUPT: Key = key!(
    /// The probability with which one bit of a packet is flipped, alone or with a correlation. Default: 0.
    corrupt = KIND, "0.1 %"
);

pub(crate) const DUPLICATE: Key = key!(
    /// The probability with which a packet is duplicated, alone or with a correlation. Default: 0.
    duplicate = KIND, "0.1 %"
);

/// Every form that it can take.
pub(crate) const EXAMPLES: &[&str] =
    &["0.1 %", "{probability: 0.1 %, correlation: 25 %}", "{probability: 3 %}", "{probability: 0, correlation: 0}"];

pub(crate) fn decode(node: &Node, errors: &mut Errors) -> Option<ChanceConfig> {
    if !matches!(node.content, Content::Map(_)) {
        return keep(scalar::probability_or_zero(node), errors).map(ChanceConfig::from);
    }
    let fields = Fields::open(node, &ChanceConfig::SECTION, errors)?;
    let chance = ChanceConfig::read_keys(&fields, errors)?;
    keep(chance.check().map(|()| chance).map_err(|error| refused(node, &fields, error)), errors)
}

pub(crate) fn write(config: &ChanceConfig) -> String {
    if config.correlation.is_zero() { config.probability.to_string() } else { config.write_map() }
}

/// The error at the key that it is about, or at all of `node` if that key is left out.
pub(crate) fn refused(node: &Node, fields: &Fields<'_>, error: ConfigError) -> Diagnostic {
    let place = if error.key.is_empty() { None } else { fields.get(error.key) };
    place.unwrap_or(node).error(error.message)
}
