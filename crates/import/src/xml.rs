//! XML with places.

use crate::notes::Notes;
use crate::source::{Lines, Place, Read};
use roxmltree::{Document, Node, ParsingOptions};

/// Elements, texts and comments: 16 MiB of them would take gigabytes.
const MOST_NODES: u32 = 2_000_000;

/// Attributes of one element. The parser compares each with all others of its element.
const MOST_ATTRIBUTES: usize = 250;
/// Declarations of namespaces. The parser copies those that an element has from above whenever it declares one.
const MOST_NAMESPACES: usize = 1_000;

/// Refuses what would keep the parser busy for longer than its length says.
fn check(text: &str, lines: &Lines) -> Read<()> {
    let (mut at, mut namespaces) = (0, 0);
    while let Some(open) = text[at..].find('<') {
        let start = at + open;
        let rest = &text[start..];
        let passed = [("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>")];
        if let Some((begin, end)) = passed.iter().find(|(begin, _)| rest.starts_with(begin)) {
            let inner = &rest[begin.len()..];
            let length = inner.find(end).map_or(rest.len(), |found| begin.len() + found + end.len());
            at = start + length;
            continue;
        }
        let (mut attributes, mut quote, mut length) = (0, None, rest.len());
        for (offset, byte) in rest.bytes().enumerate() {
            match (quote, byte) {
                (Some(mark), _) if byte == mark => quote = None,
                (None, b'"' | b'\'') => quote = Some(byte),
                (None, b'=') => attributes += 1,
                (None, b'>') => {
                    length = offset + 1;
                    break;
                }
                _ => {}
            }
            if attributes > MOST_ATTRIBUTES {
                let said =
                    format!("more than {MOST_ATTRIBUTES} attributes of one element: no file of a network has them");
                return Err(lines.place(start, start + offset).wrong(said));
            }
        }
        namespaces += rest[..length].matches("xmlns").count();
        if namespaces > MOST_NAMESPACES {
            let said = format!("more than {MOST_NAMESPACES} declarations of namespaces (`xmlns`)");
            return Err(lines.place(start, start + length).wrong(said));
        }
        at = start + length;
    }
    Ok(())
}

/// The document in `text`.
pub(crate) fn parse<'a>(text: &'a str, lines: &Lines) -> Read<Document<'a>> {
    check(text, lines)?;
    let options = ParsingOptions { nodes_limit: MOST_NODES, ..ParsingOptions::default() };
    Document::parse_with_options(text, options).map_err(|error| {
        let position = error.pos();
        let place = lines.at(position.row as usize, position.col as usize, text);
        let message = match error {
            roxmltree::Error::DtdDetected => {
                "document type definitions are not read: take the <!DOCTYPE> out".to_owned()
            }
            roxmltree::Error::NodesLimitReached => format!("more than {MOST_NODES} elements: no network is so large"),
            _ => format!("this is not XML: {}", without_place(&error.to_string())),
        };
        place.wrong(message)
    })
}

/// Where an element is: its first line.
pub(crate) fn place(element: &Node<'_, '_>, lines: &Lines) -> Place {
    let range = element.range();
    lines.place(range.start, range.end)
}

/// The text of an element.
pub(crate) fn text(element: &Node<'_, '_>) -> String {
    element
        .children()
        .filter_map(|child| if child.is_text() { child.text() } else { None })
        .collect::<String>()
        .trim()
        .to_owned()
}

/// The parser's message, whose place is shown anyway.
fn without_place(message: &str) -> &str {
    message.rsplit_once(" at ").filter(|(_, place)| place.contains(':')).map_or(message, |(before, _)| before)
}

/// An attribute that says something, and where it is.
pub(crate) fn attribute<'a>(element: &Node<'a, '_>, name: &str, lines: &Lines) -> Option<(&'a str, Place)> {
    let found = element.attribute_node(name).filter(|found| !found.value().trim().is_empty())?;
    // The text is that of the document: attributes are borrowed from it unless they have character references.
    let value = element.attribute(name)?;
    Some((value.trim(), lines.place(found.range().start, found.range().end)))
}

/// An attribute that has to be there.
pub(crate) fn required<'a>(element: &Node<'a, '_>, name: &str, lines: &Lines, wanted: &str) -> Read<(&'a str, Place)> {
    let tag = element.tag_name().name();
    let missing = || place(element, lines).wrong(format!("this <{tag}> has no `{name}`: {wanted}"));
    attribute(element, name, lines).ok_or_else(missing)
}

/// Notes the elements and attributes that `read` does not have: it names each element with the attributes that are read, and those
/// that mean nothing to a network. Nothing is looked at below the elements `passed`.
pub(crate) fn rest(root: &Node<'_, '_>, lines: &Lines, read: &[(&str, &[&str])], passed: &[&str], notes: &mut Notes) {
    let mut left = vec![*root];
    while let Some(element) = left.pop() {
        let tag = element.tag_name().name();
        let Some((_, known)) = read.iter().find(|(name, _)| *name == tag) else {
            let says = element.attributes().len() > 0 || !text(&element).is_empty();
            // Empty sections say nothing.
            if says || element.children().any(|child| child.is_element()) {
                notes.add(place(&element, lines), format!("<{tag}> is not read"));
            }
            continue;
        };
        for attribute in element.attributes() {
            let is_said = !["", "0", "0.0"].contains(&attribute.value().trim());
            if is_said && !known.contains(&attribute.name()) {
                let place = lines.place(attribute.range().start, attribute.range().end);
                notes.add(place, format!("`{}` of <{tag}> is not read", attribute.name()));
            }
        }
        if !passed.contains(&tag) {
            left.extend(element.children().filter(Node::is_element));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> String {
        let lines = Lines::of(text, 0);
        parse(text, &lines).map(drop).expect_err("too much").message
    }

    #[test]
    fn elements_with_very_many_attributes_or_namespaces_are_refused_before_they_are_parsed() {
        let attributes = |count: usize| (0..count).map(|at| format!(" a{at}='>='")).collect::<String>();
        let text = |count| format!("<!-- = = --><g><n{}/><![CDATA[<a = b>]]></g>", attributes(count));
        assert!(parse(&text(MOST_ATTRIBUTES), &Lines::of(&text(MOST_ATTRIBUTES), 0)).is_ok());
        assert!(refused(&text(MOST_ATTRIBUTES + 1)).starts_with("more than 250 attributes"));
        // Nine megabytes of them.
        assert!(refused(&text(800_000)).starts_with("more than 250 attributes"));
        let nested: String = (0..=MOST_NAMESPACES).map(|at| format!("<n xmlns:a{at}='b'>")).collect();
        assert!(refused(&nested).starts_with("more than 1000 declarations"));
    }
}
