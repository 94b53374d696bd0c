//! A topology as the text of a lab file, with comments that say where each value comes from.

use crate::places;
use crate::source::{Place, Source};
use crate::topology::{Link, Node, Topology};
use crate::value::{Content, Map, Origin, Value, entry};
use std::path::Path;

/// The width of the notes at the top.
const WIDTH: usize = 116;
/// Letters of the words of a comment: they may quote anything.
const LONGEST_WORDS: usize = 160;

/// The text of a lab file, and where each of its lines comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Written {
    pub(crate) text: String,
    /// By the number of the line, from 0.
    pub(crate) places: Vec<Option<Place>>,
}

/// Writes the lab file of `topology`, which was read from `sources`, files of the format `format`.
pub(crate) fn write(topology: &Topology, notes: &[String], sources: &[Source], format: &str) -> Written {
    let mut writer = Writer { written: Written::default(), sources };
    let path = sources.first().map_or("", |source| source.name.as_str());
    let name = Path::new(path).file_name().map_or(path.into(), |name| name.to_string_lossy());
    writer.remark(&format!("Made from {name} ({format}) by netloom; the comments name its lines."));
    for remark in &topology.remarks {
        writer.remark(remark);
    }
    if !notes.is_empty() {
        writer.remark("");
        writer.remark("Not as in that file:");
        for note in notes {
            writer.remark(&format!("- {note}"));
        }
    }
    writer.entries(&document(topology), 0, None);
    writer.written
}

/// All keys of the lab file.
fn document(topology: &Topology) -> Map {
    let mut all = vec![entry("name", Value::text(topology.name.clone()))];
    all.extend(topology.top.iter().cloned());
    all.push(entry("nodes", Value::map(topology.nodes.iter().map(node).collect())));
    if !topology.links.is_empty() {
        all.push(entry("links", Value::map(topology.links.iter().map(|it| link(topology, it)).collect())));
    }
    all.extend(places::layout(topology).map(|layout| entry("layout", layout)));
    if !topology.timeline.is_empty() {
        all.push(entry("timeline", Value::list(topology.timeline.iter().cloned())));
    }
    all.extend(topology.rest.iter().cloned());
    all
}

fn node(node: &Node) -> (String, Value) {
    (node.name.clone(), Value::map(node.settings.clone()).because(node.origin.clone()))
}

fn link(topology: &Topology, link: &Link) -> (String, Value) {
    let ends = link.ends.iter().chain(&link.further).map(|end| {
        let name = Value::text(topology.nodes[end.node].name.clone());
        if end.settings.is_empty() {
            return name;
        }
        Value::map([entry("node", name)].into_iter().chain(end.settings.iter().cloned()).collect())
    });
    let mut keys = vec![entry("ends", Value::list(ends))];
    keys.extend(link.settings.iter().cloned());
    for (name, direction) in [("forward", &link.forward), ("backward", &link.backward)] {
        if !direction.is_empty() {
            keys.push(entry(name, Value::map(direction.clone())));
        }
    }
    (link.name.clone(), Value::map(keys).because(link.origin.clone()))
}

struct Writer<'a> {
    written: Written,
    sources: &'a [Source],
}

