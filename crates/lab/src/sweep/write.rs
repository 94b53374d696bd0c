//! A tree as the text of a lab file.

use crate::yaml::{Content, Node, flow};

/// Longer values get lines of their own.
const LONGEST_LINE: usize = 110;

/// The text of a file; it is read as the same tree.
pub(super) fn file(root: &Node) -> String {
    let mut text = String::new();
    block(root, 0, &mut text);
    text
}

fn block(node: &Node, depth: usize, text: &mut String) {
    let indent = "  ".repeat(depth);
    match &node.content {
        Content::Map(entries) => {
            for entry in entries {
                let name = Content::Text { text: entry.name.clone(), plain: true, block: None };
                let name = flow(&Node { content: name, ..Node::empty() });
                put(&entry.value, depth, &format!("{indent}{name}:"), text);
            }
        }
        Content::List(items) => items.iter().for_each(|item| put(item, depth, &format!("{indent}-"), text)),
        Content::Text { .. } | Content::Empty => text.push_str(&format!("{indent}{}\n", flow(node))),
    }
}

fn put(value: &Node, depth: usize, before: &str, text: &mut String) {
    let has_parts = match &value.content {
        Content::Map(entries) => !entries.is_empty(),
        Content::List(items) => !items.is_empty(),
        Content::Text { .. } | Content::Empty => false,
    };
    let line = format!("{before} {}\n", flow(value));
    // What the whole file has is easier to find one below the other.
    if has_parts && (depth == 0 && before.ends_with(':') || line.len() > LONGEST_LINE) {
        text.push_str(before);
        text.push('\n');
        block(value, depth + 1, text);
    } else {
        text.push_str(&line);
    }
}
