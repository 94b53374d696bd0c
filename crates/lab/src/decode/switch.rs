//! What only switches have.

use crate::diagnostics::{Diagnostic, Spanned};
use crate::errors::{Errors, keep};
use crate::fields::Fields;
use crate::names::link_name;
use crate::plan::NodeKind;
use crate::scalar::{self, integer, positive_duration};
use crate::spec::SwitchSpec;
use crate::yaml::{Content, Node};
use std::collections::BTreeMap;

/// The settings of a switch among the keys of a node.
pub(super) fn switch(fields: &Fields<'_>, errors: &mut Errors) -> SwitchSpec {
    let table = fields.read("table", |value| integer(value, 1, 1_000_000), errors);
    SwitchSpec {
        ageing: fields.read("ageing", positive_duration, errors),
        table: table.map(|count| usize::try_from(count).unwrap_or(usize::MAX)),
        fixed: fields.get("static").map_or_else(Vec::new, |value| fixed(value, errors)),
    }
}

/// Addresses, each once, and the links behind which they are.
fn fixed(node: &Node, errors: &mut Errors) -> Vec<([u8; 6], Spanned<String>)> {
    let Content::Map(entries) = &node.content else {
        errors
            .push(node.expected("a map of hardware addresses and links, for example {\"02:00:00:00:00:01\": uplink}"));
        return Vec::new();
    };
    let mut seen = BTreeMap::new();
    let mut fixed = Vec::new();
    for entry in entries {
        let wrong = |message| Diagnostic::new(entry.span, &entry.value.key, message);
        let Some(address) = keep(scalar::mac_of(&entry.name).map_err(wrong), errors) else { continue };
        if let Some(first) = seen.insert(address, entry.span) {
            errors.push(wrong("this address is here twice: leave one out".to_owned()).and(first, "first here"));
        }
        fixed.extend(keep(link_name(&entry.value), errors).map(|link| (address, link)));
    }
    fixed
}

/// Errors about settings that nodes of other kinds have.
pub(super) fn misplaced(kind: NodeKind, fields: &Fields<'_>) -> Vec<Diagnostic> {
    const OF_MACHINES: [&str; 12] = [
        "stack",
        "memory",
        "cpus",
        "cpu",
        "congestion",
        "sysctl",
        "env",
        "inherit",
        "root",
        "files",
        "collect",
        "expose",
    ];
    const OF_SWITCHES: [&str; 3] = ["ageing", "table", "static"];
    let what = kind.title();
    let machine = |key: &&str| {
        let instead = if kind.has_addresses() { "`kind: router`" } else { "`kind: host`" };
        let message = format!("a {what} is not a machine and has no `{key}`: leave it out, or write {instead}");
        fields.get(key).filter(|_| !kind.runs_programs()).map(|value| value.error(message))
    };
    let routes = || {
        let message = format!("a {what} has no routes: leave this out");
        fields.get("routes").filter(|_| !kind.has_addresses()).map(|value| value.error(message))
    };
    let switch = |key: &&str| {
        let message =
            format!("only switches have `{key}`, and this is a {what}: leave it out, or write `kind: switch`");
        fields.get(key).filter(|_| kind != NodeKind::Switch).map(|value| value.error(message))
    };
    OF_MACHINES.iter().filter_map(machine).chain(routes()).chain(OF_SWITCHES.iter().filter_map(switch)).collect()
}
