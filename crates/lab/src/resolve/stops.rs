//! Nodes that stop and start: the entries that say so become spans of time in which nodes are stopped.

use super::faults::{keeps_nothing, never_crashes};
use super::names::Places;
use super::place;
use crate::diagnostics::{Diagnostic, Span, Spanned};
use crate::errors::Errors;
use crate::plan::stops::Stoppable;
use crate::plan::{Action, Disturbance, Keep, Whose};
use crate::spec::{ActionSpec, CrashSpec, EntrySpec, Spec};
use netloom_units::Duration;
use std::collections::BTreeMap;

/// For each entry that stops nodes: which, how, and for how long.
#[derive(Default)]
pub(super) struct Stops(BTreeMap<usize, Vec<(usize, Disturbance, Option<Duration>)>>);

/// What entries say about one node, in the order of the file.
#[derive(Default)]
struct Said<'a> {
    /// When it is stopped, by which entry, and until when if that says it.
    stops: Vec<(Duration, usize, Option<Duration>)>,
    starts: Vec<(Duration, usize, &'a Spanned<String>)>,
}

/// A time in which a node is stopped.
#[derive(Clone, Copy, Debug)]
struct Stopped {
    from: Duration,
    entry: usize,
    to: Option<Duration>,
}

impl Stops {
    /// Those of a timeline. A node that is stopped again while it is stopped starts when the last of these times is over; `start` ends all.
    pub(super) fn of(entries: &[EntrySpec], places: &Places<'_>, errors: &mut Errors) -> Self {
        let mut said: BTreeMap<usize, Said<'_>> = BTreeMap::new();
        let mut known: BTreeMap<(Span, &str), Option<usize>> = BTreeMap::new();
        for (entry, EntrySpec { at, action, .. }) in entries.iter().enumerate() {
            let (names, stops, crash) = match action {
                ActionSpec::Stop { nodes, duration, crash } => (nodes, Some(*duration), crash.as_ref()),
                ActionSpec::Start { nodes } => (nodes, None, None),
                _ => continue,
            };
            let at = at.unwrap_or_default();
            for name in names {
                // Entries that are repeated name the same nodes.
                let node = *known.entry((name.span, name.value.as_str())).or_insert_with(|| {
                    let how = match stops {
                        Some(_) if crash.is_none() => Disturbance::Stop,
                        // Whatever can crash starts again.
                        _ => Disturbance::Crash(Keep::default()),
                    };
                    let node = stoppable((name, how), places, errors);
                    errors.extend(node.zip(crash).and_then(|(node, crash)| uncrashable(name, node, crash, places)));
                    node
                });
                let Some(own) = node.map(|node| said.entry(node).or_default()) else { continue };
                match stops {
                    Some(duration) => own.stops.push((at, entry, duration.map(|duration| at + duration))),
                    None => own.starts.push((at, entry, name)),
                }
            }
        }
        let mut by_entry: BTreeMap<usize, Vec<(usize, Disturbance, Option<Duration>)>> = BTreeMap::new();
        for (node, own) in said {
            for Stopped { from, entry, to } in own.settle(errors) {
                let how = match entries[entry].action {
                    ActionSpec::Stop { crash: Some(ref crash), .. } => Disturbance::Crash(crash.rule()),
                    _ => Disturbance::Stop,
                };
                let lasting = to.map(|to| Duration::from_nanos(to.as_nanos() - from.as_nanos()));
                by_entry.entry(entry).or_default().push((node, how, lasting));
            }
        }
        Self(by_entry)
    }

    /// What follows from this entry.
    pub(super) fn actions(&self, entry: usize) -> Vec<Action> {
        let own = self.0.get(&entry).into_iter().flatten();
        let stop = |(node, how, duration): &(usize, Disturbance, Option<Duration>)| Action::Disturb {
            how: *how,
            whose: Whose::Node(*node),
            process: None,
            duration: *duration,
        };
        own.map(stop).collect()
    }
}

