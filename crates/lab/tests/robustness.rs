//! No text makes the parser panic, and what it accepts can be described.

use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{RngAlgorithm, RngSeed};

const LAB: &str = include_str!("../../../examples/dumbbell.yaml");
const FIGURE: &str = include_str!("../../../examples/vimage-figure-3.yaml");
const TREATMENT: &str = include_str!("../../../examples/treatment.yaml");

/// What turns one value into another, or the structure into something else.
const PIECES: [&str; 30] = [
    "",
    " ",
    "\n",
    "\t",
    ":",
    "- ",
    "{",
    "}",
    "[",
    "]",
    "\"",
    "'",
    "#",
    "&a ",
    "*a",
    "<<: *a",
    "~",
    "!x ",
    "0",
    "-1",
    "99999999999999999999",
    "1e400",
    "100 %",
    "10.0.0.1/8",
    "::/0",
    "µ",
    "\u{feff}",
    "\r",
    "router1",
    "during 1 s..2 s",
];

fn config() -> ProptestConfig {
    ProptestConfig {
        cases: 2_000,
        failure_persistence: None,
        rng_algorithm: RngAlgorithm::ChaCha,
        rng_seed: RngSeed::Fixed(7),
        ..ProptestConfig::default()
    }
}

/// The nearest place to `at` where a text may be cut.
fn boundary(text: &str, at: usize) -> usize {
    (0..=at % (text.len() + 1)).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

fn survives(text: &str) {
    match netloom_lab::parse(text, "test.yaml") {
        Ok(lab) => {
            let _ = (lab.plan.to_text(), lab.plan.describe(), lab.plan.hosts(&[]), lab.plan.programs());
        }
        Err(diagnostics) => assert!(!diagnostics.is_empty() && !diagnostics.to_string().is_empty()),
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn a_lab_with_a_few_changes(
        source in select(vec![LAB, FIGURE, TREATMENT]),
        changes in prop::collection::vec((any::<usize>(), 0..12_usize, select(PIECES.to_vec())), 1..4),
    ) {
        let mut text = source.to_owned();
        for (at, length, piece) in changes {
            let start = boundary(&text, at);
            let end = boundary(&text, (start + length).min(text.len()));
            text.replace_range(start.min(end)..end, piece);
        }
        survives(&text);
    }

    #[test]
    fn any_text(text in "\\PC*") {
        survives(&text);
        let _ = netloom_lab::parse_change(&text, &text);
    }

    #[test]
    fn any_expectation(text in "(backbone|ping|x)\\.(forward\\.)?(drops|loss|delay|json|stdout|exit)[.a-z0-9\\[\\]]{0,6} (==|<|within|between|contains) [ -~]{0,24}") {
        survives(&format!("{LAB}  - '{}'\n", text.replace('\'', "''")));
    }
}
