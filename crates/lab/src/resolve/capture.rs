//! The captures: names become places, and every capture gets a file of its own.

use super::names::Index;
use super::place;
use crate::capture::{CaptureSpec, EXTENSION};
use crate::diagnostics::Span;
use crate::errors::Errors;
use crate::plan::{CapturePlan, CapturePoint};
use crate::spec::LinkSpec;
use std::collections::BTreeMap;

/// The captures; those of links that do not exist are noted and left out.
pub(super) fn resolve(
    specs: Vec<CaptureSpec>,
    index: &Index<'_>,
    links: &[LinkSpec],
    errors: &mut Errors,
) -> Vec<CapturePlan> {
    let mut files: BTreeMap<String, Span> = BTreeMap::new();
    let mut captures = Vec::new();
    for spec in specs {
        let Some(link) = place(index, &spec.link, errors) else { continue };
        let default = format!("{}{EXTENSION}", spec.link.value);
        let named = spec.file.as_ref().unwrap_or(&spec.link);
        let file = spec.file.as_ref().map_or(default, |file| file.value.clone());
        if let Some(first) = files.insert(file.clone(), named.span) {
            let message = format!("two captures go to \"{file}\": give one of them another name with `file`");
            errors.push(named.error(message).and(first, "first here"));
        }
        errors.extend(links[link].without_direction(spec.direction, &spec.link));
        let ends: Vec<&str> = links[link].ends.iter().map(|end| end.node.value.as_str()).collect();
        let at = spec.at.as_ref().map(|at| CapturePoint::of(&at.value, &ends).map_err(|wrong| at.error(wrong)));
        let at = at.and_then(|point| point.map_err(|error| errors.push(error)).ok());
        let CaptureSpec { direction, snaplen, filter, .. } = spec;
        captures.push(CapturePlan { link, direction, at, snaplen, filter, file });
    }
    captures
}
