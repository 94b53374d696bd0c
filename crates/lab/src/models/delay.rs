//! `delay`: how long packets travel.

mod sections;

use crate::diagnostics::Diagnostic;
use crate::errors::{Errors, keep};
use crate::fields::Fields;
use crate::keys::{DURATION_OR_ZERO, Key, Kind};
use crate::scalar::{self, filled, flag, text, word};
use crate::yaml::{Content, Node};
use netloom_link::{
    Bins, ConfigError, Correlation, DelayConfig, Distribution, Exponential, Gamma, Histogram, Normal, Order, Pareto,
    ParetoNormal, Samples, Table, TableDelay, Uniform, Values,
};
use netloom_units::Duration;
use sections::{
    CONSTANT, EXPONENTIAL, GAMMA, HISTOGRAM, NORMAL, PARETO, PARETO_NORMAL, SAMPLES, SECTIONS, TABLE, UNIFORM,
};

pub(crate) const KEY: Key = Key::new(
    "delay",
    Kind::OneOf(&[
        DURATION_OR_ZERO,
        Kind::Section(&CONSTANT),
        Kind::Section(&UNIFORM),
        Kind::Section(&NORMAL),
        Kind::Section(&EXPONENTIAL),
        Kind::Section(&PARETO),
        Kind::Section(&PARETO_NORMAL),
        Kind::Section(&GAMMA),
        Kind::Section(&TABLE),
        Kind::Section(&HISTOGRAM),
        Kind::Section(&SAMPLES),
    ]),
    "20 ms",
    "Propagation delay of one direction, after the last bit is sent: a time, or a distribution. Default: 0.",
);

/// Every form that it can take.
pub(crate) const EXAMPLES: &[&str] = &[
    "20 ms",
    "0",
    "{kind: constant, delay: 20 ms, order: free}",
    "{kind: constant, delay: 20 ms}",
    "{kind: uniform, from: 5 ms, to: 15 ms}",
    "{kind: uniform, from: 0, to: 15 ms, correlation: 80 %, order: free}",
    "{kind: uniform, from: 0, below: 10 ms, to: 30 ms, order: free}",
    "{kind: normal, mean: 20 ms, deviation: 3 ms, correlation: -20.5 %, order: kept}",
    "{kind: exponential, shift: 10 ms, mean: 10 ms, correlation: 0}",
    "{kind: exponential, mean: 10 ms, correlation: \"-100 %\"}",
    "{kind: pareto, shift: 10 ms, scale: 5 ms, shape: 3}",
    "{kind: pareto-normal, mean: 40 ms, deviation: 5 ms}",
    "{kind: gamma, shift: 10 ms, shape: 0.7, scale: 5 ms}",
    "{kind: table, file: tests/models/delay.dist, mean: 20 ms, deviation: 3 ms}",
    "{kind: histogram, file: tests/models/delay-histogram.csv, correlation: 25 %}",
    "{kind: samples, file: \"tests/models/delay-samples.txt\"}",
    "{kind: samples, file: tests/models/delay-samples.txt, replay: true, order: free}",
];

pub(crate) fn decode(node: &Node, errors: &mut Errors) -> Option<DelayConfig> {
    if !matches!(node.content, Content::Map(_)) {
        return keep(scalar::duration_or_zero(node), errors).map(DelayConfig::from);
    }
    let (kind, fields) = Fields::open_kind(node, SECTIONS, errors)?;
    let order = fields.read("order", |value| word(value, &[("kept", Order::Kept), ("free", Order::Free)]), errors);
    // What is always the same is not correlated, and has no such key.
    let share = if kind == "constant" { None } else { fields.read("correlation", correlation, errors) };
    let distribution = distribution(kind, &fields, errors)?;
    let config = DelayConfig { distribution, correlation: share.unwrap_or_default(), order: order.unwrap_or_default() };
    keep(config.check().map_err(|wrong| place(node, &fields, &wrong)), errors)?;
    Some(config)
}

/// An error about the value of the key that it names.
fn place(node: &Node, fields: &Fields<'_>, wrong: &ConfigError) -> Diagnostic {
    fields.get(wrong.key).unwrap_or(node).error(wrong.message.clone())
}

fn distribution(kind: &str, fields: &Fields<'_>, errors: &mut Errors) -> Option<Distribution> {
    Some(match kind {
        "constant" => Distribution::Constant(time(fields, "delay", errors)?),
        "uniform" => {
            let (from, to) = (time(fields, "from", errors), time(fields, "to", errors));
            let below = time(fields, "below", errors).unwrap_or_default();
            Distribution::Uniform(Uniform { from: from?, to: to?, below })
        }
        "normal" => {
            let (mean, deviation) = (time(fields, "mean", errors), time(fields, "deviation", errors));
            Distribution::Normal(Normal { mean: mean?, deviation: deviation? })
        }
        "exponential" => {
            let (shift, mean) = (shift(fields, errors), time(fields, "mean", errors));
            Distribution::Exponential(Exponential { shift, mean: mean? })
        }
        "pareto" => {
            let (shift, scale, shape) = scaled(fields, errors);
            Distribution::Pareto(Pareto { shift, scale: scale?, shape: shape? })
        }
        "pareto-normal" => {
            let (mean, deviation) = (time(fields, "mean", errors), time(fields, "deviation", errors));
            Distribution::ParetoNormal(ParetoNormal { mean: mean?, deviation: deviation? })
        }
        "gamma" => {
            let (shift, scale, shape) = scaled(fields, errors);
            Distribution::Gamma(Gamma { shift, shape: shape?, scale: scale? })
        }
        "table" => {
            let (mean, deviation) = (time(fields, "mean", errors), time(fields, "deviation", errors));
            let (table, file) = from_file(fields, Table::parse, errors)?;
            Distribution::Table(TableDelay { mean: mean?, deviation: deviation?, table, file })
        }
        "histogram" => {
            let (bins, file) = from_file(fields, Bins::parse, errors)?;
            Distribution::Histogram(Histogram { bins, file })
        }
        _ => {
            let replay = fields.read("replay", flag, errors).unwrap_or(false);
            let (values, file) = from_file(fields, Values::parse, errors)?;
            Distribution::Samples(Samples { values, file, replay })
        }
    })
}

