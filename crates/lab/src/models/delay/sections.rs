//! The keys of every kind of delay.

use crate::keys::{DURATION_OR_ZERO, Key, Kind, Section};

/// Every kind with its keys.
pub(super) const SECTIONS: &[(&str, &Section)] = &[
    ("constant", &CONSTANT),
    ("uniform", &UNIFORM),
    ("normal", &NORMAL),
    ("exponential", &EXPONENTIAL),
    ("pareto", &PARETO),
    ("pareto-normal", &PARETO_NORMAL),
    ("gamma", &GAMMA),
    ("table", &TABLE),
    ("histogram", &HISTOGRAM),
    ("samples", &SAMPLES),
];

const ORDER: Key = Key::new(
    "order",
    Kind::Word(&["kept", "free"]),
    "free",
    "kept: packets arrive in the order in which they are sent; free: one with a shorter delay overtakes. Default: kept.",
);

const CORRELATION: Key = Key::new(
    "correlation",
    Kind::OneOf(&[Kind::Text("^\\s*-?[0-9]+(\\.[0-9]+)?\\s*%\\s*$"), Kind::Zero]),
    "80 %",
    "The correlation of each delay with the one before it, -100 % to 100 %. Default: 0.",
);

/// What the kinds that are drawn have in common.
const DRAWN: &[Key] = &[CORRELATION, ORDER];

const SHIFT: Key = Key::new("shift", DURATION_OR_ZERO, "10 ms", "The constant part. Default: 0.");
const SCALE: Kind = DURATION_OR_ZERO;
const MEAN: Key = Key::new("mean", DURATION_OR_ZERO, "20 ms", "The mean.").required();
const FILE: &str = "The file, relative to the lab file.";

const fn kind(word: &'static [&'static str], doc: &'static str) -> Key {
    Key::new("kind", Kind::Word(word), word[0], doc).required()
}

pub(super) const CONSTANT: Section = Section {
    name: "delay-constant",
    doc: "A delay that is always the same.",
    groups: &[&[
        kind(&["constant"], "constant: every packet travels for the same time."),
        Key::new("delay", DURATION_OR_ZERO, "20 ms", "The delay.").required(),
        ORDER,
    ]],
};

pub(super) const UNIFORM: Section = Section {
    name: "delay-uniform",
    doc: "A delay that is evenly distributed between two bounds.",
    groups: &[
        &[
            kind(&["uniform"], "uniform: evenly distributed between two bounds."),
            Key::new("from", DURATION_OR_ZERO, "5 ms", "The shortest.").required(),
            Key::new("to", DURATION_OR_ZERO, "15 ms", "The longest.").required(),
            Key::new(
                "below",
                DURATION_OR_ZERO,
                "10 ms",
                "How far the lower bound is below zero, with from: 0; a draw below zero is no delay. Default: 0.",
            ),
        ],
        DRAWN,
    ],
};

pub(super) const NORMAL: Section = Section {
    name: "delay-normal",
    doc: "A normally distributed delay; below zero counts as zero.",
    groups: &[
        &[
            kind(&["normal"], "normal: normally distributed; below zero counts as zero."),
            MEAN,
            Key::new("deviation", DURATION_OR_ZERO, "3 ms", "The standard deviation.").required(),
        ],
        DRAWN,
    ],
};

pub(super) const EXPONENTIAL: Section = Section {
    name: "delay-exponential",
    doc: "A constant delay and an exponentially distributed one.",
    groups: &[
        &[
            kind(&["exponential"], "exponential: a constant and an exponentially distributed part."),
            SHIFT,
            Key::new("mean", DURATION_OR_ZERO, "10 ms", "The mean of the random part, above zero.").required(),
        ],
        DRAWN,
    ],
};

pub(super) const PARETO: Section = Section {
    name: "delay-pareto",
    doc: "A constant delay and one with a Pareto distribution.",
    groups: &[
        &[
            kind(&["pareto"], "pareto: a constant part and one with a Pareto distribution."),
            SHIFT,
            Key::new("scale", SCALE, "5 ms", "The shortest of the random part, above zero.").required(),
            Key::new("shape", Kind::Positive, "3", "How fast long delays become rare, above 1.").required(),
        ],
        DRAWN,
    ],
};

pub(super) const PARETO_NORMAL: Section = Section {
    name: "delay-pareto-normal",
    doc: "A quarter of a normal and three quarters of a Pareto distribution, as in netem.",
    groups: &[
        &[
            kind(&["pareto-normal"], "pareto-normal: a quarter normal and three quarters Pareto, as in netem."),
            MEAN,
            Key::new("deviation", DURATION_OR_ZERO, "3 ms", "What netem calls jitter.").required(),
        ],
        DRAWN,
    ],
};

pub(super) const GAMMA: Section = Section {
    name: "delay-gamma",
    doc: "A constant delay and one with a gamma distribution.",
    groups: &[
        &[
            kind(&["gamma"], "gamma: a constant part and one with a gamma distribution."),
            SHIFT,
            Key::new("shape", Kind::Positive, "2.5", "The shape, above 0.").required(),
            Key::new("scale", SCALE, "5 ms", "The scale, above zero: the mean of the random part is shape * scale.")
                .required(),
        ],
        DRAWN,
    ],
};

pub(super) const TABLE: Section = Section {
    name: "delay-table",
    doc: "A delay that a table of netem describes.",
    groups: &[
        &[
            kind(&["table"], "table: mean + deviation * table[u] / 8192, as in netem."),
            Key::new("file", Kind::Scalar, "measured.dist", FILE).required(),
            MEAN,
            Key::new("deviation", DURATION_OR_ZERO, "3 ms", "What 8192 stands for in the table.").required(),
        ],
        DRAWN,
    ],
};

pub(super) const HISTOGRAM: Section = Section {
    name: "delay-histogram",
    doc: "A delay that a histogram describes.",
    groups: &[
        &[
            kind(&["histogram"], "histogram: lines like `10 ms, 3`, where a bin begins and its weight."),
            Key::new("file", Kind::Scalar, "measured.csv", FILE).required(),
        ],
        DRAWN,
    ],
};

pub(super) const SAMPLES: Section = Section {
    name: "delay-samples",
    doc: "Measured delays.",
    groups: &[
        &[
            kind(&["samples"], "samples: one delay like `12.5 ms` per line, each with the same probability."),
            Key::new("file", Kind::Scalar, "measured.txt", FILE).required(),
            Key::new(
                "replay",
                Kind::Flag,
                "true",
                "Whether the delays are played in the file's order, again and again. Default: false.",
            ),
        ],
        DRAWN,
    ],
};
