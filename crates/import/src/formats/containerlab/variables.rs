//! Environment variables in texts: `${NAME}`, `${NAME:-default}`, `${NAME:=default}`.

use crate::Options;
use crate::notes::Notes;
use crate::tree::Tree;
use netloom_lab::yaml::Node;

/// Replaces variables, and notes those that are not set.
pub(super) struct Variables<'a> {
    options: &'a Options,
    notes: Notes,
}

impl<'a> Variables<'a> {
    pub(super) fn new(options: &'a Options) -> Self {
        Self { options, notes: Notes::default() }
    }

    pub(super) fn into_notes(self) -> Notes {
        self.notes
    }

    /// `text`, which stands at `node`, with the values of its variables.
    pub(super) fn expand(&mut self, text: &str, node: &Node) -> String {
        let mut expanded = String::new();
        let mut rest = text;
        while let Some(at) = rest.find("${") {
            let Some(end) = rest[at..].find('}') else { break };
            expanded.push_str(&rest[..at]);
            let inner = &rest[at + 2..at + end];
            let name_end = inner.find([':', '-', '=']).unwrap_or(inner.len());
            let (name, default) = inner.split_at(name_end);
            let default = [":-", ":=", "-", "="].iter().find_map(|mark| default.strip_prefix(mark));
            match (self.options.environment.get(name), default) {
                (Some(value), _) => expanded.push_str(value),
                (None, Some(value)) => expanded.push_str(value),
                (None, None) => {
                    self.notes.add(node.place(), format!("the variable `{name}` is not set: it is empty"));
                }
            }
            rest = &rest[at + end + 1..];
        }
        expanded.push_str(rest);
        expanded
    }
}
