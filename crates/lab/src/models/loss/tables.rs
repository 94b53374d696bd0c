//! The keys of each kind of loss.

use crate::keys::{Key, Kind, SHARE_OR_ZERO, Section};
use crate::models::chance;

/// All kinds and their tables.
pub(super) const KINDS: &[(&str, &Section)] = &[
    ("correlated", &CORRELATED),
    ("bit-error", &BIT_ERROR),
    ("gilbert", &GILBERT),
    ("gilbert-elliott", &GILBERT_ELLIOTT),
    ("markov", &MARKOV),
    ("every", &EVERY),
    ("packets", &PACKETS),
    ("pattern", &PATTERN),
    ("replay", &REPLAY),
];

const ANY_NUMBER: Kind = Kind::Integer { least: 1, most: u64::MAX };

const fn kind(words: &'static [&'static str], doc: &'static str) -> Key {
    Key::new("kind", Kind::Word(words), words[0], doc).required()
}

const fn share(name: &'static str, example: &'static str, doc: &'static str) -> Key {
    Key::new(name, SHARE_OR_ZERO, example, doc)
}

const THEN: Key = Key::new(
    "then",
    Kind::Word(&["repeat", "pass"]),
    "pass",
    "What happens after the end. repeat: it begins again; pass: nothing is lost any more. Default: repeat.",
);

pub(super) const CORRELATED: Section = Section {
    name: "correlated-loss",
    doc: "Loss with one probability and a correlation between neighbours.",
    groups: &[&[kind(&["correlated"], "correlated: all with one probability, neighbours alike.")], chance::KEYS],
};

pub(super) const BIT_ERROR: Section = Section {
    name: "bit-error-loss",
    doc: "Loss of packets in which a bit is wrong.",
    groups: &[&[
        kind(&["bit-error"], "bit-error: a packet with a wrong bit is lost."),
        Key::new(
            "rate",
            Kind::OneOf(&[Kind::Positive, Kind::Text("^[0-9]+(\\.[0-9]+)?e-[0-9]+$|^[0-9]+ in [0-9]+$")]),
            "1e-9",
            "The share of bits that arrive wrong, above 0 and at most 1: 1e-9, 0.00001 or 1 in 300000.",
        )
        .required(),
    ]],
};

pub(super) const GILBERT: Section = Section {
    name: "gilbert-loss",
    doc: "Loss in bursts.",
    groups: &[&[
        kind(&["gilbert"], "gilbert: bursts of which share and mean length are known."),
        share("share", "1 %", "Which share of all packets is lost in the long run, above 0 % and below 100 %.")
            .required(),
        Key::new(
            "burst",
            Kind::Text("^\\s*[0-9]+\\s*packets?\\s*$"),
            "5 packets",
            "How many packets in a row are lost, in the mean: 1 to 1000000 packets.",
        )
        .required(),
    ]],
};

pub(super) const GILBERT_ELLIOTT: Section = Section {
    name: "gilbert-elliott-loss",
    doc: "Loss that depends on whether the link is good or bad.",
    groups: &[&[
        kind(&["gilbert-elliott"], "gilbert-elliott: a good and a bad state with different loss."),
        share("p", "1 %", "The probability with which the bad state follows the good one, above 0 %.").required(),
        share("r", "10 %", "The probability with which the good state follows the bad one, above 0 %.").required(),
        share("good", "0.1 %", "Loss in the good state, which netem calls 1-k. Default: 0."),
        share("bad", "70 %", "Loss in the bad state, which netem calls 1-h. Default: 100 %."),
    ]],
};

pub(super) const MARKOV: Section = Section {
    name: "markov-loss",
    doc: "Loss in bursts, within which packets may pass, and of single packets between them.",
    groups: &[&[
        kind(&["markov"], "markov: the four states of netem's `loss state`."),
        share("p13", "1 %", "A burst begins.").required(),
        share("p31", "30 %", "A burst ends.").required(),
        share("p32", "20 %", "Within a burst, packets pass. Default: 0."),
        share("p23", "60 %", "Within a burst, packets are lost again. Default: 100 %."),
        share("p14", "0.5 %", "Between bursts, a packet is lost alone. Default: 0."),
    ]],
};

pub(super) const EVERY: Section = Section {
    name: "every-loss",
    doc: "Loss of packets at regular distances.",
    groups: &[&[
        kind(&["every"], "every: every n-th packet."),
        Key::new("n", ANY_NUMBER, "100", "The distance between lost packets, in packets.").required(),
        Key::new("first", ANY_NUMBER, "1", "Which packet is the first to be lost, counted from 1. Default: n."),
    ]],
};

pub(super) const PACKETS: Section = Section {
    name: "packets-loss",
    doc: "Loss of the packets with certain numbers.",
    groups: &[&[
        kind(&["packets"], "packets: those with certain numbers."),
        Key::new(
            "lost",
            Kind::List {
                items: &Kind::OneOf(&[ANY_NUMBER, Kind::Text("^\\s*[0-9]+\\s*\\.\\.\\s*[0-9]+\\s*$")]),
                least: 1,
                most: None,
            },
            "[3, 7, 20..25]",
            "The numbers of the lost packets, counted from 1, in rising order; 20..25 means all from 20 to 25.",
        )
        .required(),
        Key::new("period", ANY_NUMBER, "1000", "The packet after which counting begins again. Default: never."),
    ]],
};

pub(super) const PATTERN: Section = Section {
    name: "pattern-loss",
    doc: "Loss of the packets that a sequence marks.",
    groups: &[&[
        kind(&["pattern"], "pattern: the packets that a sequence marks."),
        Key::new("sequence", Kind::Scalar, "\"0001\"", "0 for a packet that passes, 1 for one that is lost.")
            .required(),
        THEN,
    ]],
};

pub(super) const REPLAY: Section = Section {
    name: "replay-loss",
    doc: "Loss as it was recorded in a file.",
    groups: &[&[
        kind(&["replay"], "replay: the packets that a file marks."),
        Key::new(
            "file",
            Kind::Text("\\S"),
            "loss.txt",
            "A text of 0 for a packet that passes and 1 for one that is lost; the rest of a line from # on is a comment.",
        )
        .required(),
        THEN,
    ]],
};
