//! The last lines of a log, for people: few, short, and without control characters.

use crate::regular;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

/// How many lines of a failed program's standard error are shown.
const LINES: usize = 5;
/// How many characters of each.
const LONGEST: usize = 200;
/// How many bytes of a log are read at most.
const READ: u64 = 16 * 1024;

/// The last lines of the log at `path`; none if it is empty or cannot be read.
pub fn last_lines(path: &Path) -> Vec<String> {
    let bytes = end_of(path).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    lines[lines.len().saturating_sub(LINES)..].iter().map(|line| harmless(line)).collect()
}

/// What is read may begin within a line, or within a character.
fn end_of(path: &Path) -> io::Result<Vec<u8>> {
    let mut file = regular::open(path)?;
    let begin = file.metadata()?.len().saturating_sub(READ);
    file.seek(SeekFrom::Start(begin))?;
    let mut bytes = Vec::new();
    file.take(READ).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// A line of bounded length; what is no letter, digit or sign is written as Rust and C would.
fn harmless(line: &str) -> String {
    let mut text = String::new();
    for (number, c) in line.trim_end().chars().enumerate() {
        if number == LONGEST {
            text.push_str("...");
            break;
        }
        match c {
            '\t' | '\'' | '"' | '\\' => text.push(c),
            _ if c.is_alphanumeric() => text.push(c),
            _ => text.extend(c.escape_debug()),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(written: &[u8]) -> Vec<String> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), written).unwrap();
        last_lines(file.path())
    }

    #[test]
    fn the_last_lines_are_few_and_short() {
        assert_eq!(lines(b"1\n2\n\n3\n4\n5\n6\n"), ["2", "3", "4", "5", "6"]);
        let long = lines("\u{e9}".repeat(50_000).as_bytes());
        assert_eq!((long.len(), long[0].chars().count()), (1, LONGEST + 3));
        assert_eq!(lines(b"unfinished"), ["unfinished"]);
        assert!(lines(b"").is_empty() && last_lines(Path::new("/nowhere")).is_empty());
    }

    #[test]
    fn a_terminal_obeys_none_of_them() {
        assert_eq!(lines(b"\x1b[2J\x1b]0;title\x07 50 %\r100 %\n"), [r"\u{1b}[2J\u{1b}]0;title\u{7} 50 %\r100 %"]);
        assert_eq!(
            lines("can't open \"x\\y\"\t\u{202e}abc \u{e4}\u{4e2d}".as_bytes()),
            ["can't open \"x\\y\"\t\\u{202e}abc \u{e4}\u{4e2d}"]
        );
        assert_eq!(lines(b"\xff\xfe binary \x00"), ["\u{fffd}\u{fffd} binary \\0"]);
    }
}
