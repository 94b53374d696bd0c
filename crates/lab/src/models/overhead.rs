//! `overhead`: what a packet is charged beyond its bytes.

use crate::errors::{Errors, keep};
use crate::fields::Fields;
use crate::keys::{Key, Kind, Quantity, Section};
use crate::scalar;
use crate::yaml::{Content, Node};
use netloom_link::OverheadConfig;
use netloom_units::Bytes;

pub(crate) const KEY: Key = Key::new(
    "overhead",
    Kind::OneOf(&[Kind::Word(&["none", "ethernet", "atm"]), Kind::Section(&OVERHEAD)]),
    "ethernet",
    "What a packet is charged on the link beyond its bytes from the IP header on: none, ethernet, atm, or bytes and \
     cells. Default: none.",
);

/// A framing of its own.
const OVERHEAD: Section = Section {
    name: "overhead",
    doc: "What is charged beyond a packet's bytes from the IP header on: for a frame, or for all cells it is cut into.",
    groups: &[&[
        Key::new("bytes", Kind::Quantity(Quantity::Size), "22 B", "What is added to each packet. Default: 0 B."),
        Key::new(
            "minimum",
            Kind::Quantity(Quantity::Size),
            "84 B",
            "The least that a packet is charged. Default: 0 B.",
        ),
        Key::new("cell", Kind::Quantity(Quantity::Size), "53 B", "The size of a cell. Default: there are no cells."),
        Key::new("payload", Kind::Quantity(Quantity::Size), "48 B", "How much of a packet a cell carries."),
    ]],
};

/// Every form that it can take.
pub(crate) const EXAMPLES: &[&str] = &[
    "none",
    "ethernet",
    "atm",
    "{bytes: 22 B}",
    "{bytes: 42 B, minimum: 88 B}",
    "{cell: 53 B, payload: 48 B}",
    "{cell: 53 B, payload: 48 B, bytes: 10 B}",
];

pub(crate) fn decode(node: &Node, errors: &mut Errors) -> Option<OverheadConfig> {
    if !matches!(node.content, Content::Map(_)) {
        let words =
            [("none", OverheadConfig::None), ("ethernet", OverheadConfig::ETHERNET), ("atm", OverheadConfig::ATM)];
        return keep(scalar::word(node, &words), errors);
    }
    let fields = Fields::open(node, &OVERHEAD, errors)?;
    let mut size = |name| fields.read(name, scalar::quantity::<Bytes>, errors);
    let [bytes, minimum, cell, payload] = ["bytes", "minimum", "cell", "payload"].map(&mut size);
    let get = |name| fields.get(name);
    let wrong = match [get("bytes"), get("minimum"), get("cell"), get("payload")] {
        [None, None, None, None] => Some(node.error("nothing is charged: write for example `{bytes: 22 B}`, or none")),
        [_, _, Some(named), None] => Some(named.error("this key is missing: write for example `payload: 48 B`")),
        [_, _, None, Some(named)] => Some(named.error("this is a part of a cell: write for example `cell: 53 B`")),
        [_, Some(named), Some(_), Some(_)] => {
            Some(named.error("cells are always charged as a whole: leave `minimum` out"))
        }
        _ => None,
    };
    if let Some(wrong) = wrong {
        errors.push(wrong);
        return None;
    }
    let bytes = bytes.unwrap_or_default();
    let config = match (get("cell"), get("payload")) {
        (Some(_), Some(_)) => OverheadConfig::Cells { bytes, payload: payload?, cell: cell? },
        _ => OverheadConfig::Frame { bytes, minimum: minimum.unwrap_or_default() },
    };
    fields.checked(config.check(), errors)?;
    Some(config)
}

pub(crate) fn write(config: &OverheadConfig) -> String {
    match *config {
        OverheadConfig::None => "none".into(),
        OverheadConfig::ETHERNET => "ethernet".into(),
        OverheadConfig::ATM => "atm".into(),
        OverheadConfig::Frame { bytes, minimum } if minimum == Bytes::default() => format!("{{bytes: {bytes}}}"),
        OverheadConfig::Frame { bytes, minimum } => format!("{{bytes: {bytes}, minimum: {minimum}}}"),
        OverheadConfig::Cells { bytes, payload, cell } if bytes == Bytes::default() => {
            format!("{{cell: {cell}, payload: {payload}}}")
        }
        OverheadConfig::Cells { bytes, payload, cell } => {
            format!("{{cell: {cell}, payload: {payload}, bytes: {bytes}}}")
        }
    }
}
