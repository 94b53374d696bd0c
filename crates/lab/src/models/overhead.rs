//! `overhead`: what a packet is charged beyond its bytes.

use crate::errors::{Errors, keep};
use crate::fields::Fields;
use crate::forms::Word;
use crate::keyed::{Keyed, sections};
use crate::scalar;
use crate::section::{Form, Key, Kind, key};
use crate::words::Words;
use crate::words::words;
use crate::yaml::{Content, Node};
use netloom_link::OverheadConfig;
use netloom_units::Bytes;

pub(crate) const KEY: Key = key!(
    /// What a packet is charged on the link beyond its bytes from the IP header on: none, ethernet, atm, or bytes and cells. Default: none.
    overhead = Kind::OneOf(&[Word::<OverheadConfig>::KIND, Overhead::KIND]), "ethernet"
);

words!(OverheadConfig { "none" = Self::None, "ethernet" = Self::ETHERNET, "atm" = Self::ATM });

sections! {
    /// What is charged beyond a packet's bytes from the IP header on: for a frame, or for all cells it is cut into.
    struct Overhead = "overhead" {
        /// What is added to each packet. Default: 0 B.
        bytes: Bytes, "22 B";
        /// The least that a packet is charged. Default: 0 B.
        minimum: Bytes, "84 B";
        /// The size of a cell. Default: there are no cells.
        cell: Bytes, "53 B";
        /// How much of a packet a cell carries.
        payload: Bytes, "48 B";
    }
}

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
        return keep(scalar::word(node, OverheadConfig::WORDS), errors);
    }
    let fields = Fields::open(node, &Overhead::SECTION, errors)?;
    let Overhead { bytes, minimum, cell, payload } = Overhead::read_keys(&fields, errors)?;
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
        return errors.reject(wrong);
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
        OverheadConfig::Frame { bytes, minimum } if config.word().is_empty() && minimum != Bytes::default() => {
            format!("{{bytes: {bytes}, minimum: {minimum}}}")
        }
        OverheadConfig::Frame { bytes, .. } if config.word().is_empty() => format!("{{bytes: {bytes}}}"),
        OverheadConfig::Cells { bytes, payload, cell } if config.word().is_empty() => {
            let bytes = if bytes == Bytes::default() { String::new() } else { format!(", bytes: {bytes}") };
            format!("{{cell: {cell}, payload: {payload}{bytes}}}")
        }
        _ => config.word().into(),
    }
}
