//! `${name}` in texts.

use super::shown;
use crate::diagnostics::Diagnostic;
use crate::yaml::{Content, Node};

/// Replaces `${name}` by values. A text that is nothing else becomes the value itself; in a longer one, a value has to be
/// a text. Names that are no parameters stay: they may be variables of a shell.
pub(super) fn fill(node: &mut Node, words: &[(&str, &Node)]) -> Vec<Diagnostic> {
    match &mut node.content {
        Content::Map(entries) => entries.iter_mut().flat_map(|entry| fill(&mut entry.value, words)).collect(),
        Content::List(items) => items.iter_mut().flat_map(|item| fill(item, words)).collect(),
        Content::Text { text, .. } if text.contains("${") => fill_text(node, words).err().into_iter().collect(),
        Content::Text { .. } | Content::Empty => Vec::new(),
    }
}

fn fill_text(node: &mut Node, words: &[(&str, &Node)]) -> Result<(), Diagnostic> {
    let whole = node.text().and_then(|text| text.trim().strip_prefix("${")?.strip_suffix('}'));
    if let Some((_, value)) = words.iter().find(|(name, _)| Some(*name) == whole) {
        let (span, head, key) = (node.span, node.head, std::mem::take(&mut node.key));
        *node = (*value).clone().at(key);
        // What is wrong there is shown there: the point says which value it is.
        (node.span, node.head) = (span, head);
        return Ok(());
    }
    let text = node.text().unwrap_or_default();
    let mut filled = text.to_owned();
    for (name, value) in words {
        let mark = format!("${{{name}}}");
        if !filled.contains(&mark) {
            continue;
        }
        if matches!(value.content, Content::Map(_) | Content::List(_)) {
            return Err(node.error(format!("`{mark}` is {} here, and only a text can be part of one", shown(value))));
        }
        let value = value.text().unwrap_or_default();
        filled = filled.replace(&mark, value);
    }
    if let Content::Text { text: own, .. } = &mut node.content {
        *own = filled;
    }
    Ok(())
}

/// Whether `${name}` is in a text of this file.
pub(super) fn has(node: &Node, name: &str) -> bool {
    match &node.content {
        Content::Map(entries) => entries.iter().any(|entry| has(&entry.value, name)),
        Content::List(items) => items.iter().any(|item| has(item, name)),
        Content::Text { text, .. } => text.contains(&format!("${{{name}}}")),
        Content::Empty => false,
    }
}
