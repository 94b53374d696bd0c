//! Golden tests: a configuration, what goes in, and exactly what comes out, in virtual time; see `tests/golden`.
//!
//! Each scenario is played in three ways that must agree to the nanosecond: called at every event, called every 10 ms
//! only, and with every segment of a super-packet pushed alone. `UPDATE_GOLDEN=1` rewrites what is expected; check what
//! it writes by hand, for the files are the oracle and not the code.

mod play;
mod scenario;

use netloom_units::Duration;
use play::{Driving, play};
use scenario::Scenario;
use std::{env, fmt::Write as _, fs, path::Path};

const SEPARATOR: &str = "---\n";

#[test]
fn every_pipe_does_what_its_file_says() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden/pipe");
    let mut files: Vec<_> = fs::read_dir(&folder)
        .expect("the folder of golden files")
        .map(|entry| entry.expect("a golden file").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "golden"))
        .collect();
    files.sort();
    assert!(files.len() >= 20, "only {} golden files in {}", files.len(), folder.display());
    let failures: String = files.iter().filter_map(|file| check(file).err()).collect();
    assert!(failures.is_empty(), "\n{failures}");
}

fn check(file: &Path) -> Result<(), String> {
    let text = fs::read_to_string(file).map_err(|error| format!("{}: {error}\n", file.display()))?;
    let (input, expected) = text.split_once(SEPARATOR).unwrap_or((&text, ""));
    let scenario = Scenario::parse(input).map_err(|error| format!("{}: {error}\n", file.display()))?;
    let got = consensus(&scenario).map_err(|error| format!("{}: {error}\n", file.display()))?;
    if got == expected {
        return Ok(());
    }
    if env::var_os("UPDATE_GOLDEN").is_some_and(|value| value == "1") {
        return fs::write(file, format!("{input}{SEPARATOR}{got}")).map_err(|error| error.to_string());
    }
    Err(format!("{}: not as expected (- expected, + got)\n{}", file.display(), diff(expected, &got)))
}

/// What comes out, if all ways to play the scenario agree.
fn consensus(scenario: &Scenario) -> Result<String, String> {
    let reference = play(scenario, Driving::Alone);
    let ways = [
        ("called at every event", Driving::Punctual),
        ("called every 10 ms", Driving::Late(Duration::from_millis(10))),
        ("called once at the end", Driving::Late(Duration::from_secs(1_000_000))),
    ];
    for (name, driving) in ways {
        let other = play(scenario, driving);
        if (&other.departures, other.counters, other.lost())
            != (&reference.departures, reference.counters, reference.lost())
        {
            let difference = diff(&reference.lines(), &other.lines());
            return Err(format!("differs when {name} (- its segments alone, + {name})\n{difference}"));
        }
    }
    Ok(reference.lines())
}

/// The lines in which two texts differ, with those around them.
fn diff(expected: &str, got: &str) -> String {
    let (old, new): (Vec<_>, Vec<_>) = (expected.lines().collect(), got.lines().collect());
    let same = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let tail = old[same..].iter().rev().zip(new[same..].iter().rev()).take_while(|(a, b)| a == b).count();
    let mut text = String::new();
    let mut show = |mark: char, lines: &[&str]| {
        for line in lines {
            writeln!(text, "  {mark} {line}").expect("strings take everything");
        }
    };
    show(' ', &old[same.saturating_sub(2)..same]);
    show('-', &old[same..old.len() - tail]);
    show('+', &new[same..new.len() - tail]);
    show(' ', &old[old.len() - tail..(old.len() - tail + 2).min(old.len())]);
    text
}

#[test]
fn a_diff_shows_what_differs() {
    assert_eq!(diff("a\nb\nc\nd\n", "a\nx\nc\nd\n"), "    a\n  - b\n  + x\n    c\n    d\n");
    assert_eq!(diff("a\n", "a\nb\n"), "    a\n  + b\n");
}

#[test]
fn a_wrong_file_says_where() {
    let error = |text: &str| Scenario::parse(text).expect_err("a wrong file");
    assert_eq!(error("rate 5 Mbps\n").split(':').next(), Some("line 1"));
    assert!(error("\nspeed 5 Mbit/s\n").starts_with("line 2: speed: unknown key `speed`: did you mean `rate`?"));
    assert_eq!(error("at 5 ms jump\n"), "line 1: unknown input \"jump\"");
    assert_eq!(error("at 5 ms up\nat 4 ms down\n"), "line 2: goes back in time");
}
