//! Where nodes are in a picture.

use crate::diagnostics::{Diagnostic, Spanned};
use crate::errors::{Errors, keep};
use crate::yaml::{Content, Node};

/// Farther apart, positions would lose digits.
const FARTHEST: f64 = 1e6;

/// The nodes that have a place, by name.
pub(super) fn layout(node: &Node, errors: &mut Errors) -> Vec<(Spanned<String>, [f64; 2])> {
    let Content::Map(entries) = &node.content else {
        if node.content != Content::Empty {
            errors.push(node.expected("a map of nodes and places, for example {client: [0, 0], r1: [1, 0.5]}"));
        }
        return Vec::new();
    };
    let mut places = Vec::new();
    for entry in entries {
        let name = entry.named();
        places.extend(keep(place(&entry.value), errors).map(|at| (name, at)));
    }
    places
}

fn place(node: &Node) -> Result<[f64; 2], Diagnostic> {
    let wanted = "a place: how far to the right, and how far down, for example [1, 0.5]";
    let Content::List(items) = &node.content else { return Err(node.expected(wanted)) };
    let [x, y] = &items[..] else { return Err(node.expected(wanted)) };
    Ok([coordinate(x)?, coordinate(y)?])
}

fn coordinate(node: &Node) -> Result<f64, Diagnostic> {
    let number: Option<f64> = node.plain().and_then(|text| text.parse().ok());
    number.filter(|number| number.abs() <= FARTHEST).ok_or_else(|| {
        let found = node.text().map_or_else(|| "this".to_owned(), |text| format!("\"{text}\""));
        node.error(format!("{found} is not a number from -{FARTHEST} to {FARTHEST}"))
    })
}
