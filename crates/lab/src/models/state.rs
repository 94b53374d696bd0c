//! `state`: flapping, and what a cut does.

use crate::diagnostics::Diagnostic;
use crate::errors::{Errors, keep};
use crate::fields::Fields;
use crate::keys::{DURATION_OR_ZERO, Key, Kind, Quantity, Section};
use crate::scalar::{duration, duration_or_zero, word};
use crate::yaml::{Content, Node};
use netloom_link::{FlapConfig, FlapTime, OnTheWire, StateConfig};

pub(crate) const KEY: Key = Key::new(
    "state",
    Kind::OneOf(&[Kind::Word(&["none"]), Kind::Section(&STATE)]),
    "{on_cut: lost, flap: {up: 10 s, down: 500 ms}}",
    "Flapping, and what a cut does to packets on the wire. Default: none.",
);

const STATE: Section = Section {
    name: "state",
    doc: "The flapping of a direction, and what a cut does.",
    groups: &[&[
        Key::new(
            "on_cut",
            Kind::Word(&["delivered", "lost"]),
            "lost",
            "What happens to packets that have left the transmitter when the link is cut. Default: delivered.",
        ),
        Key::new(
            "flap",
            Kind::Section(&FLAP),
            "{up: 10 s, down: 500 ms, start: 2 s}",
            "It goes down and up again and again. Default: never.",
        ),
    ]],
};

const TIME: Kind = Kind::OneOf(&[Kind::Quantity(Quantity::Duration), Kind::Section(&MEAN)]);

const FLAP: Section = Section {
    name: "flap",
    doc: "How long a link is up and down in turn.",
    groups: &[&[
        Key::new("up", TIME, "10 s", "How long it is up, at least 1 ms; {mean: 10 s} for random times.").required(),
        Key::new("down", TIME, "{mean: 500 ms}", "How long it is down, in the same notation.").required(),
        Key::new(
            "start",
            DURATION_OR_ZERO,
            "2 s",
            "When it goes down first, after time zero or the change. Default: after the first time up.",
        ),
    ]],
};

const MEAN: Section = Section {
    name: "flap_time",
    doc: "Exponentially distributed times.",
    groups: &[&[Key::new("mean", Kind::Quantity(Quantity::Duration), "10 s", "Their mean, at least 1 ms.").required()]],
};

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
    let fields = Fields::open(node, &STATE, errors)?;
    let words = [("delivered", OnTheWire::Delivered), ("lost", OnTheWire::Lost)];
    let on_the_wire = fields.read("on_cut", |value| word(value, &words), errors).unwrap_or_default();
    let Some(flap) = fields.get("flap") else { return Some(StateConfig { on_the_wire, flap: None }) };
    let inner = Fields::open(flap, &FLAP, errors)?;
    let (up, down) = (time("up", &inner, errors), time("down", &inner, errors));
    let start = inner.read("start", duration_or_zero, errors);
    let config = StateConfig { on_the_wire, flap: Some(FlapConfig { up: up?, down: down?, start }) };
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

fn time(key: &str, fields: &Fields<'_>, errors: &mut Errors) -> Option<FlapTime> {
    let node = fields.get(key)?;
    if !matches!(node.content, Content::Map(_)) {
        return keep(span(node).map(FlapTime::Constant), errors);
    }
    Fields::open(node, &MEAN, errors)?.read("mean", span, errors).map(FlapTime::Exponential)
}

/// A bare zero is as wrong as `0 s`, and is told the same.
fn span(node: &Node) -> Result<netloom_units::Duration, Diagnostic> {
    if node.plain() == Some("0") { duration_or_zero(node) } else { duration(node) }
}

pub(crate) fn write(config: &StateConfig) -> String {
    let on_cut = match config.on_the_wire {
        OnTheWire::Delivered => "delivered",
        OnTheWire::Lost => "lost",
    };
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
