//! What happens: services that join and leave, and links that change.

use super::{Called, LinkOf, Reader, inside};
use crate::quantity;
use crate::source::{Lines, Place, Read};
use crate::value::{Origin, Value, entry};
use crate::xml;
use netloom_units::Duration;
use roxmltree::{Document, Node};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Entries of the timeline.
const MOST_ENTRIES: usize = 20_000;
/// Instances of a service; more than nodes of a lab.
const MOST_INSTANCES: usize = 1_000_000;

/// What a service's instances do at an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Action {
    Join,
    Leave,
    Disconnect,
    Reconnect,
}

/// An element of the schedule.
struct Event<'a> {
    at: Duration,
    element: Node<'a, 'a>,
    place: Place,
}

/// How many instances of a service are there, and how many of these are disconnected.
#[derive(Clone, Copy, Debug, Default)]
struct Present {
    joined: usize,
    disconnected: usize,
}

/// How many instances each service has that joins: as many as are there at once, or with `reuse="false"` ever.
pub(super) fn instances<'a>(document: &'a Document<'a>, lines: &Lines) -> Read<BTreeMap<String, usize>> {
    let mut now: BTreeMap<String, [usize; 3]> = BTreeMap::new();
    for event in events(document, lines)? {
        let Some((name, action, amount)) = of_service(&event.element, lines)? else { continue };
        let [present, most, ever] = now.entry(name.to_owned()).or_default();
        match action {
            Action::Join => {
                *present = (*present + amount).min(MOST_INSTANCES);
                *ever = (*ever + amount).min(MOST_INSTANCES);
                *most = (*most).max(*present);
            }
            Action::Leave => *present = present.saturating_sub(amount),
            Action::Disconnect | Action::Reconnect => {}
        }
    }
    let fresh = inside(document, "services").filter(|service| service.attribute("reuse") == Some("false"));
    let fresh: BTreeSet<&str> = fresh.filter_map(|service| service.attribute("name")).collect();
    let counted = now.into_iter().filter(|(_, [_, most, _])| *most > 0);
    let needed = counted.map(|(name, [_, most, ever])| {
        let count = if fresh.contains(name.as_str()) { ever } else { most };
        (name, count)
    });
    Ok(needed.collect())
}

/// The schedule in the order of time.
fn events<'a>(document: &'a Document<'a>, lines: &Lines) -> Read<Vec<Event<'a>>> {
    let mut events = Vec::new();
    for element in inside(document, "dynamic").filter(|element| element.has_tag_name("schedule")) {
        let (text, place) = xml::required(&element, "time", lines, "write when, in seconds: `time=\"10.0\"`")?;
        let wrong = || place.wrong(format!("`time=\"{text}\"` is no number of seconds"));
        let at = quantity::duration(text, 0).ok_or_else(wrong)?.value;
        events.push(Event { at, element, place: xml::place(&element, lines) });
    }
    events.sort_by_key(|event| event.at);
    Ok(events)
}

/// The name, what happens, and to how many, if an event is about a service or a bridge.
fn of_service<'a>(element: &Node<'a, 'a>, lines: &Lines) -> Read<Option<(&'a str, Action, usize)>> {
    let attribute = |name: &str| xml::attribute(element, name, lines);
    let (Some((name, _)), Some((action, place))) = (attribute("name"), attribute("action")) else { return Ok(None) };
    let action = match action {
        "join" => Action::Join,
        "leave" | "crash" => Action::Leave,
        "disconnect" => Action::Disconnect,
        "reconnect" => Action::Reconnect,
        other => {
            let known = "join, leave, crash, disconnect or reconnect";
            return Err(place.wrong(format!("`action=\"{other}\"` is not known: write {known}")));
        }
    };
    let amount = super::count(element, "amount", lines)?.unwrap_or(1);
    Ok(Some((name, action, amount)))
}

/// Makes the timeline of the schedule.
pub(super) fn read<'a>(reader: &mut Reader<'a>, document: &'a Document<'a>) -> Read<()> {
    let events = events(document, reader.lines)?;
    let mut at_nodes = vec![Vec::new(); reader.topology.nodes.len()];
    for (number, link) in reader.topology.links.iter().enumerate() {
        link.ends.iter().for_each(|end| at_nodes[end.node].push(number));
    }
    let mut present = at_first(reader, &events, &at_nodes)?;
    for event in &events {
        if reader.topology.timeline.len() >= MOST_ENTRIES {
            reader.topology.notes.add(event.place, format!("the timeline ends here: it has {MOST_ENTRIES} entries"));
            break;
        }
        match of_service(&event.element, reader.lines)? {
            Some((name, action, amount)) => {
                let Some(called) = reader.nodes.get(name) else {
                    let message = format!("`name=\"{name}\"`: there is no service or bridge of this name");
                    return Err(event.place.wrong(message));
                };
                let now = present.entry(name.to_owned()).or_default();
                let Some(range) = moved(event, action, amount, called, now) else { continue };
                let nodes = called.numbers.get(range).unwrap_or_default().to_vec();
                let is_up = matches!(action, Action::Join | Action::Reconnect);
                nodes.into_iter().for_each(|node| reader.switch(&at_nodes[node], event.at, is_up, event.place));
            }
            None => reader.link_event(event)?,
        }
    }
    Ok(())
}

