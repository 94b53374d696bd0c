//! Texts that are nearly right.

use proptest::prelude::*;
use proptest::sample::select;
use std::fs;
use std::path::Path;

/// Numbers at the ends of what fits anywhere, and beyond.
const NUMBERS: [&str; 26] = [
    "0",
    "1",
    "2",
    "3",
    "7",
    "60",
    "99",
    "100",
    "101",
    "255",
    "256",
    "1000",
    "65535",
    "65536",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "18446744073709551615",
    "18446744073709551616",
    "99999999999999999999999999",
    "0.5",
    "0.000000000001",
    "0.0000000000000000001",
    "-1",
    "1e9",
    "1e-400",
];

/// What stands between words, in any of the languages.
const MARKS: [&str; 40] = [
    "", " ", "\n", "\n  ", "\t", ":", ": ", ",", "{", "}", "[", "]", "(", ")", "\"", "'", "#", "&a ", "*a", "<<: *a",
    "!!str ", "|\n", "- ", "%", " %", "/", "..", "~", "null", "true", "kind: ", " ms", " s", " Mbit/s", " packets",
    " B", "\u{0}", "\u{feff}", "é", "µs",
];

/// One change of a text.
#[derive(Clone, Debug)]
enum Change {
    /// Some letters are taken out.
    Cut(usize, usize),
    /// Some letters are written again somewhere else.
    Copy(usize, usize, usize),
    /// Something is written somewhere.
    Write(usize, &'static str),
    /// Number so and so of those in the text is another one.
    Number(usize, &'static str),
    /// A whole line is moved before another one.
    Line(usize, usize),
}

/// A number as a text; most of them fit nowhere.
pub fn numbers() -> impl Strategy<Value = &'static str> {
    select(NUMBERS.to_vec())
}

/// One of these texts with a few changes, most of them of its numbers.
pub fn mutated(texts: Vec<String>) -> impl Strategy<Value = String> {
    let place = any::<usize>;
    let change = prop_oneof![
        1 => (place(), 1..40_usize).prop_map(|(at, len)| Change::Cut(at, len)),
        1 => (place(), 1..60_usize, place()).prop_map(|(from, len, to)| Change::Copy(from, len, to)),
        1 => (place(), select(MARKS.to_vec())).prop_map(|(at, mark)| Change::Write(at, mark)),
        4 => (place(), numbers()).prop_map(|(which, number)| Change::Number(which, number)),
        1 => (place(), place()).prop_map(|(from, to)| Change::Line(from, to)),
    ];
    (select(texts), prop::collection::vec(change, 1..6))
        .prop_map(|(text, changes)| changes.iter().fold(text, |before, next| apply(&before, next)))
}

fn apply(text: &str, change: &Change) -> String {
    let mut letters: Vec<char> = text.chars().collect();
    let len = letters.len();
    let piece = |at: usize, count: usize| at % (len + 1)..(at % (len + 1) + count).min(len);
    match change {
        Change::Cut(at, count) => drop(letters.drain(piece(*at, *count))),
        Change::Copy(from, count, to) => {
            let copied = letters[piece(*from, *count)].to_vec();
            letters.splice(to % (len + 1)..to % (len + 1), copied);
        }
        Change::Write(at, mark) => drop(letters.splice(at % (len + 1)..at % (len + 1), mark.chars())),
        Change::Number(which, number) => {
            let starts: Vec<usize> = (0..len)
                .filter(|&at| letters[at].is_ascii_digit() && (at == 0 || !is_part_of_number(letters[at - 1])))
                .collect();
            if let Some(&start) = starts.get(which % starts.len().max(1)) {
                let end = (start..len).find(|&at| !is_part_of_number(letters[at])).unwrap_or(len);
                letters.splice(start..end, number.chars());
            }
        }
        Change::Line(from, to) => {
            let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
            if !lines.is_empty() {
                let moved = lines.remove(from % lines.len());
                lines.insert(to % (lines.len() + 1), moved);
            }
            return lines.concat();
        }
    }
    letters.into_iter().collect()
}

fn is_part_of_number(letter: char) -> bool {
    letter.is_ascii_digit() || letter == '.'
}

/// The texts of all lab files of the examples and of the tests of errors, in the order of their names.
///
/// # Panics
/// If these are not where they were.
pub fn labs() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut texts = Vec::new();
    for folder in ["examples", "examples/papers/gine", "examples/papers/time-warp", "crates/lab/tests/errors"] {
        let entries = fs::read_dir(root.join(folder)).expect("a folder of labs");
        let mut paths: Vec<_> = entries.map(|entry| entry.expect("a file").path()).collect();
        paths.retain(|path| path.extension().is_some_and(|extension| extension == "yaml"));
        paths.sort();
        texts.extend(paths.iter().filter_map(|path| fs::read_to_string(path).ok()));
    }
    assert!(texts.len() >= 25, "only {} labs", texts.len());
    texts
}
