//! A lab file as its reader has it: every key and value with its place, for changes by spans.

use crate::places::Places;
use netloom_lab::Span;
use netloom_lab::yaml::{Content, Node};
use serde_json::{Value, json};

/// The tree, whose places are those of the text as a page counts them. The reader has bounded its depth.
pub(crate) fn tree(node: &Node, places: &Places<'_>) -> Value {
    let mut value = match &node.content {
        Content::Map(entries) => {
            let entries = entries.iter().map(|entry| {
                let [from, to] = ends(entry.span, places);
                json!({ "name": entry.name, "from": from, "to": to, "value": tree(&entry.value, places) })
            });
            json!({ "map": entries.collect::<Vec<_>>() })
        }
        Content::List(items) => json!({ "list": items.iter().map(|item| tree(item, places)).collect::<Vec<_>>() }),
        Content::Text { text, plain, block } => match block {
            Some(_) => json!({ "text": text, "plain": plain, "block": true }),
            None => json!({ "text": text, "plain": plain }),
        },
        Content::Empty => json!({ "empty": true }),
    };
    value["from"] = places.units(node.span.start).into();
    value["to"] = places.units(node.end.max(node.span.start)).into();
    value
}

/// Where a span begins and ends.
pub(crate) fn ends(span: Span, places: &Places<'_>) -> [usize; 2] {
    [places.units(span.start), places.units(span.end)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_says_where_it_stands() {
        let text = "# ü\nnodes: [a, b]\nlinks:\n  l: {ends: [a, b], delay: '5 ms'}\n";
        let root = netloom_lab::yaml::parse(text).unwrap();
        let tree = tree(&root, &Places::new(text));
        let units: Vec<u16> = text.encode_utf16().collect();
        let shown = |value: &Value| {
            let at = |key: &str| usize::try_from(value[key].as_u64().unwrap()).unwrap();
            String::from_utf16(&units[at("from")..at("to")]).unwrap()
        };
        assert_eq!(shown(&tree["map"][0]), "nodes");
        assert_eq!(shown(&tree["map"][0]["value"]["list"][1]), "b");
        let link = &tree["map"][1]["value"]["map"][0];
        assert_eq!(shown(link), "l");
        assert_eq!(shown(&link["value"]["map"][1]["value"]), "'5 ms'");
        assert_eq!(link["value"]["map"][1]["value"]["plain"], false);
    }

    #[test]
    fn values_of_several_lines_are_whole_without_what_stands_behind_them() {
        let text = "a:\n  b: {c: 1,  # one\n      d: 2}  # two\n\n  e:\n    f: 'g\n      h'\n# three\ni: 3\n";
        let root = netloom_lab::yaml::parse(text).unwrap();
        let tree = tree(&root, &Places::new(text));
        let whole = |value: &Value| {
            let at = |key: &str| usize::try_from(value[key].as_u64().unwrap()).unwrap();
            text[at("from")..at("to")].to_owned()
        };
        let first = &tree["map"][0]["value"];
        assert_eq!(whole(first), "b: {c: 1,  # one\n      d: 2}  # two\n\n  e:\n    f: 'g\n      h'");
        assert_eq!(whole(&first["map"][0]["value"]), "{c: 1,  # one\n      d: 2}");
    }
}
