//! A YAML text as JSON, for schemas and plans.

use super::{Content, Entry, Node, parse};
use serde_json::{Value, json};

/// The value that a lab file would have if this were written there.
pub(crate) fn yaml_value(text: &str) -> Value {
    value(text, None)
}

/// The same, but for the maps below `key`, whose order says something. A map of JSON has no order, so such a map becomes a
/// list of its values, each with its name as `name`.
pub(crate) fn yaml_value_with_list(text: &str, key: &str) -> Value {
    value(text, Some(key))
}

fn value(text: &str, list: Option<&str>) -> Value {
    parse(text).map_or_else(|_| json!(text), |node| json_of(&node, list))
}

fn json_of(node: &Node, list: Option<&str>) -> Value {
    match &node.content {
        Content::Map(entries) => {
            let value = |entry: &Entry| match &entry.value.content {
                Content::Map(named) if list == Some(&entry.name) => {
                    named.iter().map(|one| with_name(one, list)).collect()
                }
                _ => json_of(&entry.value, list),
            };
            entries.iter().map(|entry| (entry.name.clone(), value(entry))).collect()
        }
        Content::List(items) => items.iter().map(|item| json_of(item, list)).collect(),
        Content::Text { text, plain: true, .. } => match serde_json::from_str(text) {
            Ok(value @ (Value::Bool(_) | Value::Number(_))) => value,
            _ => json!(text),
        },
        Content::Text { text, .. } => json!(text),
        Content::Empty => Value::Null,
    }
}

fn with_name(entry: &Entry, list: Option<&str>) -> Value {
    let mut value = json_of(&entry.value, list);
    if value.is_null() {
        value = json!({});
    }
    if let Value::Object(map) = &mut value {
        map.insert("name".into(), json!(entry.name));
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_map_whose_order_counts_becomes_a_list() {
        let text = "{kind: priority, classes: {voip: {limit: 5}, bulk: , 9: {classes: {z: {}, a: {}}}}}";
        assert_eq!(
            yaml_value_with_list(text, "classes"),
            json!({"kind": "priority", "classes": [
                {"name": "voip", "limit": 5},
                {"name": "bulk"},
                {"name": "9", "classes": [{"name": "z"}, {"name": "a"}]},
            ]})
        );
        assert_eq!(yaml_value("{classes: {b: {}, a: {}}}"), json!({"classes": {"a": {}, "b": {}}}));
    }
}
