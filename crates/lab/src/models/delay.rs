//! `delay`: how long packets travel.

use crate::diagnostics::Diagnostic;
use crate::errors::{Errors, keep};
use crate::fields::Fields;
use crate::forms::{Offset, OrZero, Word, forms};
use crate::keyed::{Keyed, WrittenKeys, sections};
use crate::models::quoted;
use crate::scalar::{self, filled, text};
use crate::section::{Form, Key, Kind, Quantity, Section, Written, key, keys};
use crate::words::words;
use crate::yaml::{Content, Node};
use netloom_link::{
    Bins, ConfigError, Correlation, DelayConfig, Distribution, Exponential, Gamma, Histogram, Normal, Order, Pareto,
    ParetoNormal, Samples, Table, TableDelay, Uniform, Values,
};
use netloom_units::Duration;

/// A time, or a distribution.
pub(crate) const KIND: Kind = Kind::OneOf(&[Time::KIND, Kind::Sections(KINDS)]);

pub(crate) const KEY: Key = key!(
    /// Propagation delay of one direction, after the last bit is sent: a time, or a distribution. Default: 0.
    delay = KIND, "20 ms"
);

/// All distributions.
const KINDS: &[&Section] = &[
    &CONSTANT,
    &Uniform::SECTION,
    &Normal::SECTION,
    &Exponential::SECTION,
    &Pareto::SECTION,
    &ParetoNormal::SECTION,
    &Gamma::SECTION,
    &TABLE,
    &HISTOGRAM,
    &SAMPLES,
];

forms! {
    /// A time, which may be zero.
    struct Time = Duration, OrZero::<Duration>::KIND, scalar::duration_or_zero;
    struct Number = f64, Kind::Positive, number;
    struct Correlated = Correlation, Kind::OneOf(&[Kind::Quantity(Quantity::Correlation), Kind::Zero]), correlation;
}

impl Written for Time {
    /// Zero is zero in every unit, and seconds are the least surprising one.
    fn write(delay: &Duration) -> String {
        if delay.is_zero() { "0 s".into() } else { delay.to_string() }
    }
}

impl Written for Number {
    fn write(number: &f64) -> String {
        number.to_string()
    }
}

words!(Order { "kept" = Self::Kept, "free" = Self::Free });

/// The order of packets.
const ORDER: Section = keys! {
    /// kept: packets arrive in the order in which they are sent; free: one with a shorter delay overtakes. Default: kept.
    order: Word<Order>, "free";
};

/// The keys that all kinds have that are drawn.
const DRAWN: Section = keys! {
    /// The correlation of each delay with the one before it, -100 % to 100 %. Default: 0.
    correlation: Correlated, "80 %";
    /// kept: packets arrive in the order in which they are sent; free: one with a shorter delay overtakes. Default: kept.
    order: Word<Order>, "free";
};