/// Services that join later have their links down at first.
fn at_first<'a>(
    reader: &mut Reader<'a>,
    events: &[Event<'a>],
    at_nodes: &[Vec<usize>],
) -> Read<BTreeMap<String, Present>> {
    let mut present: BTreeMap<String, Present> = BTreeMap::new();
    for event in events {
        if let Some((name, Action::Join, amount)) = of_service(&event.element, reader.lines)? {
            let now = present.entry(name.to_owned()).or_default();
            if event.at.is_zero() {
                now.joined = (now.joined + amount).min(MOST_INSTANCES);
            }
        }
    }
    for (name, called) in &reader.nodes {
        let count = called.numbers.len();
        let now = present.entry(name.clone()).or_insert(Present { joined: count, disconnected: 0 });
        now.joined = if called.is_bridge { count } else { now.joined.min(count) };
    }
    let absent: Vec<usize> =
        reader.nodes.iter().flat_map(|(name, called)| called.numbers[present[name].joined..].iter().copied()).collect();
    for node in absent {
        let place = reader.topology.nodes[node].origin.place.unwrap_or_default();
        reader.switch(&at_nodes[node], Duration::ZERO, false, place);
    }
    Ok(present)
}

/// Which instances an event is about: those that joined last leave first. None if they are there from the beginning.
fn moved(event: &Event<'_>, action: Action, amount: usize, called: &Called, now: &mut Present) -> Option<Range<usize>> {
    let count = called.numbers.len();
    if called.is_bridge {
        return Some(0..count);
    }
    let range = match action {
        Action::Join if event.at.is_zero() => return None,
        Action::Join => now.joined..now.joined.saturating_add(amount).min(count),
        Action::Leave => now.joined.saturating_sub(amount)..now.joined,
        Action::Disconnect => now.disconnected..now.disconnected.saturating_add(amount).min(now.joined),
        Action::Reconnect => now.disconnected.saturating_sub(amount)..now.disconnected,
    };
    match action {
        Action::Join => now.joined = range.end,
        Action::Leave => now.joined = range.start,
        Action::Disconnect => now.disconnected = range.end.max(range.start),
        Action::Reconnect => now.disconnected = range.start,
    }
    Some(range)
}

impl Reader<'_> {
    /// Takes the links of a node down, or up.
    fn switch(&mut self, links: &[usize], at: Duration, is_up: bool, place: Place) {
        let key = if is_up { "up" } else { "down" };
        let room = MOST_ENTRIES.saturating_sub(self.topology.timeline.len());
        let entries: Vec<Value> = links
            .iter()
            .take(room)
            .map(|link| {
                let link = Value::text(self.topology.links[*link].name.clone());
                let keys = vec![entry("at", at), entry("link", link), entry(key, Value::plain("true"))];
                Value::map(keys).because(Origin::at(place))
            })
            .collect();
        self.topology.timeline.extend(entries);
    }

    fn link_event(&mut self, event: &Event<'_>) -> Read<()> {
        let element = &event.element;
        let end = |key: &str| xml::required(element, key, self.lines, "an event has a `name`, or `origin` and `dest`");
        let (origin, dest) = (end("origin")?.0, end("dest")?.0);
        let is_known = self.nodes.contains_key(origin) && self.nodes.contains_key(dest);
        let of =
            |one: &str, other: &str| self.by_ends.get(&[one.to_owned(), other.to_owned()]).cloned().unwrap_or_default();
        let [along, against] = [(of(origin, dest), 0), (of(dest, origin), 1)]
            .map(|(links, there)| links.into_iter().map(move |link| (link, there)));
        let links: Vec<(usize, usize)> = along.chain(against).collect();
        if links.is_empty() && !is_known {
            return Err(event.place.wrong(format!("there is no link from {origin:?} to {dest:?} in this file")));
        }
        if links.is_empty() {
            self.topology.notes.add(event.place, "a link that is made during a run: it is left out");
            return Ok(());
        }
        let action = xml::attribute(element, "action", self.lines);
        let mut entries = Vec::new();
        for (link, there) in links {
            let link = &mut self.links[link];
            let what = match action {
                Some(("leave", _)) => vec![(there, entry("down", Value::plain("true")))],
                Some(("join", _)) => vec![(there, entry("up", Value::plain("true")))],
                Some((other, place)) => {
                    let message = format!("`action=\"{other}\"` of a link is not known: write join or leave");
                    return Err(place.wrong(message));
                }
                None => changes(link, there, element, self.lines)?,
            };
            for (direction, (key, value)) in what {
                for number in &link.numbers {
                    let name = Value::text(self.topology.links[*number].name.clone());
                    let direction = Value::plain(["forward", "backward"][direction]);
                    let keys = vec![
                        entry("at", event.at),
                        entry("link", name),
                        (key.clone(), value.clone()),
                        entry("direction", direction),
                    ];
                    entries.push(Value::map(keys).because(Origin::at(event.place)));
                }
            }
        }
        let room = MOST_ENTRIES.saturating_sub(self.topology.timeline.len());
        self.topology.timeline.extend(entries.into_iter().take(room));
        Ok(())
    }
}

/// What changes in each direction of a link: without `download`, nothing on the way back.
fn changes(
    link: &mut LinkOf,
    there: usize,
    element: &Node<'_, '_>,
    lines: &Lines,
) -> Read<Vec<(usize, (String, Value))>> {
    let mut found = Vec::new();
    let is_both = xml::attribute(element, "download", lines).is_some();
    for (direction, rate) in [(there, "upload"), (1 - there, "download")] {
        if rate == "download" && !is_both {
            continue;
        }
        let before = link.shapes[direction].clone().unwrap_or_default();
        let after = before.said(element, rate, lines)?;
        let settings =
            after.settings(&before).into_iter().map(|(key, value)| (key, Value { origin: Origin::default(), ..value }));
        let settings: Vec<_> = settings.collect();
        link.shapes[direction] = Some(after);
        if !settings.is_empty() {
            found.push((direction, entry("set", Value::map(settings))));
        }
    }
    Ok(found)
}
