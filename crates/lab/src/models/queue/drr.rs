//! `kind: drr`: deficit round robin.

use super::divided;
use crate::errors::Errors;
use crate::fields::Fields;
use crate::keys::{Key, Kind, Quantity, Section};
use crate::scalar::quantity;
use netloom_link::{DrrConfig, QueueConfig};
use netloom_units::Bytes;

/// The customary quantum: an Ethernet frame, so that a turn is enough for any packet.
const QUANTUM: Bytes = Bytes::new(1_500);

pub(crate) const SECTION: Section = Section {
    name: "queue_drr",
    doc: "Deficit round robin: the queues take turns, each worth a quantum of bytes.",
    groups: &[
        &[
            Key::new("kind", Kind::Word(&["drr"]), "drr", "Deficit round robin.").required(),
            Key::new(
                "quantum",
                Kind::Quantity(Quantity::Size),
                "1500 B",
                "How much, from the IP header on, a queue of weight 1 may send per turn; above zero. Default: 1500 B.",
            ),
        ],
        divided::KEYS,
    ],
};

/// Every form that it can take.
pub(crate) const EXAMPLES: &[&str] = &[
    "{kind: drr}",
    "{kind: drr, quantum: 1 kB, flows: 64, limit: 64 kB}",
    "{kind: drr, classes: {voip: {match: {protocol: udp, port: 5060}, weight: 3, limit: 50 packets}, rest: {}}}",
];

pub(crate) fn decode(fields: &Fields<'_>, errors: &mut Errors) -> Option<QueueConfig> {
    let quantum = fields.read("quantum", quantity, errors).unwrap_or(QUANTUM);
    let division = divided::decode(fields, errors)?;
    Some(QueueConfig::Drr(DrrConfig { quantum, division }))
}

pub(crate) fn write(config: &DrrConfig) -> String {
    format!("{{kind: drr, quantum: {}, {}}}", config.quantum, divided::write(&config.division))
}
