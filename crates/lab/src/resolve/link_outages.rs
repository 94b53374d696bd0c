//! Several entries may cut one link: it is restored when the last of them ends, or by `up`, which ends them all.

use super::names::{Places, index_of};
use crate::diagnostics::{Diagnostic, Spanned};
use crate::plan::{Action, Event, LinkPart, Stack};
use netloom_units::Duration;
use std::collections::BTreeMap;

/// An entry that cuts a link.
#[derive(Clone, Copy)]
struct Cut {
    event: usize,
    from: Duration,
    end: End,
}

/// When a cut ends, in the order of which is later.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum End {
    /// When its time is over.
    OverAt(Duration),
    /// By `up`.
    RestoredAt(Duration),
    Never,
}

impl End {
    fn at(self) -> Option<Duration> {
        match self {
            Self::OverAt(at) | Self::RestoredAt(at) => Some(at),
            Self::Never => None,
        }
    }

    fn later(self, other: Self) -> Self {
        // At the same instant, `up` comes after the time that is over: the derived order says so.
        let key = |end: Self| (end.at().is_none(), end.at(), end);
        if key(other) > key(self) { other } else { self }
    }
}

/// Makes every cut of a link, or of a part of it, last as long as that is down because of it and of those that overlap it.
pub(super) fn settle(events: &mut [Event]) {
    let mut parts: BTreeMap<LinkPart, Vec<usize>> = BTreeMap::new();
    for (place, event) in events.iter().enumerate() {
        if let Action::Down { part, .. } | Action::Up { part } = &event.action {
            parts.entry(part.clone()).or_default().push(place);
        }
    }
    for places in parts.into_values().filter(|places| places.len() > 1) {
        settle_link(events, &places);
    }
}

fn settle_link(events: &mut [Event], places: &[usize]) {
    let mut all: Vec<Cut> = places.iter().filter_map(|place| cut(events, *place, places)).collect();
    all.sort_by_key(|one| (one.from, one.event));
    let mut together: Vec<Cut> = Vec::new();
    for cut in all {
        let end = together.iter().map(|other| other.end).reduce(End::later);
        let goes_on = end.is_some_and(|end| match end {
            End::OverAt(at) => cut.from <= at,
            End::RestoredAt(at) => cut.from < at,
            End::Never => true,
        });
        if !goes_on {
            lengthen(events, &together);
            together.clear();
        }
        together.push(cut);
    }
    lengthen(events, &together);
}

/// The cut that `place` makes, none if it makes none; `places` are all events that cut or restore its link.
fn cut(events: &[Event], place: usize, places: &[usize]) -> Option<Cut> {
    let at = |event: usize| events[event].at.unwrap_or_default();
    let Action::Down { duration, .. } = events[place].action else { return None };
    let restoring = places.iter().filter(|other| matches!(events[**other].action, Action::Up { .. }));
    let restored = restoring.filter(|other| (at(**other), **other) > (at(place), place)).map(|other| at(*other)).min();
    let over = duration.map(|duration| at(place) + duration);
    let end = match (over, restored) {
        (over, Some(restored)) if over.is_none_or(|over| restored <= over) => End::RestoredAt(restored),
        (Some(over), _) => End::OverAt(over),
        (None, _) => End::Never,
    };
    Some(Cut { event: place, from: at(place), end })
}

/// All of these end when the last of them does.
fn lengthen(events: &mut [Event], together: &[Cut]) {
    let Some(last) = together.iter().map(|cut| cut.end).reduce(End::later) else { return };
    for cut in together {
        if let Action::Down { duration, .. } = &mut events[cut.event].action {
            *duration = if let End::OverAt(at) = last { Some(at - cut.from) } else { None };
        }
    }
}

/// The error of a carrier that cannot go.
pub(super) fn without_carrier(part: &LinkPart, carrier: &Spanned<()>, places: &Places<'_>) -> Option<Diagnostic> {
    if part.direction.is_some() || part.pipe.is_some() {
        return Some(carrier.error("an interface has one carrier for all: leave out `direction` and `pipe`"));
    }
    let mut ends = places.spec.links[part.link].ends.iter().map(|end| &end.node);
    let is_vm = |name: &&Spanned<String>| {
        let node = index_of(places.nodes, name).ok().flatten();
        node.and_then(|node| places.stacks.get(node)).is_some_and(|stack| *stack == Stack::Vm)
    };
    let node = &ends.find(is_vm)?.value;
    Some(carrier.error(format!(
        "node `{node}` is a virtual machine, whose interfaces always have a carrier: write `down: true` or a time, or give the \
         node `stack: kernel`, or `stack: namespace` in real time"
    )))
}

#[cfg(test)]
mod tests {
    /// What `netloom check` would show of the cuts of link `l`: when, and for how long.
    fn cuts(timeline: &str) -> Vec<String> {
        let text = format!("nodes: [a, b]\nlinks: {{l: {{ends: [a, b]}}}}\ntimeline: [{timeline}]\n");
        let plan = crate::parse(&text, "test.yaml").unwrap_or_else(|wrong| panic!("{wrong}")).plan.text().to_string();
        let lines = plan.lines().skip_while(|line| *line != "Timeline").skip(1);
        lines.map(|line| line.split_whitespace().filter(|word| *word != "l").collect::<Vec<_>>().join(" ")).collect()
    }

    #[test]
    fn a_cut_that_overlaps_nothing_is_as_it_is_written() {
        let apart = "{at: 1 s, link: l, down: 1 s}, {at: 3 s, link: l, down: 1 s}, {at: 5 s, link: l, down: true}";
        assert_eq!(cuts(apart), ["1 s down for 1 s", "3 s down for 1 s", "5 s down"]);
    }

    #[test]
    fn a_cut_may_take_the_carrier() {
        let seen = "{at: 1 s, link: l, down: {carrier: true, for: 1 s}}, {at: 3 s, link: l, down: {carrier: true}}";
        assert_eq!(cuts(seen), ["1 s down for 1 s, without carrier", "3 s down, without carrier"]);
        assert_eq!(cuts("{at: 1 s, link: l, down: {carrier: false, for: 1 s}}"), ["1 s down for 1 s"]);
    }

    #[test]
    fn the_last_to_end_restores_the_link() {
        let chain = "{at: 1 s, link: l, down: 2 s}, {at: 2 s, link: l, down: 2 s}, {at: 4 s, link: l, down: 1 s}";
        assert_eq!(cuts(chain), ["1 s down for 4 s", "2 s down for 3 s", "4 s down for 1 s"]);
        let inside = "{at: 2 s, link: l, down: 1 s}, {at: 1 s, link: l, down: 5 s}";
        assert_eq!(cuts(inside), ["2 s down for 4 s", "1 s down for 5 s"]);
        let never = "{at: 1 s, link: l, down: true}, {at: 2 s, link: l, down: 1 s}";
        assert_eq!(cuts(never), ["1 s down", "2 s down"]);
    }

    #[test]
    fn up_ends_them_all() {
        let up = "{at: 1 s, link: l, down: 9 s}, {at: 2 s, link: l, up: true}, {at: 8 s, link: l, down: 4 s}";
        assert_eq!(cuts(up), ["1 s down", "2 s up", "8 s down for 4 s"]);
    }
}
