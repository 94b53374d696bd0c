//! Disciplines with several queues: `drr`, `wf2q` and `priority`, and how they divide packets among them: `flows` and `limit`, or `classes`.

use crate::errors::{Errors, keep};
use crate::fields::{Fields, map};
use crate::forms::Whole;
use crate::keyed::{Keyed, WrittenKeys, sections};
use crate::kinds::LINK_NAME;
use crate::models::filter::Matching;
use crate::section::{Form, Kind};
use crate::yaml::{Content, Entry, Node};
use netloom_link::{ClassConfig, ConfigError, DEFAULT_LIMIT, Division, DrrConfig, Filter, QueueConfig};
use netloom_units::{Bytes, Limit};
use std::marker::PhantomData;

/// The customary quantum: an Ethernet frame, so that a turn is enough for any packet.
const QUANTUM: Bytes = Bytes::new(1_500);

/// As in RFC 8290, section 4.1.1.
const FLOWS: u32 = 1_024;

sections! {
    /// The packets that wait in one queue, and their share.
    pub(crate) struct Class = "queue_class" {
        /// Which packets; the first class that matches takes them, and the one without `match` takes the rest.
        r#match: Matching, "{protocol: udp, port: 5060}";
        /// Its share, in proportion to the weights of the others, 1 to 10000. Default: 1.
        weight: Whole<u32, 1, 10_000>, "3";
        /// How much may wait in this class: packets or bytes. Default: 1000 packets.
        limit: Limit, "50 packets";
    }

    /// The packets that wait in one queue.
    pub(crate) struct PriorityClass = "queue_priority_class" {
        /// Which packets; the first class that matches takes them, and the one without `match` takes the rest.
        r#match: Matching, "{protocol: udp, port: 5060}";
        /// How much may wait in this class: packets or bytes. Default: 1000 packets.
        limit: Limit, "50 packets";
    }

    /// Deficit round robin: the queues take turns, each worth a quantum of bytes.
    pub(super) struct Drr = "queue_drr" {
        /// Deficit round robin.
        kind is "drr";
        /// How much, from the IP header on, a queue of weight 1 may send per turn; above zero. Default: 1500 B.
        quantum: Bytes, "1500 B";
        ..Divided::SECTION;
    }

    /// WF2Q+: each queue gets its share of the rate as if it had its own link, to within one packet.
    pub(super) const WF2Q = "queue_wf2q" {
        /// Worst-case fair weighted fair queueing.
        kind is "wf2q";
        ..Divided::SECTION;
    }

    /// Strict priority: the first class with something to send, always.
    pub(super) struct Priority = "queue_priority" {
        /// Strict priority.
        kind is "priority";
        /// The classes, the most important first; the last has no `match` and takes the rest.
        classes: Classes<PriorityClass>, required "{voip: {match: {protocol: udp, port: 5060}}, rest: {}}";
    }

    /// The keys of disciplines that divide by flows or by classes.
    pub(crate) struct Divided = "" {
        /// Among how many queues a hash of addresses, protocol and ports divides, 1 to 65536. Default: 1024.
        flows: Whole<u32, 1, 65_536>, "1024";
        /// How much may wait in the queue of each flow: packets or bytes. Default: 1000 packets.
        limit: Limit, "100 packets";
        /// Queues chosen by filters instead of a hash; exactly one has no `match` and takes the rest.
        classes: Classes<Class>, "{voip: {match: {protocol: udp, port: 5060}, weight: 3}, rest: {}}";
    }
}

/// Classes by name, each described by keys like these.
pub(crate) struct Classes<C>(PhantomData<C>);

/// The keys of a class.
pub(crate) trait ClassKeys: Keyed {
    /// The class of this name.
    fn class(self, name: String) -> ClassConfig;
}

impl ClassKeys for Class {
    fn class(self, name: String) -> ClassConfig {
        class(name, self.r#match, self.weight, self.limit)
    }
}

impl ClassKeys for PriorityClass {
    fn class(self, name: String) -> ClassConfig {
        class(name, self.r#match, None, self.limit)
    }
}

fn class(name: String, filter: Option<Filter>, weight: Option<u32>, limit: Option<Limit>) -> ClassConfig {
    ClassConfig { name, filter, weight: weight.unwrap_or(1), limit: limit.unwrap_or(DEFAULT_LIMIT) }
}

impl<C: ClassKeys> Form for Classes<C> {
    type Value = Vec<ClassConfig>;
    const KIND: Kind = Kind::Map { names: LINK_NAME, values: &Kind::Optional(&C::SECTION) };
    /// Those that can be read.
    fn read(node: &Node, errors: &mut Errors) -> Option<Vec<ClassConfig>> {
        const WANTED: &str = "classes: a map like `{voip: {match: {protocol: udp, port: 5060}}, rest: {}}`";
        let entries = map(node, WANTED, errors)?;
        let mut classes = Vec::new();
        for entry in entries {
            classes.extend(read_class::<C>(entry, &classes, errors));
        }
        Some(classes)
    }
}

/// The class of an entry that stands behind others.
fn read_class<C: ClassKeys>(entry: &Entry, before: &[ClassConfig], errors: &mut Errors) -> Option<ClassConfig> {
    let Entry { name, value: node, .. } = entry;
    let goes_on = name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-".contains(&b));
    if !name.starts_with(|c: char| c.is_ascii_alphabetic()) || !goes_on || name.len() > 31 {
        errors.push(node.error(format!(
            "`{name}` cannot name a class: begin with a letter, go on with letters, digits, _ and -, 31 at most"
        )));
    }
    if node.content == Content::Empty {
        return Some(class(name.clone(), None, None, None));
    }
    let fields = Fields::open(node, &C::SECTION, errors)?;
    let class = C::read_keys(&fields, errors)?.class(name.clone());
    if class.filter.is_none() && fields.get("match").is_some() {
        return None;
    }
    let place = |wrong: ConfigError| fields.get(wrong.key).unwrap_or(node).error(wrong.message);
    keep(class.check(before).map_err(place), errors)?;
    Some(class)
}

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
    let quantum = Drr::read_keys(fields, errors)?.quantum.unwrap_or(QUANTUM);
    Some(QueueConfig::Drr(DrrConfig { quantum, division: decode(fields, errors)? }))
}

/// What `flows` and `limit`, or `classes`, say.
pub(super) fn decode(fields: &Fields<'_>, errors: &mut Errors) -> Option<Division> {
    let Divided { flows, limit, classes } = Divided::read_keys(fields, errors)?;
    if fields.get("classes").is_none() {
        return Some(Division::Flows { count: flows.unwrap_or(FLOWS), limit: limit.unwrap_or(DEFAULT_LIMIT) });
    }
    let beside = [("flows", "it is either a hash or classes"), ("limit", "each class has a limit of its own")];
    fields.refuse(
        beside.map(|(key, instead)| (key, format!("`{key}` has no meaning beside `classes`: {instead}"))),
        errors,
    );
    classes.map(Division::Classes)
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
