//! From the parser's events to the tree.

use super::{Content, Entry, Node};
use crate::diagnostics::{Diagnostic, Span};
use crate::limits::Limits;
use saphyr_parser::{Event, Marker, Parser, ScalarStyle, ScanError};
use std::collections::BTreeMap;

/// Lab files are five levels deep; deeper ones only serve to exhaust the stack.
const MOST_LEVELS: usize = 64;

/// The document in `source`.
///
/// # Errors
/// What is wrong with the YAML itself: a syntax error ends the reading, duplicate keys do not.
pub fn parse(source: &str) -> Result<Node, Vec<Diagnostic>> {
    parse_within(source, &Limits::LARGEST)
}

/// The document in `source`, if it is not larger than this: aliases copy what they refer to, and copies of copies grow without bound.
///
/// # Errors
/// As for [`parse`].
pub fn parse_within(source: &str, limits: &Limits) -> Result<Node, Vec<Diagnostic>> {
    let mut builder = Builder::new(source, *limits);
    if let Some(at) = source.find('\0') {
        let line = 1 + source[..at].matches('\n').count();
        let message = "a zero byte: this is not text, or it is saved as UTF-16; save it as UTF-8";
        return Err(vec![Diagnostic::new(Span { start: at, end: at + 1, line }, "", message)]);
    }
    for event in Parser::new_from_str(source) {
        let taken = event.map_err(|error| builder.syntax_error(&error)).and_then(|(event, span)| {
            let place = builder.span(span.start, span.end);
            let end = builder.byte(span.end);
            builder.take(event, place, end)
        });
        if let Err(error) = taken {
            builder.errors.push(error);
            return Err(builder.errors);
        }
    }
    let Some(mut root) = builder.root.take() else {
        return Err(vec![Diagnostic::new(Span::default(), "", EMPTY)]);
    };
    root.settle(String::new(), None);
    if builder.errors.is_empty() { Ok(root) } else { Err(builder.errors) }
}

const EMPTY: &str = "the file is empty: a lab has at least `nodes`, for example `nodes: [a, b]`";

struct Builder<'a> {
    limits: Limits,
    source: &'a str,
    /// The byte where each character begins, and the end.
    offsets: Vec<usize>,
    /// The end of each line, without its line break.
    line_ends: Vec<usize>,
    stack: Vec<Open>,
    anchors: BTreeMap<usize, Node>,
    root: Option<Node>,
    nodes: usize,
    /// Bytes of texts in what was copied.
    copied: usize,
    errors: Vec<Diagnostic>,
    /// The end of the last scalar, alias, or map or list in brackets.
    last_end: usize,
}

/// A map or list whose end has not come yet.
struct Open {
    span: Span,
    anchor: usize,
    inside: Inside,
}

enum Inside {
    Map(OpenMap),
    List(Vec<Node>),
}

/// The entries of a map so far.
#[derive(Default)]
struct OpenMap {
    entries: Vec<Entry>,
    /// Where each key is.
    places: BTreeMap<String, Span>,
    /// What `<<` brings in.
    merged: Vec<Entry>,
    /// The key whose value comes next.
    key: Option<(String, Span)>,
}

impl OpenMap {
    /// Takes a key or a value, whichever is due; the error is of a key that is here twice.
    fn take(&mut self, node: Node) -> Result<Option<Diagnostic>, Diagnostic> {
        let Some((name, span)) = self.key.take() else {
            self.key = Some(key_of(&node)?);
            return Ok(None);
        };
        if name == "<<" {
            self.merged.extend(merged_entries(node, span)?);
            return Ok(None);
        }
        let first = self.places.insert(name.clone(), span);
        let again =
            |place| Diagnostic::new(span, &name, "this key is here twice: keep one of them").and(place, "first here");
        let twice = first.map(again);
        if twice.is_none() {
            self.entries.push(Entry { name, span, value: node });
        }
        Ok(twice)
    }

    /// YAML 1.1 merge keys: what the map says itself comes first.
    fn close(mut self) -> Content {
        for entry in self.merged {
            if self.places.insert(entry.name.clone(), entry.span).is_none() {
                self.entries.push(entry);
            }
        }
        Content::Map(self.entries)
    }
}

impl<'a> Builder<'a> {
    fn new(source: &'a str, limits: Limits) -> Self {
        let offsets = source.char_indices().map(|(at, _)| at).chain([source.len()]).collect();
        let mut line_ends: Vec<usize> = Vec::new();
        let mut at = 0;
        for line in source.split_inclusive('\n') {
            line_ends.push(at + line.trim_end().len());
            at += line.len();
        }
        Self {
            limits,
            source,
            offsets,
            line_ends,
            stack: vec![],
            anchors: BTreeMap::new(),
            root: None,
            nodes: 0,
            copied: 0,
            errors: vec![],
            last_end: 0,
        }
    }

