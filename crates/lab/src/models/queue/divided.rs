//! Disciplines with several queues: `drr`, `wf2q` and `priority`, and how they divide packets among them: `flows` and `limit`, or `classes`.

use crate::errors::{Errors, keep};
use crate::fields::Fields;
use crate::forms::Whole;
use crate::keyed::{WrittenKeys, sections};
use crate::kinds::LINK_NAME;
use crate::models::filter::{self, Matching};
use crate::section::{Kind, Section, keys};
use crate::yaml::{Content, Entry, Node};
use netloom_link::{ClassConfig, ConfigError, DEFAULT_LIMIT, Division, DrrConfig, QueueConfig};
use netloom_units::{Bytes, Limit};

/// The customary quantum: an Ethernet frame, so that a turn is enough for any packet.
const QUANTUM: Bytes = Bytes::new(1_500);

/// As in RFC 8290, section 4.1.1.
const FLOWS: u32 = 1_024;

const MATCH: Section = keys! {
    /// Which packets; the first class that matches takes them, and the one without `match` takes the rest.
    match: Matching, "{protocol: udp, port: 5060}";
};

const LIMIT: Section = keys! {
    /// How much may wait in this class: packets or bytes. Default: 1000 packets.
    limit: Limit, "50 packets";
};

sections! {
    /// The packets that wait in one queue, and their share.
    const CLASS = "queue_class" {
        ..MATCH;
        /// Its share, in proportion to the weights of the others, 1 to 10000. Default: 1.
        weight: Whole<u32, 1, 10_000>, "3";
        ..LIMIT;
    }

    /// The packets that wait in one queue.
    const PRIORITY_CLASS = "queue_priority_class" {
        ..MATCH;
        ..LIMIT;
    }

    /// Deficit round robin: the queues take turns, each worth a quantum of bytes.
    pub(super) const DRR = "queue_drr" {
        /// Deficit round robin.
        kind is "drr";
        /// How much, from the IP header on, a queue of weight 1 may send per turn; above zero. Default: 1500 B.
        quantum: Bytes, "1500 B";
        ..DIVISION;
    }

    /// WF2Q+: each queue gets its share of the rate as if it had its own link, to within one packet.
    pub(super) const WF2Q = "queue_wf2q" {
        /// Worst-case fair weighted fair queueing.
        kind is "wf2q";
        ..DIVISION;
    }

    /// Strict priority: the first class with something to send, always.
    pub(super) const PRIORITY = "queue_priority" {
        /// Strict priority.
        kind is "priority";
        /// The classes, the most important first; the last has no `match` and takes the rest.
        classes = Kind::Map { names: LINK_NAME, values: &Kind::Optional(&PRIORITY_CLASS) },
            required "{voip: {match: {protocol: udp, port: 5060}}, rest: {}}";
    }
}

/// The keys of disciplines that divide by flows or by classes.
const DIVISION: Section = keys! {
    /// Among how many queues a hash of addresses, protocol and ports divides, 1 to 65536. Default: 1024.
    flows: Whole<u32, 1, 65_536>, "1024";
    /// How much may wait in the queue of each flow: packets or bytes. Default: 1000 packets.
    limit: Limit, "100 packets";
    /// Queues chosen by filters instead of a hash; exactly one has no `match` and takes the rest.
    classes = Kind::Map { names: LINK_NAME, values: &Kind::Optional(&CLASS) },
        "{voip: {match: {protocol: udp, port: 5060}, weight: 3}, rest: {}}";
};

/// Every form that they can take.
pub(crate) const EXAMPLES: &[&str] = &[
    "{kind: drr}",
    "{kind: drr, quantum: 1 kB, flows: 64, limit: 64 kB}",
    "{kind: drr, classes: {voip: {match: {protocol: udp, port: 5060}, weight: 3, limit: 50 packets}, rest: {}}}",
    "{kind: wf2q}",
    "{kind: wf2q, flows: 16, limit: 10 packets}",
    "{kind: wf2q, classes: {voip: {match: {protocol: udp, port: 5060}, weight: 3, limit: 50 packets}, \
     rest: {weight: 1}}}",
    "{kind: priority, classes: {voip: {match: {dscp: 46}, limit: 50 packets}, \
     web: {match: {protocol: tcp, port: [80, 443]}}, rest: {limit: 64 kB}}}",
    "{kind: priority, classes: {rest: {}}}",
];

