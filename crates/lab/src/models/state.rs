//! `state`: flapping, and what a cut does.

use crate::diagnostics::Diagnostic;
use crate::errors::{Errors, keep};
use crate::fields::Fields;
use crate::forms::{OrZero, Word};
use crate::keyed::{Keyed, sections};
use crate::scalar::{duration, duration_or_zero};
use crate::section::{Form, Key, Kind, key};
use crate::words::Words;
use crate::words::words;
use crate::yaml::{Content, Node};
use netloom_link::{FlapConfig, FlapTime, OnTheWire, StateConfig};
use netloom_units::Duration;

pub(crate) const KEY: Key = key!(
    /// Flapping, and what a cut does to packets on the wire. Default: none.
    state = Kind::OneOf(&[Kind::Word(&["none"]), State::KIND]), "{on_cut: lost, flap: {up: 10 s, down: 500 ms}}"
);

words!(OnTheWire { "delivered" = Self::Delivered, "lost" = Self::Lost });

sections! {
    /// The flapping of a direction, and what a cut does.
    struct State = "state" {
        /// What happens to packets that have left the transmitter when the link is cut. Default: delivered.
        on_cut: Word<OnTheWire>, "lost";
        /// It goes down and up again and again. Default: never.
        flap = Kind::Section(&Flap::SECTION), "{up: 10 s, down: 500 ms, start: 2 s}";
    }

    /// How long a link is up and down in turn.
    struct Flap = "flap" {
        /// How long it is up, at least 1 ms; {mean: 10 s} for random times.
        up: FlapTime, required "10 s";
        /// How long it is down, in the same notation.
        down: FlapTime, required "{mean: 500 ms}";
        /// When it goes down first, after time zero or the change. Default: after the first time up.
        start: OrZero<Duration>, "2 s";
    }

    /// Exponentially distributed times.
    const MEAN = "flap_time" {
        /// Their mean, at least 1 ms.
        mean: Duration, required "10 s";
    }
}

impl Form for FlapTime {
    type Value = Self;
    const KIND: Kind = Kind::OneOf(&[Duration::KIND, Kind::Section(&MEAN)]);
    fn read(node: &Node, errors: &mut Errors) -> Option<Self> {
        if !matches!(node.content, Content::Map(_)) {
            return keep(span(node).map(FlapTime::Constant), errors);
        }
        Fields::open(node, &MEAN, errors)?.read("mean", span, errors).map(FlapTime::Exponential)
    }
}

/// Every form that it can take.
pub(crate) const EXAMPLES: &[&str] = &[
    "none",
    "{on_cut: delivered}",
    "{on_cut: lost}",
    "{flap: {up: 10 s, down: 500 ms}}",
    "{on_cut: lost, flap: {up: {mean: 10 s}, down: {mean: 1 ms}, start: 2 s}}",
    "{flap: {up: {mean: 1 min}, down: 1 s, start: 0}}",
];

pub(crate) fn decode(node: &Node, errors: &mut Errors) -> Option<StateConfig> {
    if !matches!(node.content, Content::Map(_)) {
        return keep(no_state(node), errors);
    }
    let fields = Fields::open(node, &State::SECTION, errors)?;
    let on_the_wire = State::read_keys(&fields, errors)?.on_cut.unwrap_or_default();
    let Some(flap) = fields.get("flap") else { return Some(StateConfig { on_the_wire, flap: None }) };
    let inner = Fields::open(flap, &Flap::SECTION, errors)?;
    let Flap { up, down, start } = Flap::read_keys(&inner, errors)?;
    let config = StateConfig { on_the_wire, flap: Some(FlapConfig { up, down, start }) };
    let checked = config.check().map(|()| config);
    keep(checked.map_err(|wrong| inner.get(wrong.key).unwrap_or(flap).error(wrong.message)), errors)
}

/// The words `up` and `down` are for the timeline and `netloom set`.
fn no_state(node: &Node) -> Result<StateConfig, Diagnostic> {
    match node.text() {
        Some("none") => Ok(StateConfig::default()),
        Some(cut @ ("up" | "down")) => {
            Err(node.error(format!("`{cut}` stands in the timeline: here write for example {}", KEY.example)))
        }
        _ => Err(node.expected(&format!("none or for example {}", KEY.example))),
    }
}

/// A bare zero is as wrong as `0 s`, and has the same error.
fn span(node: &Node) -> Result<Duration, Diagnostic> {
    if node.plain() == Some("0") { duration_or_zero(node) } else { duration(node) }
}

pub(crate) fn write(config: &StateConfig) -> String {
    let on_cut = config.on_the_wire.word();
    let Some(FlapConfig { up, down, start }) = &config.flap else {
        return if *config == StateConfig::default() { "none".into() } else { format!("{{on_cut: {on_cut}}}") };
    };
    // Zero is zero in every unit, and seconds are the least surprising one.
    let start = start.map(|start| if start.is_zero() { "0 s".to_owned() } else { start.to_string() });
    let start = start.map_or_else(String::new, |start| format!(", start: {start}"));
    format!("{{on_cut: {on_cut}, flap: {{up: {}, down: {}{start}}}}}", write_time(*up), write_time(*down))
}

fn write_time(time: FlapTime) -> String {
    match time {
        FlapTime::Constant(span) => span.to_string(),
        FlapTime::Exponential(mean) => format!("{{mean: {mean}}}"),
    }
}
