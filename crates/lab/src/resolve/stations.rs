//! The ends of a link as stations of its medium: their names and their ways.

use crate::diagnostics::{Diagnostic, Spanned};
use crate::errors::Errors;
use crate::spec::{EndSpec, LinkSpec, PlaceSpec, Spec};
use netloom_radio::{Path, Position};

/// The ways of the stations of a medium: as `said` there, or those of their nodes. `needs`: whether a station needs one; an error names each of those
/// that have none, with the medium's key `access` or `signals` that wants it, and where its stations stand.
pub(super) fn paths(
    link: &LinkSpec,
    (said, needs): (impl Fn(&str) -> Option<PlaceSpec>, impl Fn(&str) -> bool),
    (wanted_by, stations): (&str, &str),
    (spec, of_nodes): (&Spec, &[Option<Path>]),
    errors: &mut Errors,
) -> Vec<Path> {
    let origin = super::paths::origin(spec);
    let place = |end: &EndSpec| {
        let name = end.node.value.as_str();
        if let Some(place) = said(name) {
            return place.position(origin).into();
        }
        let node = spec.nodes.iter().position(|node| node.name.value == name);
        let known = node.and_then(|node| of_nodes.get(node)?.clone());
        // What is wrong with a path was said there.
        let is_said = node.is_some_and(|node| spec.nodes[node].path.is_some());
        if known.is_none() && !is_said && needs(name) {
            let wanted = format!(
                "`{name}` needs a position for {wanted_by}: write `position: [5 m, 0 m]` at the node, or `{stations}: {{{name}: {{position: [5 m, 0 m]}}}}` at the medium"
            );
            errors.push(end.node.error(wanted));
        }
        known.unwrap_or_else(|| Position::default().into())
    };
    link.ends.iter().map(place).collect()
}

/// The place among the ends of a link of the one with a name.
pub(super) fn place_of(link: &LinkSpec, name: &str) -> Option<usize> {
    link.ends.iter().position(|end| end.node.value == name)
}

/// The error of a station that is no end of the link.
pub(super) fn unknown(link: &LinkSpec, name: &Spanned<String>) -> Diagnostic {
    let ends: Vec<&str> = link.ends.iter().map(|end| end.node.value.as_str()).collect();
    let (link, ends) = (&link.name.value, ends.join(", "));
    name.error(format!("`{}` is no end of `{link}`: its stations are {ends}", name.value))
}