    /// A place on one line: what spans more is cut at the end of its first line.
    fn span(&self, start: Marker, end: Marker) -> Span {
        let byte = |marker| self.byte(marker);
        let line = start.line().max(1);
        let line_end = self.line_ends.get(line - 1).copied().unwrap_or_else(|| byte(start));
        let start = byte(start).min(line_end);
        Span { start, end: byte(end).clamp(start, line_end.max(start)), line }
    }

    fn byte(&self, marker: Marker) -> usize {
        self.offsets[marker.index().min(self.offsets.len() - 1)]
    }

    /// The end of what was read until this byte, without spaces and line breaks behind it.
    fn trimmed(&self, start: usize, end: usize) -> usize {
        self.source.get(start..end).map_or(start, |text| start + text.trim_end().len())
    }

    /// Whether a map or list that begins here, maybe with an anchor, stands in brackets.
    fn is_in_brackets(&self, start: usize) -> bool {
        let text = self.source.get(start..).unwrap_or_default();
        let value = match text.strip_prefix('&') {
            Some(named) => named.trim_start_matches(|letter: char| !letter.is_whitespace()).trim_start_matches(' '),
            None => text,
        };
        value.starts_with(['{', '['])
    }

    /// Behind the bracket that closes a map or list: between its last value and the bracket are spaces, commas and comments alone.
    fn closed(&self, from: usize) -> usize {
        let mut in_comment = false;
        for (at, letter) in self.source[from..].char_indices() {
            match letter {
                '\n' => in_comment = false,
                '#' => in_comment = true,
                '}' | ']' if !in_comment => return from + at + 1,
                _ => {}
            }
        }
        from
    }

    /// The line where a literal block begins, whose place is its header or its first line that is not empty.
    fn first_line(&self, text: &str, at: Span) -> Option<usize> {
        let (empty, first) = text.lines().enumerate().find(|(_, line)| !line.trim().is_empty())?;
        let end = |line: usize| line.checked_sub(1).and_then(|place| self.line_ends.get(place)).copied();
        let is_first = |line: &usize| {
            let (from, to) = (end(line - 1).unwrap_or(0), end(*line).unwrap_or(0));
            self.source.get(from..to).is_some_and(|written| written.trim() == first.trim())
        };
        // An empty line more than the block has cannot be between the two.
        let line = (at.line..=at.line + empty + 1).find(is_first)?;
        line.checked_sub(empty)
    }

    fn syntax_error(&self, error: &ScanError) -> Diagnostic {
        let at = self.span(*error.marker(), *error.marker());
        let hint = match error.info() {
            info if info.contains("tab") => "; indent with spaces, not with tabs",
            _ if self.source.lines().nth(at.line.saturating_sub(1)).is_some_and(|line| line.contains("${")) => {
                "; within {...} and [...], a text with ${...} needs quotes"
            }
            info if info.contains("block mapping, did not find expected") => {
                "; is it indented like the lines that it belongs to?"
            }
            _ => "",
        };
        Diagnostic::new(at, "", format!("this is not YAML: {}{hint}", error.info()))
    }

    fn take(&mut self, event: Event<'_>, span: Span, end: usize) -> Result<(), Diagnostic> {
        match event {
            Event::DocumentStart(_) if self.root.is_some() => {
                return Err(Diagnostic::new(span, "", "a second document begins here: a lab file has one"));
            }
            Event::Scalar(_, _, _, Some(tag))
            | Event::SequenceStart(_, Some(tag))
            | Event::MappingStart(_, Some(tag)) => {
                return Err(Diagnostic::new(
                    span,
                    "",
                    format!("the tag `{tag}` has no meaning here: lab files use no tags"),
                ));
            }
            Event::Scalar(text, style, anchor, None) => {
                let plain = style == ScalarStyle::Plain;
                let text_is_empty = plain && text.is_empty();
                let content = match text.as_ref() {
                    "" | "~" | "null" if plain => Content::Empty,
                    _ => {
                        let block = (style == ScalarStyle::Literal).then(|| self.first_line(&text, span)).flatten();
                        Content::Text { text: text.into_owned(), plain, block }
                    }
                };
                if !text_is_empty {
                    self.last_end = self.trimmed(span.start, end);
                }
                let last = if text_is_empty { span.start } else { self.last_end };
                self.close(node(span, last, content), anchor)?;
            }
            Event::SequenceStart(anchor, None) => self.open(span, anchor, Inside::List(Vec::new()))?,
            Event::MappingStart(anchor, None) => self.open(span, anchor, Inside::Map(OpenMap::default()))?,
            Event::SequenceEnd | Event::MappingEnd => self.end(span)?,
            Event::Alias(anchor) => {
                let Some(original) = self.anchors.get(&anchor) else {
                    return Err(Diagnostic::new(span, "", "an alias cannot refer to what it is part of"));
                };
                let (nodes, bytes) = size(original);
                self.nodes += nodes;
                self.copied += bytes;
                self.check_size(span)?;
                let mut copy = original.clone();
                copy.span = span;
                copy.end = span.end;
                self.last_end = span.end;
                self.close(copy, 0)?;
            }
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentStart(_) | Event::DocumentEnd => {}
        }
        Ok(())
    }

