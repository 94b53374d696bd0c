//! GML: graphs as keys and values in brackets (Himsolt, "GML: a portable graph file format", 1997), as the Topology Zoo,
//! NetworkX and igraph write them.

use crate::graph::{Attribute, Edge, Graph, Vertex};
use crate::source::{Lines, Place, Read};
use std::collections::BTreeMap;

/// Files are three levels deep; deeper ones only serve to exhaust the stack.
const MOST_LEVELS: usize = 32;
/// What stands beside the graph and says nothing of it: who wrote the file, and when.
const OF_FILES: [&str; 4] = ["Creator", "Version", "comment", "date"];
/// How many keys of a list are named.
const MOST_NAMED: usize = 8;

/// A key and its value.
#[derive(Clone, Debug)]
struct Pair<'a> {
    key: &'a str,
    place: Place,
    value: Value<'a>,
}

/// A value.
#[derive(Clone, Debug)]
enum Value<'a> {
    Number(&'a str),
    Text(String),
    List(Vec<Pair<'a>>),
}

impl Pair<'_> {
    /// A number or a text, as a text.
    fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Number(number) => Some(number),
            Value::Text(text) => Some(text),
            Value::List(_) => None,
        }
    }
}

/// Reads the graph in `text`.
pub(crate) fn read(text: &str) -> Read<Graph> {
    read_in(text, 0)
}

/// Reads the graph in `text`, which is file number `file`.
pub(crate) fn read_in(text: &str, file: usize) -> Read<Graph> {
    let lines = Lines::of(text, file);
    let (pairs, beside) = graph_of(text, &lines)?;
    let mut graph = Graph::default();
    for pair in beside.iter().filter(|pair| !OF_FILES.iter().any(|known| pair.key.eq_ignore_ascii_case(known))) {
        graph.notes.add(pair.place, format!("`{}` beside the graph is not read{}", pair.key, with(pair)));
    }
    let is_directed = first(&pairs, "directed").is_some_and(|said| said.text() == Some("1"));
    let mut numbers = BTreeMap::new();
    for pair in &pairs {
        match (&pair.value, pair.key) {
            (Value::List(inner), "node") => {
                let id = required(pair, inner, "id", "a node has a number: write for example `id 0`")?;
                if let Some(first) = numbers.insert(id.to_owned(), graph.nodes.len()) {
                    let first: &Vertex = &graph.nodes[first];
                    let line = first.place.span.line;
                    return Err(pair
                        .place
                        .wrong(format!("there are two nodes with id {id}, the first in line {line}")));
                }
                let attributes = attributes(inner, &["id"], "");
                graph.nodes.push(Vertex { id: id.to_owned(), place: pair.place, attributes });
            }
            (Value::List(inner), "edge") if inner.is_empty() => return Err(pair.place.wrong("an empty edge")),
            (Value::List(_), "edge") | (_, "directed" | "multigraph") => {}
            (_, key @ ("node" | "edge")) => {
                return Err(pair.place.wrong(format!("a {key} is a list: write for example `{key} [ ... ]`")));
            }
            _ => graph.attributes.extend(attributes(std::slice::from_ref(pair), &[], "")),
        }
    }
    // Edges may stand before the nodes that they join.
    for pair in &pairs {
        if let (Value::List(inner), "edge") = (&pair.value, pair.key) {
            let mut ends = Vec::new();
            for end in ["source", "target"] {
                let id = required(pair, inner, end, "an edge has `source` and `target`, the numbers of nodes")?;
                let unknown =
                    || pair.place.wrong(format!("`{end} {id}`: there is no node with `id {id}` in this file"));
                ends.push(*numbers.get(id).ok_or_else(unknown)?);
            }
            let attributes = attributes(inner, &["source", "target"], "");
            graph.edges.push(Edge { ends, is_directed, place: pair.place, attributes });
        }
    }
    if graph.nodes.is_empty() {
        return Err(lines
            .place(0, 0)
            .wrong("there is no node in this graph: write for example `node [ id 0 label \"a\" ]`"));
    }
    Ok(graph)
}

