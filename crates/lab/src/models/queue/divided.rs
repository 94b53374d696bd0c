//! How disciplines with several queues divide packets among them: `flows` and `limit`, or `classes`.

use crate::errors::{Errors, keep};
use crate::fields::Fields;
use crate::keys::{Key, Kind, LINK_NAME, Quantity, Section};
use crate::models::filter;
use crate::scalar::{integer, quantity};
use crate::yaml::{Content, Entry, Node};
use netloom_link::{ClassConfig, ConfigError, DEFAULT_LIMIT, Division};
use netloom_units::Limit;

/// As in RFC 8290, section 4.1.1.
pub(super) const FLOWS: u32 = 1_024;

const MATCH: Key = Key::new(
    "match",
    Kind::Section(&filter::SECTION),
    "{protocol: udp, port: 5060}",
    "Which packets; the first class that matches takes them, and the one without `match` takes the rest.",
);

const LIMIT: Key = Key::new(
    "limit",
    Kind::Quantity(Quantity::Limit),
    "50 packets",
    "How much may wait in this class: packets or bytes. Default: 1000 packets.",
);

/// A class with a share.
const CLASS: Section = Section {
    name: "queue_class",
    doc: "The packets that wait in one queue, and their share.",
    groups: &[&[
        MATCH,
        Key::new(
            "weight",
            Kind::Integer { least: 1, most: 10_000 },
            "3",
            "Its share, in proportion to the weights of the others, 1 to 10000. Default: 1.",
        ),
        LIMIT,
    ]],
};

/// A class of which only the place counts.
const PRIORITY_CLASS: Section =
    Section { name: "queue_priority_class", doc: "The packets that wait in one queue.", groups: &[&[MATCH, LIMIT]] };

/// Classes in the order of their importance.
pub(super) const PRIORITY_CLASSES: Key = Key::new(
    "classes",
    Kind::Map { names: LINK_NAME, values: &Kind::Optional(&PRIORITY_CLASS) },
    "{voip: {match: {protocol: udp, port: 5060}}, rest: {}}",
    "The classes, the most important first; the last has no `match` and takes the rest.",
)
.required();

/// The keys of disciplines that divide by flows or by classes.
pub(super) const KEYS: &[Key] = &[
    Key::new(
        "flows",
        Kind::Integer { least: 1, most: 65_536 },
        "1024",
        "Among how many queues a hash of addresses, protocol and ports divides, 1 to 65536. Default: 1024.",
    ),
    Key::new(
        "limit",
        Kind::Quantity(Quantity::Limit),
        "100 packets",
        "How much may wait in the queue of each flow: packets or bytes. Default: 1000 packets.",
    ),
    Key::new(
        "classes",
        Kind::Map { names: LINK_NAME, values: &Kind::Optional(&CLASS) },
        "{voip: {match: {protocol: udp, port: 5060}, weight: 3}, rest: {}}",
        "Queues chosen by filters instead of a hash; exactly one has no `match` and takes the rest.",
    ),
];

/// What `flows` and `limit`, or `classes`, say.
pub(super) fn decode(fields: &Fields<'_>, errors: &mut Errors) -> Option<Division> {
    let flows = fields.read("flows", |value| integer(value, 1, 65_536), errors);
    let limit = fields.read("limit", quantity, errors);
    let Some(node) = fields.get("classes") else {
        let count = flows.map_or(FLOWS, |flows| u32::try_from(flows).unwrap_or(u32::MAX));
        return Some(Division::Flows { count, limit: limit.unwrap_or(DEFAULT_LIMIT) });
    };
    for (key, instead) in [("flows", "it is either a hash or classes"), ("limit", "each class has a limit of its own")]
    {
        if let Some(beside) = fields.get(key) {
            errors.push(beside.error(format!("`{key}` has no meaning beside `classes`: {instead}")));
        }
    }
    classes(node, &CLASS, errors).map(Division::Classes)
}

/// The classes of strict priority.
pub(super) fn decode_priority(fields: &Fields<'_>, errors: &mut Errors) -> Option<Vec<ClassConfig>> {
    classes(fields.get("classes")?, &PRIORITY_CLASS, errors)
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
        let weight = fields.read("weight", |value| integer(value, 1, 10_000), errors).unwrap_or(1);
        class.weight = u32::try_from(weight).unwrap_or(u32::MAX);
    }
    class.limit = fields.read("limit", quantity::<Limit>, errors).unwrap_or(DEFAULT_LIMIT);
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
        let matching = filter.as_ref().map(|filter| format!("match: {}, ", filter::write(filter))).unwrap_or_default();
        let weight = if weighted { format!("weight: {weight}, ") } else { String::new() };
        format!("{name}: {{{matching}{weight}limit: {limit}}}")
    });
    format!("{{{}}}", written.collect::<Vec<_>>().join(", "))
}
