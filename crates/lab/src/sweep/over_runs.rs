//! Expectations of all runs together: each run measures what they are about, and the sweep judges it.

use super::entry;
use crate::expect::{OverRuns, is_over_runs};
use crate::yaml::{Content, Entry, Node};

/// The places and texts of such expectations.
pub(super) fn texts(root: &Node) -> Vec<(usize, String)> {
    let Some(Content::List(items)) = entry(root, "expect").map(|entry| &entry.value.content) else { return Vec::new() };
    let texts = items.iter().enumerate().filter_map(|(item, node)| Some((item, node.text()?)));
    texts.filter(|(_, text)| is_over_runs(text)).map(|(item, text)| (item, text.trim().to_owned())).collect()
}

/// Takes such expectations out of the file of a single run, which measures as figures what they are about.
pub(super) fn leave_to_sweep(root: &mut Node, expectations: &[OverRuns]) {
    let Content::Map(entries) = &mut root.content else { return };
    if let Some(expect) = entries.iter_mut().find(|entry| entry.name == "expect")
        && let Content::List(items) = &mut expect.value.content
    {
        items.retain(|item| !item.text().is_some_and(is_over_runs));
    }
    let of_terms = expectations.iter().flat_map(OverRuns::terms);
    let figures: Vec<Entry> = of_terms
        .filter_map(|wanted| {
            let over = wanted.term.over.as_ref().filter(|over| over.figure.is_none() && wanted.is_here)?;
            let content = Content::Text { text: over.inner.clone(), plain: true, block: None };
            let value = Node { key: wanted.figure.clone(), content, ..Node::empty() };
            Some(Entry { name: wanted.figure, span: value.span, value })
        })
        .collect();
    if figures.is_empty() {
        return;
    }
    match entries.iter_mut().find(|entry| entry.name == "figures").map(|entry| &mut entry.value.content) {
        Some(Content::Map(own)) => own.extend(figures),
        Some(other) => *other = Content::Map(figures),
        None => {
            let value = Node { key: "figures".into(), content: Content::Map(figures), ..Node::empty() };
            entries.push(Entry { name: "figures".into(), span: value.span, value });
        }
    }
}
