//! Entries of the timeline that stand for several events: at drawn instants, again and again, at several nodes.

use super::patterns::{Candidates, is_pattern, meant, spell_out};
use crate::diagnostics::Spanned;
use crate::errors::Errors;
use crate::keys::MOST_TIMES;
use crate::spec::{ActionSpec, AgainSpec, EntrySpec, RunSpec, SpanSpec, Spec, When, WrittenSpec};
use netloom_link::{PipeChange, Spans};
use netloom_units::{Duration, Seed};
use std::collections::BTreeMap;

/// A command's name may have so many letters (`COMMAND_NAME`).
const LONGEST_NAME: usize = 63;

/// All events of the entries, in the order of the file. `has_gaps`: nodes could not be read.
pub(super) fn all(
    written: Vec<WrittenSpec>,
    spec: &Spec,
    has_gaps: bool,
    seed: Seed,
    errors: &mut Errors,
) -> Vec<EntrySpec> {
    let (drawn, members) = Default::default();
    let mut expansion = Expansion { spec, has_gaps, seed, drawn, members, made: 0, is_over: false };
    let mut entries: Vec<EntrySpec> = Vec::new();
    for entry in written {
        expansion.expand(entry, &mut entries, errors);
    }
    mean_all(&mut entries, &expansion.members, errors);
    entries
}

struct Expansion<'a> {
    spec: &'a Spec,
    has_gaps: bool,
    seed: Seed,
    /// How many entries drew instants so far, by what they do: each draws for itself, whatever others there are.
    drawn: BTreeMap<String, usize>,
    /// The commands that a name stands for.
    members: BTreeMap<String, Vec<String>>,
    /// The events of entries that stand for several, so far.
    made: u64,
    /// Whether those were too many.
    is_over: bool,
}

impl Expansion<'_> {
    fn expand(&mut self, written: WrittenSpec, entries: &mut Vec<EntrySpec>, errors: &mut Errors) {
        let WrittenSpec { line, when, on, mut action, then } = written;
        spell_out(&mut action, self.spec, self.has_gaps, errors);
        let is_list = on.len() > 1 || on.iter().any(|name| is_pattern(&name.value));
        let nodes = if is_list {
            meant(&on, &Candidates::of_programs(self.spec), self.spec, self.has_gaps, errors)
        } else {
            on
        };
        let is_repeated = when.again.is_some();
        let places = nodes.len().max(action.names().map_or(1, <[_]>::len)).max(1);
        let Some(instants) = self.instants(&when, &action, places + then.len()) else {
            let place = when.again.as_ref().map(|again| again.every.error(too_many()));
            // One such entry makes all behind it too many.
            if !std::mem::replace(&mut self.is_over, true) {
                errors.extend(place);
            }
            return;
        };
        let lengths = self.lengths(&when, &action, instants.len());
        let ActionSpec::Run(run) = action else {
            for (at, length) in instants.into_iter().zip(lengths) {
                let action = lasting(&action, length);
                entries.push(EntrySpec { line, at, action: action.clone() });
                entries.extend(then.iter().map(|(later, change)| EntrySpec {
                    line,
                    at: Some(Duration::from_nanos(at.unwrap_or_default().as_nanos().saturating_add(later.as_nanos()))),
                    action: changed(&action, change),
                }));
            }
            return;
        };
        if let Some(again) = when.again.as_ref().filter(|_| run.service) {
            let message = "a service is there all the time: leave out `every`, or `service` and `ready`";
            return errors.push(again.every.error(message));
        }
        for node in nodes {
            for (number, (at, length)) in instants.iter().zip(&lengths).enumerate() {
                let place = is_list.then_some(node.value.as_str());
                let one = member(&run, &node, place, is_repeated.then_some(number + 1), errors);
                if let (Some(given), Some(own)) = (&run.name, &one.name)
                    && (is_list || is_repeated)
                {
                    self.members.entry(given.value.clone()).or_default().push(own.value.clone());
                }
                let own = lasting(&ActionSpec::Run(Box::new(one)), *length);
                entries.push(EntrySpec { line, at: *at, action: own });
            }
        }
    }

    /// When an entry happens at each of `places`, in order; none if it is too often.
    fn instants(&mut self, when: &When, action: &ActionSpec, places: usize) -> Option<Vec<Option<Duration>>> {
        let is_drawn = |span: &SpanSpec| !matches!(span, SpanSpec::Fixed(_));
        let mut spans = when.at.iter().chain(when.again.as_ref().map(|again| &again.every.value));
        let mut random = if spans.any(is_drawn) { Some(self.random(&subject(action))) } else { None };
        let first = when.at.map(|span| drawn(span, random.as_mut()));
        let Some(AgainSpec { every, times, until }) = &when.again else {
            self.made += if places > 1 { places as u64 } else { 0 };
            return (self.made <= MOST_TIMES).then(|| vec![first]);
        };
        let most = times.unwrap_or(u64::MAX);
        let (mut at, mut instants) = (first.unwrap_or_default(), Vec::new());
        while (instants.len() as u64) < most && until.is_none_or(|until| at <= until) {
            self.made += places as u64;
            if self.made > MOST_TIMES {
                return None;
            }
            instants.push(Some(at));
            let span = drawn(every.value, random.as_mut());
            at = Duration::from_nanos(at.as_nanos().saturating_add(span.as_nanos().max(1)));
        }
        Some(instants)
    }

    /// How long each of so many times lasts and waits, as far as that is drawn. It is drawn apart from instants, which stay what they are
    /// if a time comes to an entry.
    fn lengths(&mut self, when: &When, action: &ActionSpec, count: usize) -> Vec<Lengths> {
        let mut random_for = |span: Option<SpanSpec>, what: &str| {
            span.map(|span| (span, self.random(&format!("{} {what}", subject(action)))))
        };
        let mut lasts = random_for(when.lasts, "lasts");
        let mut waits = random_for(when.waits, "waits");
        let draw = |from: &mut Option<(SpanSpec, Spans)>| {
            from.as_mut().map(|(span, random)| drawn(*span, Some(random)).max(Duration::from_nanos(1)))
        };
        (0..count).map(|_| Lengths { lasts: draw(&mut lasts), waits: draw(&mut waits) }).collect()
    }

    /// What an entry draws from.
    fn random(&mut self, what: &str) -> Spans {
        let number = self.drawn.entry(what.to_owned()).or_default();
        *number += 1;
        Spans::new(self.seed.derive("timeline").derive(what).derive(&number.to_string()))
    }
}

