//! Whatever is done to a lab file, it is read or refused: never a panic, never an endless loop.
//!
//! The cases are the same in every run; `PROPTEST_CASES=20000` tries more of them.

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use std::fs;
use std::path::Path;

/// One change of a text.
#[derive(Clone, Debug)]
enum Mutation {
    /// A piece is taken out.
    Cut { at: usize, len: usize },
    /// A piece is written again somewhere else.
    Copy { from: usize, len: usize, to: usize },
    /// A word is written somewhere.
    Write { at: usize, word: &'static str },
}

/// What lab files are made of, and what they are not.
const WORDS: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    ":",
    ": ",
    ",",
    "\n",
    "\n  ",
    "- ",
    "&a ",
    "*a",
    "<<: *a",
    "!!str ",
    "#",
    "\"",
    "'",
    "|\n",
    "%",
    "0",
    "-1",
    "1e9",
    "99999999999999999999",
    "0.00000000000000000001",
    "10 ms",
    "1 Gbit/s",
    "50 %",
    "7 packets",
    "null",
    "true",
    "delay",
    "rate",
    "queue",
    "loss",
    "kind: ",
    "clock: virtual\n",
    "{dilation: 2.5}",
    "stack: ",
    "cpu: {packet: 2 us}",
    "netem: delay 1ms",
    "nodes: ",
    "links: ",
    "\u{0}",
    "é",
    "\t",
];

fn mutations() -> impl Strategy<Value = Vec<Mutation>> {
    let mutation = prop_oneof![
        (any::<usize>(), 1..40_usize).prop_map(|(at, len)| Mutation::Cut { at, len }),
        (any::<usize>(), 1..60_usize, any::<usize>()).prop_map(|(from, len, to)| Mutation::Copy { from, len, to }),
        (any::<usize>(), 0..WORDS.len()).prop_map(|(at, word)| Mutation::Write { at, word: WORDS[word] }),
    ];
    prop::collection::vec(mutation, 1..8)
}

fn apply(text: &str, mutations: &[Mutation]) -> String {
    let mut letters: Vec<char> = text.chars().collect();
    for mutation in mutations {
        let len = letters.len();
        let piece = |at: usize, count: usize| at % (len + 1)..(at % (len + 1) + count).min(len);
        match mutation {
            Mutation::Cut { at, len: count } => drop(letters.drain(piece(*at, *count))),
            Mutation::Copy { from, len: count, to } => {
                let copied: Vec<char> = letters[piece(*from, *count)].to_vec();
                letters.splice(to % (len + 1)..to % (len + 1), copied);
            }
            Mutation::Write { at, word } => drop(letters.splice(at % (len + 1)..at % (len + 1), word.chars())),
        }
    }
    letters.into_iter().collect()
}

fn labs() -> Vec<String> {
    let mut texts = Vec::new();
    for folder in ["../../examples", "../../examples/time-warp", "tests/errors"] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
        let mut paths: Vec<_> =
            fs::read_dir(folder).expect("a folder of labs").map(|entry| entry.expect("a file").path()).collect();
        paths.retain(|path| path.extension().is_some_and(|extension| extension == "yaml"));
        paths.sort();
        texts.extend(paths.iter().filter_map(|path| fs::read_to_string(path).ok()));
    }
    assert!(texts.len() >= 25, "only {} labs", texts.len());
    texts
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, rng_seed: RngSeed::Fixed(7), ..ProptestConfig::default() })]

    #[test]
    fn a_mutated_lab_is_read_or_refused(which in any::<prop::sample::Index>(), mutations in mutations()) {
        let labs = labs();
        let text = apply(&labs[which.index(labs.len())], &mutations);
        match netloom_lab::parse(&text, "mutated.yaml") {
            Ok(lab) => drop(lab.plan.describe()),
            // Shown, since showing has to find the places in the text again.
            Err(diagnostics) => prop_assert!(!diagnostics.to_string().is_empty()),
        }
    }

    #[test]
    fn a_mutated_value_is_read_or_refused(
        key in prop::sample::select(vec!["rate", "delay", "queue", "loss", "corrupt", "reorder", "schedule", "state", "cross"]),
        text in "[{\\[]?(kind: )?[a-z0-9 .%:,{}\\[\\]-]{0,60}",
    ) {
        let _ = netloom_lab::parse_change(key, &text);
    }
}
