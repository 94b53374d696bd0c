//! `reorder`: which packets overtake others.

use super::chance;
use crate::errors::{Errors, keep};
use crate::fields::Fields;
use crate::forms::{AboveZero, OrZero, Whole};
use crate::keyed::{Keyed, WrittenKeys, sections};
use crate::scalar;
use crate::section::{Form, Key, Kind, key};
use crate::yaml::{Content, Node};
use netloom_link::{ChanceConfig, ReorderConfig};
use netloom_units::{Duration, Probability};

pub(crate) const KEY: Key = key!(
    /// The probability with which a packet travels for a shorter time and overtakes others, alone or with more. Default: 0.
    reorder = Kind::OneOf(&[OrZero::<Probability>::KIND, Reorder::KIND]), "1 %"
);

sections! {
    /// Which packets overtake others.
    struct Reorder = "reorder" {
        ..ChanceConfig::SECTION;
        /// How much shorter the delay of such a packet is. Default: it has no delay.
        by: AboveZero<Duration>, "5 ms";
        /// The least distance between packets that overtake, in packets. Default: 1.
        gap: Whole<u32, 1, { u32::MAX as u64 }>, "5";
    }
}

/// Every form that it can take.
pub(crate) const EXAMPLES: &[&str] = &[
    "1 %",
    "{probability: 1 %}",
    "{probability: 1 %, correlation: 50 %}",
    "{probability: 100 %, by: 5 ms, gap: 10}",
    "{probability: 25 %, correlation: 50 %, gap: 5}",
];

pub(crate) fn decode(node: &Node, errors: &mut Errors) -> Option<ReorderConfig> {
    if !matches!(node.content, Content::Map(_)) {
        let chance = ChanceConfig::from(keep(scalar::probability_or_zero(node), errors)?);
        return Some(ReorderConfig { chance, ..ReorderConfig::default() });
    }
    let fields = Fields::open(node, &Reorder::SECTION, errors)?;
    let chance = ChanceConfig::read_keys(&fields, errors);
    let Reorder { by, gap } = Reorder::read_keys(&fields, errors)?;
    let config = ReorderConfig { chance: chance?, by, gap: gap.unwrap_or(1) };
    keep(config.check().map(|()| config).map_err(|error| chance::refused(node, &fields, error)), errors)
}

pub(crate) fn write(config: &ReorderConfig) -> String {
    if config.by.is_none() && config.gap == 1 {
        return chance::write(&config.chance);
    }
    let by = config.by.map_or_else(String::new, |by| format!(", by: {by}"));
    format!("{{{}{by}, gap: {}}}", config.chance.write_keys(), config.gap)
}
