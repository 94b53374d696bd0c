//! YAML and JSON, which YAML contains: what readers ask of a tree.

use crate::source::{Place, Read, Wrong};
use netloom_lab::yaml::{Content, Entry, Node};

/// The tree of `text`.
pub(crate) fn parse(text: &str) -> Read<Node> {
    if text.trim().is_empty() {
        return Err(Place::default().wrong("the file is empty"));
    }
    netloom_lab::yaml::parse(text).map_err(|errors| {
        errors.into_iter().next().map_or_else(|| Place::default().wrong("this is not YAML"), Wrong::from)
    })
}

/// What readers ask of a node.
pub(crate) trait Tree {
    /// The value under a key; none also where there is nothing.
    fn get(&self, key: &str) -> Option<&Node>;
    /// The text under a key.
    fn word(&self, key: &str) -> Option<&str>;
    /// The entries of a map; none of anything else.
    fn entries(&self) -> &[Entry];
    /// The items of a list; none of anything else.
    fn items(&self) -> &[Node];
    /// Where it is.
    fn place(&self) -> Place;
    /// What has to be under a key.
    fn required(&self, key: &str, wanted: &str) -> Read<&Node>;
    /// The text that has to be under a key.
    fn required_word(&self, key: &str, wanted: &str) -> Read<&str>;
}

impl Tree for Node {
    fn get(&self, key: &str) -> Option<&Node> {
        let found = self.entries().iter().find(|entry| entry.name == key)?;
        Some(&found.value).filter(|value| value.content != Content::Empty)
    }

    fn word(&self, key: &str) -> Option<&str> {
        self.get(key)?.text()
    }

    fn entries(&self) -> &[Entry] {
        if let Content::Map(entries) = &self.content { entries } else { &[] }
    }

    fn items(&self) -> &[Node] {
        if let Content::List(items) = &self.content { items } else { &[] }
    }

    fn place(&self) -> Place {
        let span = if matches!(self.content, Content::Text { .. }) { self.span } else { self.head };
        Place { file: 0, span }
    }

    fn required(&self, key: &str, wanted: &str) -> Read<&Node> {
        self.get(key).ok_or_else(|| self.place().wrong(format!("`{key}` is missing: {wanted}")))
    }

    fn required_word(&self, key: &str, wanted: &str) -> Read<&str> {
        let found = self.required(key, wanted)?;
        found.text().ok_or_else(|| found.place().wrong(format!("`{key}` is no text: {wanted}")))
    }
}
