//! TOML as the tree that YAML becomes, with the same places.

use crate::source::{Lines, Read};
use ::toml::Spanned;
use ::toml::de::{DeTable, DeValue};
use netloom_lab::Span;
use netloom_lab::yaml::{Content, Entry, Node};
use std::ops::Range;

/// The tree of `text`.
pub(crate) fn parse(text: &str) -> Read<Node> {
    let lines = Lines::of(text, 0);
    let table = DeTable::parse(text).map_err(|error| {
        let span = error.span().unwrap_or_default();
        lines.place(span.start, span.end).wrong(format!("this is not TOML: {}", error.message().replace('\n', " ")))
    })?;
    let span = place(&lines, table.span());
    let content = Content::Map(entries(&lines, table.get_ref()));
    Ok(Node { span, end: table.span().end, head: span, key: String::new(), content })
}

fn place(lines: &Lines, bytes: Range<usize>) -> Span {
    lines.place(bytes.start, bytes.end).span
}

fn entries(lines: &Lines, table: &DeTable<'_>) -> Vec<Entry> {
    let mut entries: Vec<Entry> = table
        .iter()
        .map(|(name, value)| {
            let span = place(lines, name.span());
            Entry { name: name.get_ref().to_string(), span, value: value_of(lines, value, span) }
        })
        .collect();
    entries.sort_by_key(|entry| entry.span.start);
    entries
}

fn value_of(lines: &Lines, value: &Spanned<DeValue<'_>>, head: Span) -> Node {
    let span = place(lines, value.span());
    let text = |text: String, plain: bool| Content::Text { text, plain, block: None };
    let content = match value.get_ref() {
        DeValue::String(said) => text(said.to_string(), false),
        DeValue::Integer(number) => text(number.to_string(), true),
        DeValue::Float(number) => text(number.to_string(), true),
        DeValue::Boolean(said) => text(said.to_string(), true),
        DeValue::Datetime(date) => text(date.to_string(), true),
        DeValue::Array(items) => {
            Content::List(items.iter().map(|item| value_of(lines, item, place(lines, item.span()))).collect())
        }
        DeValue::Table(table) => Content::Map(entries(lines, table)),
    };
    Node { span, end: value.span().end, head, key: String::new(), content }
}
