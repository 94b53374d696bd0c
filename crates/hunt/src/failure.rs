//! What of a run was not as it must be, and when two runs failed in the same way.

use serde::{Deserialize, Serialize};

/// The longest message that is kept.
const LONGEST: usize = 200;

/// Something that did not hold in a run. Two failures are the same if they are equal.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Failure {
    /// The property that failed: as the lab file has it, or the command that failed.
    pub property: String,
    /// The message about it, without what differs from run to run; may be empty.
    pub message: String,
}

impl Failure {
    /// Creates the failure of a property, about which this was said.
    pub fn new(property: impl Into<String>, said: &str) -> Self {
        Self { property: property.into(), message: normalized(said) }
    }

    /// Returns the failure in one line.
    pub fn line(&self) -> String {
        if self.message.is_empty() { self.property.clone() } else { format!("{}: {}", self.property, self.message) }
    }
}

/// A message without what differs between runs that failed in the same way: numbers and addresses become `#`, blanks one blank.
fn normalized(said: &str) -> String {
    let mut text = String::new();
    for word in said.split_whitespace() {
        if !text.is_empty() {
            text.push(' ');
        }
        add(word, &mut text);
    }
    text.chars().take(LONGEST).collect()
}

fn add(word: &str, text: &mut String) {
    let mut rest = word;
    while let Some(first) = rest.chars().next() {
        let begins_word = !text.chars().next_back().is_some_and(char::is_alphanumeric);
        let hex =
            rest.strip_prefix("0x").filter(|_| begins_word).map(|digits| length(digits, |c| c.is_ascii_hexdigit()));
        let taken = match hex {
            Some(digits) if digits > 0 => 2 + digits,
            // The number of a name (`n1`) tells which node it was.
            _ if first.is_ascii_digit() && begins_word => length(rest, |c| c.is_ascii_digit()),
            _ => {
                text.push(first);
                rest = &rest[first.len_utf8()..];
                continue;
            }
        };
        text.push('#');
        rest = &rest[taken..];
    }
}

fn length(text: &str, is_part: impl Fn(char) -> bool) -> usize {
    text.find(|c| !is_part(c)).unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_failure_has_the_same_message() {
        let of = |said: &str| Failure::new("always x", said).message;
        assert_eq!(of("lost key 17 of n1 after 12.5 s"), "lost key # of n1 after #.# s");
        assert_eq!(of("lost key  4 of n1 after 3.25 s\n"), of("lost key 17 of n1 after 12.5 s"));
        assert_eq!(of("segfault at 0x7ffd12ab (0x)"), "segfault at # (#x)");
        assert_eq!(of("term=7, Größe 3µs"), "term=#, Größe #µs");
        assert_ne!(of("lost on n1"), of("lost on n2"));
        assert_eq!(of(&"x".repeat(300)).len(), LONGEST);
    }
}
