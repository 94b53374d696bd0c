//! Whether the events of the timeline happened when they were to.

use super::{Allowed, ratio};
use crate::quantity::span;
use crate::{Finding, Lateness, Punctuality};

/// What happened later than allowed.
pub(super) fn late_events<'a>(
    allowed: &'a Allowed,
    events: &'a Punctuality,
) -> impl Iterator<Item = Finding> + use<'a> {
    let kinds = [
        (&events.link_changes, allowed.events_ns, "changes of links"),
        (&events.measurements, allowed.events_ns, "measurements"),
        (&events.program_starts, allowed.starts_ns, "starts of programs"),
        (&events.signals, allowed.starts_ns, "signals to programs"),
    ];
    kinds.into_iter().filter_map(|(lateness, bound, what)| finding(lateness, bound, what))
}

fn finding(lateness: &Lateness, bound: u64, what: &str) -> Option<Finding> {
    let Lateness { count, late_count, worst_ns, worst } = lateness;
    let worst_ns = (*worst_ns).filter(|_| *late_count > 0)?;
    let name = worst.as_deref().unwrap_or_default();
    Some(Finding {
        subject: "timeline".into(),
        text: format!(
            "{late_count} of {count} {what} happened too late: {name} by {}, {} is allowed",
            span(worst_ns),
            span(bound)
        ),
        slowing: Some(ratio(worst_ns as f64, bound as f64)),
    })
}
