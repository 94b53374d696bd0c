//! The keys of an access.

use super::super::builder::TopologyBuilder;
use super::access::{self, Access, Terminal};
use crate::errors::Errors;
use crate::fields::Fields;
use crate::forms::{AboveZero, OrZero};
use crate::keyed::{Keyed, sections};
use crate::section::{Form, Kind};
use crate::yaml::{Content, Node};
use netloom_units::{Duration, Rate};

/// The longest interval: what is longer has no use, and would not fit into the lab's time.
const LONGEST: u64 = 3_600_000_000_000;

sections! {
    /// How terminals of Starlink reach satellites: all change them at the same instants.
    pub(in crate::generate) struct Starlink = "generate_constellation_access" {
        /// How often terminals change satellites, at most 1 h. Default: 15 s.
        every: AboveZero<Duration>, "15 s";
        /// How long after each full minute of UTC one of the changes is. Default: 12 s.
        offset: OrZero<Duration>, "12 s";
        /// How long nothing arrives after a change, from the least to the greatest. Default: [50 ms, 150 ms].
        outage = Kind::pair(&OrZero::<Duration>::KIND), "[50 ms, 150 ms]";
        /// By how much one way is longer in an interval, from the least to the greatest. Default: [0 ms, 5 ms].
        level = Kind::pair(&OrZero::<Duration>::KIND), "[0 ms, 5 ms]";
        /// For how long packets are held up after an outage, and before the next change. Default: [70 ms, 37.5 ms].
        spikes = Kind::pair(&OrZero::<Duration>::KIND), "[70 ms, 37.5 ms]";
        /// The rate of an interval to a terminal, from the least to the greatest. Default: that of the link.
        down = Kind::pair(&Rate::KIND), "[60 Mbit/s, 160 Mbit/s]";
        /// The rate of an interval from a terminal, from the least to the greatest. Default: that of the link.
        up = Kind::pair(&Rate::KIND), "[8 Mbit/s, 20 Mbit/s]";
        /// Stations at which it rains, each with from when to when: 38 % of down and 52 % of up are missing then. Default: none.
        rain = Kind::Map { names: "^[a-zA-Z][a-zA-Z0-9-]*$", values: &Kind::pair(&OrZero::<Duration>::KIND) }, "{paris: [20 s, 40 s]}";
    }
}

/// The access that the file describes for stations of these names, in a lab that begins so many nanoseconds after 1970.
pub(super) fn access(builder: &mut TopologyBuilder<'_, '_>, names: &[String], start: i64) -> Option<Access> {
    let seed = builder.seed.derive("access");
    let terminals = names.iter().map(|name| Terminal { seed: seed.derive(name), rain: None }).collect();
    let mut made = Access {
        every: access::EVERY,
        first: Access::first(start, access::EVERY, access::OFFSET),
        outage: access::OUTAGE,
        level: access::LEVEL,
        spikes: access::SPIKES,
        rates: None,
        terminals,
    };
    let (node, errors) = builder.value("access")?;
    match &node.content {
        Content::Text { text, .. } if text == "starlink" => return Some(made),
        Content::Map(_) => {}
        _ => {
            errors.push(node.expected("`starlink`, or a map of its keys, for example {down: [60 Mbit/s, 160 Mbit/s], up: [8 Mbit/s, 20 Mbit/s]}"));
            return None;
        }
    }
    let fields = Fields::open(node, &Starlink::SECTION, errors)?;
    let before = errors.len();
    let Starlink { every, offset } = Starlink::read_keys(&fields, errors)?;
    made.every = every.map_or(access::EVERY, Duration::as_nanos);
    if made.every > LONGEST {
        fields.refuse([("every", "terminals change satellites once an hour at least: write at most 1 h")], errors);
        return None;
    }
    made.first = Access::first(start, made.every, offset.map_or(access::OFFSET, Duration::as_nanos));
    let most = made.every;
    for (key, range, is_range) in
        [("outage", &mut made.outage, true), ("level", &mut made.level, true), ("spikes", &mut made.spikes, false)]
    {
        if let Some(written) = fields.get(key) {
            *range = times(written, most, is_range, errors)?;
        }
    }
    made.rates = rates(&fields, errors)?;
    rain(&fields, names, &mut made, errors)?;
    (errors.len() == before).then_some(made)
}

/// Two times that are at most so long; those of a range are in order.
fn times(node: &Node, most: u64, is_range: bool, errors: &mut Errors) -> Option<[u64; 2]> {
    let found =
        pair::<OrZero<Duration>>(node, "two times, for example [50 ms, 150 ms]", errors)?.map(Duration::as_nanos);
    if found.iter().any(|time| *time > most) {
        errors.push(node.error("none of these times may be longer than `every`"));
        return None;
    }
    if is_range && found[0] > found[1] {
        errors.push(node.error("the least comes first: write for example [50 ms, 150 ms]"));
        return None;
    }
    Some(found)
}

/// The rates down and up, or none if they are those of the link; none at all after an error was noted.
#[expect(clippy::option_option, reason = "nothing was said, or it was wrong")]
fn rates(fields: &Fields<'_>, errors: &mut Errors) -> Option<Option<[[Rate; 2]; 2]>> {
    let [down, up] = ["down", "up"].map(|key| fields.get(key));
    let (Some(down), Some(up)) = (down, up) else {
        if down.or(up).is_some() {
            let why = "one of `down` and `up` is not enough: write both, or none";
            fields.refuse([("down", why), ("up", why)], errors);
            return None;
        }
        return Some(None);
    };
    let mut read = |node: &Node| {
        let range: [Rate; 2] = pair::<Rate>(node, "two rates, for example [60 Mbit/s, 160 Mbit/s]", errors)?;
        if range[0].as_bits_per_second() > range[1].as_bits_per_second() {
            errors.push(node.error("the least comes first: write for example [60 Mbit/s, 160 Mbit/s]"));
            return None;
        }
        Some(range)
    };
    Some(Some([read(down)?, read(up)?]))
}

/// Reads at which stations it rains.
fn rain(fields: &Fields<'_>, names: &[String], made: &mut Access, errors: &mut Errors) -> Option<()> {
    let Some(node) = fields.get("rain") else { return Some(()) };
    let wanted = "a map of stations, for example {paris: [20 s, 40 s]}";
    for entry in crate::fields::map(node, wanted, errors)? {
        let Some(place) = names.iter().position(|name| *name == entry.name) else {
            errors.push(entry.value.error(format!(
                "no station `{}` is here: these are {}",
                entry.name,
                names.join(", ")
            )));
            return None;
        };
        made.terminals[place].rain = Some(times(&entry.value, u64::MAX, true, errors)?);
    }
    if made.rates.is_none() {
        errors.push(node.error("rain takes a part of the rates: write `down` and `up`, too"));
        return None;
    }
    Some(())
}

/// The two items of a list.
fn pair<F: Form>(node: &Node, wanted: &str, errors: &mut Errors) -> Option<[F::Value; 2]> {
    let [one, other] = node.items() else {
        errors.push(node.expected(wanted));
        return None;
    };
    Some([F::read(one, errors)?, F::read(other, errors)?])
}
