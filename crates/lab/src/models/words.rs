//! Filters as people say them, `to 10.1.0.0/16 tcp port 443`, wherever there is a single line for one.

use super::filter;
use crate::diagnostics::Diagnostic;
use crate::errors::{Errors, Nodes};
use crate::yaml::{self, Node};
use netloom_link::Filter;

/// What words, or the keys of a lab file in braces, say of a filter: the map that a lab file would have.
pub(crate) fn node(text: &str) -> Result<Node, String> {
    let yaml = if text.trim_start().starts_with('{') { text.to_owned() } else { in_braces(text)? };
    yaml::parse(&yaml).map_err(|errors| first_of(&errors))
}

/// The filter that they describe, in a lab of these nodes.
pub(crate) fn filter(text: &str, nodes: Option<&Nodes>) -> Result<Filter, String> {
    let mut errors = Errors::default();
    nodes.into_iter().for_each(|nodes| errors.set_nodes(nodes.clone()));
    let filter = filter::decode(&node(text)?, &mut errors);
    filter.ok_or_else(|| first_of(&errors.into_entries()))
}

/// The first of these errors, in words.
pub(crate) fn first_of(errors: &[Diagnostic]) -> String {
    errors.first().map_or("it cannot be read", Diagnostic::message).to_owned()
}

const WORDS: &str = "write for example \"to 10.1.0.0/16 tcp port 443\": from, to, port, from-port, to-port, dscp, user and group with \
                     a value each, or several with commas, and a protocol";

fn in_braces(text: &str) -> Result<String, String> {
    let wrong = |what: String| format!("{what}: {WORDS}");
    let mut keys: Vec<String> = Vec::new();
    let mut words = text.split_whitespace();
    while let Some(word) = words.next() {
        let key = match word {
            "from" | "to" | "port" | "dscp" | "protocol" | "user" | "group" => word,
            "uid" => "user",
            "gid" => "group",
            "from-port" | "src-port" => "from_port",
            "to-port" | "dst-port" => "to_port",
            "proto" => "protocol",
            _ if word.starts_with(|c: char| c.is_ascii_alphabetic()) => {
                keys.push(format!("protocol: {}", list(word)));
                continue;
            }
            _ => return Err(wrong(format!("`{word}` stands where a word should"))),
        };
        let value = words.next().ok_or_else(|| wrong(format!("nothing stands behind `{word}`")))?;
        keys.push(format!("{key}: {}", list(value)));
    }
    if keys.is_empty() {
        return Err(wrong("it says nothing".into()));
    }
    Ok(format!("{{{}}}", keys.join(", ")))
}

/// As a list of YAML; what would mean something else there is in quotes.
fn list(value: &str) -> String {
    let quoted = |one: &str| {
        let is_plain = one.bytes().all(|b| b.is_ascii_alphanumeric() || b"./-".contains(&b));
        if is_plain { one.to_owned() } else { format!("{one:?}") }
    };
    let all: Vec<String> = value.split(',').map(quoted).collect();
    if let [one] = &all[..] { one.clone() } else { format!("[{}]", all.join(", ")) }
}
