//! The behaviours of a run, as far as its logs tell: kinds of lines of each command, and which follow one another. When runs show nothing new any
//! more, there is little to expect from more of them.

use netloom_results::{LogLine, Logs};
use std::collections::BTreeSet;
use std::path::Path;

/// So many lines of a run are looked at.
const MOST_LINES: usize = 100_000;
/// So many behaviours are kept of a run.
const MOST: usize = 10_000;

/// The behaviours in the results of a run, as numbers: each kind of line of a command, and each pair of kinds that follow one another in a log. Kinds of lines
/// differ in more than digits.
pub(crate) fn of(results: &Path) -> Vec<u64> {
    let mut found = BTreeSet::new();
    let Ok(mut logs) = Logs::in_folder(results) else { return Vec::new() };
    let (mut count, mut last) = (0, (usize::MAX, 0));
    let mut take = |line: &LogLine<'_>| {
        let kind = kind(line.command, line.text);
        found.insert(kind);
        if last.0 == line.number {
            found.insert(mixed(last.1, &kind.to_le_bytes()));
        }
        last = (line.number, kind);
        count += 1;
        count < MOST_LINES && found.len() < MOST
    };
    if logs.read(&mut take).is_ok() {
        logs.finish(&mut take);
    }
    found.into_iter().collect()
}

/// The kind of a line: its letters and signs, without its digits.
fn kind(command: &str, text: &[u8]) -> u64 {
    let mut hash = mixed(BASIS, command.as_bytes());
    let mut was_digit = false;
    for byte in text {
        let is_digit = byte.is_ascii_digit();
        if !(is_digit && was_digit) {
            hash = mixed(hash, &[if is_digit { b'#' } else { *byte }]);
        }
        was_digit = is_digit;
    }
    hash
}

/// FNV-1a, which is the same in every run.
const BASIS: u64 = 0xcbf2_9ce4_8422_2325;

fn mixed(hash: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(hash, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_make_no_other_kind() {
        assert_eq!(kind("a", b"term 7 at 12.5"), kind("a", b"term 19 at 3.25"));
        assert_ne!(kind("a", b"term 7"), kind("b", b"term 7"));
        assert_ne!(kind("a", b"leader"), kind("a", b"follower"));
        assert!(of(Path::new("/nowhere")).is_empty());
    }
}