pub(super) fn decode_drr(fields: &Fields<'_>, errors: &mut Errors) -> Option<QueueConfig> {
    let quantum = fields.form::<Bytes>("quantum", errors).unwrap_or(QUANTUM);
    Some(QueueConfig::Drr(DrrConfig { quantum, division: decode(fields, errors)? }))
}

/// What `flows` and `limit`, or `classes`, say.
pub(super) fn decode(fields: &Fields<'_>, errors: &mut Errors) -> Option<Division> {
    let flows = fields.form::<Whole<u32, 1, 65_536>>("flows", errors);
    let limit = fields.form::<Limit>("limit", errors);
    let Some(node) = fields.get("classes") else {
        return Some(Division::Flows { count: flows.unwrap_or(FLOWS), limit: limit.unwrap_or(DEFAULT_LIMIT) });
    };
    for (key, instead) in [("flows", "it is either a hash or classes"), ("limit", "each class has a limit of its own")]
    {
        if let Some(beside) = fields.get(key) {
            errors.push(beside.error(format!("`{key}` has no meaning beside `classes`: {instead}")));
        }
    }
    classes(node, &CLASS, errors).map(Division::Classes)
}

pub(super) fn decode_priority(fields: &Fields<'_>, errors: &mut Errors) -> Option<QueueConfig> {
    classes(fields.get("classes")?, &PRIORITY_CLASS, errors).map(QueueConfig::Priority)
}

fn classes(node: &Node, section: &'static Section, errors: &mut Errors) -> Option<Vec<ClassConfig>> {
    let Content::Map(entries) = &node.content else {
        errors.push(node.expected("classes: a map like `{voip: {match: {protocol: udp, port: 5060}}, rest: {}}`"));
        return None;
    };
    let mut classes = Vec::new();
    for entry in entries {
        classes.extend(class(entry, &classes, section, errors));
    }
    Some(classes)
}

/// The class of an entry that stands behind others.
fn class(entry: &Entry, before: &[ClassConfig], section: &'static Section, errors: &mut Errors) -> Option<ClassConfig> {
    let Entry { name, value: node, .. } = entry;
    let goes_on = name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-".contains(&b));
    if !name.starts_with(|c: char| c.is_ascii_alphabetic()) || !goes_on || name.len() > 31 {
        errors.push(node.error(format!(
            "`{name}` cannot name a class: begin with a letter, go on with letters, digits, _ and -, 31 at most"
        )));
    }
    let mut class = ClassConfig { name: name.clone(), filter: None, weight: 1, limit: DEFAULT_LIMIT };
    if node.content == Content::Empty {
        return Some(class);
    }
    let fields = Fields::open(node, section, errors)?;
    if let Some(matching) = fields.get("match") {
        class.filter = Some(filter::decode(matching, errors)?);
    }
    if section.keys().any(|key| key.name == "weight") {
        class.weight = fields.form::<Whole<u32, 1, 10_000>>("weight", errors).unwrap_or(1);
    }
    class.limit = fields.form::<Limit>("limit", errors).unwrap_or(DEFAULT_LIMIT);
    let place = |wrong: ConfigError| fields.get(wrong.key).unwrap_or(node).error(wrong.message);
    keep(class.check(before).map_err(place), errors)?;
    Some(class)
}

/// The keys and values of a division.
pub(super) fn write(division: &Division) -> String {
    match division {
        Division::Flows { count, limit } => format!("flows: {count}, limit: {limit}"),
        Division::Classes(classes) => format!("classes: {}", write_classes(classes, true)),
    }
}

/// The classes as a map.
pub(super) fn write_classes(classes: &[ClassConfig], weighted: bool) -> String {
    let written = classes.iter().map(|ClassConfig { name, filter, weight, limit }| {
        let matching = filter.as_ref().map(|filter| format!("match: {}, ", filter.write_map())).unwrap_or_default();
        let weight = if weighted { format!("weight: {weight}, ") } else { String::new() };
        format!("{name}: {{{matching}{weight}limit: {limit}}}")
    });
    format!("{{{}}}", written.collect::<Vec<_>>().join(", "))
}