    fn open(&mut self, span: Span, anchor: usize, inside: Inside) -> Result<(), Diagnostic> {
        if self.stack.len() >= MOST_LEVELS {
            return Err(Diagnostic::new(span, "", format!("more than {MOST_LEVELS} levels deep: no lab is")));
        }
        self.stack.push(Open { span, anchor, inside });
        Ok(())
    }

    fn end(&mut self, end: Span) -> Result<(), Diagnostic> {
        let Open { span, anchor, inside } = self.stack.pop().expect("the parser ends only what it began");
        let content = match inside {
            Inside::List(items) => Content::List(items),
            Inside::Map(map) => map.close(),
        };
        let line_end = self.line_ends.get(span.line - 1).copied().unwrap_or(span.end);
        let whole = Span { end: end.end.clamp(span.start, line_end.max(span.start)), ..span };
        // What the parser calls the end may be behind comments and on the line of what follows.
        if self.is_in_brackets(span.start) {
            self.last_end = self.closed(self.last_end.max(span.start + 1));
        }
        let last = self.last_end.max(span.start);
        self.close(node(whole, last, content), anchor)
    }

    /// Before anything is copied that would be too much.
    fn check_size(&self, span: Span) -> Result<(), Diagnostic> {
        let Limits { values, bytes, .. } = self.limits;
        let what = if self.nodes > values {
            format!("{values} values")
        } else if self.copied > bytes {
            format!("{} MiB of texts", bytes >> 20)
        } else {
            return Ok(());
        };
        Err(Diagnostic::new(span, "", format!("more than {what}: aliases multiply them")))
    }

    /// Puts a complete node where it belongs.
    fn close(&mut self, node: Node, anchor: usize) -> Result<(), Diagnostic> {
        self.nodes += 1;
        if anchor > 0 {
            self.copied += size(&node).1;
        }
        self.check_size(node.span)?;
        if anchor > 0 {
            self.anchors.insert(anchor, node.clone());
        }
        match self.stack.last_mut().map(|open| &mut open.inside) {
            None => self.root = Some(node).filter(|root| root.content != Content::Empty),
            Some(Inside::List(items)) => items.push(node),
            Some(Inside::Map(map)) => self.errors.extend(map.take(node)?),
        }
        Ok(())
    }
}

fn node(span: Span, end: usize, content: Content) -> Node {
    Node { span, end, head: span, key: String::new(), content }
}

fn key_of(node: &Node) -> Result<(String, Span), Diagnostic> {
    match &node.content {
        Content::Text { text, .. } => Ok((text.clone(), node.span)),
        _ => Err(Diagnostic::new(node.span, "", "a key is a word, for example `delay`")),
    }
}

fn merged_entries(node: Node, span: Span) -> Result<Vec<Entry>, Diagnostic> {
    match node.content {
        Content::Map(entries) => Ok(entries),
        Content::List(maps) => {
            let all: Result<Vec<Vec<Entry>>, Diagnostic> =
                maps.into_iter().map(|map| merged_entries(map, span)).collect();
            all.map(|lists| lists.into_iter().flatten().collect())
        }
        _ => Err(Diagnostic::new(span, "", "`<<` takes in other maps: write for example `<<: *defaults`")),
    }
}

/// How many nodes that is, and how many bytes of texts are in them.
pub(crate) fn size(node: &Node) -> (usize, usize) {
    let sum = |(nodes, bytes): (usize, usize), (more, longer): (usize, usize)| (nodes + more, bytes + longer);
    let own = (1, if let Content::Text { text, .. } = &node.content { text.len() } else { 0 });
    match &node.content {
        Content::Map(entries) => {
            let all = entries.iter().map(|entry| sum((0, entry.name.len()), size(&entry.value)));
            all.fold(own, sum)
        }
        Content::List(items) => items.iter().map(size).fold(own, sum),
        Content::Text { .. } | Content::Empty => own,
    }
}
