//! Entries of the timeline that disturb nodes in other ways than by signals: their clocks, and what their programs may use.

use super::churn::names;
use super::repeats::{places, when};
use crate::diagnostics::Diagnostic;
use crate::errors::Errors;
use crate::fields::Fields;
use crate::keyed::Keyed;
use crate::keys::{CLOCK_ENTRY, LIMIT, MOST_THINGS};
use crate::names::name_of;
use crate::plan::{Ceiling, ClockChange, Disturbance, LimitChange};
use crate::scalar::{integer, quantity};
use crate::spec::{ActionSpec, When};
use crate::yaml::Node;
use netloom_units::{Bytes, SignedDuration};

/// An entry that changes clocks.
pub(super) fn clock(node: &Node, errors: &mut Errors) -> Option<(When, ActionSpec)> {
    let fields = Fields::open(node, &CLOCK_ENTRY, errors)?;
    let when = when(&fields, errors);
    let change = fields.get("clock").and_then(|value| clock_change(value, errors));
    let whose = fields.get("on").map_or_else(Vec::new, |value| places(value, errors));
    let how = Disturbance::Clock(change?);
    Some((when, ActionSpec::Disturb { how, whose, process: None, duration: None }))
}

fn clock_change(node: &Node, errors: &mut Errors) -> Option<ClockChange> {
    let before = errors.len();
    let change = ClockChange::open(node, errors)?;
    if errors.len() == before && (change.step.is_some_and(SignedDuration::is_zero) || change == ClockChange::default())
    {
        errors.push(
            node.error("this changes nothing: write for example `{step: 3 s}`, `{drift: 200 ppm}` or `{leap: insert}`"),
        );
    }
    (errors.len() == before).then_some(change)
}

/// An entry that limits programs.
pub(super) fn limit(node: &Node, errors: &mut Errors) -> Option<(When, ActionSpec)> {
    let fields = Fields::open(node, &LIMIT, errors)?;
    let when = when(&fields, errors);
    let before = errors.len();
    let memory = fields.read("memory", |value| ceiling(value, memory), errors);
    let [pids, fds] = ["pids", "fds"].map(|key| {
        let count = |value: &Node| integer(value, 1, MOST_THINGS);
        fields.read(key, |value| ceiling(value, count), errors)
    });
    if errors.len() == before && (memory, pids, fds) == (None, None, None) {
        errors.push(node.error("this limits nothing: write `memory`, `pids` or `fds`"));
    }
    let whose = names(fields.get("limit")?, name_of("a command or a node"), errors);
    let how = Disturbance::Limit(LimitChange { memory, pids, fds });
    Some((when, ActionSpec::Disturb { how, whose, process: None, duration: None }))
}

fn ceiling<T>(node: &Node, most: impl Fn(&Node) -> Result<T, Diagnostic>) -> Result<Ceiling<T>, Diagnostic> {
    if node.text() == Some("unlimited") { Ok(Ceiling::Unlimited) } else { most(node).map(Ceiling::At) }
}

fn memory(node: &Node) -> Result<Bytes, Diagnostic> {
    match quantity::<Bytes>(node)? {
        most if most.get() == 0 => Err(node.error("nothing runs without memory: write for example 64 MB")),
        most => Ok(most),
    }
}
