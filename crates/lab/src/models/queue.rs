//! `queue`: where packets wait. One module per discipline or family of them, and the choice between them.

pub(crate) mod codel;
pub(crate) mod divided;
pub(crate) mod dual_pi2;
pub(crate) mod pie;
pub(crate) mod red;

use crate::diagnostics::Diagnostic;
use crate::errors::{Errors, keep};
use crate::fields::Fields;
use crate::forms::Word;
use crate::keyed::{Keyed, WrittenKeys, sections};
use crate::scalar::quantity;
use crate::section::{Form, Key, Kind, Section, key};
use crate::words::words;
use crate::yaml::{Content, Entry, Node};
use codel::{Codel, FqCodel};
use divided::{Drr, Priority};
use netloom_link::{ConfigError, DEFAULT_LIMIT, DualPi2Config, PieConfig, QueueConfig, RedConfig};
use netloom_units::Limit;

pub(crate) const KEY: Key = key!(
    /// How much may wait for the transmitter: packets, bytes or a time; or a map with the discipline as its `kind`. Default: 1000 packets.
    queue = Kind::OneOf(&[Limit::KIND, Kind::Sections(KINDS)]), "100 packets"
);

/// All disciplines.
const KINDS: &[&Section] = &[
    &Fifo::SECTION,
    &RedConfig::SECTION,
    &PieConfig::SECTION,
    &DualPi2Config::SECTION,
    &Codel::SECTION,
    &FqCodel::SECTION,
    &Drr::SECTION,
    &divided::WF2Q,
    &Priority::SECTION,
];

/// The packet that is dropped when a queue is full.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Dropped {
    Arriving,
    Oldest,
}

words!(Dropped { "tail" = Self::Arriving, "head" = Self::Oldest });

sections! {
    /// First in, first out.
    struct Fifo = "queue_fifo" {
        /// First in, first out. Default: fifo.
        kind = Kind::Word(&["fifo"]), "fifo";
        /// How much may wait: packets, bytes or a time. Default: 1000 packets.
        limit: Limit, "64 kB";
        /// Which packet is dropped when it is full: tail, the one that arrives; head, the one that waits longest. Default: tail.
        drop: Word<Dropped>, "head";
    }
}

/// Every form that first in, first out can take.
pub(crate) const EXAMPLES: &[&str] =
    &["50 ms", "{kind: fifo, limit: 64 kB}", "{limit: 7 packets}", "{kind: fifo, limit: 20 ms, drop: head}"];

pub(crate) fn decode(node: &Node, errors: &mut Errors) -> Option<QueueConfig> {
    let Content::Map(entries) = &node.content else {
        return keep(quantity(node), errors).map(QueueConfig::DropTail);
    };
    let before = errors.len();
    let config = decode_kind(node, entries, errors)?;
    // What could not be read was left out, and what is left may make no sense without it.
    if errors.len() == before {
        keep(config.check().map_err(|wrong| place(node, entries, &wrong)), errors)?;
    }
    Some(config)
}

fn decode_kind(node: &Node, entries: &[Entry], errors: &mut Errors) -> Option<QueueConfig> {
    if !entries.iter().any(|entry| entry.name == "kind") {
        return Fifo::open(node, errors).map(fifo);
    }
    let (kind, fields) = Fields::open_kind(node, KINDS, errors)?;
    match kind {
        "fifo" => Fifo::read_keys(&fields, errors).map(fifo),
        "red" => RedConfig::read_keys(&fields, errors).map(QueueConfig::Red),
        "pie" => PieConfig::read_keys(&fields, errors).map(QueueConfig::Pie),
        "dualpi2" => DualPi2Config::read_keys(&fields, errors).map(QueueConfig::DualPi2),
        "codel" => codel::decode(&fields, errors),
        "fq_codel" => codel::decode_fq(&fields, errors),
        "drr" => divided::decode_drr(&fields, errors),
        "wf2q" => divided::decode(&fields, errors).map(QueueConfig::Wf2q),
        "priority" => Priority::read_keys(&fields, errors).map(|keys| QueueConfig::Priority(keys.classes)),
        other => unreachable!("{other} is one of the kinds"),
    }
}

fn fifo(Fifo { limit, drop }: Fifo) -> QueueConfig {
    let limit = limit.unwrap_or(DEFAULT_LIMIT);
    if drop == Some(Dropped::Oldest) { QueueConfig::DropHead(limit) } else { QueueConfig::DropTail(limit) }
}

/// The error at the key that it is about, or at the whole map if that is not written.
fn place(node: &Node, entries: &[Entry], wrong: &ConfigError) -> Diagnostic {
    let entry = entries.iter().find(|entry| entry.name == wrong.key);
    entry.map_or_else(|| node.error(wrong.to_string()), |entry| entry.value.error(wrong.message.clone()))
}

pub(crate) fn write(config: &QueueConfig) -> String {
    match config {
        QueueConfig::DropTail(limit) => limit.to_string(),
        QueueConfig::DropHead(limit) => format!("{{kind: fifo, limit: {limit}, drop: head}}"),
        QueueConfig::Red(config) => config.write_map(),
        QueueConfig::Pie(config) => config.write_map(),
        QueueConfig::DualPi2(config) => config.write_map(),
        QueueConfig::Codel(config) => codel::write(config),
        QueueConfig::FqCodel(config) => codel::write_fq(config),
        QueueConfig::Drr(config) => {
            format!("{{kind: drr, quantum: {}, {}}}", config.quantum, divided::write(&config.division))
        }
        QueueConfig::Wf2q(division) => format!("{{kind: wf2q, {}}}", divided::write(division)),
        QueueConfig::Priority(classes) => {
            format!("{{kind: priority, classes: {}}}", divided::write_classes(classes, false))
        }
    }
}
