//! `kind: wf2q`: worst-case fair weighted fair queueing.

use super::divided;
use crate::errors::Errors;
use crate::fields::Fields;
use crate::keys::{Key, Kind, Section};
use netloom_link::{Division, QueueConfig};

pub(crate) const SECTION: Section = Section {
    name: "queue_wf2q",
    doc: "WF2Q+: each queue gets its share of the rate as if it had its own link, to within one packet.",
    groups: &[
        &[Key::new("kind", Kind::Word(&["wf2q"]), "wf2q", "Worst-case fair weighted fair queueing.").required()],
        divided::KEYS,
    ],
};

/// Every form that it can take.
pub(crate) const EXAMPLES: &[&str] = &[
    "{kind: wf2q}",
    "{kind: wf2q, flows: 16, limit: 10 packets}",
    "{kind: wf2q, classes: {voip: {match: {protocol: udp, port: 5060}, weight: 3, limit: 50 packets}, \
     rest: {weight: 1}}}",
];

pub(crate) fn decode(fields: &Fields<'_>, errors: &mut Errors) -> Option<QueueConfig> {
    divided::decode(fields, errors).map(QueueConfig::Wf2q)
}

pub(crate) fn write(division: &Division) -> String {
    format!("{{kind: wf2q, {}}}", divided::write(division))
}
