//! `events.jsonl` of a simulation: what its timeline did to links, at the instants at which it did so.

use netloom_lab::{Action, EndPlan, LinkPart, Plan, RoamPlan};
use netloom_link::Firing;
use netloom_results::{EventLog, Folder, WriteError};
use netloom_units::{Duration, Instant};
use serde_json::{Value, json};

/// Writes those of the first so much time; none: no file.
pub(super) fn write(folder: &Folder, plan: &Plan, lasted: Duration, firings: &[Firing]) -> Result<(), WriteError> {
    let mut events: Vec<(Duration, &str, Value)> = Vec::new();
    for entry in &plan.timeline {
        let at = entry.at.unwrap_or_default();
        match &entry.action {
            Action::Run(_) | Action::Disturb { .. } => {}
            Action::Set { link, direction, pipe, change } => {
                let part = LinkPart { link: *link, direction: *direction, pipe: pipe.clone() };
                let mut details = place(plan, &part);
                details["set"] = netloom_lab::describe_change(change);
                events.push((at, "link changed", details));
            }
            Action::Partition { in_force, .. } => {
                let names: Vec<String> = in_force.partitions().iter().map(ToString::to_string).collect();
                events.push((at, "partition", json!({ "in_force": names })));
            }
            Action::Down { part, duration, .. } => {
                events.push((at, "link down", place(plan, part)));
                events.extend(duration.map(|span| (at + span, "link up", place(plan, part))));
            }
            Action::Up { part } => events.push((at, "link up", place(plan, part))),
            Action::Log(text) => events.push((at, "log", json!({ "text": text }))),
        }
    }
    for firing in firings {
        events.push((firing.at.since(Instant::ZERO), "packet fault", netloom_lab::describe_firing(plan, firing)));
    }
    events.extend(plan.roams_until(lasted).iter().map(|roam| (roam.at, "association", association(plan, roam))));
    events.retain(|(at, ..)| *at <= lasted);
    events.sort_by_key(|(at, ..)| *at);
    if events.is_empty() {
        return Ok(());
    }
    let mut log = EventLog::create(folder)?;
    events
        .into_iter()
        .try_for_each(|(at, what, details)| log.add(Instant::ZERO + at, Some(Instant::ZERO), what, details))
}

/// A station has left its access point, or arrived at one.
fn association(plan: &Plan, roam: &RoamPlan) -> Value {
    let name = |end: EndPlan| plan.nodes[end.node].name.clone();
    let link = &plan.links[roam.link].name;
    json!({ "link": link, "station": name(roam.station), "access_point": roam.point.map(name), "planned_ns": roam.at.as_nanos() })
}

fn place(plan: &Plan, LinkPart { link, direction, pipe }: &LinkPart) -> Value {
    let direction = direction.map(|direction| direction.to_string());
    json!({ "link": plan.links[*link].name, "direction": direction, "pipe": pipe })
}
