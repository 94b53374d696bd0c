//! Which links are joined in the kernel, and why others are not.
//!
//! Such links, and switches all of whose links are joined so, keep their numbers, pipes and devices in the fabric,
//! which stay empty.

mod bridges;

use crate::diagnostics::one_of;
use crate::errors::Errors;
use crate::expect::{Expectation, Subject};
use crate::models;
use crate::plan::{Action, Bypass, Clock, EndPlan, LinkPart, NodeKind, Plan, Stack, SwitchPlan, Whose};
use crate::spec::{BypassSpec, LinkSpec, Spec};
use bridges::Bridges;

/// What every link comes to, in the order of the lab file. That one must be joined and cannot is noted. Of `plan`, the
/// ends of links, the timeline, captures and expectations are known.
pub(super) fn settle(
    spec: &Spec,
    stacks: &[Stack],
    switches: &[Option<SwitchPlan>],
    plan: &Plan,
    errors: &mut Errors,
) -> Vec<Bypass> {
    let wanted = |link: &LinkSpec| link.bypass.as_ref().map_or(spec.bypass, |said| said.value);
    let alone = spec.links.iter().enumerate().map(|(number, link)| {
        let on_itself = || hindrance(spec, stacks, plan, number);
        match wanted(link) {
            BypassSpec::Never => Bypass::Off,
            BypassSpec::Possible => on_itself().or_else(|| on_bounds(spec)).map_or(Bypass::Joined, Bypass::Hindered),
            BypassSpec::Always => on_itself().map_or(Bypass::Joined, Bypass::Hindered),
        }
    });
    let settled = Bridges::new(spec, switches, &plan.links, alone.collect()).settle();
    for (link, bypass) in spec.links.iter().zip(&settled) {
        let (Some(why), Some(said)) = (bypass.hindrance(), &link.bypass) else { continue };
        if said.value == BypassSpec::Always {
            let message = format!(
                "this link cannot be joined in the kernel, because {why}: write `bypass: auto` to join it where that is \
                 possible, or leave it out"
            );
            errors.push(said.error(message));
        }
    }
    settled
}

/// Why a link cannot be joined in the kernel, whatever the switches at its ends are.
fn hindrance(spec: &Spec, stacks: &[Stack], plan: &Plan, number: usize) -> Option<String> {
    let link = &spec.links[number];
    on_clock(spec.clock)
        .or_else(|| link.shared.as_ref().map(|_| "it is one medium for all its ends".into()))
        .or_else(|| on_nodes(spec, stacks, &plan.links[number].ends))
        .or_else(|| on_models(link))
        .or_else(|| on_timeline(plan, number))
        .or_else(|| on_captures(plan, number))
        .or_else(|| on_journal(plan, number))
        .or_else(|| on_expectations(plan, number))
}

/// The kernel's veth pairs and bridges know no other time than the machine's.
fn on_clock(clock: Clock) -> Option<String> {
    match clock {
        Clock::Real => None,
        Clock::Dilated(_) => Some("in dilated time all packets pass the engine, which keeps the lab's time".into()),
        Clock::Virtual => Some("in virtual time all packets pass the scheduler, which keeps the lab's time".into()),
    }
}

fn on_nodes(spec: &Spec, stacks: &[Stack], ends: &[EndPlan]) -> Option<String> {
    let mut nodes = ends.iter().map(|end| end.node);
    if let Some(node) = nodes.clone().find(|node| spec.nodes[*node].whole_frames) {
        return Some(format!("what comes to `{}` is finished on its way (`offload`)", spec.nodes[node].name.value));
    }
    let is_in_kernel = |node: usize| stacks[node] == Stack::Namespace || spec.nodes[node].kind == NodeKind::Switch;
    let other = nodes.find(|node| !is_in_kernel(*node))?;
    let name = &spec.nodes[other].name.value;
    Some(match stacks[other] {
        Stack::Engine if spec.nodes[other].kind == NodeKind::External => {
            format!("`{name}` is an interface of this machine, which the packet engine joins to the lab")
        }
        Stack::Engine if spec.nodes[other].kind == NodeKind::Tunnel => {
            format!("`{name}` is a tunnel, which the packet engine joins to the lab")
        }
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
        Action::Partition { links, .. } if links.binary_search(&number).is_ok() => {
            Some(("parts a node of", event.line))
        }
        Action::Run(run) if run.leads.as_ref().is_some_and(|leads| leads.links.binary_search(&number).is_ok()) => {
            Some(("may part a node of", event.line))
        }
        Action::Disturb { how, whose: Whose::Node(node), .. }
            if how.is_stop() && plan.links[number].ends.iter().any(|end| end.node == *node) =>
        {
            Some(("stops a node of", event.line))
        }
        _ => None,
    });
    changed.map(|(verb, line)| format!("the timeline {verb} it in line {line}"))
}

fn on_captures(plan: &Plan, number: usize) -> Option<String> {
    let is_wanted = plan.capture.iter().any(|capture| capture.ends(plan).any(|end| end.end.link() == number));
    is_wanted.then(|| "`capture` wants its packets, which no engine sees in the kernel".into())
}

fn on_journal(plan: &Plan, number: usize) -> Option<String> {
    let is_wanted = plan.journal.as_ref().is_some_and(|journal| journal.is_about(number));
    is_wanted.then(|| "`journal` tells of its packets, which no engine sees in the kernel".into())
}

fn on_expectations(plan: &Plan, number: usize) -> Option<String> {
    let of_link = |subject: &Subject| matches!(subject, Subject::Link { link, .. } if *link == number);
    if let Some(figure) = plan.figures.iter().find(|figure| of_link(&figure.term.subject)) {
        return Some(format!("line {} of `figures` wants it measured", figure.line));
    }
    let asks =
        |all: &[Expectation]| all.iter().find(|one| one.terms().any(|term| of_link(&term.subject))).map(|one| one.line);
    if let Some(line) = asks(&plan.expect) {
        return Some(format!("line {line} of `expect` wants it measured"));
    }
    let line = plan.exercise.iter().flat_map(|exercise| &exercise.tasks).find_map(|task| asks(&task.checks))?;
    Some(format!("line {line} of `exercise` wants it measured"))
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
