//! What a script has built so far, and what becomes of it.

use super::disciplines::QueueOf;
use super::objects::{Attributes, Object, Spell};
use super::sources::Flows;
use super::stations::{Configured, RadioOf, Trip};
use crate::files::Input;
use crate::notes::Notes;
use crate::source::Place;
use crate::value::{Content, Map, Origin, Value, entry, put};
use netloom_units::Duration;
use std::collections::{BTreeMap, BTreeSet};

/// Nodes and links that are recorded; more are refused when the topology is made.
pub(super) const MOST: usize = 100_000;

/// A node of the script.
#[derive(Debug)]
pub(super) struct NodeOf {
    /// The variable that it was put into.
    pub(super) label: Option<String>,
    pub(super) place: Place,
    /// A LAN.
    pub(super) is_lan: bool,
    /// Addresses that wait for a link.
    pub(super) addresses: Vec<(Option<usize>, String, Place)>,
    /// What a script sets on it.
    pub(super) attributes: Attributes,
    /// The radio of a mobile node, and where it goes.
    pub(super) radio: Option<RadioOf>,
    pub(super) trips: Vec<Trip>,
}

/// A link of the script; a port of a LAN is one, too.
#[derive(Debug)]
pub(super) struct LinkOf {
    pub(super) label: Option<String>,
    pub(super) place: Place,
    pub(super) ends: [usize; 2],
    /// Forward and backward.
    pub(super) settings: [Map; 2],
    /// The length of the prefix of its addresses.
    pub(super) prefix: u32,
    /// Forward and backward: what routing counts for it.
    pub(super) costs: [Option<(u16, Place)>; 2],
    /// A link of one direction only, whose other direction may come.
    pub(super) is_simplex: bool,
    /// The queues of both directions; none where there is no such direction.
    pub(super) queues: [Option<QueueOf>; 2],
    /// What the lab has of them by now.
    pub(super) shown: [Option<Content>; 2],
    /// What a script sets on it.
    pub(super) attributes: Attributes,
}

/// What happens at an instant.
#[derive(Debug)]
pub(super) struct EventOf {
    pub(super) link: usize,
    pub(super) keys: Map,
    pub(super) place: Place,
}

/// A command of a node.
#[derive(Debug)]
pub(super) struct CommandOf {
    pub(super) node: usize,
    pub(super) run: String,
    /// When it runs.
    pub(super) spells: Vec<Spell>,
    pub(super) place: Place,
}

#[derive(Debug, Default)]
pub(super) struct Network<'a, 'b> {
    /// The way to other scripts.
    pub(super) input: Option<&'a mut Input<'b>>,
    /// The numbers of other scripts by their names.
    pub(super) scripts: BTreeMap<String, Option<usize>>,
    /// The first script that was not read.
    pub(super) not_read: Option<(String, Place)>,
    /// Where a class is defined first.
    pub(super) class: Option<Place>,
    pub(super) nodes: Vec<NodeOf>,
    pub(super) links: Vec<LinkOf>,
    /// The last link between two nodes, the smaller number first.
    pub(super) joined: BTreeMap<(usize, usize), usize>,
    /// The links of each node.
    pub(super) at_node: BTreeMap<usize, Vec<usize>>,
    pub(super) events: Vec<EventOf>,
    pub(super) commands: Vec<CommandOf>,
    pub(super) objects: BTreeMap<String, Object>,
    /// The handles of nodes and links by the variables that they were put into.
    pub(super) called: BTreeMap<String, String>,
    /// What is set on classes.
    pub(super) classes: BTreeMap<String, Attributes>,
    /// Whether the script is Emulab's.
    pub(super) is_emulab: bool,
    /// Queues, by link and direction, and objects of which something changed at this instant.
    pub(super) changed_queues: BTreeSet<(usize, usize)>,
    pub(super) changed: BTreeSet<String>,
    /// What is sent.
    pub(super) flows: Flows,
    /// The objects whose peer an object is: they change with it.
    pub(super) users: BTreeMap<String, Vec<String>>,
    /// The directions of links on which an error model is.
    pub(super) spoils: BTreeMap<String, Vec<(usize, usize)>>,
    /// What only draws, traces, measures or seeds, and where it stands first.
    pub(super) watched: BTreeMap<String, Place>,
    /// How many commands of that kind there were.
    pub(super) watched_words: usize,
    /// The simulation ends before anything else happens.
    pub(super) is_halted: bool,
    pub(super) made: usize,
    /// The options of nodes that are made from now on.
    pub(super) configured: Configured,
    pub(super) notes: Notes,
    /// The instant of the simulation; none before it begins.
    pub(super) now: Option<Duration>,
    pub(super) end: Option<Duration>,
    /// Scripts by their instants, in the order in which they were scheduled.
    pub(super) scheduled: BTreeMap<(Duration, usize), (String, Place)>,
    pub(super) turns: usize,
    /// Directions in which links are drawn, from one node to another.
    pub(super) drawn: Vec<(usize, usize, [f64; 2])>,
}