impl Writer<'_> {
    fn line(&mut self, text: &str, place: Option<Place>) {
        self.written.text.push_str(text.trim_end());
        self.written.text.push('\n');
        self.written.places.push(place);
    }

    /// A comment of its own, on as many lines as it takes.
    fn remark(&mut self, text: &str) {
        let mut line = String::from("#");
        for word in cleaned(text).split(' ') {
            if line.len() > 1 && line.chars().count() + word.chars().count() >= WIDTH {
                self.line(&line, None);
                line = String::from("#  ");
            }
            line.push(' ');
            line.push_str(word);
        }
        self.line(&line, None);
    }

    /// The comment behind a value.
    fn comment(&self, origin: &Origin) -> String {
        let place = origin.place.filter(|place| place.span.line > 0).map(|place| match place.file {
            0 => format!("line {}", place.span.line),
            file => format!("{}:{}", self.sources.get(file).map_or("", |source| source.name.as_str()), place.span.line),
        });
        let words: String = cleaned(&origin.words).chars().take(LONGEST_WORDS).collect();
        match (place, words.is_empty()) {
            (None, true) => String::new(),
            (None, false) => format!("  # {words}"),
            (Some(place), true) => format!("  # {place}"),
            (Some(place), false) => format!("  # {place}: {words}"),
        }
    }

    fn entries(&mut self, entries: &Map, indent: usize, place: Option<Place>) {
        for (name, value) in entries {
            self.value(&format!("{:indent$}{}:", "", scalar(name)), value, indent, place);
        }
    }

    /// A value behind `head`, its key or the dash of its list.
    fn value(&mut self, head: &str, value: &Value, indent: usize, above: Option<Place>) {
        let place = value.origin.place.or(above);
        let comment = self.comment(&value.origin);
        if let Content::Text(text) = &value.content
            && is_block(text)
        {
            return self.block(head, text, indent, place, &comment);
        }
        if !needs_lines(value, indent == 0) {
            return self.line(&format!("{head} {}{comment}", flow(value)), place);
        }
        self.line(&format!("{head}{comment}"), place);
        match &value.content {
            Content::Map(entries) => self.entries(entries, indent + 2, place),
            Content::List(items) => {
                for item in items {
                    self.item(item, indent + 2, place);
                }
            }
            Content::Plain(_) | Content::Text(_) => {}
        }
    }

    /// An item of a list. A map that needs several lines begins behind the dash.
    fn item(&mut self, item: &Value, indent: usize, above: Option<Place>) {
        match &item.content {
            Content::Map(entries) if item.origin.is_empty() && needs_lines(item, false) => {
                let start = self.written.text.len() + indent;
                self.entries(entries, indent + 2, above);
                self.written.text.replace_range(start..=start, "-");
            }
            _ => self.value(&format!("{:indent$}-", ""), item, indent, above),
        }
    }

    /// A text of several lines.
    fn block(&mut self, head: &str, text: &str, indent: usize, place: Option<Place>, comment: &str) {
        let style = if text.ends_with('\n') { "|" } else { "|-" };
        self.line(&format!("{head} {style}{comment}"), place);
        for line in text.lines() {
            self.line(&format!("{:1$}{line}", "", indent + 2), place);
        }
    }
}

/// Whether a map or list has a line for each entry: at the top level, and where something in it has a comment or is a block.
fn needs_lines(value: &Value, is_top: bool) -> bool {
    match &value.content {
        Content::List(items) => {
            !items.is_empty() && (is_top || items.iter().any(|one| one.is_told() || has_block(one)))
        }
        Content::Map(entries) => {
            !entries.is_empty() && (is_top || entries.iter().any(|(_, one)| one.is_told() || has_block(one)))
        }
        Content::Plain(_) | Content::Text(_) => false,
    }
}

/// Whether a text is written as a block: on several lines that come back as they are.
fn is_block(text: &str) -> bool {
    let is_plain = |letter: char| letter == '\n' || letter == '\t' || !letter.is_control();
    let lines = text.strip_suffix('\n').unwrap_or(text);
    lines.contains('\n')
        && !lines.ends_with('\n')
        && !text.starts_with([' ', '\n', '\t'])
        && text.chars().all(|letter| is_plain(letter) && !"\u{85}\u{2028}\u{2029}\u{feff}".contains(letter))
        && lines.lines().all(|line| line == line.trim_end())
}

fn has_block(value: &Value) -> bool {
    match &value.content {
        Content::Text(text) => is_block(text),
        Content::Plain(_) => false,
        Content::List(items) => items.iter().any(has_block),
        Content::Map(entries) => entries.iter().any(|(_, one)| has_block(one)),
    }
}

/// A value on one line.
fn flow(value: &Value) -> String {
    match &value.content {
        Content::Plain(text) => text.clone(),
        Content::Text(text) => scalar(text),
        Content::List(items) => format!("[{}]", items.iter().map(flow).collect::<Vec<_>>().join(", ")),
        Content::Map(entries) => {
            let entries = entries.iter().map(|(name, one)| format!("{}: {}", scalar(name), flow(one)));
            format!("{{{}}}", entries.collect::<Vec<_>>().join(", "))
        }
    }
}

/// A text as a scalar, quoted unless it stays a text without.
fn scalar(text: &str) -> String {
    let begins = text.starts_with(|first: char| first.is_ascii_alphabetic() || first == '/');
    let goes_on = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_./=@%+- ".contains(&byte));
    let is_word = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"].contains(&text.to_lowercase().as_str());
    // A key of the timeline is a word that only YAML 1.1 takes for something else.
    if begins && goes_on && text == text.trim_end() && (!is_word || text == "on") {
        return text.to_owned();
    }
    // JSON's texts are YAML's, but for what YAML reads as the end of a line.
    let quoted = serde_json::to_string(text).unwrap_or_default();
    let escaped = |letter: char| match letter {
        '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{feff}' => format!("\\u{:04x}", u32::from(letter)),
        _ => letter.to_string(),
    };
    quoted.chars().map(escaped).collect()
}

/// A text on one line, for comments.
fn cleaned(text: &str) -> String {
    let is_break = |letter: char| letter.is_control() || "\u{85}\u{2028}\u{2029}\u{feff}".contains(letter);
    text.chars().map(|letter| if is_break(letter) { ' ' } else { letter }).collect()
}