/// What stands in the brackets of the first `graph`, and what stands beside that.
fn graph_of<'a>(text: &'a str, lines: &Lines) -> Read<(Vec<Pair<'a>>, Vec<Pair<'a>>)> {
    let mut parser = Parser { text, lines, at: 0 };
    let mut pairs = parser.pairs(0)?;
    let at = pairs.iter().position(|pair| pair.key == "graph" && matches!(pair.value, Value::List(_)));
    match at.map(|at| pairs.remove(at).value) {
        Some(Value::List(inner)) => Ok((inner, pairs)),
        _ => Err(lines.place(0, 0).wrong("there is no graph in this file: GML has all in `graph [ ... ]`")),
    }
}

/// The keys of a list, for a note.
fn with(pair: &Pair<'_>) -> String {
    let Value::List(inner) = &pair.value else { return String::new() };
    let mut names: Vec<String> = inner.iter().take(MOST_NAMED).map(|one| format!("`{}`", one.key)).collect();
    names.extend((inner.len() > MOST_NAMED).then(|| format!("{} more", inner.len() - MOST_NAMED)));
    if names.is_empty() { String::new() } else { format!(", with {}", names.join(", ")) }
}

/// The first pair with this key.
fn first<'a, 'b>(pairs: &'b [Pair<'a>], key: &str) -> Option<&'b Pair<'a>> {
    pairs.iter().find(|pair| pair.key == key)
}

/// The text of what has to be there.
fn required<'b>(above: &Pair<'_>, inner: &'b [Pair<'_>], key: &str, wanted: &str) -> Read<&'b str> {
    let found = first(inner, key).and_then(Pair::text);
    found.ok_or_else(|| above.place.wrong(format!("`{key}` is missing: {wanted}")))
}

