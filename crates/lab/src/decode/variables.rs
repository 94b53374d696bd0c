//! Environment variables and other settings: names with texts.

use crate::diagnostics::Diagnostic;
use crate::errors::{Errors, keep};
use crate::fields::list;
use crate::names::variable_name;
use crate::scalar::text;
use crate::yaml::{Content, Node};

/// Names and texts; `check` says what is wrong with a name.
pub(super) fn settings(
    node: &Node,
    check: fn(&str) -> Option<&'static str>,
    errors: &mut Errors,
) -> Vec<(String, String)> {
    let Content::Map(entries) = &node.content else {
        errors.push(node.expected("a map of names and values"));
        return Vec::new();
    };
    let mut settings = Vec::new();
    for entry in entries {
        if let Some(wrong) = check(&entry.name) {
            errors.push(Diagnostic::new(entry.span, &entry.value.key, format!("`{}` {wrong}", entry.name)));
        } else if let Some(value) = keep(text(&entry.value), errors) {
            settings.push((entry.name.clone(), value));
        }
    }
    settings
}

/// Names of variables, each once.
pub(super) fn variables(node: &Node, errors: &mut Errors) -> Vec<String> {
    let mut names = Vec::new();
    for item in list(node, errors) {
        let Some(name) = keep(text(item), errors) else { continue };
        if let Some(wrong) = variable_name(&name) {
            errors.push(item.error(format!("`{name}` {wrong}")));
        } else if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}
