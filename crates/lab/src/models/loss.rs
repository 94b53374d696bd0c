//! `loss`: which packets are lost.

use super::chance::refused;
use crate::diagnostics::Diagnostic;
use crate::errors::{Errors, keep};
use crate::fields::Fields;
use crate::forms::{Filled, Maybe, OrZero, Whole, Word, forms};
use crate::keyed::{Keyed, WrittenKeys, sections};
use crate::models::quoted;
use crate::scalar;
use crate::section::{Form, Key, Kind, Section, Written, key, keys};
use crate::words::Words;
use crate::words::words;
use crate::yaml::{Content, Node};
use netloom_link::{
    ChanceConfig, EveryConfig, GilbertConfig, GilbertElliottConfig, LossConfig, MarkovConfig, PacketsConfig,
    SequenceConfig, Then,
};
use netloom_units::{Limit, Probability};
use std::ops::RangeInclusive;
use std::sync::Arc;

pub(crate) const KEY: Key = key!(
    /// The probability with which each packet is lost, independently of all others, or another model. Default: 0.
    loss = Kind::OneOf(&[OrZero::<Probability>::KIND, Kind::Sections(KINDS)]), "0.1 %"
);

/// All kinds beside independent loss.
const KINDS: &[&Section] = &[
    &CORRELATED,
    &BIT_ERROR,
    &GilbertConfig::SECTION,
    &GilbertElliottConfig::SECTION,
    &MarkovConfig::SECTION,
    &EveryConfig::SECTION,
    &PacketsConfig::SECTION,
    &PATTERN,
    &REPLAY,
];

type AnyNumber = Whole<u64, 1, { u64::MAX }>;

forms! {
    /// A number of packets.
    struct InPackets = u32, Kind::Text("^\\s*[0-9]+\\s*packets?\\s*$"), in_packets;
    /// Numbers of packets, and runs of them like `20..25`.
    struct Runs = Arc<[RangeInclusive<u64>]>,
        Kind::list(&Kind::OneOf(&[AnyNumber::KIND, Kind::Text("^\\s*[0-9]+\\s*\\.\\.\\s*[0-9]+\\s*$")]), 1), runs;
}

words!(Then { "repeat" = Self::Repeat, "pass" = Self::Pass });

/// The end of a sequence.
const THEN: Section = keys! {
    /// What happens after the end. repeat: it begins again; pass: nothing is lost any more. Default: repeat.
    then: Word<Then>, "pass";
};

sections! {
    /// Loss with one probability and a correlation between neighbours.
    const CORRELATED = "loss_correlated" {
        /// correlated: all with one probability, neighbours alike.
        kind is "correlated";
        ..ChanceConfig::SECTION;
    }

    /// Loss of packets in which a bit is wrong.
    const BIT_ERROR = "loss_bit_error" {
        /// bit-error: a packet with a wrong bit is lost.
        kind is "bit-error";
        /// The share of bits that arrive wrong, above 0 and at most 1: 1e-9, 0.00001 or 1 in 300000.
        rate = Kind::OneOf(&[Kind::Positive, Kind::Text("^[0-9]+(\\.[0-9]+)?e-[0-9]+$|^[0-9]+ in [0-9]+$")]), required "1e-9";
    }

    /// Loss in bursts.
    for GilbertConfig = "loss_gilbert" {
        /// gilbert: bursts of which share and mean length are known.
        kind is "gilbert";
        /// Which share of all packets is lost in the long run, above 0 % and below 100 %.
        share: OrZero<Probability>, required "1 %";
        /// How many packets in a row are lost, in the mean: 1 to 1000000 packets.
        burst: InPackets, required "5 packets";
    }

    /// Loss that depends on whether the link is good or bad.
    for GilbertElliottConfig = "loss_gilbert_elliott" {
        /// gilbert-elliott: a good and a bad state with different loss.
        kind is "gilbert-elliott";
        /// The probability with which the bad state follows the good one, above 0 %.
        p: OrZero<Probability>, required "1 %";
        /// The probability with which the good state follows the bad one, above 0 %.
        r: OrZero<Probability>, required "10 %";
        /// Loss in the good state, which netem calls 1-k. Default: 0.
        good: OrZero<Probability>, "0.1 %" else Probability::ZERO;
        /// Loss in the bad state, which netem calls 1-h. Default: 100 %.
        bad: OrZero<Probability>, "70 %" else Probability::ONE;
    }

    /// Loss in bursts, within which packets may pass, and of single packets between them.
    for MarkovConfig = "loss_markov" {
        /// markov: the four states of netem's `loss state`.
        kind is "markov";
        /// A burst begins.
        p13: OrZero<Probability>, required "1 %";
        /// A burst ends.
        p31: OrZero<Probability>, required "30 %";
        /// Within a burst, packets pass. Default: 0.
        p32: OrZero<Probability>, "20 %" else Probability::ZERO;
        /// Within a burst, packets are lost again. Default: 100 %.
        p23: OrZero<Probability>, "60 %" else Probability::ONE;
        /// Between bursts, a packet is lost alone. Default: 0.
        p14: OrZero<Probability>, "0.5 %" else Probability::ZERO;
    }

    /// Loss of packets at regular distances.
    for EveryConfig = "loss_every" {
        /// every: every n-th packet.
        kind is "every";
        /// The distance between lost packets, in packets.
        n: AnyNumber, required "100";
        /// Which packet is the first to be lost, counted from 1. Default: n.
        first: AnyNumber, "1" else n?;
    }

    /// Loss of the packets with certain numbers.
    for PacketsConfig = "loss_packets" {
        /// packets: those with certain numbers.
        kind is "packets";
        /// The numbers of the lost packets, counted from 1, in rising order; 20..25 means all from 20 to 25.
        lost: Runs, required "[3, 7, 20..25]";
        /// The packet after which counting begins again. Default: never.
        period: Maybe<AnyNumber>, "1000" else None;
    }

    /// Loss of the packets that a sequence marks.
    const PATTERN = "loss_pattern" {
        /// pattern: the packets that a sequence marks.
        kind is "pattern";
        /// 0 for a packet that passes, 1 for one that is lost.
        sequence = Kind::Scalar, required "\"0001\"";
        ..THEN;
    }

    /// Loss as it was recorded in a file.
    const REPLAY = "loss_replay" {
        /// replay: the packets that a file marks.
        kind is "replay";
        /// A text of 0 for a packet that passes and 1 for one that is lost; the rest of a line from # on is a comment.
        file: Filled, required "loss.txt";
        ..THEN;
    }
}

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
    let (kind, fields) = Fields::open_kind(node, KINDS, errors)?;
    let config = match kind {
        "correlated" => LossConfig::Correlated(ChanceConfig::read_keys(&fields, errors)?),
        "bit-error" => LossConfig::BitError(fields.read("rate", scalar::quantity, errors)?),
        "gilbert" => LossConfig::Gilbert(GilbertConfig::read_keys(&fields, errors)?),
        "gilbert-elliott" => LossConfig::GilbertElliott(GilbertElliottConfig::read_keys(&fields, errors)?),
        "markov" => LossConfig::Markov(MarkovConfig::read_keys(&fields, errors)?),
        "every" => LossConfig::Every(EveryConfig::read_keys(&fields, errors)?),
        "packets" => LossConfig::Packets(PacketsConfig::read_keys(&fields, errors)?),
        _ => LossConfig::Sequence(sequence_of(kind, &fields, errors)?),
    };
    let checked = config.check().map_err(|error| refused(node, &fields, error));
    keep(checked, errors).map(|()| config)
}