fn time(fields: &Fields<'_>, key: &str, errors: &mut Errors) -> Option<Duration> {
    fields.read(key, scalar::duration_or_zero, errors)
}

fn shift(fields: &Fields<'_>, errors: &mut Errors) -> Duration {
    time(fields, "shift", errors).unwrap_or_default()
}

/// The shift, the scale and the shape.
fn scaled(fields: &Fields<'_>, errors: &mut Errors) -> (Duration, Option<Duration>, Option<f64>) {
    (shift(fields, errors), time(fields, "scale", errors), fields.read("shape", number, errors))
}

fn number(node: &Node) -> Result<f64, Diagnostic> {
    let parsed = node.plain().and_then(|text| text.parse().ok()).filter(|number: &f64| number.is_finite());
    parsed.ok_or_else(|| node.expected("a number, for example 2.5"))
}

fn correlation(node: &Node) -> Result<Correlation, Diagnostic> {
    if node.plain() == Some("0") {
        return Ok(Correlation::NONE);
    }
    text(node)?.parse().map_err(|wrong: ConfigError| node.error(wrong.message))
}

/// What the file under the key `file` holds, and the file's name as the lab file has it.
fn from_file<T>(
    fields: &Fields<'_>,
    parse: impl FnOnce(&str) -> Result<T, ConfigError>,
    errors: &mut Errors,
) -> Option<(T, String)> {
    let node = fields.get("file")?;
    let read = errors.read_text(node);
    let content = keep(read, errors)?;
    let name = keep(filled(node), errors)?;
    let parsed = parse(&content).map_err(|wrong| node.error(format!("{name}: {}", wrong.message)));
    keep(parsed, errors).map(|value| (value, name))
}

pub(crate) fn write(config: &DelayConfig) -> String {
    if let (Distribution::Constant(delay), Order::Kept) = (&config.distribution, config.order) {
        return written(*delay);
    }
    let mut kind = parameters(&config.distribution);
    if config.correlation != Correlation::NONE {
        kind += &format!(", correlation: {}", config.correlation);
    }
    if config.order == Order::Free {
        kind += ", order: free";
    }
    format!("{{kind: {kind}}}")
}

fn parameters(distribution: &Distribution) -> String {
    match distribution {
        Distribution::Constant(delay) => format!("constant, delay: {}", written(*delay)),
        Distribution::Uniform(Uniform { from, to, below }) => {
            let below = if below.is_zero() { String::new() } else { format!(", below: {}", written(*below)) };
            format!("uniform, from: {}{below}, to: {}", written(*from), written(*to))
        }
        Distribution::Normal(Normal { mean, deviation }) => format!("normal{}", around(*mean, *deviation)),
        Distribution::Exponential(Exponential { shift, mean }) => {
            format!("exponential{}, mean: {}", shifted(*shift), written(*mean))
        }
        Distribution::Pareto(Pareto { shift, scale, shape }) => {
            format!("pareto{}, scale: {}, shape: {shape}", shifted(*shift), written(*scale))
        }
        Distribution::ParetoNormal(ParetoNormal { mean, deviation }) => {
            format!("pareto-normal{}", around(*mean, *deviation))
        }
        Distribution::Gamma(Gamma { shift, shape, scale }) => {
            format!("gamma{}, shape: {shape}, scale: {}", shifted(*shift), written(*scale))
        }
        Distribution::Table(TableDelay { mean, deviation, file, .. }) => {
            format!("table, file: {}{}", quoted(file), around(*mean, *deviation))
        }
        Distribution::Histogram(Histogram { file, .. }) => format!("histogram, file: {}", quoted(file)),
        Distribution::Samples(Samples { file, replay, .. }) => {
            format!("samples, file: {}{}", quoted(file), if *replay { ", replay: true" } else { "" })
        }
    }
}

fn around(mean: Duration, deviation: Duration) -> String {
    format!(", mean: {}, deviation: {}", written(mean), written(deviation))
}

fn shifted(shift: Duration) -> String {
    if shift.is_zero() { String::new() } else { format!(", shift: {}", written(shift)) }
}

/// Zero is zero in every unit, and seconds are the least surprising one.
fn written(delay: Duration) -> String {
    if delay.is_zero() { "0 s".into() } else { delay.to_string() }
}

/// A text as YAML has it between quotes, which is JSON's form.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
