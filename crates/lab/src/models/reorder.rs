//! `reorder`: which packets overtake others.

use super::chance;
use crate::errors::{Errors, keep};
use crate::fields::Fields;
use crate::keys::{Key, Kind, Quantity, SHARE_OR_ZERO, Section};
use crate::scalar;
use crate::yaml::{Content, Node};
use netloom_link::{ChanceConfig, ReorderConfig};

pub(crate) const KEY: Key = Key::new(
    "reorder",
    Kind::OneOf(&[SHARE_OR_ZERO, Kind::Section(&REORDER)]),
    "1 %",
    "The probability with which a packet travels for a shorter time and overtakes others, alone or with more. Default: 0.",
);

const REORDER: Section = Section {
    name: "reorder",
    doc: "Which packets overtake others.",
    groups: &[
        chance::KEYS,
        &[
            Key::new(
                "by",
                Kind::Quantity(Quantity::Duration),
                "5 ms",
                "How much shorter the delay of such a packet is. Default: it has no delay.",
            ),
            Key::new(
                "gap",
                Kind::Integer { least: 1, most: u32::MAX as u64 },
                "5",
                "The least distance between packets that overtake, in packets. Default: 1.",
            ),
        ],
    ],
};

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
    let fields = Fields::open(node, &REORDER, errors)?;
    let chance = chance::read(&fields, errors);
    let by = fields.read("by", scalar::positive_duration, errors);
    let gap = fields.read("gap", |gap| scalar::integer(gap, 1, u32::MAX.into()), errors);
    let gap = gap.map_or(1, |gap| u32::try_from(gap).expect("it was just compared with the largest u32"));
    let config = ReorderConfig { chance: chance?, by, gap };
    keep(config.check().map(|()| config).map_err(|error| chance::refused(node, &fields, error)), errors)
}

pub(crate) fn write(config: &ReorderConfig) -> String {
    if config.by.is_none() && config.gap == 1 {
        return chance::write(&config.chance);
    }
    let by = config.by.map_or_else(String::new, |by| format!(", by: {by}"));
    format!("{{{}{by}, gap: {}}}", chance::write_keys(&config.chance), config.gap)
}