impl Said<'_> {
    /// When the node is stopped, from first to last. A start of a node that runs is noted.
    fn settle(mut self, errors: &mut Errors) -> Vec<Stopped> {
        self.stops.sort_by_key(|(at, entry, _)| (*at, *entry));
        self.starts.sort_by_key(|(at, entry, _)| (*at, *entry));
        let mut all: Vec<Stopped> = Vec::new();
        for (from, entry, over) in &self.stops {
            let started = self.starts.iter().map(|(at, by, _)| (*at, *by)).find(|start| *start > (*from, *entry));
            let to = [*over, started.map(|(at, _)| at)].into_iter().flatten().min();
            match all.last_mut().filter(|last| last.to.is_none_or(|end| *from <= end)) {
                Some(last) => last.to = last.to.zip(to).map(|(end, to)| end.max(to)),
                None => all.push(Stopped { from: *from, entry: *entry, to }),
            }
        }
        for (at, by, name) in &self.starts {
            let is_stopped = |one: &Stopped| (one.from, one.entry) < (*at, *by) && one.to.is_none_or(|to| *at <= to);
            if !all.iter().any(is_stopped) {
                let message = format!("`{}` runs at {at}: no `stop` of it is in force then", name.value);
                errors.push(name.error(message));
            }
        }
        all
    }
}

/// The error of a crash of this node, if it cannot be.
fn uncrashable(name: &Spanned<String>, node: usize, crash: &CrashSpec, places: &Places<'_>) -> Option<Diagnostic> {
    let own = &places.spec.nodes[node];
    let nothing = || crash.keep.as_ref().filter(|_| own.disk.is_none());
    never_crashes(name, node, places).or_else(|| nothing().map(|keep| keep.error(keeps_nothing(&own.name.value))))
}

/// The place of a node that can be stopped so.
fn stoppable((name, how): (&Spanned<String>, Disturbance), places: &Places<'_>, errors: &mut Errors) -> Option<usize> {
    let node = place(places.nodes, name, errors)?;
    match never_stops(places.spec, node, how) {
        Some(why) => errors.reject(name.error(why)),
        None => Some(node),
    }
}

/// Why a node cannot be stopped so and started, if so.
pub(super) fn never_stops(spec: &Spec, node: usize, how: Disturbance) -> Option<String> {
    let own = &spec.nodes[node];
    let is_here = |end: &crate::spec::EndSpec| end.node.value == own.name.value;
    let medium = spec.links.iter().find(|link| link.shared.is_some() && link.ends.iter().any(is_here));
    let stoppable = Stoppable {
        name: &own.name.value,
        kind: own.kind,
        is_vm: own.vm.is_some(),
        is_container: own.container.is_some(),
        medium: medium.map(|link| link.name.value.as_str()),
    };
    stoppable.refusal(how)
}

#[cfg(test)]
mod tests {
    const NET: &str = "nodes: [a, b, c]\nlinks: {l: {ends: [a, b]}, m: {ends: [b, c]}}\n";

    const DISK: &str = "nodes: {a: {disk: {at: /srv}}, b: , c: }\nlinks: {l: {ends: [a, b]}, m: {ends: [b, c]}}\n";

    /// What `netloom check` would show of nodes that stop.
    fn stops(timeline: &str) -> Vec<String> {
        planned(&format!("{NET}timeline: [{timeline}]\n"))
    }

    /// The timeline of a lab as `netloom check` would show it.
    fn planned(text: &str) -> Vec<String> {
        let plan = crate::parse(text, "test.yaml").unwrap_or_else(|wrong| panic!("{wrong}")).plan.text().to_string();
        let lines = plan.lines().skip_while(|line| *line != "Timeline").skip(1);
        lines.map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
    }

    #[test]
    fn a_node_is_stopped_until_it_starts_or_its_time_is_over() {
        assert_eq!(stops("{at: 1 s, stop: a, for: 2 s}"), ["1 s a stop for 2 s"]);
        assert_eq!(stops("{at: 1 s, stop: a}, {at: 4 s, start: a}"), ["1 s a stop for 3 s"]);
        assert_eq!(stops("{at: 1 s, stop: [a, b]}, {at: 4 s, start: b}"), ["1 s a stop", "1 s b stop for 3 s"]);
        assert_eq!(stops("{at: 1 s, stop: a, for: 9 s}, {at: 4 s, start: a}"), ["1 s a stop for 3 s"]);
        assert_eq!(stops("{at: 1 s, stop: a}, {at: 2 s, start: a}, {at: 3 s, stop: a, for: 1 s}").len(), 2);
    }

