//! Entries of the timeline that let programs, nodes and links go and come.

use super::repeats::{length, when};
use crate::diagnostics::{Diagnostic, Spanned};
use crate::errors::{Errors, keep};
use crate::fields::Fields;
use crate::forms::{Filled, Placed, Word};
use crate::keys::{CONTINUE, CRASH, FLAP_ENTRY, FREEZE, KILL, PAUSE, REBOOT, RESTART, SIGNAL, START_ENTRY, STOP_ENTRY};
use crate::names::name_of;
use crate::plan::{Disturbance, Keep, Signal, Standstill};
use crate::spec::{ActionSpec, CrashSpec, When};
use crate::yaml::{Content, Node};
use netloom_units::Duration;
use std::sync::Arc;

/// How long a node is away, unless the lab file says otherwise.
const REBOOT_TIME: Duration = Duration::from_secs(1);

/// An entry of one of these kinds, which is about what it names.
pub(super) fn churn(kind: &str, node: &Node, errors: &mut Errors) -> Option<(When, ActionSpec)> {
    let (section, what) = match kind {
        "kill" => (&KILL, "a command or a node"),
        "pause" => (&PAUSE, "a command or a node"),
        "continue" => (&CONTINUE, "a command or a node"),
        "signal" => (&SIGNAL, "a command or a node"),
        "restart" => (&RESTART, "a command or a node"),
        "reboot" => (&REBOOT, "a node"),
        "stop" => (&STOP_ENTRY, "a node"),
        "crash" => (&CRASH, "a node"),
        "start" => (&START_ENTRY, "a node"),
        "freeze" => (&FREEZE, "a node"),
        _ => (&FLAP_ENTRY, "a link or a node"),
    };
    let fields = Fields::open(node, section, errors)?;
    let mut when = when(&fields, errors);
    let lasts = !["start", "continue", "signal"].contains(&kind);
    let duration = if lasts { length(&fields, "for", &mut when.lasts, errors) } else { None };
    let signal = if kind == "signal" { Some(fields.form::<Word<Signal>>("signal", errors)?) } else { None };
    let has_process = ["kill", "pause", "continue", "signal"].contains(&kind);
    let process = if has_process { fields.form::<Filled>("process", errors).map(Arc::from) } else { None };
    if kind == "kill" && process.is_some() {
        errors.extend(fields.get("for").map(|place| {
            place.error("commands start again, and not single processes of theirs: leave out `for` or `process`")
        }));
    }
    let rule = if kind == "crash" { fields.form::<Placed<Word<Keep>>>("keep", errors) } else { None };
    let kind_of_freeze = fields_of_freeze(kind, &fields, errors);
    let named = names(fields.get(if signal.is_some() { "to" } else { kind })?, name_of(what), errors);
    let disturb = |how, whose| ActionSpec::Disturb { how, whose, process: process.clone(), duration };
    if let Some(signal) = signal {
        return Some((when, disturb(Disturbance::Signal(signal), named)));
    }
    let action = match kind {
        "kill" => disturb(Disturbance::Kill, named),
        "pause" => disturb(Disturbance::Pause, named),
        "continue" => disturb(Disturbance::Continue, named),
        "restart" => disturb(Disturbance::Restart, named),
        "freeze" => {
            duration?;
            disturb(Disturbance::Freeze(kind_of_freeze), named)
        }
        "reboot" => ActionSpec::Reboot { nodes: named, duration: duration.unwrap_or(REBOOT_TIME) },
        "stop" => ActionSpec::Stop { nodes: named, duration, crash: None },
        "crash" => ActionSpec::Stop { nodes: named, duration, crash: Some(CrashSpec { keep: rule }) },
        "start" => ActionSpec::Start { nodes: named },
        _ => ActionSpec::Flap { what: named, duration: duration? },
    };
    Some((when, action))
}

/// Reads what the clocks of a node do that is frozen.
fn fields_of_freeze(kind: &str, fields: &Fields<'_>, errors: &mut Errors) -> Standstill {
    if kind == "freeze" {
        fields.form::<Word<Standstill>>("kind", errors).unwrap_or_default()
    } else {
        Standstill::Pause
    }
}

/// One name, or a list of them.
pub(super) fn names(
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