sections! {
    /// A delay that is always the same.
    const CONSTANT = "delay_constant" {
        /// constant: every packet travels for the same time.
        kind is "constant";
        /// The delay.
        delay: Time, required "20 ms";
        ..ORDER;
    }

    /// A delay that is uniformly distributed between two bounds.
    for Uniform = "delay_uniform" {
        /// uniform: uniformly distributed between two bounds.
        kind is "uniform";
        /// The shortest.
        from: Time, required "5 ms";
        /// The longest.
        to: Time, required "15 ms";
        /// How far the lower bound is below zero, with from: 0; a draw below zero is no delay. Default: 0.
        below: Time, "10 ms" else Duration::ZERO;
        ..DRAWN;
    }

    /// A normally distributed delay; below zero counts as zero.
    for Normal = "delay_normal" {
        /// normal: normally distributed; below zero counts as zero.
        kind is "normal";
        /// The mean.
        mean: Time, required "20 ms";
        /// The standard deviation.
        deviation: Time, required "3 ms";
        ..DRAWN;
    }

    /// A constant delay and an exponentially distributed one.
    for Exponential = "delay_exponential" {
        /// exponential: a constant and an exponentially distributed part.
        kind is "exponential";
        /// The constant part. Default: 0.
        shift: Offset, "10 ms" else Duration::ZERO;
        /// The mean of the random part, above zero.
        mean: Time, required "10 ms";
        ..DRAWN;
    }

    /// A constant delay and one with a Pareto distribution.
    for Pareto = "delay_pareto" {
        /// pareto: a constant part and one with a Pareto distribution.
        kind is "pareto";
        /// The constant part. Default: 0.
        shift: Offset, "10 ms" else Duration::ZERO;
        /// The shortest of the random part, above zero.
        scale: Time, required "5 ms";
        /// How fast long delays become rare, above 1.
        shape: Number, required "3";
        ..DRAWN;
    }

    /// A quarter of a normal and three quarters of a Pareto distribution, as in netem.
    for ParetoNormal = "delay_pareto_normal" {
        /// pareto-normal: a quarter normal and three quarters Pareto, as in netem.
        kind is "pareto-normal";
        /// The mean.
        mean: Time, required "20 ms";
        /// What netem calls jitter.
        deviation: Time, required "3 ms";
        ..DRAWN;
    }

    /// A constant delay and one with a gamma distribution.
    for Gamma = "delay_gamma" {
        /// gamma: a constant part and one with a gamma distribution.
        kind is "gamma";
        /// The constant part. Default: 0.
        shift: Offset, "10 ms" else Duration::ZERO;
        /// The shape, above 0.
        shape: Number, required "2.5";
        /// The scale, above zero: the mean of the random part is shape * scale.
        scale: Time, required "5 ms";
        ..DRAWN;
    }

    /// A delay that a table of netem describes.
    const TABLE = "delay_table" {
        /// table: mean + deviation * table[u] / 8192, as in netem.
        kind is "table";
        /// The file, relative to the lab file.
        file = Kind::Scalar, required "measured.dist";
        /// The mean.
        mean: Time, required "20 ms";
        /// What 8192 stands for in the table.
        deviation: Time, required "3 ms";
        ..DRAWN;
    }

    /// A delay that a histogram describes.
    const HISTOGRAM = "delay_histogram" {
        /// histogram: lines like `10 ms, 3`, where a bin begins and its weight.
        kind is "histogram";
        /// The file, relative to the lab file.
        file = Kind::Scalar, required "measured.csv";
        ..DRAWN;
    }

    /// Measured delays.
    const SAMPLES = "delay_samples" {
        /// samples: one delay like `12.5 ms` per line, each with the same probability.
        kind is "samples";
        /// The file, relative to the lab file.
        file = Kind::Scalar, required "measured.txt";
        /// Whether the delays are played in the file's order, again and again. Default: false.
        replay: bool, "true";
        ..DRAWN;
    }
}

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
    let (kind, fields) = Fields::open_kind(node, KINDS, errors)?;
    let order = fields.form::<Word<Order>>("order", errors);
    // What is always the same is not correlated, and has no such key.
    let share = if kind == "constant" { None } else { fields.form::<Correlated>("correlation", errors) };
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
        "constant" => Distribution::Constant(fields.form::<Time>("delay", errors)?),
        "uniform" => Distribution::Uniform(Uniform::read_keys(fields, errors)?),
        "normal" => Distribution::Normal(Normal::read_keys(fields, errors)?),
        "exponential" => Distribution::Exponential(Exponential::read_keys(fields, errors)?),
        "pareto" => Distribution::Pareto(Pareto::read_keys(fields, errors)?),
        "pareto-normal" => Distribution::ParetoNormal(ParetoNormal::read_keys(fields, errors)?),
        "gamma" => Distribution::Gamma(Gamma::read_keys(fields, errors)?),
        "table" => {
            let (mean, deviation) = (fields.form::<Time>("mean", errors), fields.form::<Time>("deviation", errors));
            let (table, file) = from_file(fields, Table::parse, errors)?;
            Distribution::Table(TableDelay { mean: mean?, deviation: deviation?, table, file })
        }
        "histogram" => {
            let (bins, file) = from_file(fields, Bins::parse, errors)?;
            Distribution::Histogram(Histogram { bins, file })
        }
        _ => {
            let replay = fields.form::<bool>("replay", errors).unwrap_or(false);
            let (values, file) = from_file(fields, Values::parse, errors)?;
            Distribution::Samples(Samples { values, file, replay })
        }
    })
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
        return Time::write(delay);
    }
    let mut keys = parameters(&config.distribution);
    if config.correlation != Correlation::NONE {
        keys += &format!(", correlation: {}", config.correlation);
    }
    if config.order == Order::Free {
        keys += ", order: free";
    }
    format!("{{{keys}}}")
}

fn parameters(distribution: &Distribution) -> String {
    match distribution {
        Distribution::Constant(delay) => format!("kind: constant, delay: {}", Time::write(delay)),
        Distribution::Uniform(Uniform { from, to, below }) => {
            let below = if below.is_zero() { String::new() } else { format!(", below: {below}") };
            format!("kind: uniform, from: {}{below}, to: {}", Time::write(from), Time::write(to))
        }
        Distribution::Normal(normal) => normal.write_keys(),
        Distribution::Exponential(exponential) => exponential.write_keys(),
        Distribution::Pareto(pareto) => pareto.write_keys(),
        Distribution::ParetoNormal(pareto) => pareto.write_keys(),
        Distribution::Gamma(gamma) => gamma.write_keys(),
        Distribution::Table(TableDelay { mean, deviation, file, .. }) => {
            let (mean, deviation) = (Time::write(mean), Time::write(deviation));
            format!("kind: table, file: {}, mean: {mean}, deviation: {deviation}", quoted(file))
        }
        Distribution::Histogram(Histogram { file, .. }) => format!("kind: histogram, file: {}", quoted(file)),
        Distribution::Samples(Samples { file, replay, .. }) => {
            format!("kind: samples, file: {}{}", quoted(file), if *replay { ", replay: true" } else { "" })
        }
    }
}
