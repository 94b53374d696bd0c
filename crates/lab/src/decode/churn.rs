//! Entries of the timeline that let programs, nodes and links go and come.

use super::repeats::{length, when};
use crate::diagnostics::{Diagnostic, Spanned};
use crate::errors::{Errors, keep};
use crate::fields::Fields;
use crate::keys::{FLAP_ENTRY, KILL, PAUSE, REBOOT, RESTART, START_ENTRY, STOP_ENTRY};
use crate::names::name_of;
use crate::plan::Disturbance;
use crate::spec::{ActionSpec, When};
use crate::yaml::{Content, Node};
use netloom_units::Duration;

/// How long a node is away, unless the lab file says otherwise.
const REBOOT_TIME: Duration = Duration::from_secs(1);

/// An entry of one of these kinds, which is about what it names.
pub(super) fn churn(kind: &str, node: &Node, errors: &mut Errors) -> Option<(When, ActionSpec)> {
    let (section, what) = match kind {
        "kill" => (&KILL, "a command or a node"),
        "pause" => (&PAUSE, "a command or a node"),
        "restart" => (&RESTART, "a command or a node"),
        "reboot" => (&REBOOT, "a node"),
        "stop" => (&STOP_ENTRY, "a node"),
        "start" => (&START_ENTRY, "a node"),
        _ => (&FLAP_ENTRY, "a link or a node"),
    };
    let fields = Fields::open(node, section, errors)?;
    let mut when = when(&fields, errors);
    let duration = if kind == "start" { None } else { length(&fields, "for", &mut when.lasts, errors) };
    let named = names(fields.get(kind)?, name_of(what), errors);
    let disturb = |how, whose| ActionSpec::Disturb { how, whose, duration };
    let action = match kind {
        "kill" => disturb(Disturbance::Kill, named),
        "pause" => disturb(Disturbance::Pause, named),
        "restart" => disturb(Disturbance::Restart, named),
        "reboot" => ActionSpec::Reboot { nodes: named, duration: duration.unwrap_or(REBOOT_TIME) },
        "stop" => ActionSpec::Stop { nodes: named, duration },
        "start" => ActionSpec::Start { nodes: named },
        _ => ActionSpec::Flap { what: named, duration: duration? },
    };
    Some((when, action))
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
