//! Environment variables and other settings: names with texts.

use crate::diagnostics::Diagnostic;
use crate::errors::{Errors, keep};
use crate::fields::{list, map};
use crate::forms::forms;
use crate::kinds::{ENVIRONMENT, SYSCTL_NAME, VARIABLE_NAMES};
use crate::names::variable_name;
use crate::scalar::text;
use crate::section::Kind;
use crate::yaml::Node;

forms! {
    /// Environment variables with their values.
    pub(crate) struct Environment = Vec<(String, String)>, ENVIRONMENT, noting |node: &Node, errors: &mut Errors| {
        Some(settings(node, variable_name, errors))
    };
    /// Settings of a kernel with their values.
    pub(crate) struct Sysctls = Vec<(String, String)>, Kind::Map { names: SYSCTL_NAME, values: &Kind::Scalar },
        noting |node: &Node, errors: &mut Errors| Some(settings(node, sysctl_name, errors));
    /// The names of environment variables, each once.
    pub(crate) struct Variables = Vec<String>, VARIABLE_NAMES, noting variables;
}

/// Names and texts; `check` says what is wrong with a name.
pub(super) fn settings(
    node: &Node,
    check: fn(&str) -> Option<&'static str>,
    errors: &mut Errors,
) -> Vec<(String, String)> {
    let Some(entries) = map(node, "a map of names and values", errors) else { return Vec::new() };
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

fn variables(node: &Node, errors: &mut Errors) -> Option<Vec<String>> {
    let mut names = Vec::new();
    for item in list(node, errors) {
        let Some(name) = keep(text(item), errors) else { continue };
        if let Some(wrong) = variable_name(&name) {
            errors.push(item.error(format!("`{name}` {wrong}")));
        } else if !names.contains(&name) {
            names.push(name);
        }
    }
    Some(names)
}

fn sysctl_name(name: &str) -> Option<&'static str> {
    let belongs = name.strip_prefix("net.").or_else(|| name.strip_prefix("net/")).is_some_and(|rest| !rest.is_empty());
    let plain = name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_./-".contains(&b)) && !name.contains("..");
    match (belongs, plain) {
        (true, true) => None,
        (false, _) => Some("does not belong to a node: only settings below `net.` do, for example net.ipv4.tcp_sack"),
        _ => Some("is not the name of a setting: write it as sysctl does, for example net.ipv4.tcp_sack"),
    }
}
