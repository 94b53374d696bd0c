//! Trees of YAML that are made here.

use crate::yaml::{Content, Entry, Node};

/// A scalar, which is written without quotes where it can be.
pub(super) fn text(text: impl Into<String>) -> Node {
    Node { content: Content::Text { text: text.into(), plain: true, block: None }, ..Node::empty() }
}

pub(super) fn list(items: impl IntoIterator<Item = Node>) -> Node {
    Node { content: Content::List(items.into_iter().collect()), ..Node::empty() }
}

pub(super) fn map(entries: impl IntoIterator<Item = Entry>) -> Node {
    Node { content: Content::Map(entries.into_iter().collect()), ..Node::empty() }
}

pub(super) fn key(name: impl Into<String>, value: Node) -> Entry {
    Entry { name: name.into(), span: value.span, value }
}

/// A node with these keys in the place of its own, or beside them.
pub(super) fn with(node: &Node, keys: Vec<Entry>) -> Node {
    let mut entries: Vec<Entry> =
        node.entries().iter().filter(|own| !keys.iter().any(|new| new.name == own.name)).cloned().collect();
    entries.extend(keys);
    map(entries)
}

/// A hardware address.
pub(super) fn mac(mac: [u8; 6]) -> Node {
    text(mac.map(|byte| format!("{byte:02x}")).join(":"))
}
