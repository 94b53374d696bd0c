//! A YAML document as a tree whose every node knows its place and the key it stands under.
//!
//! Scalars stay texts: what they mean is decided by the key they stand under, so that no number is ever rounded on the
//! way. Anchors, aliases and merge keys (`<<`) work; tags and further documents are refused.

mod build;
mod flow;
mod json;
mod value;

pub(crate) use build::size;
pub use build::{parse, parse_within};
pub(crate) use flow::flow;
pub(crate) use json::json;
pub(crate) use value::{yaml_value, yaml_value_with_list};

use crate::diagnostics::{Diagnostic, LONGEST_KEY, Span, Spanned, shortened};

/// A node of the tree.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// The place of the node, as far as that is one line.
    pub span: Span,
    /// The byte behind its last character, on whichever line that is; 0 of what no file says.
    pub end: usize,
    /// The place where an error about all of the node is shown: its key if it has one.
    pub head: Span,
    /// The key it stands under, for example `links.access.rate` or `timeline[2].at`.
    pub key: String,
    /// The contents of the node.
    pub content: Content,
}

/// The contents of a node.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// Keys and their values, in the order of the file, each key once.
    Map(Vec<Entry>),
    /// A list of items.
    List(Vec<Node>),
    /// A scalar.
    Text {
        /// The text of the scalar as it is written, without quotes.
        text: String,
        /// Whether the scalar is written without quotes: only then can it be a number or a truth value.
        plain: bool,
        /// The place of its first line in the file if it is a literal block (`|`), of which each line is one of the file.
        block: Option<usize>,
    },
    /// Nothing, `~` or `null`.
    Empty,
}

/// A key and its value.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The key.
    pub name: String,
    /// The place of the key.
    pub span: Span,
    /// The node that stands under the key.
    pub value: Node,
}

impl Entry {
    /// The key with its place.
    pub(crate) fn named(&self) -> Spanned<String> {
        Spanned { value: self.name.clone(), span: self.span, key: self.value.key.clone() }
    }

    /// An error about the key.
    pub(crate) fn error(&self, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(self.span, &self.value.key, message)
    }
}

impl Node {
    /// Nothing, nowhere.
    pub(crate) fn empty() -> Self {
        Self { span: Span::default(), end: 0, head: Span::default(), key: String::new(), content: Content::Empty }
    }

    /// An error about this node.
    pub fn error(&self, message: impl Into<String>) -> Diagnostic {
        let span = if matches!(self.content, Content::Text { .. }) { self.span } else { self.head };
        Diagnostic::new(span, &self.key, message)
    }

    /// An error that says what is here and what should be.
    pub fn expected(&self, wanted: &str) -> Diagnostic {
        self.error(format!("expected {wanted}, found {}", self.describe()))
    }

    /// An error about a key that is not in this map.
    pub(crate) fn lacks(&self, name: &str, example: &str) -> Diagnostic {
        let message = format!("this key is missing: write for example `{name}: {example}`");
        Diagnostic::new(self.head, &below(&self.key, name), message)
    }

    /// `value` with this node's place.
    pub(crate) fn spanned<T>(&self, value: T) -> Spanned<T> {
        let span = if matches!(self.content, Content::Text { .. }) { self.span } else { self.head };
        Spanned { value, span, key: self.key.clone() }
    }

    /// The text of a scalar that is not empty.
    pub fn text(&self) -> Option<&str> {
        match &self.content {
            Content::Text { text, .. } => Some(text),
            _ => None,
        }
    }

    /// The text of a scalar that is written without quotes.
    pub fn plain(&self) -> Option<&str> {
        match &self.content {
            Content::Text { text, plain: true, .. } => Some(text),
            _ => None,
        }
    }

    /// The entries of a map; nothing else has any.
    pub(crate) fn entries(&self) -> &[Entry] {
        if let Content::Map(entries) = &self.content { entries } else { &[] }
    }

    /// The value of a key of a map.
    pub(crate) fn value(&self, name: &str) -> Option<&Self> {
        self.entries().iter().find(|entry| entry.name == name).map(|entry| &entry.value)
    }

    /// The items of a list, or this node alone.
    pub(crate) fn items(&self) -> &[Self] {
        match &self.content {
            Content::List(items) => items,
            _ => std::slice::from_ref(self),
        }
    }

    /// Where the first line of a text of several lines is, as far as lines of the text are lines of the file.
    pub(crate) fn block(&self) -> Option<usize> {
        if let Content::Text { block, .. } = self.content { block } else { None }
    }

    fn describe(&self) -> &'static str {
        match &self.content {
            Content::Map(entries) if entries.is_empty() => "an empty map",
            Content::Map(_) => "a map",
            Content::List(items) if items.is_empty() => "an empty list",
            Content::List(_) => "a list",
            Content::Text { .. } => "a text",
            Content::Empty => "nothing",
        }
    }

    /// This node under another key.
    pub(crate) fn at(mut self, key: String) -> Self {
        let head = self.head;
        self.settle(key, Some(head));
        self
    }

    /// Tells every node below its key and head.
    fn settle(&mut self, key: String, head: Option<Span>) {
        self.head = head.unwrap_or(self.span);
        self.key = key;
        match &mut self.content {
            Content::Map(entries) => {
                for entry in entries {
                    entry.value.settle(below(&self.key, &entry.name), Some(entry.span));
                }
            }
            Content::List(items) => {
                for (index, item) in items.iter_mut().enumerate() {
                    item.settle(shortened(format!("{}[{index}]", self.key), LONGEST_KEY), None);
                }
            }
            Content::Text { .. } | Content::Empty => {}
        }
    }
}

/// The key of what stands under `name` in the map at `key`.
pub(crate) fn below(key: &str, name: &str) -> String {
    let longer = if key.is_empty() { name.to_owned() } else { format!("{key}.{name}") };
    // It is for messages only, and every value has one: a long name with many values would take any amount of memory.
    shortened(longer, LONGEST_KEY)
}

#[cfg(test)]
mod tests;
