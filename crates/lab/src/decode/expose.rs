//! Ports of this machine that lead into a node.

use crate::diagnostics::{Diagnostic, Spanned};
use crate::errors::{Errors, keep};
use crate::plan::ExposePlan;
use crate::scalar::integer;
use crate::yaml::{Content, Entry, Node};

/// The ports that lead to a node.
pub(super) fn expose(node: &Node, errors: &mut Errors) -> Vec<Spanned<ExposePlan>> {
    let Content::Map(entries) = &node.content else {
        errors.push(node.expected("a map from ports of this machine to ports of the node, like `{8080: 80}`"));
        return Vec::new();
    };
    entries.iter().filter_map(|entry| keep(one(entry), errors)).collect()
}

fn one(entry: &Entry) -> Result<Spanned<ExposePlan>, Diagnostic> {
    let name = &entry.name;
    let (number, udp) = name.strip_suffix("/udp").map_or((name.as_str(), false), |number| (number, true));
    let parsed = number.parse().ok().filter(|port: &u16| *port > 0 && port.to_string() == *number);
    let Some(port) = parsed else {
        let what = format!(
            "\"{name}\" is not a port of this machine: write a number from 1 to 65535, and /udp behind it for UDP"
        );
        return Err(Diagnostic::new(entry.span, &entry.value.key, what));
    };
    let to = u16::try_from(integer(&entry.value, 1, 65_535)?).unwrap_or(u16::MAX);
    let value = ExposePlan { line: entry.span.line, port, udp, to };
    Ok(Spanned { value, span: entry.span, key: entry.value.key.clone() })
}
