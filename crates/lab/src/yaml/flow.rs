//! A tree as YAML on one line.

use super::{Content, Node};

/// The text of a node; it is read as the same node.
pub(crate) fn flow(node: &Node) -> String {
    match &node.content {
        Content::Map(entries) => {
            let entries = entries.iter().map(|entry| format!("{}: {}", scalar(&entry.name, true), flow(&entry.value)));
            format!("{{{}}}", entries.collect::<Vec<_>>().join(", "))
        }
        Content::List(items) => format!("[{}]", items.iter().map(flow).collect::<Vec<_>>().join(", ")),
        Content::Text { text, plain, .. } => scalar(text, *plain),
        Content::Empty => "~".into(),
    }
}

/// A text, with quotes if it had some or means something else without.
fn scalar(text: &str, plain: bool) -> String {
    let is_safe = |c: char| c.is_ascii_alphanumeric() || " /._-+%=".contains(c);
    let begins = text.starts_with(|c: char| c.is_ascii_alphanumeric() || "/._".contains(c))
        || (text.starts_with('-') && text.parse::<f64>().is_ok());
    let means_nothing = text.is_empty() || ["null", "~"].contains(&text);
    if plain && begins && !means_nothing && text.chars().all(is_safe) && text.trim() == text {
        return text.to_owned();
    }
    // A text of JSON is one of YAML.
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yaml::parse;

    #[test]
    fn what_is_written_is_read_as_the_same() {
        let text = "{a: 1 ms, b: [x, 'y: z', \"q\\\"\", '', ~, -1.5, '7'], 'c: d': {e: 0.1 %, f: {}}, g: 'null', h: fd00::1/64}";
        let node = parse(text).unwrap();
        let written = flow(&node);
        let quoted = written.replace('"', "");
        assert_eq!(flow(&parse(&written).unwrap()), written, "{quoted}");
        assert_eq!(crate::yaml::yaml_value(&written), crate::yaml::yaml_value(text));
    }
}