fn in_packets(node: &Node) -> Result<u32, Diagnostic> {
    match node.text().map(str::parse) {
        Some(Ok(Limit::Packets(packets))) => Ok(packets),
        _ => Err(node.error("the mean length of a burst is counted in packets: write for example `5 packets`")),
    }
}

/// A list of numbers and of runs like `20..25`.
fn runs(node: &Node) -> Result<Arc<[RangeInclusive<u64>]>, Diagnostic> {
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

/// The sequence that is written, or that a file has.
fn sequence_of(kind: &str, fields: &Fields<'_>, errors: &mut Errors) -> Option<SequenceConfig> {
    let then = fields.form::<Word<Then>>("then", errors).unwrap_or_default();
    if kind == "pattern" {
        let lost = fields.read("sequence", |node| sequence(node, &scalar::text(node)?, ""), errors)?;
        return Some(SequenceConfig { lost, then, file: None });
    }
    let node = fields.get("file")?;
    let text = keep(errors.read_text(node), errors)?;
    let file = keep(scalar::text(node), errors)?;
    let lost = keep(sequence(node, &text, &format!("{file}: ")), errors)?;
    Some(SequenceConfig { lost, then, file: Some(file) })
}

/// What `text` says; an error is about `node` and names the file.
fn sequence(node: &Node, text: &str, file: &str) -> Result<Arc<[bool]>, Diagnostic> {
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
        LossConfig::Correlated(chance) => format!("{{kind: correlated, {}}}", chance.write_keys()),
        LossConfig::BitError(rate) => format!("{{kind: bit-error, rate: {rate}}}"),
        LossConfig::Gilbert(config) => config.write_map(),
        LossConfig::GilbertElliott(config) => config.write_map(),
        LossConfig::Markov(config) => config.write_map(),
        LossConfig::Every(config) => config.write_map(),
        LossConfig::Packets(config) => config.write_map(),
        LossConfig::Sequence(SequenceConfig { then, file: Some(file), .. }) => {
            format!("{{kind: replay, file: {}, then: {}}}", quoted(file), then.word())
        }
        LossConfig::Sequence(SequenceConfig { lost, then, file: None }) => {
            let digits: String = lost.iter().map(|lost| if *lost { '1' } else { '0' }).collect();
            format!("{{kind: pattern, sequence: \"{digits}\", then: {}}}", then.word())
        }
    }
}

impl Written for InPackets {
    fn write(packets: &u32) -> String {
        Limit::Packets(*packets).to_string()
    }
}

impl Written for Runs {
    fn write(lost: &Arc<[RangeInclusive<u64>]>) -> String {
        let run = |run: &RangeInclusive<u64>| match (run.start(), run.end()) {
            (first, last) if first == last => first.to_string(),
            (first, last) => format!("{first}..{last}"),
        };
        format!("[{}]", lost.iter().map(run).collect::<Vec<_>>().join(", "))
    }
}
