//! MiniEdit: the networks that Mininet's editor saves (`examples/miniedit.py`, version 2).

use crate::machine;
use crate::places;
use crate::quantity::{self, spelled_duration};
use crate::shell;
use crate::source::Read;
use crate::topology::{End, Topology};
use crate::tree::{self, Tree};
use crate::value::{Map, Origin, Value, entry, put};
use netloom_lab::yaml::Node;
use std::collections::BTreeMap;

/// Reads the network in `text`.
pub(crate) fn read(text: &str, stem: &str) -> Read<Topology> {
    let root = tree::parse(text)?;
    let mut topology = Topology::called(stem);
    let mut numbers: BTreeMap<String, usize> = BTreeMap::new();
    let base = root.get("application").and_then(|application| application.word("ipBase")).unwrap_or("10.0.0.0/8");
    let length = base.rsplit_once('/').map_or("8", |(_, length)| length);
    let mut addresses = BTreeMap::new();
    for (group, initial) in [("hosts", "h"), ("switches", "s")] {
        for node in root.get(group).map_or(&[][..], Tree::items) {
            let id = node.required_word("number", "every host and switch has a number")?;
            let options = node.get("opts");
            let option = |key: &str| options.and_then(|options| options.word(key)).filter(|value| !value.is_empty());
            let name = option("hostname").map_or(format!("{initial}{id}"), str::to_owned);
            let number = topology.add_node(&name, &format!("{initial}{id}"), node.place())?;
            if numbers.insert(format!("{initial}{id}"), number).is_some() {
                return Err(node.place().wrong(format!("there are two of {group} with the number {id}")));
            }
            numbers.entry(name).or_insert(number);
            topology.nodes[number].position = places::place(node.word("x"), node.word("y"));
            let kind = match (group, option("switchType")) {
                ("hosts", _) => None,
                (_, Some("legacyRouter")) => Some("router"),
                _ => Some("switch"),
            };
            topology.nodes[number].settings.extend(kind.map(|kind| entry("kind", Value::plain(kind))));
            if let Some(address) = option("ip").filter(|_| group == "hosts") {
                let whole = if address.contains('/') { address.to_owned() } else { format!("{address}/{length}") };
                addresses.extend(shell::address(&whole).map(|found| (number, found)));
            }
            if let Some(run) = option("startCommand") {
                let event =
                    vec![entry("on", Value::text(topology.nodes[number].name.clone())), entry("run", Value::text(run))];
                topology.timeline.push(Value::map(event).because(Origin::at(node.place())));
            }
            for key in [
                "stopCommand",
                "defaultRoute",
                "externalInterfaces",
                "vlanInterfaces",
                "privateDirectory",
                "controllers",
            ] {
                let said = options
                    .and_then(|options| options.get(key))
                    .filter(|said| said.text().is_some_and(|one| !one.is_empty()) || !said.items().is_empty());
                if let Some(said) = said {
                    topology.notes.add(said.place(), format!("`{key}` is not read"));
                }
            }
        }
    }
    if let Some(controllers) = root.get("controllers").filter(|all| !all.items().is_empty()) {
        topology.notes.add(controllers.place(), "controllers are not run: switches learn addresses by themselves");
    }
    for link in root.get("links").map_or(&[][..], Tree::items) {
        self::link(link, &numbers, &mut addresses, &mut topology)?;
    }
    if topology.nodes.is_empty() {
        return Err(root.place().wrong("there are neither hosts nor switches in this file"));
    }
    Ok(topology)
}

fn link(
    link: &Node,
    numbers: &BTreeMap<String, usize>,
    addresses: &mut BTreeMap<usize, String>,
    topology: &mut Topology,
) -> Read<()> {
    let place = link.place();
    let mut ends = Vec::new();
    for key in ["src", "dest"] {
        let name = link.required_word(key, "a link joins two nodes by their names")?;
        let Some(number) = numbers.get(name) else {
            if name.starts_with('c') {
                topology.notes.add(place, "a link to a controller: there is none");
                return Ok(());
            }
            return Err(place.wrong(format!("`{key}`: there is no host or switch `{name}` in this file")));
        };
        ends.push(*number);
    }
    if ends[0] == ends[1] {
        topology.notes.add(place, "a link from a node to itself: there is none");
        return Ok(());
    }
    let number = topology.add_link("", Origin::at(place), [End::at(ends[0]), End::at(ends[1])])?;
    for (which, node) in ends.into_iter().enumerate() {
        // A host has its address at its first link.
        if let Some(address) = addresses.remove(&node) {
            machine::add_address(topology, (number, which), &address, place);
        }
    }
    let mut settings = Map::new();
    for option in link.get("opts").map_or(&[][..], Tree::entries) {
        let text = option.value.text().unwrap_or_default();
        let found = match (option.name.as_str(), text) {
            (_, "" | "0") => continue,
            ("bw", mbits) => quantity::rate(mbits, 6).map(|rate| ("rate", Value::from(rate.value))),
            ("delay", span) => {
                spelled_duration(span).or_else(|| quantity::duration(span, -6)).map(|span| ("delay", span.value.into()))
            }
            ("loss", share) => quantity::probability(share, -2).map(|share| ("loss", share.value.into())),
            ("max_queue_size", packets) => {
                packets.parse::<u32>().ok().map(|packets| ("queue", Value::plain(format!("{packets} packets"))))
            }
            _ => None,
        };
        match found {
            Some((key, value)) => put(&mut settings, key, value.because(Origin::at(option.value.place()))),
            None => topology.notes.add(option.value.place(), format!("`{}` of links is not read", option.name)),
        }
    }
    topology.links[number].settings = settings;
    Ok(())
}
