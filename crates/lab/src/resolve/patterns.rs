//! Names with `*`, which stands for any letters: which nodes they mean.

use crate::diagnostics::Spanned;
use crate::errors::Errors;
use crate::plan::{Disturbance, Keep};
use crate::spec::{ActionSpec, Spec};
use std::collections::BTreeSet;

/// So many names are told where none is like a pattern.
const MOST_TOLD: usize = 8;

/// Whether a name is a pattern of names.
pub(super) fn is_pattern(name: &str) -> bool {
    name.contains('*')
}

/// Whether a name is like a pattern, in which `*` stands for any letters.
pub(super) fn matches(pattern: &str, name: &str) -> bool {
    let Some((begin, behind)) = pattern.split_once('*') else { return pattern == name };
    let (between, end) = behind.rsplit_once('*').unwrap_or(("", behind));
    let middle = name.strip_prefix(begin).and_then(|rest| rest.strip_suffix(end));
    // What is found first leaves most for the parts behind it.
    let after = |text, part: &str| str::find(text, part).map(|at| &text[at + part.len()..]);
    middle.is_some_and(|middle| between.split('*').try_fold(middle, after).is_some())
}

/// The nodes that patterns stand for in one place of a lab file.
pub(super) struct Candidates<'a> {
    /// The nodes in a word, which an error uses: "node that runs programs".
    what: &'static str,
    /// Places and names, in the order of the file.
    nodes: Vec<(usize, &'a str)>,
}

impl<'a> Candidates<'a> {
    /// Those of these places and names.
    pub(super) fn new(what: &'static str, nodes: impl Iterator<Item = (usize, &'a str)>) -> Self {
        Self { what, nodes: nodes.collect() }
    }

    /// The nodes in which the lab can run programs.
    pub(super) fn with_programs(nodes: impl Iterator<Item = (usize, &'a str)>) -> Self {
        Self::new("node that runs programs", nodes)
    }

    /// The nodes that can stop and start again.
    pub(super) fn stoppable(nodes: impl Iterator<Item = (usize, &'a str)>) -> Self {
        Self::new("node that can be stopped", nodes)
    }

    /// The nodes of those in which the lab file lets programs run.
    pub(super) fn of_programs(spec: &'a Spec) -> Self {
        let nodes = spec.nodes.iter().enumerate();
        let able = nodes.filter(|(_, node)| node.kind.runs_programs() && !node.is_closed());
        Self::with_programs(able.map(|(place, node)| (place, node.name.value.as_str())))
    }

    /// Returns the places of those that are like a pattern.
    ///
    /// # Errors
    /// That there is none, and which there are.
    pub(super) fn like(&self, pattern: &str) -> Result<Vec<usize>, String> {
        let like: Vec<usize> =
            self.nodes.iter().filter(|(_, name)| matches(pattern, name)).map(|(place, _)| *place).collect();
        if like.is_empty() { Err(self.unlike(pattern)) } else { Ok(like) }
    }

    fn unlike(&self, pattern: &str) -> String {
        let told: Vec<&str> = self.nodes.iter().map(|(_, name)| *name).take(MOST_TOLD).collect();
        let there_are = match (told.is_empty(), self.nodes.len().saturating_sub(MOST_TOLD)) {
            (true, _) => "the lab has none".to_owned(),
            (false, 0) => format!("there are {}", told.join(", ")),
            (false, more) => format!("there are {} and {more} others", told.join(", ")),
        };
        format!("no {} is called like `{pattern}`: {there_are}", self.what)
    }
}

/// Puts the names of nodes in the place of the patterns of an entry of the timeline. `has_gaps`: nodes could not be read.
pub(super) fn spell_out(action: &mut ActionSpec, spec: &Spec, has_gaps: bool, errors: &mut Errors) {
    let Some(names) = action.names_mut() else { return };
    if !names.iter().any(|name| is_pattern(&name.value)) {
        return;
    }
    let own = std::mem::take(names);
    let candidates = candidates(action, spec);
    if let Some(all) = action.names_mut() {
        *all = meant(&own, &candidates, spec, has_gaps, errors);
    }
}

/// An example of a crash: whatever is left of a disk.
const CRASH: Disturbance = Disturbance::Crash(Keep::Flushed);

/// The nodes that patterns of this entry stand for.
fn candidates<'a>(action: &ActionSpec, spec: &'a Spec) -> Candidates<'a> {
    let nodes = || spec.nodes.iter().enumerate().map(|(place, node)| (place, node.name.value.as_str()));
    let how = if let ActionSpec::Stop { crash: Some(_), .. } = action { CRASH } else { Disturbance::Stop };
    let can_stop = |(place, _): &(usize, &str)| super::stops::never_stops(spec, *place, how).is_none();
    let has_programs = |(place, _): &(usize, &str)| spec.nodes[*place].kind.runs_programs();
    match action {
        ActionSpec::Stop { crash: Some(_), .. } => Candidates::stoppable(nodes().filter(has_programs).filter(can_stop)),
        ActionSpec::Stop { .. } | ActionSpec::Start { .. } => Candidates::stoppable(nodes().filter(can_stop)),
        ActionSpec::Flap { .. } => Candidates::new("node", nodes().filter(|(place, _)| !spec.nodes[*place].is_lan)),
        _ => Candidates::of_programs(spec),
    }
}