    #[test]
    fn times_that_overlap_are_one() {
        assert_eq!(stops("{at: 1 s, stop: a, for: 2 s}, {at: 2 s, stop: a, for: 3 s}"), ["1 s a stop for 4 s"]);
        assert_eq!(stops("{at: 1 s, stop: a}, {at: 2 s, stop: a, for: 3 s}"), ["1 s a stop"]);
        assert_eq!(stops("{at: 1 s, stop: a, every: 2 s, times: 3, for: 2 s}"), ["1 s a stop for 6 s"]);
    }

    #[test]
    fn a_node_that_crashed_starts_as_one_that_was_stopped() {
        let virtual_time = |timeline| planned(&format!("{DISK}clock: virtual\ntimeline: [{timeline}]\n"));
        assert_eq!(virtual_time("{at: 1 s, crash: a, for: 2 s}"), ["1 s a crash for 2 s"]);
        assert_eq!(
            virtual_time("{at: 1 s, crash: a, keep: torn}, {at: 4 s, start: a}"),
            ["1 s a crash for 3 s, keep torn"]
        );
        assert_eq!(
            virtual_time("{at: 1 s, crash: a, for: 2 s}, {at: 2 s, stop: a, for: 3 s}"),
            ["1 s a crash for 4 s"]
        );
    }

    #[test]
    fn only_a_kernel_of_its_own_crashes() {
        let refused = |head: &str, why: &str| {
            let text = format!("{head}links: {{l: {{ends: [a, b]}}}}\ntimeline: [{{at: 1 s, crash: a}}]\n");
            let said = crate::parse(&text, "test.yaml").err().map(|wrong| wrong.to_string()).unwrap_or_default();
            assert!(said.contains(why) && said.is_empty() == why.is_empty(), "{head}: {said}");
        };
        refused("nodes: [a, b]\n", "it has the kernel of this machine");
        refused("clock: virtual\nnodes: {a: {kind: switch}, b: }\n", "which has no kernel");
        refused("nodes: {a: {stack: kernel}, b: }\n", "");
        refused("clock: {dilation: 2}\nnodes: [a, b]\n", "");
    }

    /// It says what is left on a disk, and would be without effect.
    #[test]
    fn a_rule_for_what_is_kept_needs_a_disk() {
        let said = |entry: &str| {
            let text = format!("{DISK}clock: virtual\ntimeline: [{entry}]\n");
            crate::parse(&text, "test.yaml").err().map(|wrong| wrong.to_string()).unwrap_or_default()
        };
        assert_eq!(said("{at: 1 s, crash: a, keep: torn, for: 1 s}"), "");
        assert_eq!(said("{at: 1 s, crash: [a, b], for: 1 s}"), "");
        let wrong = said("{at: 1 s, crash: [a, b], keep: flushed, for: 1 s, every: 3 s, times: 3}");
        assert!(
            wrong.contains("timeline[0].keep: this says what a crash leaves on a disk, and `b` has none"),
            "{wrong}"
        );
        assert_eq!(wrong.matches("error:").count(), 1, "{wrong}");
    }

    #[test]
    fn what_runs_cannot_be_started() {
        let wrong = |timeline: &str| {
            let text = format!("{NET}timeline: [{timeline}]\n");
            crate::parse(&text, "test.yaml").err().map(|wrong| wrong.to_string()).unwrap_or_default()
        };
        assert!(wrong("{at: 1 s, start: a}").contains("`a` runs at 1 s"), "{}", wrong("{at: 1 s, start: a}"));
        assert!(wrong("{at: 1 s, stop: a, for: 1 s}, {at: 3 s, start: a}").contains("`a` runs at 3 s"));
        assert!(wrong("{at: 1 s, stop: d}").contains("no node"), "{}", wrong("{at: 1 s, stop: d}"));
        assert!(wrong("{at: 1 s, start: b}, {at: 2 s, stop: b}").contains("`b` runs at 1 s"));
    }
}