impl Network<'_, '_> {
    pub(super) fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    pub(super) fn next_event(&mut self) -> Option<(Duration, String, Place)> {
        let ((at, _), (script, place)) = self.scheduled.pop_first()?;
        Some((at, script, place))
    }

    /// The object of a handle, or of the name of a variable: Emulab calls nodes and links after them.
    pub(super) fn object(&self, handle: &str) -> Option<&Object> {
        self.objects.get(handle).or_else(|| self.objects.get(self.called.get(handle)?))
    }

    /// Remembers what has no part in what the network does.
    pub(super) fn watch(&mut self, what: String, place: Place) {
        self.watched_words += 1;
        if self.watched.len() < MOST {
            self.watched.entry(what).or_insert(place);
        }
    }

    /// Takes over what changed at this instant.
    pub(super) fn settle(&mut self) {
        self.settle_queues();
        self.settle_flows();
    }

    /// Adds a link between nodes.
    pub(super) fn add_link(&mut self, ends: [usize; 2], parts: (Map, QueueOf), place: Place) -> Result<usize, String> {
        if self.links.len() >= MOST {
            return Err(format!("more than {MOST} links: no lab is so large"));
        }
        let (settings, queue) = parts;
        let both = [settings.clone(), settings];
        let number = self.links.len();
        self.joined.insert((ends[0].min(ends[1]), ends[0].max(ends[1])), number);
        ends.iter().for_each(|end| self.at_node.entry(*end).or_default().push(number));
        self.changed_queues.extend([(number, 0), (number, 1)]);
        self.links.push(LinkOf {
            label: None,
            place,
            ends,
            settings: both,
            prefix: 24,
            costs: [None, None],
            is_simplex: false,
            queues: [Some(queue.clone()), Some(queue)],
            shown: [None, None],
            attributes: Attributes::default(),
        });
        Ok(number)
    }

    /// The link between two nodes, and the direction that leads from the first to the second: the last one, if several.
    pub(super) fn between(&self, from: usize, to: usize) -> Option<(usize, usize)> {
        let found = *self.joined.get(&(from.min(to), from.max(to)))?;
        Some((found, usize::from(self.links[found].ends != [from, to])))
    }

    /// Sets something of a direction: now it is so from the beginning, later it is an event.
    pub(super) fn set(&mut self, link: usize, direction: Option<usize>, key: &str, value: Value, place: Place) {
        let words = value.origin.words.clone();
        let value = value.because(Origin::said(place, words));
        let Some(now) = self.now.filter(|now| !now.is_zero()) else {
            for which in 0..2 {
                if direction.is_none_or(|one| one == which) {
                    put(&mut self.links[link].settings[which], key, value.clone());
                }
            }
            return;
        };
        let value = Value { origin: Origin::default(), ..value };
        let mut keys = vec![entry("at", now), entry("set", Value::map(vec![entry(key, value)]))];
        if let Some(direction) = direction {
            keys.push(entry("direction", Value::plain(["forward", "backward"][direction])));
        }
        self.add_event(link, keys, place);
    }

    pub(super) fn add_event(&mut self, link: usize, keys: Map, place: Place) {
        if self.events.len() < MOST {
            self.events.push(EventOf { link, keys, place });
        } else {
            self.notes.add(place, format!("only the first {MOST} changes of links are read"));
        }
    }
}