/// The names that are meant, each once.
pub(super) fn meant(
    names: &[Spanned<String>],
    candidates: &Candidates<'_>,
    spec: &Spec,
    has_gaps: bool,
    errors: &mut Errors,
) -> Vec<Spanned<String>> {
    let (mut all, mut known) = (Vec::new(), BTreeSet::new());
    for name in names {
        let like = match is_pattern(&name.value) {
            false => vec![name.value.as_str()],
            true => match candidates.like(&name.value) {
                Ok(like) => like.into_iter().map(|place| spec.nodes[place].name.value.as_str()).collect(),
                Err(why) => {
                    errors.extend((!has_gaps).then(|| name.error(why)));
                    Vec::new()
                }
            },
        };
        let new = like.into_iter().filter(|own| known.insert((*own).to_owned()));
        all.extend(new.map(|own| Spanned { value: own.to_owned(), ..name.clone() }));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_stand_for_any_letters() {
        for (pattern, name) in
            [("*", "c1"), ("c*", "c1"), ("c*", "c"), ("*1", "c1"), ("c*1", "c-x-1"), ("*a*b*", "xaybz"), ("a*a", "aa")]
        {
            assert!(matches(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in [("c*", "d1"), ("a*a", "a"), ("*ab*ab*", "xabx"), ("c1", "c11"), ("*b*a*", "ab")] {
            assert!(!matches(pattern, name), "{pattern} {name}");
        }
        assert!(!matches(&"*a".repeat(100_000), &"a".repeat(31)));
    }

    const LAB: &str = "clock: virtual\nnodes: {n1: &disk {disk: {at: /srv}}, n2: *disk, s1: {kind: switch}, c: }\n\
                       links: {one: {ends: [n1, s1]}, two: {ends: [n2, s1]}, three: {ends: [c, s1]}}\n";

    /// What `netloom check` would show of an entry.
    fn shown(entry: &str) -> Vec<String> {
        let text = format!("{LAB}timeline: [{entry}]\n");
        let plan = crate::parse(&text, "t.yaml").unwrap_or_else(|wrong| panic!("{entry}: {wrong}")).plan;
        let told = plan.text().to_string();
        let lines = told.lines().skip_while(|line| *line != "Timeline").skip(1);
        lines.map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
    }

    /// An entry with a pattern is the one with the names.
    #[test]
    fn every_entry_that_names_nodes_takes_patterns() {
        for entry in [
            "{at: 1 s, kill: NODES}",
            "{at: 1 s, pause: NODES, for: 1 s}",
            "{at: 1 s, continue: NODES}",
            "{at: 1 s, signal: SIGHUP, to: NODES}",
            "{at: 1 s, restart: NODES}",
            "{at: 1 s, reboot: NODES}",
            "{at: 1 s, stop: NODES, for: 1 s, every: 3 s, times: 2}",
            "{at: 1 s, stop: c}, {at: 1 s, stop: NODES}, {at: 2 s, start: NODES}",
            "{at: 1 s, crash: NODES, keep: torn, for: 1 s, every: 3 s, times: 2}",
            "{at: 1 s, freeze: NODES, for: 1 s}",
            "{at: 1 s, flap: NODES, for: 1 s}",
            "{at: 1 s, limit: NODES, fds: 10}",
            "{at: 1 s, disk: NODES, full: true}",
            "{at: 1 s, on: NODES, clock: {step: 1 s}}",
            "{at: 1 s, on: NODES, fail: {call: read, error: EIO}}",
            "{at: {mean: 1 s}, on: NODES, starve: true, for: {mean: 1 s}}",
            "{at: 1 s, on: NODES, schedule: {priorities: random}}",
            "{at: 1 s, on: NODES, oom: x*}",
        ] {
            let names = shown(&entry.replace("NODES", "[n1, n2]"));
            assert!(names.len() > 1, "{entry}: {names:?}");
            for pattern in ["n*", "[n1, n*]", "['n*', '*2']"] {
                assert_eq!(shown(&entry.replace("NODES", pattern)), names, "{entry}");
            }
        }
        // A switch stops as well, and has no programs that could be killed.
        assert_eq!(shown("{at: 1 s, stop: '*1'}"), ["1 s n1 stop", "1 s s1 stop"]);
        assert_eq!(shown("{at: 1 s, kill: '*1'}"), ["1 s n1 kill"]);
        assert_eq!(shown("{at: 1 s, flap: s*, for: 1 s}").len(), 3);
    }

    #[test]
    fn a_pattern_that_nothing_is_like_is_refused_with_the_names() {
        let wrong = |entry: &str| {
            let text = format!("{LAB}timeline: [{entry}]\n");
            crate::parse(&text, "t.yaml").err().map(|wrong| wrong.to_string()).unwrap_or_default()
        };
        let crash = wrong("{at: 1 s, crash: x*}");
        assert!(crash.contains("no node that can be stopped is called like `x*`: there are n1, n2, c"), "{crash}");
        let kill = wrong("{at: 1 s, kill: [n1, s*]}");
        assert!(
            kill.contains("kill[1]: no node that runs programs is called like `s*`: there are n1, n2, c"),
            "{kill}"
        );
        let disk = wrong("{at: 1 s, disk: '*', full: true}");
        assert!(disk.contains("`c` has no disk"), "{disk}");
        let flap = wrong("{at: 1 s, flap: t*, for: 1 s}");
        assert!(flap.contains("no node is called like `t*`: there are n1, n2, s1, c"), "{flap}");
        let many = wrong("{at: 1 s, kill: '*', every: 1 ms, times: 40000}");
        assert!(many.contains("these are too many"), "{many}");
    }
}
