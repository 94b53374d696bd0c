//! A tree as JSON, for programs that have no reader of YAML.

use super::{Content, Node};
use serde_json::Value;

/// The text of a node: read as YAML, it is the same node.
pub(crate) fn json(node: &Node) -> String {
    match &node.content {
        Content::Map(entries) => {
            let entries = entries.iter().map(|entry| format!("{}: {}", quoted(&entry.name), json(&entry.value)));
            format!("{{{}}}", entries.collect::<Vec<_>>().join(", "))
        }
        Content::List(items) => format!("[{}]", items.iter().map(json).collect::<Vec<_>>().join(", ")),
        Content::Text { text, plain: true, .. } if is_bare(text) => text.clone(),
        Content::Text { text, .. } => quoted(text),
        Content::Empty => "null".into(),
    }
}

/// Whether JSON has it without quotes: a number, which is not rounded here, or a truth value.
fn is_bare(text: &str) -> bool {
    matches!(serde_json::from_str(text), Ok(Value::Number(_) | Value::Bool(_))) && text.trim() == text
}

fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yaml::{parse, yaml_value};

    #[test]
    fn what_is_written_is_json_and_read_as_the_same() {
        let text = "a: 1 ms\nb: [x, 'y: z', '', ~, -1.5, '7', 007, 1e-9, true, yes, 0.10]\n\"c\\n\": {e: 0.1 %, f: {}}\ng: |\n  two\n  lines\n";
        let written = json(&parse(text).unwrap());
        assert_eq!(
            written,
            r#"{"a": "1 ms", "b": ["x", "y: z", "", null, -1.5, "7", "007", 1e-9, true, "yes", 0.10], "c\n": {"e": "0.1 %", "f": {}}, "g": "two\nlines\n"}"#
        );
        let read: Value = serde_json::from_str(&written).unwrap();
        assert_eq!(read["b"][5], Value::from("7"));
        assert_eq!(yaml_value(&written), yaml_value(text));
    }
}
