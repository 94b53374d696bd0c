//! What a reader has looked at of a tree. The rest is noted in the end, so that nothing is left out in silence.

use crate::notes::Notes;
use crate::source::{Place, Read};
use crate::tree::Tree;
use netloom_lab::yaml::{Content, Entry, Node};
use std::cell::RefCell;
use std::collections::BTreeSet;

/// How deep what is left is named.
const MOST_LEVELS: usize = 64;
/// How many of the keys below are named.
const MOST_NAMED: usize = 8;

/// The entries that were looked at, by the places of their names.
#[derive(Debug, Default)]
pub(crate) struct Seen(RefCell<BTreeSet<usize>>);

impl Seen {
    /// The value under a key, which counts as looked at; if it is a list or a map, what is in it does not.
    pub(crate) fn get<'a>(&self, node: &'a Node, key: &str) -> Option<&'a Node> {
        let found = node.entries().iter().find(|entry| entry.name == key)?;
        self.take(found);
        Some(&found.value).filter(|value| value.content != Content::Empty)
    }

    /// The text under a key, which counts as looked at.
    pub(crate) fn word<'a>(&self, node: &'a Node, key: &str) -> Option<&'a str> {
        self.get(node, key)?.text()
    }

    /// What has to be under a key, with all that is in it.
    pub(crate) fn required<'a>(&self, node: &'a Node, key: &str, wanted: &str) -> Read<&'a Node> {
        let found = node.required(key, wanted)?;
        self.all(node, key);
        Ok(found)
    }

    /// The value under a key, with all that is in it.
    pub(crate) fn all<'a>(&self, node: &'a Node, key: &str) -> Option<&'a Node> {
        let found = self.get(node, key)?;
        self.all_of(found);
        Some(found)
    }

    /// All that is in a node.
    pub(crate) fn all_of(&self, node: &Node) {
        let mut left = vec![node];
        while let Some(one) = left.pop() {
            one.entries().iter().for_each(|entry| self.take(entry));
            left.extend(one.entries().iter().map(|entry| &entry.value).chain(one.items()));
        }
    }

    /// An entry.
    pub(crate) fn take(&self, entry: &Entry) {
        self.0.borrow_mut().insert(entry.span.start);
    }

    /// Notes what nobody has looked at, but for keys that mean nothing to a network: `links.opts.color` stands for that of each item
    /// of the list `links`, and `*` for any key.
    pub(crate) fn rest(&self, root: &Node, passed: &[&str], notes: &mut Notes) {
        self.below(root, &mut Vec::new(), passed, notes);
    }

    fn below<'a>(&self, node: &'a Node, path: &mut Vec<&'a str>, passed: &[&str], notes: &mut Notes) {
        if path.len() >= MOST_LEVELS {
            return;
        }
        for item in node.items() {
            self.below(item, path, passed, notes);
        }
        for entry in node.entries() {
            path.push(&entry.name);
            let is_passed = passed.iter().any(|one| {
                one.split('.').count() == path.len()
                    && one.split('.').zip(&*path).all(|(wanted, name)| wanted == "*" || wanted == *name)
            });
            let is_nothing = match &entry.value.content {
                Content::Empty => true,
                Content::List(items) => items.is_empty(),
                Content::Map(entries) => entries.is_empty(),
                _ => entry.value.text() == Some(""),
            };
            match self.0.borrow().contains(&entry.span.start) {
                true => self.below(&entry.value, path, passed, notes),
                false if is_passed || is_nothing => {}
                false => notes.add(Place { file: 0, span: entry.span }, unread(path, &entry.value)),
            }
            path.pop();
        }
    }
}

/// What a note says of a path that nobody looked at, and of the keys below it.
fn unread(path: &[&str], value: &Node) -> String {
    let mut below = Vec::new();
    let mut left = vec![value];
    while let Some(node) = left.pop().filter(|_| below.len() < MOST_NAMED) {
        below.extend(node.entries().iter().map(|entry| format!("`{}`", entry.name)));
        left.extend(node.items().iter().chain(node.entries().iter().map(|entry| &entry.value)));
    }
    let with = if below.is_empty() { String::new() } else { format!(", with {}", below.join(", ")) };
    match path {
        [.., name] if path.len() > 1 => format!("`{name}` of {} is not read{with}", path[0]),
        _ => format!("`{}` is not read{with}", path.join(".")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_looks_at_is_noted() {
        let root =
            crate::tree::parse("a: {b: 1, c: {d: 2}}\ne: [{f: 1, g: {h: 1}, i: ''}]\nj: 1\nk: []\n").expect("a tree");
        let seen = Seen::default();
        let a = seen.get(&root, "a").expect("is there");
        assert_eq!(seen.word(a, "b"), Some("1"));
        let e = seen.get(&root, "e").expect("is there");
        assert!(seen.all(&e.items()[0], "g").is_some());
        let mut notes = Notes::default();
        seen.rest(&root, &["j"], &mut notes);
        let found: Vec<String> = notes.sorted().0.into_iter().map(|note| note.message).collect();
        assert_eq!(found, ["`c` of a is not read, with `d`", "`f` of e is not read"]);
    }
}
