//! The links of a containerlab file.

use super::Reader;
use crate::machine;
use crate::shell;
use crate::source::{Place, Read};
use crate::topology::End;
use crate::tree::Tree;
use crate::value::{Origin, Value, put};
use netloom_lab::yaml::{Content, Node};

/// Ends of links that are no nodes of the file.
const OUTSIDE: [&str; 4] = ["host", "mgmt-net", "macvlan", "dummy"];
/// What is read of an end.
const OF_END: [&str; 5] = ["node", "interface", "mac", "ipv4", "ipv6"];
/// The kernel's limit for names of interfaces.
const LONGEST_INTERFACE: usize = 15;

/// An end as it is written.
struct Written<'a> {
    node: &'a str,
    interface: &'a str,
    mac: Option<&'a str>,
    addresses: Vec<&'a str>,
    place: Place,
}

impl<'a> Reader<'a> {
    /// Adds a link; returns whether it gives addresses.
    pub(super) fn link(&mut self, link: &'a Node) -> Read<bool> {
        let place = link.place();
        let kind = link.word("type").unwrap_or("veth");
        if !["veth", "veth-stitch"].contains(&kind) {
            let note = format!("a link of type `{kind}` leads out of the lab: it is left out");
            self.topology.notes.add(place, note);
            return Ok(false);
        }
        let endpoints = link.required("endpoints", "write for example `endpoints: [\"a:eth1\", \"b:eth1\"]`")?;
        let [first, second] = endpoints.items() else {
            return Err(endpoints
                .place()
                .wrong("a link has two endpoints: write for example [\"a:eth1\", \"b:eth1\"]"));
        };
        let mut ends = [end(first)?, end(second)?];
        for family in ["ipv4", "ipv6"] {
            let given = link.get(family).map_or(&[][..], Tree::items);
            for (end, address) in ends.iter_mut().zip(given) {
                // An end without one has an empty text.
                end.addresses.extend(address.text().filter(|address| !address.is_empty()));
            }
        }
        let keys = endpoints.items().iter().flat_map(Tree::entries);
        for key in keys.filter(|key| !OF_END.contains(&key.name.as_str())) {
            let there = Place { file: 0, span: key.span };
            self.topology.notes.add(there, format!("`{}` of endpoints is not read", key.name));
        }
        if let Some(outside) =
            ends.iter().find(|end| OUTSIDE.contains(&end.node) && !self.numbers.contains_key(end.node))
        {
            let note = format!("a link to `{}` leads out of the lab: it is left out", outside.node);
            self.topology.notes.add(outside.place, note);
            return Ok(false);
        }
        let [one, other] = [self.number(&ends[0])?, self.number(&ends[1])?];
        if one == other {
            let note = "a link from a node to itself: a link joins two nodes, so it is left out";
            self.topology.notes.add(place, note);
            return Ok(false);
        }
        let number = self.topology.add_link("", Origin::at(place), [End::at(one), End::at(other)])?;
        let mut is_addressed = false;
        for (which, (node, end)) in [one, other].into_iter().zip(&ends).enumerate() {
            is_addressed |= self.settle_end(number, which, node, end)?;
        }
        self.link_settings(link, number);
        Ok(is_addressed)
    }

    fn number(&self, end: &Written<'_>) -> Read<usize> {
        let unknown = || end.place.wrong(format!("there is no node `{}` under `topology.nodes`", end.node));
        self.numbers.get(end.node).copied().ok_or_else(unknown)
    }

    fn settle_end(&mut self, link: usize, which: usize, node: usize, end: &Written<'_>) -> Read<bool> {
        let is_bridge = super::BRIDGES.contains(&self.kinds[node].as_str());
        if is_bridge {
            return Ok(false);
        }
        let interface = interface(end.interface);
        if interface != end.interface {
            let note = format!("the interface `{}` is called `{interface}`", end.interface);
            self.topology.notes.add(end.place, note);
        }
        if self.interfaces[node].insert(interface.clone(), (link, which)).is_some() {
            return Err(end.place.wrong(format!("`{}` has two links at its interface `{interface}`", end.node)));
        }
        let settings = &mut self.topology.links[link].ends[which].settings;
        put(settings, "interface", Value::text(interface));
        for address in &end.addresses {
            let Some(address) = shell::address(address) else {
                return Err(end.place.wrong(format!("{address:?} is no address: write for example 10.0.0.1/24")));
            };
            machine::add_address(&mut self.topology, (link, which), &address, end.place);
        }
        if let Some(mac) = end.mac {
            machine::set_mac(&mut self.topology, (link, which), mac, end.place);
        }
        Ok(!end.addresses.is_empty())
    }

    /// What a link says beside its ends.
    fn link_settings(&mut self, link: &Node, number: usize) {
        for key in link.entries() {
            let place = Place { file: 0, span: key.span };
            match key.name.as_str() {
                "type" | "endpoints" | "ipv4" | "ipv6" => {}
                "mtu" if key.value.text().is_some_and(|mtu| mtu.parse::<u16>().is_ok()) => {
                    let mtu = Value::plain(key.value.text().unwrap_or_default()).because(Origin::at(place));
                    put(&mut self.topology.links[number].settings, "mtu", mtu);
                }
                _ if key.value.content == Content::Empty => {}
                name => self.topology.notes.add(place, format!("`{name}` of links is not read")),
            }
        }
    }
}

/// An end: `NODE:INTERFACE`, or a map.
fn end(node: &Node) -> Read<Written<'_>> {
    let place = node.place();
    if let Some(text) = node.text() {
        let Some((name, interface)) = text.split_once(':') else {
            return Err(place.wrong(format!("{text:?} is no endpoint: write NODE:INTERFACE, for example a:eth1")));
        };
        return Ok(Written { node: name, interface, mac: None, addresses: Vec::new(), place });
    }
    let name = node.required_word("node", "an endpoint has a node and an interface")?;
    let interface = node.required_word("interface", "an endpoint has a node and an interface")?;
    let addresses = ["ipv4", "ipv6"].iter().filter_map(|family| node.word(family)).collect();
    Ok(Written { node: name, interface, mac: node.word("mac"), addresses, place })
}

/// A name that an interface can have: aliases have slashes and may be longer.
fn interface(name: &str) -> String {
    let plain =
        name.chars().map(|letter| if letter.is_ascii_alphanumeric() || "_.-".contains(letter) { letter } else { '-' });
    let plain: String = plain.collect();
    let end = plain[plain.len().saturating_sub(LONGEST_INTERFACE)..].trim_start_matches(['-', '.']);
    if end.is_empty() { "eth".to_owned() } else { end.to_owned() }
}