fn too_many() -> String {
    format!("these are too many: at most {MOST_TIMES} events of a lab come of `every` and of lists of nodes")
}

fn drawn(span: SpanSpec, random: Option<&mut Spans>) -> Duration {
    match (span, random) {
        (SpanSpec::Uniform(least, most), Some(random)) => {
            let width = (most.as_nanos() - least.as_nanos()).saturating_add(1);
            Duration::from_nanos(least.as_nanos() + random.below(width))
        }
        (SpanSpec::Exponential(mean), Some(random)) => random.exponential(mean.as_nanos() as f64),
        (SpanSpec::Fixed(span) | SpanSpec::Uniform(span, _) | SpanSpec::Exponential(span), _) => span,
    }
}

/// Times that were drawn for one event.
#[derive(Clone, Copy, Debug, Default)]
struct Lengths {
    lasts: Option<Duration>,
    waits: Option<Duration>,
}

/// The same with the times that were drawn for it.
fn lasting(action: &ActionSpec, Lengths { lasts, waits }: Lengths) -> ActionSpec {
    let mut action = action.clone();
    match (&mut action, lasts) {
        (ActionSpec::Run(run), _) => {
            run.stop_after = lasts.or(run.stop_after);
            run.delay = waits.unwrap_or(run.delay);
        }
        (
            ActionSpec::Down { duration, .. }
            | ActionSpec::Disturb { duration, .. }
            | ActionSpec::Stop { duration, .. },
            Some(_),
        ) => *duration = lasts,
        (ActionSpec::Partition(own), Some(_)) => own.duration = lasts,
        (ActionSpec::Reboot { duration, .. } | ActionSpec::Flap { duration, .. }, Some(time)) => *duration = time,
        _ => {}
    }
    action
}

/// The same change of a link with other values.
fn changed(action: &ActionSpec, to: &PipeChange) -> ActionSpec {
    let mut action = action.clone();
    if let ActionSpec::Set { change, .. } = &mut action {
        **change = to.clone();
    }
    action
}

/// What an entry does, and to what.
fn subject(action: &ActionSpec) -> String {
    match action {
        ActionSpec::Run(run) => match &run.name {
            Some(name) => format!("run {}", name.value),
            None => format!("run on {}", run.on.value),
        },
        ActionSpec::Set { part, .. } => format!("set {}", part.link.value),
        ActionSpec::Down { part, .. } => format!("down {}", part.link.value),
        ActionSpec::Up { part } => format!("up {}", part.link.value),
        ActionSpec::Log(text) => format!("log {text}"),
        ActionSpec::Disturb { how, whose, .. } => format!("{} {}", how.name(), joined(whose)),
        ActionSpec::Reboot { nodes, .. } => format!("reboot {}", joined(nodes)),
        ActionSpec::Stop { nodes, crash, .. } => {
            format!("{} {}", if crash.is_some() { "crash" } else { "stop" }, joined(nodes))
        }
        ActionSpec::Start { nodes } => format!("start {}", joined(nodes)),
        ActionSpec::Flap { what, .. } => format!("flap {}", joined(what)),
        ActionSpec::Partition(_) => "partition".to_owned(),
        ActionSpec::Heal { .. } => "heal".to_owned(),
        ActionSpec::Move(own) => format!("move {}", own.node.value),
    }
}

