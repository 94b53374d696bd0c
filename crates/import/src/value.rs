//! Values of the lab file that is made, each with where it comes from.

use crate::source::Place;
use netloom_units::{Duration, Probability, Rate};
use std::fmt::Display;

/// Where a value comes from: a place, and words for the comment beside it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Origin {
    pub(crate) place: Option<Place>,
    pub(crate) words: String,
}

impl Origin {
    /// The value that is written at `place`.
    pub(crate) fn at(place: Place) -> Self {
        Self { place: Some(place), words: String::new() }
    }

    /// The same, with words.
    pub(crate) fn said(place: Place, words: impl Into<String>) -> Self {
        Self { place: Some(place), words: words.into() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.place.is_none() && self.words.is_empty()
    }
}

/// A value of a lab file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    /// Written as it is: a number, a quantity, a word.
    Plain(String),
    /// A text, quoted if it has to be.
    Text(String),
    List(Vec<Value>),
    Map(Map),
}

/// A value and where it comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Value {
    pub(crate) content: Content,
    pub(crate) origin: Origin,
}

/// Keys and values in their order.
pub(crate) type Map = Vec<(String, Value)>;

impl Value {
    /// A number, a quantity or a word, as the lab file has it.
    pub(crate) fn plain(value: impl Display) -> Self {
        Self { content: Content::Plain(value.to_string()), origin: Origin::default() }
    }

    /// Any text.
    pub(crate) fn text(value: impl Into<String>) -> Self {
        Self { content: Content::Text(value.into()), origin: Origin::default() }
    }

    pub(crate) fn list(items: impl IntoIterator<Item = Self>) -> Self {
        Self { content: Content::List(items.into_iter().collect()), origin: Origin::default() }
    }

    pub(crate) fn map(entries: Map) -> Self {
        Self { content: Content::Map(entries), origin: Origin::default() }
    }

    /// Whether this is a map in which a key has this text.
    pub(crate) fn names(&self, key: &str, said: &str) -> bool {
        let Content::Map(entries) = &self.content else { return false };
        entries.iter().any(|(name, value)| name == key && value.content == Content::Text(said.to_owned()))
    }

    /// The value with where it comes from.
    pub(crate) fn because(mut self, origin: Origin) -> Self {
        self.origin = origin;
        self
    }

    /// Whether this or anything in it says where it comes from.
    pub(crate) fn is_told(&self) -> bool {
        !self.origin.is_empty()
            || match &self.content {
                Content::List(items) => items.iter().any(Self::is_told),
                Content::Map(entries) => entries.iter().any(|(_, value)| value.is_told()),
                Content::Plain(_) | Content::Text(_) => false,
            }
    }
}

impl From<Rate> for Value {
    fn from(rate: Rate) -> Self {
        Self::plain(rate)
    }
}

impl From<Duration> for Value {
    fn from(span: Duration) -> Self {
        Self::plain(span)
    }
}

impl From<Probability> for Value {
    fn from(share: Probability) -> Self {
        Self::plain(share)
    }
}

/// An entry of a map.
pub(crate) fn entry(key: &str, value: impl Into<Value>) -> (String, Value) {
    (key.to_owned(), value.into())
}

/// Puts a value under a key, in the place of what was there.
pub(crate) fn put(map: &mut Map, key: &str, value: impl Into<Value>) {
    let value = value.into();
    match map.iter_mut().find(|(name, _)| name == key) {
        Some((_, there)) => *there = value,
        None => map.push((key.to_owned(), value)),
    }
}
