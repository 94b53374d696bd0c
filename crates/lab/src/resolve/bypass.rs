//! Which links are joined in the kernel, and why others are not.

use crate::diagnostics::one_of;
use crate::errors::Errors;
use crate::expect::Subject;
use crate::models;
use crate::plan::{Action, Bypass, Clock, EndPlan, LinkPart, Plan, Stack};
use crate::spec::{BypassSpec, LinkSpec, Spec};

/// What every link comes to, in the order of the lab file. That one must be joined and cannot is noted. Of `plan`, the
/// ends of links, the timeline, captures and expectations are known.
pub(super) fn settle(spec: &Spec, stacks: &[Stack], plan: &Plan, errors: &mut Errors) -> Vec<Bypass> {
    let mut settled = Vec::new();
    for (number, link) in spec.links.iter().enumerate() {
        let wanted = link.bypass.as_ref().map_or(spec.bypass, |said| said.value);
        let hindrance = || {
            on_clock(spec.clock)
                .or_else(|| link.shared.as_ref().map(|_| "it is one medium for all its ends".into()))
                .or_else(|| on_nodes(spec, stacks, &plan.links[number].ends))
                .or_else(|| on_models(link))
                .or_else(|| on_timeline(plan, number))
                .or_else(|| on_captures(plan, number))
                .or_else(|| on_expectations(plan, number))
        };
        settled.push(match wanted {
            BypassSpec::Never => Bypass::Off,
            BypassSpec::Possible => hindrance().or_else(|| on_bounds(spec)).map_or(Bypass::Joined, Bypass::Hindered),
            BypassSpec::Always => {
                if let (Some(why), Some(said)) = (hindrance(), &link.bypass) {
                    let message = format!(
                        "this link cannot be joined in the kernel, because {why}: write `bypass: auto` to join it \
                         where that is possible, or leave it out"
                    );
                    errors.push(said.error(message));
                }
                Bypass::Joined
            }
        });
    }
    settled
}

/// A kernel's veth pair knows no other time than the machine's.
fn on_clock(clock: Clock) -> Option<String> {
    match clock {
        Clock::Real => None,
        Clock::Dilated(_) => Some("in dilated time all packets pass the engine, which keeps the lab's time".into()),
        Clock::Virtual => Some("in virtual time all packets pass the scheduler, which keeps the lab's time".into()),
    }
}

fn on_nodes(spec: &Spec, stacks: &[Stack], ends: &[EndPlan]) -> Option<String> {
    let mut nodes = ends.iter().map(|end| end.node);
    let other = nodes.find(|node| stacks[*node] != Stack::Namespace)?;
    let name = &spec.nodes[other].name.value;
    Some(match stacks[other] {
        Stack::Engine => format!("{} `{name}` is inside the packet engine", spec.nodes[other].kind.title()),
        _ => format!("node `{name}` has a kernel of its own"),
    })
}

/// A model that changes nothing without another, as a queue does without a rate, counts as well: what a user describes is
/// not left out because it would not have been noticed.
fn on_models(link: &LinkSpec) -> Option<String> {
    let keys = link.pipes.each_ref().map(|pipe| models::written(pipe).into_iter().map(|(key, _)| key));
    let [forward, backward] = keys.map(Iterator::collect::<Vec<_>>);
    if let Some(place) = link.treatments.iter().position(|further| !further.is_empty()) {
        return Some(format!("it has further pipes {}", link.directions()[place]));
    }
    let said = |names: &[&str]| names.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(", ");
    match (forward.is_empty(), backward.is_empty()) {
        (true, true) => None,
        (false, _) if forward == backward => Some(format!("it has {}", said(&forward))),
        (false, _) => Some(format!("it has {} forward", said(&forward))),
        (true, false) => Some(format!("it has {} backward", said(&backward))),
    }
}

fn on_timeline(plan: &Plan, number: usize) -> Option<String> {
    let changed = plan.timeline.iter().find_map(|event| match &event.action {
        Action::Set { link, .. } | Action::Up { part: LinkPart { link, .. } } if *link == number => {
            Some(("changes", event.line))
        }
        Action::Down { part, .. } if part.link == number => Some(("cuts", event.line)),
        _ => None,
    });
    changed.map(|(verb, line)| format!("the timeline {verb} it in line {line}"))
}

fn on_captures(plan: &Plan, number: usize) -> Option<String> {
    let is_wanted = plan.capture.iter().any(|capture| capture.link == number);
    is_wanted.then(|| "`capture` wants its packets, which no engine sees in the kernel".into())
}

fn on_expectations(plan: &Plan, number: usize) -> Option<String> {
    let of_link = |subject: &Subject| matches!(subject, Subject::Link { link, .. } if *link == number);
    let asks = plan.expect.iter().find(|expectation| of_link(&expectation.subject))?;
    Some(format!("line {} of `expect` wants it measured", asks.line))
}

/// If the lab file bounds the lateness of packets, this link is measured, too, unless the link itself says otherwise.
fn on_bounds(spec: &Spec) -> Option<String> {
    if spec.judged.is_empty() {
        return None;
    }
    let keys: Vec<String> = spec.judged.iter().map(|key| format!("`{key}`")).collect();
    let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
    Some(format!(
        "`bounds` has {}, for which it must be measured (`bypass: true` joins it all the same)",
        one_of(&keys)
    ))
}
