//! A YAML text as JSON, for schemas and plans.

use super::{Content, Node, parse};
use serde_json::{Value, json};

/// The value that a lab file would have if this were written there.
pub(crate) fn yaml_value(text: &str) -> Value {
    parse(text).map_or_else(|_| json!(text), |node| json_of(&node))
}

fn json_of(node: &Node) -> Value {
    match &node.content {
        Content::Map(entries) => entries.iter().map(|entry| (entry.name.clone(), json_of(&entry.value))).collect(),
        Content::List(items) => items.iter().map(json_of).collect(),
        Content::Text { text, plain: true } => match serde_json::from_str(text) {
            Ok(value @ (Value::Bool(_) | Value::Number(_))) => value,
            _ => json!(text),
        },
        Content::Text { text, .. } => json!(text),
        Content::Empty => Value::Null,
    }
}
