//! `loss`: which packets are lost.

mod tables;

use super::chance::{self, refused};
use crate::diagnostics::Diagnostic;
use crate::errors::{Errors, keep};
use crate::fields::Fields;
use crate::keys::{Key, Kind, SHARE_OR_ZERO};
use crate::scalar;
use crate::yaml::{Content, Node};
use netloom_link::{
    EveryConfig, GilbertConfig, GilbertElliottConfig, LossConfig, MarkovConfig, PacketsConfig, SequenceConfig, Then,
};
use netloom_units::{Limit, Probability};
use std::ops::RangeInclusive;
use tables::{BIT_ERROR, CORRELATED, EVERY, GILBERT, GILBERT_ELLIOTT, MARKOV, PACKETS, PATTERN, REPLAY};

pub(crate) const KEY: Key = Key::new(
    "loss",
    Kind::OneOf(&[
        SHARE_OR_ZERO,
        Kind::Section(&CORRELATED),
        Kind::Section(&BIT_ERROR),
        Kind::Section(&GILBERT),
        Kind::Section(&GILBERT_ELLIOTT),
        Kind::Section(&MARKOV),
        Kind::Section(&EVERY),
        Kind::Section(&PACKETS),
        Kind::Section(&PATTERN),
        Kind::Section(&REPLAY),
    ]),
    "0.1 %",
    "The probability with which each packet is lost, independently of all others, or another model. Default: 0.",
);

/// Every form that it can take.
pub(crate) const EXAMPLES: &[&str] = &[
    "0.1 %",
    "0",
    "{kind: correlated, probability: 1 %, correlation: 25 %}",
    "{kind: correlated, probability: 1 %}",
    "{kind: bit-error, rate: 1e-9}",
    "{kind: bit-error, rate: 2.5e-15}",
    "{kind: bit-error, rate: 0.00001}",
    "{kind: bit-error, rate: 1 in 300000}",
    "{kind: gilbert, share: 1 %, burst: 5 packets}",
    "{kind: gilbert-elliott, p: 1 %, r: 10 %}",
    "{kind: gilbert-elliott, p: 1 %, r: 10 %, good: 0.1 %, bad: 70 %}",
    "{kind: markov, p13: 1 %, p31: 30 %}",
    "{kind: markov, p13: 1 %, p31: 30 %, p32: 20 %, p23: 60 %, p14: 0.5 %}",
    "{kind: every, n: 100}",
    "{kind: every, n: 100, first: 1}",
    "{kind: packets, lost: [3, 7, 20..25]}",
    "{kind: packets, lost: [1], period: 1000}",
    "{kind: pattern, sequence: 0001}",
    "{kind: pattern, sequence: \"10\", then: repeat}",
    "{kind: pattern, sequence: 1110, then: pass}",
    "{kind: replay, file: tests/files/loss.txt}",
    "{kind: replay, file: tests/files/loss.txt, then: pass}",
];

pub(crate) fn decode(node: &Node, errors: &mut Errors) -> Option<LossConfig> {
    if !matches!(node.content, Content::Map(_)) {
        let share = keep(scalar::probability_or_zero(node), errors)?;
        return Some(if share.is_zero() { LossConfig::None } else { LossConfig::Independent(share) });
    }
    let (kind, fields) = Fields::open_kind(node, tables::KINDS, errors)?;
    let config = match kind {
        "correlated" => LossConfig::Correlated(chance::read(&fields, errors)?),
        "bit-error" => LossConfig::BitError(fields.read("rate", scalar::quantity, errors)?),
        "gilbert" => gilbert(&fields, errors)?,
        "gilbert-elliott" => gilbert_elliott(&fields, errors)?,
        "markov" => markov(&fields, errors)?,
        "every" => every(&fields, errors)?,
        "packets" => packets(&fields, errors)?,
        "pattern" => pattern(&fields, errors)?,
        _ => replay(&fields, errors)?,
    };
    let checked = config.check().map_err(|error| refused(node, &fields, error));
    keep(checked, errors).map(|()| config)
}

fn share(fields: &Fields<'_>, key: &str, errors: &mut Errors) -> Option<Probability> {
    fields.read(key, scalar::probability_or_zero, errors)
}

fn gilbert(fields: &Fields<'_>, errors: &mut Errors) -> Option<LossConfig> {
    let (share, burst) = (share(fields, "share", errors), fields.read("burst", in_packets, errors));
    Some(LossConfig::Gilbert(GilbertConfig { share: share?, burst: burst? }))
}

fn in_packets(node: &Node) -> Result<u32, Diagnostic> {
    match node.text().map(str::parse) {
        Some(Ok(Limit::Packets(packets))) => Ok(packets),
        _ => Err(node.error("the mean length of a burst is counted in packets: write for example `5 packets`")),
    }
}

fn gilbert_elliott(fields: &Fields<'_>, errors: &mut Errors) -> Option<LossConfig> {
    let [p, r, good, bad] = ["p", "r", "good", "bad"].map(|key| share(fields, key, errors));
    let (good, bad) = (good.unwrap_or(Probability::ZERO), bad.unwrap_or(Probability::ONE));
    Some(LossConfig::GilbertElliott(GilbertElliottConfig { p: p?, r: r?, good, bad }))
}

fn markov(fields: &Fields<'_>, errors: &mut Errors) -> Option<LossConfig> {
    let [p13, p31, p32, p23, p14] = ["p13", "p31", "p32", "p23", "p14"].map(|key| share(fields, key, errors));
    let (p32, p14) = (p32.unwrap_or_default(), p14.unwrap_or_default());
    let p23 = p23.unwrap_or(Probability::ONE);
    Some(LossConfig::Markov(MarkovConfig { p13: p13?, p31: p31?, p32, p23, p14 }))
}

