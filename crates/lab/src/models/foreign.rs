//! `netem`, `dummynet`, `tbf`: strings for these tools, in place of the keys that they stand for.

use super::change::parse_change;
use super::written_change;
use crate::errors::{Errors, keep};
use crate::fields::Fields;
use crate::foreign::{Dialect, translate};
use crate::scalar;
use crate::section::{Key, Kind, key};
use crate::yaml::Node;
use netloom_link::PipeChange;

pub(crate) const NETEM: Key = key!(
    /// A string for `tc … netem`, instead of other keys; `netloom link --netem` shows what it means.
    netem = Kind::Scalar, "delay 100ms loss 0.1%"
);

pub(crate) const DUMMYNET: Key = key!(
    /// A string for `ipfw pipe … config`, instead of other keys; `netloom link --dummynet` shows what it means.
    dummynet = Kind::Scalar, "bw 2.6Mbit/s delay 45ms queue 30 plr 0.01"
);

pub(crate) const TBF: Key = key!(
    /// A string for `tc … tbf`, instead of other keys; `netloom link --tbf` shows what it means.
    tbf = Kind::Scalar, "rate 50mbit burst 4542 latency 50ms"
);

/// Adds to `change` what the strings among `fields` set. Two keys cannot set the same thing.
pub(super) fn decode(fields: &Fields<'_>, change: &mut PipeChange, errors: &mut Errors) {
    for dialect in Dialect::ALL {
        let Some(node) = fields.get(dialect.name()) else { continue };
        let Some(text) = keep(scalar::filled(node), errors) else { continue };
        match translate(dialect, &text) {
            Ok(translation) => translation.keys.iter().for_each(|(key, value)| add(key, value, node, change, errors)),
            // The dialect's name stands before the message already.
            Err(error) => errors.push(node.error(error.to_string().replacen(&format!("{}: ", dialect.name()), "", 1))),
        }
    }
}

fn add(key: &str, value: &str, node: &Node, change: &mut PipeChange, errors: &mut Errors) {
    if written_change(change).iter().any(|(said, _)| *said == key) {
        errors.push(node.error(format!("this string sets `{key}`, and so does another key: leave one out")));
        return;
    }
    match parse_change(key, value) {
        Ok(part) => change.merge(part),
        Err(error) => errors.push(node.error(format!("this string means `{key}: {value}`, which is wrong: {error}"))),
    }
}
