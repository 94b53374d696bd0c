//! Nodes that move: each has an end at every link that it visits, and all but one of these links are cut.

use super::link_outages::without_carrier;
use super::names::Places;
use super::place;
use crate::diagnostics::{Diagnostic, Spanned};
use crate::errors::Errors;
use crate::plan::{Action, Event, LinkPart};
use crate::spec::{ActionSpec, EntrySpec, MoveSpec};
use netloom_units::Duration;
use std::collections::BTreeMap;

/// A move of the timeline whose node and links are there.
struct Move<'a> {
    /// Its place in the timeline.
    entry: usize,
    line: usize,
    at: Duration,
    spec: &'a MoveSpec,
    from: usize,
    to: usize,
}

/// What the moves of a timeline do.
pub(super) struct NodeMoves {
    /// By the place of an entry.
    actions: BTreeMap<usize, Vec<Action>>,
    /// The links that nodes get to later, with the line of the move that leads there.
    later: Vec<(usize, Action)>,
}

impl NodeMoves {
    /// All moves of the timeline; what is wrong with them is noted.
    pub(super) fn of(entries: &[EntrySpec], places: &Places<'_>, errors: &mut Errors) -> Self {
        let mut of_node: BTreeMap<&str, Vec<Move<'_>>> = BTreeMap::new();
        for (entry, EntrySpec { line, at, action }) in entries.iter().enumerate() {
            let ActionSpec::Move(spec) = action else { continue };
            let ends = place(places.nodes, &spec.node, errors)
                .and_then(|_| Some((end(spec, &spec.from, places, errors)?, end(spec, &spec.to, places, errors)?)));
            let Some((from, to)) = ends else { continue };
            let this = Move { entry, line: *line, at: at.unwrap_or_default(), spec, from, to };
            of_node.entry(&spec.node.value).or_default().push(this);
        }
        let mut moves = Self { actions: BTreeMap::new(), later: Vec::new() };
        for own in of_node.values_mut() {
            own.sort_by_key(|one| (one.at, one.entry));
            errors.extend(wrong_way(own));
            moves.add(own);
        }
        moves
    }

    /// Adds those of one node, in their order.
    fn add(&mut self, own: &[Move<'_>]) {
        let mut known: Vec<usize> = own.first().map(|first| first.from).into_iter().collect();
        for one in own {
            let carrier = one.spec.carrier.is_some();
            let cut = |link: usize| Action::Down { part: LinkPart::whole(link), duration: None, carrier };
            if !known.contains(&one.to) {
                known.push(one.to);
                self.later.push((one.line, cut(one.to)));
            }
            self.actions.insert(one.entry, vec![cut(one.from), Action::Up { part: LinkPart::whole(one.to) }]);
        }
    }

    /// What happens at time zero: links to which nodes get later are cut.
    pub(super) fn at_first(&self) -> Vec<Event> {
        let event =
            |(line, action): &(usize, Action)| Event { line: *line, at: Some(Duration::ZERO), action: action.clone() };
        self.later.iter().map(event).collect()
    }

    /// What the move at this place of the timeline does.
    pub(super) fn actions(&self, entry: usize) -> Vec<Action> {
        self.actions.get(&entry).cloned().unwrap_or_default()
    }
}

/// The link by which a node is at `link`, which may be a LAN; none after an error was noted.
fn end(spec: &MoveSpec, link: &Spanned<String>, places: &Places<'_>, errors: &mut Errors) -> Option<usize> {
    let node = &spec.node.value;
    let is_lan = places.spec.nodes.iter().any(|other| other.is_lan && other.name.value == link.value);
    // That of a node at a LAN is named after both.
    let own = if is_lan { format!("{}-{node}", link.value) } else { link.value.clone() };
    let is_there = |place: &usize| places.spec.links[*place].ends.iter().any(|end| end.node.value == *node);
    let found = if is_lan && !places.links.has(&own) {
        None
    } else {
        let there = place(places.links, &Spanned { value: own, ..link.clone() }, errors)?;
        Some(there).filter(is_there)
    };
    let Some(found) = found else {
        let links = places.spec.links.iter().filter(|other| other.ends.iter().any(|end| end.node.value == *node));
        let links: Vec<String> = links.map(|other| format!("`{}`", other.name.value)).collect();
        let known = if links.is_empty() { "it has none".to_owned() } else { format!("it is at {}", links.join(", ")) };
        return errors.reject(
            link.error(format!(
                "`{node}` has no end at `{}`, and cannot move there or from there: {known}",
                link.value
            )),
        );
    };
    if places.spec.links[found].shared.is_some() && places.spec.links[found].ends.len() > 2 {
        let message =
            "a medium is cut for all that share it: leave out `medium: shared`, so that each end has a link of its own";
        return errors.reject(link.error(message));
    }
    errors.extend(spec.carrier.as_ref().and_then(|place| without_carrier(&LinkPart::whole(found), place, places)));
    Some(found)
}

/// The error of the first move that begins elsewhere than where the node is, or leads nowhere.
fn wrong_way(own: &[Move<'_>]) -> Option<Diagnostic> {
    let nowhere = own.iter().find(|one| one.from == one.to);
    let torn = own.windows(2).find(|pair| pair[0].to != pair[1].from);
    if let Some(Move { spec, .. }) = nowhere {
        return Some(
            spec.to.error(format!("`{}` is at `{}` already: move it elsewhere", spec.node.value, spec.to.value)),
        );
    }
    let [before, next] = torn? else { return None };
    let (node, there) = (&next.spec.node.value, &before.spec.to);
    let message = format!("at {} `{node}` is at `{}`: write `from: {}`", next.at, there.value, there.value);
    Some(next.spec.from.error(message).and(there.span, "moved there here"))
}

#[cfg(test)]
mod tests {
    /// What `netloom check` shows of the timeline.
    fn shown(timeline: &str) -> Vec<String> {
        let text = format!(
            "nodes: [m, a, b, c]\nlinks: {{one: {{ends: [m, a]}}, two: {{ends: [m, b]}}, lan: {{ends: [m, b, c]}}}}\n\
             timeline: [{timeline}]\n"
        );
        let plan = crate::parse(&text, "test.yaml").unwrap_or_else(|wrong| panic!("{wrong}")).plan.text().to_string();
        let lines = plan.lines().skip_while(|line| *line != "Timeline").skip(1);
        lines.map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
    }

    #[test]
    fn a_node_is_at_one_of_its_links_at_a_time() {
        let there_and_back = "{at: 5 s, move: m, from: lan, to: one}, {at: 2 s, move: m, from: one, to: lan}";
        let wanted = ["0 s lan-m down", "5 s lan-m down", "5 s one up", "2 s one down", "2 s lan-m up"];
        assert_eq!(shown(there_and_back), wanted);
    }

    #[test]
    fn links_that_no_move_leads_to_stay_as_they_are() {
        assert_eq!(shown("{move: m, from: one, to: two, carrier: true}").len(), 3);
    }
}