fn every(fields: &Fields<'_>, errors: &mut Errors) -> Option<LossConfig> {
    let number = |node: &Node| scalar::integer(node, 1, u64::MAX);
    let (n, first) = (fields.read("n", number, errors), fields.read("first", number, errors));
    n.map(|n| LossConfig::Every(EveryConfig { n, first: first.unwrap_or(n) }))
}

fn packets(fields: &Fields<'_>, errors: &mut Errors) -> Option<LossConfig> {
    let period = fields.read("period", |node| scalar::integer(node, 1, u64::MAX), errors);
    let lost = fields.read("lost", runs, errors)?;
    Some(LossConfig::Packets(PacketsConfig { lost: lost.into(), period }))
}

/// A list of numbers and of runs like `20..25`.
fn runs(node: &Node) -> Result<Vec<RangeInclusive<u64>>, Diagnostic> {
    let Content::List(items) = &node.content else {
        return Err(node.expected("a list of packet numbers like [3, 7, 20..25]"));
    };
    items.iter().map(run).collect()
}

fn run(node: &Node) -> Result<RangeInclusive<u64>, Diagnostic> {
    let text = scalar::text(node)?;
    let (first, last) = text.split_once("..").unwrap_or((&text, &text));
    match (first.trim().parse(), last.trim().parse()) {
        (Ok(first), Ok(last)) => Ok(first..=last),
        _ => Err(node.error(format!("\"{text}\" is neither a packet's number like 7 nor a run like 20..25"))),
    }
}

fn then(fields: &Fields<'_>, errors: &mut Errors) -> Then {
    let words = [("repeat", Then::Repeat), ("pass", Then::Pass)];
    fields.read("then", |node| scalar::word(node, &words), errors).unwrap_or_default()
}

fn pattern(fields: &Fields<'_>, errors: &mut Errors) -> Option<LossConfig> {
    let then = then(fields, errors);
    let lost = fields.read("sequence", |node| sequence(node, &scalar::text(node)?, ""), errors)?;
    Some(LossConfig::Sequence(SequenceConfig { lost, then, file: None }))
}

fn replay(fields: &Fields<'_>, errors: &mut Errors) -> Option<LossConfig> {
    let then = then(fields, errors);
    let node = fields.get("file")?;
    let text = keep(errors.read_text(node), errors)?;
    let file = keep(scalar::text(node), errors)?;
    let lost = keep(sequence(node, &text, &format!("{file}: ")), errors)?;
    Some(LossConfig::Sequence(SequenceConfig { lost, then, file: Some(file) }))
}

/// What `text` says; an error is about `node` and names the file.
fn sequence(node: &Node, text: &str, file: &str) -> Result<std::sync::Arc<[bool]>, Diagnostic> {
    let checked = SequenceConfig::parse(text).and_then(|lost| {
        let config = SequenceConfig { lost, then: Then::Repeat, file: None };
        config.check().map(|()| config.lost)
    });
    checked.map_err(|error| node.error(format!("{file}{}", error.message)))
}

pub(crate) fn write(config: &LossConfig) -> String {
    match config {
        LossConfig::None => "0 %".into(),
        LossConfig::Independent(share) => share.to_string(),
        LossConfig::Correlated(chance) => format!("{{kind: correlated, {}}}", chance::write_keys(chance)),
        LossConfig::BitError(rate) => format!("{{kind: bit-error, rate: {rate}}}"),
        LossConfig::Gilbert(GilbertConfig { share, burst }) => {
            format!("{{kind: gilbert, share: {share}, burst: {}}}", Limit::Packets(*burst))
        }
        LossConfig::GilbertElliott(GilbertElliottConfig { p, r, good, bad }) => {
            format!("{{kind: gilbert-elliott, p: {p}, r: {r}, good: {good}, bad: {bad}}}")
        }
        LossConfig::Markov(MarkovConfig { p13, p31, p32, p23, p14 }) => {
            format!("{{kind: markov, p13: {p13}, p31: {p31}, p32: {p32}, p23: {p23}, p14: {p14}}}")
        }
        LossConfig::Every(EveryConfig { n, first }) => format!("{{kind: every, n: {n}, first: {first}}}"),
        LossConfig::Packets(packets) => write_packets(packets),
        LossConfig::Sequence(sequence) => write_sequence(sequence),
    }
}

fn write_packets(PacketsConfig { lost, period }: &PacketsConfig) -> String {
    let run = |run: &RangeInclusive<u64>| match (run.start(), run.end()) {
        (first, last) if first == last => first.to_string(),
        (first, last) => format!("{first}..{last}"),
    };
    let runs: Vec<String> = lost.iter().map(run).collect();
    let period = period.map_or_else(String::new, |period| format!(", period: {period}"));
    format!("{{kind: packets, lost: [{}]{period}}}", runs.join(", "))
}

fn write_sequence(SequenceConfig { lost, then, file }: &SequenceConfig) -> String {
    let then = match then {
        Then::Repeat => "repeat",
        Then::Pass => "pass",
    };
    match file {
        // A text of JSON is one of YAML.
        Some(file) => format!("{{kind: replay, file: {}, then: {then}}}", serde_json::json!(file)),
        None => {
            let digits: String = lost.iter().map(|lost| if *lost { '1' } else { '0' }).collect();
            format!("{{kind: pattern, sequence: \"{digits}\", then: {then}}}")
        }
    }
}
