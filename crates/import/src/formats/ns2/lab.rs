//! What becomes of a script's network: nodes, links, their addresses, and a timeline.

use super::network::Network;
use super::objects::since;
use crate::overlaps;
use crate::source::Read;
use crate::topology::{End, Topology};
use crate::value::{Map, Origin, Value, entry, put};
use netloom_units::Probability;

impl Network<'_, '_> {
    /// The lab.
    pub(super) fn into_topology(mut self, stem: &str) -> Read<Topology> {
        let mut topology = Topology::called(stem);
        let mut degrees = vec![0; self.nodes.len()];
        for end in self.links.iter().flat_map(|link| link.ends) {
            degrees[end] += 1;
        }
        for (degree, node) in degrees.iter_mut().zip(&self.nodes) {
            *degree += usize::from(node.radio.is_some());
        }
        let places = self.places();
        for (number, node) in self.nodes.iter().enumerate() {
            let label = node.label.clone().unwrap_or_default();
            let made =
                topology.add_node(&label, &format!("{}{number}", if node.is_lan { "lan" } else { "n" }), node.place)?;
            topology.nodes[made].position = places[number];
            let kind = match (node.is_lan, degrees[number]) {
                (true, _) => "switch",
                (false, 0 | 1) => continue,
                _ => "router",
            };
            topology.nodes[made].settings.push(entry("kind", Value::plain(kind)));
        }
        topology.remarks.push("Nodes with more than one link are routers, and others hosts.".to_owned());
        self.links(&mut topology)?;
        self.addresses(&mut topology);
        self.radios(&mut topology)?;
        self.happen(&mut topology);
        self.note_rest();
        topology.notes.extend(std::mem::take(&mut self.notes));
        Ok(topology)
    }

    fn links(&mut self, topology: &mut Topology) -> Read<()> {
        for number in 0..self.links.len() {
            let cost = self.cost(number);
            let link = &mut self.links[number];
            let ends = link.ends.map(End::at);
            let made = topology.add_link(link.label.as_deref().unwrap_or_default(), Origin::at(link.place), ends)?;
            let made = &mut topology.links[made];
            let [mut forward, mut backward] = std::mem::take(&mut link.settings);
            forward.retain(|(key, value)| {
                let is_shared = backward.iter().any(|(other, there)| other == key && there == value);
                if is_shared {
                    made.settings.push((key.clone(), value.clone()));
                    backward.retain(|(other, _)| other != key);
                }
                !is_shared
            });
            (made.forward, made.backward) = (forward, backward);
            made.settings.extend(cost.map(|cost| entry("cost", cost)));
            if link.is_simplex {
                let nothing = Value::from(Probability::ONE).because(Origin::said(link.place, "one direction only"));
                put(&mut made.backward, "loss", nothing);
                let said = "a link in one direction only: here the other direction loses everything, and routes may lead there";
                self.notes.add(link.place, said);
            }
        }
        Ok(())
    }

    /// The cost of a link, which has one for both directions in a lab.
    fn cost(&mut self, link: usize) -> Option<Value> {
        let [forward, backward] = self.links[link].costs;
        let (cost, place) = forward.max(backward)?;
        if forward.map_or(1, |one| one.0) != backward.map_or(1, |one| one.0) {
            let said = format!("a cost of one direction: a link of a lab has one for both, here {cost}");
            self.notes.add(place, said);
        }
        Some(Value::plain(cost).because(Origin::at(place)))
    }

    /// Gives the ends of links the addresses that were set.
    fn addresses(&mut self, topology: &mut Topology) {
        for number in 0..self.nodes.len() {
            for (link, address, place) in std::mem::take(&mut self.nodes[number].addresses) {
                let own = self.at_node.get(&number).and_then(|all| all.first().copied());
                let Some(link) = link.or(own) else {
                    topology.notes.add(place, format!("the address {address} belongs to no link"));
                    continue;
                };
                let Some(which) = self.links[link].ends.iter().position(|end| *end == number) else {
                    topology.notes.add(place, format!("the address {address} is for a link that is not at this node"));
                    continue;
                };
                let address = format!("{address}/{}", self.links[link].prefix);
                crate::machine::add_address(topology, (link, which), &address, place);
            }
        }
        overlaps::name_interfaces(topology);
        overlaps::to_commands(topology);
    }

    /// The timeline, and what is sent.
    fn happen(&mut self, topology: &mut Topology) {
        for event in std::mem::take(&mut self.events) {
            let mut keys = event.keys;
            keys.insert(1.min(keys.len()), entry("link", Value::text(topology.links[event.link].name.clone())));
            topology.timeline.push(Value::map(keys).because(Origin::at(event.place)));
        }
        for command in std::mem::take(&mut self.commands) {
            if command.spells.is_empty() {
                self.notes.add(command.place, "a program that nothing starts: it does not run");
            }
            for spell in command.spells {
                let mut keys: Map = vec![entry("on", Value::text(topology.nodes[command.node].name.clone()))];
                keys.push(entry("run", Value::text(command.run.clone())));
                keys.extend((!spell.start.is_zero()).then(|| entry("at", spell.start)));
                let span = spell.stop.map(|stop| since(stop, spell.start));
                keys.extend(span.filter(|span| !span.is_zero()).map(|span| entry("for", span)));
                keys.push(entry("may_fail", Value::plain("true")));
                topology.timeline.push(Value::map(keys).because(Origin::at(command.place)));
            }
        }
        let traffic = self.traffic(topology);
        if !traffic.is_empty() {
            topology.rest.push(entry("traffic", Value::list(traffic)));
        }
        if let Some(end) = self.end.filter(|end| !end.is_zero()) {
            topology
                .top
                .push(entry("duration", Value::from(end).because(Origin { place: None, words: "exit".into() })));
        }
    }

    /// Notes what was said of objects and classes, and came to nothing.
    fn note_rest(&mut self) {
        let mut notes = std::mem::take(&mut self.notes);
        for object in self.objects.values() {
            if let super::objects::Object::Other(other) = object {
                other.attributes.note(&other.class, &mut notes);
            }
        }
        self.nodes.iter().for_each(|node| node.attributes.note("nodes", &mut notes));
        self.links.iter().for_each(|link| link.attributes.note("links", &mut notes));
        self.classes.iter().for_each(|(class, attributes)| attributes.note(class, &mut notes));
        self.notes = notes;
        self.note_queues();
        let Some(first) = self.watched.values().min().copied() else { return };
        let mut all: Vec<(&String, &crate::source::Place)> = self.watched.iter().collect();
        all.sort_by_key(|(what, place)| (**place, what.as_str()));
        let listed: Vec<String> = all
            .into_iter()
            .map(|(what, place)| match place.file {
                0 => format!("`{what}` (line {})", place.span.line),
                _ => format!("`{what}`"),
            })
            .collect();
        self.notes.add(first, format!("what only draws, traces, measures or seeds is not read: {}", listed.join(", ")));
    }
}