fn joined(names: &[Spanned<String>]) -> String {
    names.iter().map(|name| name.value.as_str()).collect::<Vec<_>>().join(" ")
}

/// One of the commands that an entry stands for: its names tell where and which it is.
fn member(
    run: &RunSpec,
    node: &Spanned<String>,
    place: Option<&str>,
    number: Option<usize>,
    errors: &mut Errors,
) -> RunSpec {
    let parts = place.map(|place| format!("-{place}")).into_iter().chain(number.map(|number| format!("-{number}")));
    let suffix: String = parts.collect();
    let mut one = RunSpec { on: node.clone(), ..run.clone() };
    if let Some(name) = &mut one.name {
        name.value.push_str(&suffix);
        if name.value.len() > LONGEST_NAME {
            errors
                .push(name.error(format!("\"{}\" is too long for a command's name: choose a shorter one", name.value)));
        }
    }
    if let Some(save) = &mut one.save {
        let end = save.value.rfind('.').filter(|dot| *dot > 0).unwrap_or(save.value.len());
        save.value.insert_str(end, &suffix);
    }
    one
}

/// A name that stands for several commands means all of them.
fn mean_all(entries: &mut [EntrySpec], members: &BTreeMap<String, Vec<String>>, errors: &mut Errors) {
    let all = |names: &mut Vec<Spanned<String>>| {
        let written = std::mem::take(names);
        names.extend(written.into_iter().flat_map(|name| match members.get(&name.value) {
            Some(all) => all.iter().map(|one| Spanned { value: one.clone(), ..name.clone() }).collect(),
            None => vec![name],
        }));
    };
    for entry in entries {
        if let ActionSpec::Disturb { whose, .. } = &mut entry.action {
            all(whose);
        }
        let ActionSpec::Run(run) = &mut entry.action else { continue };
        if let Some(name) = run.name.as_ref().filter(|name| members.contains_key(&name.value)) {
            let message =
                format!("there are two commands `{}`: another entry stands for several of that name", name.value);
            errors.push(name.error(message));
        }
        all(&mut run.after);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_drawn_for_each_event_from_the_seed() {
        let plan = |seed: u64, more: &str| {
            let text = format!(
                "seed: {seed}\nnodes: [a, b]\nlinks: {{l: {{ends: [a, b]}}}}\ntimeline:\n\
                 - {{on: [a, b], run: x, as: x, at: 1 s, every: 5 s, times: 3, for: {{uniform: [1 s, 2 s]}}}}\n\
                 - {{link: l, down: {{for: {{mean: 1 s}}}}, at: {{uniform: [1 s, 9 s]}}}}\n\
                 - {{on: a, run: y, after: x, delay: {{uniform: [3 s, 4 s]}}}}\n\
                 - {{flap: l, for: {{mean: 10 ms}}, at: 20 s}}\n{more}"
            );
            crate::parse(&text, "t.yaml").unwrap().plan
        };
        let times = |whole: &crate::Plan| {
            let of = |event: &crate::Event| match &event.action {
                crate::Action::Run(run) => run.stop_after.or(Some(run.delay)).map(Duration::as_nanos),
                crate::Action::Down { duration, .. } => duration.map(Duration::as_nanos),
                _ => None,
            };
            whole.timeline.iter().filter_map(of).collect::<Vec<u64>>()
        };
        let first = times(&plan(1, ""));
        let runs = &first[..6];
        assert!(runs.iter().all(|ns| (1_000_000_000..=2_000_000_000).contains(ns)), "{first:?}");
        // The three times differ, and both nodes have the same.
        assert!(runs[0] != runs[1] && runs[1] != runs[2] && runs[..3] == runs[3..], "{first:?}");
        assert!(first.iter().any(|ns| (3_000_000_000..=4_000_000_000).contains(ns)), "{first:?}");
        assert_eq!(first, times(&plan(1, "")));
        assert_ne!(first, times(&plan(2, "")));
        // What comes to the file changes nothing of it.
        let more = times(&plan(1, "- {at: 2 s, link: l, down: 1 ms}\n"));
        assert!(first.iter().all(|time| more.contains(time)), "{first:?} {more:?}");
    }
}
