//! The firewalls of nodes.

use crate::diagnostics::Diagnostic;
use crate::errors::{Errors, keep};
use crate::fields::Fields;
use crate::forms::Filled;
use crate::keyed::sections;
use crate::plan::NodeKind;
use crate::scalar::filled;
use crate::section::{Form, Kind};
use crate::spec::{RulesProgram, RulesSource, RulesSpec};
use crate::yaml::{Content, Node};

/// The firewall of a node.
pub(crate) const FIREWALL: Kind = Kind::OneOf(&[Filled::KIND, Kind::Section(&IPTABLES)]);

sections! {
    /// The rules of a node's firewall in the format of iptables-restore.
    pub(crate) const IPTABLES = "iptables" {
        /// Those of IPv4: a path, or several lines.
        iptables : Filled, "\"*filter\\nCOMMIT\\n\"";
        /// Those of IPv6: a path, or several lines.
        ip6tables : Filled, "\"*filter\\nCOMMIT\\n\"";
    }
}

/// The shell gets them as one argument, of which Linux takes 128 KiB.
const MOST_BYTES: usize = 100_000;

/// The rules of a node, none after an error was noted.
pub(super) fn firewall(node: &Node, kind: NodeKind, errors: &mut Errors) -> Vec<RulesSpec> {
    if !kind.runs_programs() {
        let what = kind.title();
        let message =
            format!("a {what} has no `firewall`: write `kind: router`, or give it to a host or router beside it");
        errors.push(node.error(message));
        return Vec::new();
    }
    match &node.content {
        Content::Text { .. } => rules(node, RulesProgram::Nft, errors).into_iter().collect(),
        Content::Map(entries) => {
            if entries.is_empty() {
                errors.push(node.error("write `iptables`, `ip6tables` or both, or leave `firewall` out"));
            }
            let Some(fields) = Fields::open(node, &IPTABLES, errors) else { return Vec::new() };
            let programs = [("iptables", RulesProgram::Iptables), ("ip6tables", RulesProgram::Ip6tables)];
            let said = programs.iter().filter_map(|(key, program)| Some((fields.get(key)?, *program)));
            said.filter_map(|(value, program)| rules(value, program, errors)).collect()
        }
        _ => {
            errors.push(
                node.expected("rules of nftables, the path of a file with them, or {iptables: ..., ip6tables: ...}"),
            );
            Vec::new()
        }
    }
}

/// The rules themselves if these are several lines, else the path of a file.
fn rules(node: &Node, program: RulesProgram, errors: &mut Errors) -> Option<RulesSpec> {
    let text = keep(filled(node), errors)?;
    let source = if text.contains('\n') {
        keep(inside(node, &text), errors)?
    } else if are_rules(&text) {
        return errors.reject(node.error(
            "rules need several lines: write `|` behind the key, and the rules in the lines below, each further to the right; a \
             single line is the path of a file with rules",
        ));
    } else {
        let (path, is_folder) = keep(errors.source(node), errors)?;
        if is_folder {
            errors.push(node.error(format!("{} is a folder: name the file with the rules", path.display())));
        }
        RulesSource::File(path)
    };
    Some(RulesSpec { place: node.spanned(()), program, source })
}

/// Whether a single line is meant as rules: paths contain no braces, and no words that begin commands of nft or options of iptables.
fn are_rules(text: &str) -> bool {
    let first = text.split_ascii_whitespace().next().unwrap_or_default();
    let has_more = text.trim().contains(' ');
    let is_command = ["table", "add", "insert", "flush", "define", "create", "chain"].contains(&first);
    text.contains(['{', '}', ';']) || (has_more && (is_command || text.starts_with(['-', '*', ':'])))
}

/// Rules in the lab file; in front of them as many empty lines as let their numbers be those of the lab file.
fn inside(node: &Node, text: &str) -> Result<RulesSource, Diagnostic> {
    if text.len() > MOST_BYTES {
        return Err(
            node.error(format!("rules of more than {} kB: put them into a file of their own", MOST_BYTES / 1_000))
        );
    }
    if text.contains('\0') {
        return Err(node.error("there is a zero byte in the rules"));
    }
    let before = node.block().map_or(0, |line| line.saturating_sub(1).min(MOST_BYTES));
    Ok(RulesSource::Text("\n".repeat(before) + text))
}
