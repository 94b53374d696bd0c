//! `kind: priority`: the first class with something to send, always.

use super::divided;
use crate::errors::Errors;
use crate::fields::Fields;
use crate::keys::{Key, Kind, Section};
use netloom_link::{ClassConfig, QueueConfig};

pub(crate) const SECTION: Section = Section {
    name: "queue_priority",
    doc: "Strict priority: the first class with something to send, always.",
    groups: &[&[
        Key::new("kind", Kind::Word(&["priority"]), "priority", "Strict priority.").required(),
        divided::PRIORITY_CLASSES,
    ]],
};

/// Every form that it can take.
pub(crate) const EXAMPLES: &[&str] = &[
    "{kind: priority, classes: {voip: {match: {dscp: 46}, limit: 50 packets}, \
     web: {match: {protocol: tcp, port: [80, 443]}}, rest: {limit: 64 kB}}}",
    "{kind: priority, classes: {rest: {}}}",
];

pub(crate) fn decode(fields: &Fields<'_>, errors: &mut Errors) -> Option<QueueConfig> {
    divided::decode_priority(fields, errors).map(QueueConfig::Priority)
}

pub(crate) fn write(classes: &[ClassConfig]) -> String {
    format!("{{kind: priority, classes: {}}}", divided::write_classes(classes, false))
}