/// All but the first of each of these, those of lists below with the name of the list before them.
fn attributes(pairs: &[Pair<'_>], but: &[&str], before: &str) -> Vec<Attribute> {
    let mut found = Vec::new();
    let mut left = but.to_vec();
    for pair in pairs {
        if let Some(at) = left.iter().position(|key| *key == pair.key) {
            left.remove(at);
            continue;
        }
        match &pair.value {
            Value::List(inner) if inner.is_empty() => {
                let (name, value) = (format!("{before}{}", pair.key), "[ ]".to_owned());
                found.push(Attribute { name, value, place: pair.place });
            }
            Value::List(inner) => found.extend(attributes(inner, &[], &format!("{before}{}.", pair.key))),
            _ => found.extend(attribute(pair, before)),
        }
    }
    found
}

fn attribute(pair: &Pair<'_>, before: &str) -> Option<Attribute> {
    // A number that is none says nothing.
    let value = pair.text().filter(|text| !is_nan(pair, text))?.to_owned();
    Some(Attribute { name: format!("{before}{}", pair.key), value, place: pair.place })
}

fn is_nan(pair: &Pair<'_>, text: &str) -> bool {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    matches!(pair.value, Value::Number(_)) && digits.eq_ignore_ascii_case("nan")
}

struct Parser<'a, 'b> {
    text: &'a str,
    lines: &'b Lines,
    at: usize,
}

impl<'a> Parser<'a, '_> {
    fn here(&self) -> Place {
        let letter = self.text[self.at..].chars().next().map_or(0, char::len_utf8);
        self.lines.place(self.at, self.at + letter)
    }

    /// Goes on behind white space and comments, and tells the next letter.
    fn next(&mut self) -> Option<char> {
        loop {
            let rest = &self.text[self.at..];
            let trimmed = rest.trim_start_matches(|letter: char| letter.is_whitespace() || letter == '\u{feff}');
            self.at += rest.len() - trimmed.len();
            if !trimmed.starts_with('#') {
                return trimmed.chars().next();
            }
            self.at += trimmed.find('\n').unwrap_or(trimmed.len());
        }
    }

    /// Letters as long as `goes_on`.
    fn word(&mut self, goes_on: impl Fn(char) -> bool) -> &'a str {
        let rest = &self.text[self.at..];
        let end = rest.find(|letter| !goes_on(letter)).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    fn pairs(&mut self, level: usize) -> Read<Vec<Pair<'a>>> {
        let mut pairs = Vec::new();
        loop {
            match self.next() {
                None if level == 0 => return Ok(pairs),
                None => return Err(self.here().wrong("the file ends within brackets: a `]` is missing")),
                Some(']') if level > 0 => return Ok(pairs),
                Some(letter) if letter.is_ascii_alphabetic() || letter == '_' => pairs.push(self.pair(level)?),
                Some(letter) => {
                    return Err(self.here().wrong(format!("{letter:?} is no key: write for example `label \"a\"`")));
                }
            }
        }
    }

    fn pair(&mut self, level: usize) -> Read<Pair<'a>> {
        let start = self.at;
        let key = self.word(|letter| letter.is_ascii_alphanumeric() || letter == '_');
        let place = self.lines.place(start, self.at);
        let value = match self.next() {
            Some('[') if level >= MOST_LEVELS => {
                return Err(self.here().wrong(format!("more than {MOST_LEVELS} levels deep: no graph is")));
            }
            Some('[') => {
                self.at += 1;
                let inner = self.pairs(level + 1)?;
                self.at += 1;
                Value::List(inner)
            }
            Some('"') => Value::Text(self.quoted(place)?),
            Some(letter) if letter.is_ascii_digit() || "+-.".contains(letter) => {
                Value::Number(self.word(|one| one.is_ascii_alphanumeric() || "+-.".contains(one)))
            }
            // What programs write for numbers that are none; NetworkX in capitals.
            _ => match self.no_number() {
                Some(word) => Value::Number(word),
                None => {
                    let message = format!("`{key}` has no value: write a number, a \"text\", or `[` and `]`");
                    return Err(place.wrong(message));
                }
            },
        };
        Ok(Pair { key, place, value })
    }

    /// `NAN` or `INF`, in any spelling.
    fn no_number(&mut self) -> Option<&'a str> {
        let start = self.at;
        let word = self.word(|one| one.is_ascii_alphanumeric() || one == '_');
        let is_known = ["nan", "inf", "infinity"].iter().any(|known| word.eq_ignore_ascii_case(known));
        if !is_known {
            self.at = start;
        }
        is_known.then_some(word)
    }

    /// A text in quotation marks.
    fn quoted(&mut self, place: Place) -> Read<String> {
        self.at += 1;
        let rest = &self.text[self.at..];
        let Some(end) = rest.find('"') else { return Err(place.wrong("this text does not end: a `\"` is missing")) };
        self.at += end + 1;
        Ok(decoded(&rest[..end]))
    }
}

/// A text with its character references resolved.
fn decoded(text: &str) -> String {
    let mut decoded = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        decoded.push_str(&rest[..at]);
        rest = &rest[at..];
        let found = rest.find(';').filter(|end| *end < 12).and_then(|end| Some((letter(&rest[1..end])?, end + 1)));
        let (letter, length) = found.unwrap_or(('&', 1));
        decoded.push(letter);
        rest = &rest[length..];
    }
    decoded.push_str(rest);
    decoded
}

/// What a character reference stands for.
fn letter(reference: &str) -> Option<char> {
    let number = match reference.strip_prefix('#') {
        Some(digits) => match digits.strip_prefix(['x', 'X']) {
            Some(hexadecimal) => u32::from_str_radix(hexadecimal, 16).ok()?,
            None => digits.parse().ok()?,
        },
        None => {
            let named = [("quot", '"'), ("amp", '&'), ("apos", '\''), ("lt", '<'), ("gt", '>')];
            return named.iter().find(|(name, _)| *name == reference).map(|(_, letter)| *letter);
        }
    };
    char::from_u32(number)
}
