//! Which commands wait for others: those that make the lab ready, and those that say so.

use super::{nat, node_commands};
use crate::diagnostics::{Spanned, nearest};
use crate::errors::Errors;
use crate::plan::{Action, Event, OnRestart, RunCommand};
use crate::spec::{ActionSpec, EntrySpec, RunSpec, Spec};
use std::collections::{BTreeMap, BTreeSet};

/// The entries of all commands that make the lab ready: those of each node, then those of the lab.
pub(super) fn setups(spec: &mut Spec) -> Vec<EntrySpec> {
    let mut entries = Vec::new();
    for node in &mut spec.nodes {
        entries.extend(node_commands::setups(node));
        entries.extend(nat::setup(node));
        for (line, command) in std::mem::take(&mut node.setup) {
            let run = RunSpec { on: node.name.clone(), command, setup: true, of_node: true, ..RunSpec::default() };
            entries.push(EntrySpec { line, at: None, action: ActionSpec::Run(Box::new(run)) });
        }
    }
    entries.append(&mut spec.setup);
    entries
}

/// What a command waits for, as it is written, by its place among the events.
pub(super) type Wait = (usize, Vec<Spanned<String>>);

/// Finds what commands wait for. `is_complete`: all commands could be read, so that what is not there is an error.
pub(super) fn settle(events: &mut [Event], waits: &[Wait], is_complete: bool, errors: &mut Errors) {
    let names: BTreeMap<String, usize> =
        (0..).zip(&*events).filter_map(|(place, event)| Some((run(event)?.name.clone(), place))).collect();
    for (event, after) in waits {
        for name in after {
            let Some(other) = names.get(&name.value) else {
                if is_complete {
                    let near = nearest(&name.value, names.keys().map(String::as_str));
                    let hint = near.map_or_else(String::new, |near| format!(": did you mean `{near}`?"));
                    errors.push(name.error(format!("no command is called `{}`{hint}", name.value)));
                }
                continue;
            };
            if waits_for(events, *other, *event) {
                errors.push(name.error(format!("`{}` waits for this command itself: nothing would begin", name.value)));
            } else if let Some(wrong) = apart(events, *other, *event) {
                errors.push(name.error(wrong));
            } else if let Action::Run(run) = &mut events[*event].action {
                run.after.push(*other);
            }
        }
    }
}

/// Why a command cannot wait for another, since they start on different occasions.
fn apart(events: &[Event], other: usize, own: usize) -> Option<String> {
    let (other, own) = (run(&events[other])?, run(&events[own])?);
    match (other.on_restart, own.on_restart) {
        (OnRestart::Only, OnRestart::Only) if other.node != own.node => {
            Some(format!("`{}` starts when another node starts again, perhaps never", other.name))
        }
        (OnRestart::Only, OnRestart::Also | OnRestart::Never) => Some(format!(
            "`{}` starts only when its node starts again, perhaps never: what waits for it needs `on_restart: only`, too",
            other.name
        )),
        (OnRestart::Never, OnRestart::Also | OnRestart::Only) if other.node == own.node => Some(format!(
            "`{}` does not start when its node starts again (`on_restart: never`), and this command does",
            other.name
        )),
        _ => None,
    }
}

/// Whether the command at `from` waits for the one at `to`, or is it.
fn waits_for(events: &[Event], from: usize, to: usize) -> bool {
    let (mut seen, mut next) = (BTreeSet::from([from]), vec![from]);
    while let Some(place) = next.pop() {
        if place == to {
            return true;
        }
        let after = run(&events[place]).map_or(&[][..], |run| run.after.as_slice());
        next.extend(after.iter().filter(|other| seen.insert(**other)));
    }
    false
}

/// What makes the lab ready goes on in order: at each node, and then for the lab.
pub(super) fn chain_setups(events: &mut [Event], of_node: &BTreeSet<usize>) {
    let setups: Vec<usize> =
        (0..events.len()).filter(|place| run(&events[*place]).is_some_and(|run| run.setup)).collect();
    let mut last: BTreeMap<usize, usize> = BTreeMap::new();
    let mut before: Vec<usize> = Vec::new();
    for place in setups {
        let Action::Run(run) = &mut events[place].action else { continue };
        if of_node.contains(&place) {
            run.after.extend(last.insert(run.node, place));
            before = last.values().copied().collect();
        } else {
            run.after.append(&mut before);
            before = vec![place];
        }
    }
}

fn run(event: &Event) -> Option<&RunCommand> {
    if let Action::Run(run) = &event.action { Some(run) } else { None }
}

#[cfg(test)]
mod tests {
    use crate::plan::{Action, Plan};

    const NET: &str = "links: {l: {ends: [a, b]}}\n";

    fn plan(text: &str) -> Plan {
        crate::parse(&format!("{NET}{text}"), "test.yaml").unwrap_or_else(|wrong| panic!("{wrong}")).plan
    }

