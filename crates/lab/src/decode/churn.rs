//! Entries of the timeline that let programs, nodes and links go and come.

use super::repeats::{length, when};
use crate::diagnostics::{Diagnostic, Spanned};
use crate::errors::{Errors, keep};
use crate::fields::Fields;
use crate::keys::{FLAP_ENTRY, REBOOT, START_ENTRY, STOP_ENTRY, Section};
use crate::names::name_of;
use crate::plan::Disturbance;
use crate::spec::{ActionSpec, When};
use crate::yaml::{Content, Node};
use netloom_units::Duration;

/// How long a node is away, unless the lab file says otherwise.
const REBOOT_TIME: Duration = Duration::from_secs(1);

pub(super) fn disturb(
    node: &Node,
    section: &'static Section,
    how: Disturbance,
    errors: &mut Errors,
) -> Option<(When, ActionSpec)> {
    let fields = Fields::open(node, section, errors)?;
    let mut when = when(&fields, errors);
    let duration = length(&fields, "for", &mut when.lasts, errors);
    let whose = names(fields.get(how.name())?, name_of("a command or a node"), errors);
    Some((when, ActionSpec::Disturb { how, whose, duration }))
}

pub(super) fn reboot(node: &Node, errors: &mut Errors) -> Option<(When, ActionSpec)> {
    let fields = Fields::open(node, &REBOOT, errors)?;
    let mut when = when(&fields, errors);
    let duration = length(&fields, "for", &mut when.lasts, errors).unwrap_or(REBOOT_TIME);
    let nodes = names(fields.get("reboot")?, name_of("a node"), errors);
    Some((when, ActionSpec::Reboot { nodes, duration }))
}

pub(super) fn stop(node: &Node, errors: &mut Errors) -> Option<(When, ActionSpec)> {
    let fields = Fields::open(node, &STOP_ENTRY, errors)?;
    let mut when = when(&fields, errors);
    let duration = length(&fields, "for", &mut when.lasts, errors);
    let nodes = names(fields.get("stop")?, name_of("a node"), errors);
    Some((when, ActionSpec::Stop { nodes, duration }))
}

pub(super) fn start(node: &Node, errors: &mut Errors) -> Option<(When, ActionSpec)> {
    let fields = Fields::open(node, &START_ENTRY, errors)?;
    let when = when(&fields, errors);
    let nodes = names(fields.get("start")?, name_of("a node"), errors);
    Some((when, ActionSpec::Start { nodes }))
}

pub(super) fn flap(node: &Node, errors: &mut Errors) -> Option<(When, ActionSpec)> {
    let fields = Fields::open(node, &FLAP_ENTRY, errors)?;
    let mut when = when(&fields, errors);
    let duration = length(&fields, "for", &mut when.lasts, errors);
    let what = names(fields.get("flap")?, name_of("a link or a node"), errors);
    Some((when, ActionSpec::Flap { what, duration: duration? }))
}

/// One name, or a list of them.
fn names(
    node: &Node,
    read: impl Fn(&Node) -> Result<Spanned<String>, Diagnostic>,
    errors: &mut Errors,
) -> Vec<Spanned<String>> {
    match &node.content {
        Content::List(items) if items.is_empty() => {
            errors.push(node.expected("one name at least"));
            Vec::new()
        }
        Content::List(items) => items.iter().filter_map(|item| keep(read(item), errors)).collect(),
        _ => keep(read(node), errors).into_iter().collect(),
    }
}
