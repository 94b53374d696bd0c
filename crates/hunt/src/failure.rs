//! What of a run was not as it must be, and when two runs failed in the same way.

use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::hash::{Hash, Hasher};

/// The longest message that is kept.
const LONGEST: usize = 200;

/// Something that did not hold in a run. Two failures are the same if they are equal, whatever numbers were in the words about them.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Failure {
    /// The property that failed: as the lab file has it, or the command that failed.
    pub property: String,
    /// The message about it, without what differs from run to run; may be empty.
    pub message: String,
    /// The message as this run gave it; may be empty.
    #[serde(default)]
    pub said: String,
}

impl Failure {
    /// Creates the failure of a property, about which this was said.
    pub fn new(property: impl Into<String>, said: &str) -> Self {
        let plain = said.split_whitespace().collect::<Vec<_>>().join(" ");
        Self { property: property.into(), message: normalized(said), said: plain.chars().take(LONGEST).collect() }
    }

    /// Returns the failure in one line, without what differs from run to run.
    pub fn line(&self) -> String {
        self.with(&self.message)
    }

    /// Returns the failure in one line, as this run gave it.
    pub fn words(&self) -> String {
        self.with(if self.said.is_empty() { &self.message } else { &self.said })
    }

    fn with(&self, message: &str) -> String {
        if message.is_empty() { self.property.clone() } else { format!("{}: {message}", self.property) }
    }

    fn key(&self) -> (&str, &str) {
        (&self.property, &self.message)
    }
}

impl PartialEq for Failure {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Failure {}

impl PartialOrd for Failure {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Failure {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}

impl Hash for Failure {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key().hash(state);
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

    #[test]
    fn a_failure_keeps_the_words_of_its_run() {
        let [one, other] = [17, 4].map(|key| Failure::new("always x", &format!("lost  key {key}\n")));
        assert_eq!((one.words().as_str(), other.words().as_str()), ("always x: lost key 17", "always x: lost key 4"));
        assert_eq!((&one, one.line().as_str()), (&other, "always x: lost key #"));
        let old: Failure = serde_json::from_str(r#"{"property": "always x", "message": "lost key #"}"#).unwrap();
        assert_eq!((&old, old.words().as_str()), (&one, "always x: lost key #"));
        assert_eq!(Failure::new("command ask", "").words(), "command ask");
    }
}