    /// Each command with those that it waits for.
    fn order(plan: &Plan) -> Vec<(String, String)> {
        let name = |event: usize| plan.command_name(event).unwrap_or_default().to_owned();
        let runs = plan.timeline.iter().enumerate().filter_map(|(place, event)| match &event.action {
            Action::Run(run) => {
                Some((name(place), run.after.iter().map(|other| name(*other)).collect::<Vec<_>>().join(" ")))
            }
            _ => None,
        });
        runs.collect()
    }

    fn wrong(timeline: &str) -> String {
        let text = format!("{NET}nodes: [a, b]\ntimeline: [{timeline}]\n");
        crate::parse(&text, "test.yaml").err().map(|wrong| wrong.to_string()).unwrap_or_default()
    }

    #[test]
    fn setups_come_first_in_each_node_and_then_in_the_lab() {
        let plan = plan(
            "nodes: {a: {setup: [one, [two, 2]]}, b: {setup: [three]}}
setup: [{on: a, run: four, as: fourth}, {on: b, run: five}]
timeline: [{on: a, run: serve, service: true}, {on: b, run: ask, after: serve}]
",
        );
        let expected = [
            ("serve", ""),
            ("ask", "serve"),
            ("one", ""),
            ("two", "one"),
            ("three", ""),
            ("fourth", "two three"),
            ("five", "fourth"),
        ];
        assert_eq!(order(&plan), expected.map(|(name, after)| (name.to_owned(), after.to_owned())));
        let before: Vec<bool> = (0..plan.timeline.len()).map(|event| plan.starts_before_zero(event)).collect();
        assert_eq!(before, [true, false, true, true, true, true, true]);
    }

    #[test]
    fn a_service_that_waits_for_what_comes_later_comes_later() {
        let plan = plan(
            "nodes: [a, b]
timeline:
  - {on: a, run: load}
  - {on: a, run: first, service: true}
  - {on: a, run: second, service: once, after: [first]}
  - {on: a, run: third, service: true, after: [second, load]}
",
        );
        let before: Vec<bool> = (0..4).map(|event| plan.starts_before_zero(event)).collect();
        assert_eq!(before, [false, true, true, false]);
    }

    #[test]
    fn no_command_waits_for_itself_or_for_one_that_does_not_exist() {
        let circle = "{on: a, run: x, as: one, after: two}, {on: a, run: x, as: two, after: [three]}, \
                      {on: a, run: x, as: three, after: one}";
        assert!(wrong(circle).contains("`one` waits for this command itself"), "{}", wrong(circle));
        assert!(wrong("{on: a, run: x, as: me, after: me}").contains("`me` waits for this command itself"));
        let unknown = wrong("{on: a, run: x, as: schema}, {on: a, run: x, after: shema}");
        assert!(unknown.contains("no command is called `shema`: did you mean `schema`?"), "{unknown}");
        assert_eq!(wrong("{on: a, run: x, after: y}, {on: a, run: 7: 8, as: y}").matches("no command").count(), 0);
    }

    #[test]
    fn what_starts_with_its_node_alone_is_waited_for_by_its_like() {
        let service = |name: &str, more: &str| format!("{{on: a, run: x, service: true, as: {name}, {more}}}");
        let of = |own: &str, other: &str| wrong(&format!("{}, {}", service("one", own), service("two", other)));
        assert_eq!(of("on_restart: only", "on_restart: only, after: one"), "");
        assert_eq!(of("on_restart: also", "on_restart: only, after: one"), "");
        assert_eq!(of("on_restart: never", "on_restart: never, after: one"), "");
        assert!(of("on_restart: only", "after: one").contains("`one` starts only when its node starts again"));
        assert!(of("on_restart: never", "after: one").contains("`one` does not start when its node starts again"));
        let at = wrong(&service("one", "on_restart: only, at: 1 s"));
        assert!(at.contains("leave out `at`"), "{at}");
        let command = wrong("{on: a, run: x, on_restart: never}");
        assert!(command.contains("only services start again with their node"), "{command}");
        let first = plan(&format!(
            "nodes: [a, b]\ntimeline: [{}, {}]\n",
            service("one", "on_restart: only"),
            service("two", "stop: 1 s")
        ));
        assert_eq!([0, 1].map(|event| first.starts_before_zero(event)), [false, true]);
    }

    #[test]
    fn the_time_to_end_is_the_commands_or_the_labs_or_a_second() {
        let timeline = "nodes: [a, b]\ntimeline: [{on: a, run: x}, {on: a, run: y, stop: 10 s}]\n";
        let spans = |text: &str| {
            let runs = plan(text).timeline.into_iter().filter_map(|event| match event.action {
                Action::Run(run) => Some(run.stop.to_string()),
                _ => None,
            });
            runs.collect::<Vec<_>>()
        };
        assert_eq!(spans(timeline), ["1 s", "10 s"]);
        assert_eq!(spans(&format!("stop: 3 s\n{timeline}")), ["3 s", "10 s"]);
    }
}
