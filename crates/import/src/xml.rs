//! XML with places.

use crate::source::{Lines, Place, Read};
use roxmltree::{Document, Node, ParsingOptions};

/// Elements, texts and comments: 16 MiB of them would take gigabytes.
const MOST_NODES: u32 = 2_000_000;

/// The document in `text`.
pub(crate) fn parse<'a>(text: &'a str, lines: &Lines) -> Read<Document<'a>> {
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
